package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/internal/golden"
	"prof/internal/sample"
)

var update = golden.Update

// TestModelErrors: what is wrong is said, and with which exit code.
func TestModelErrors(t *testing.T) {
	t.Parallel()
	p := nowhere(t)
	write(t, p.path("good.json"), config(2))
	write(t, p.path("text.json"), []byte("hello"))
	write(t, p.path("cut.json"), config(2)[:60])
	write(t, p.path("lacks.json"), []byte(`{"model_type": "llama", "vocab_size": 100}`))
	write(t, p.path("folder/other.json"), config(2))
	const many = "2147483648"
	for _, c := range []struct {
		code int
		want string // regular expression
		args string
	}{
		{2, "model takes one CONFIG\\.json, or --run; see `prof help model`", ""},
		{2, "model takes one CONFIG\\.json, or --run; see `prof help model`", "good.json good.json"},
		{2, "model takes a configuration or --run, not both", "good.json --run a"},
		{1, `nosuch\.json: there is no such file or folder`, "nosuch.json"},
		{1, `folder/config\.json: there is no such file or folder`, "folder"},
		{1, `text\.json: not a model configuration: .*`, "text.json"},
		{1, `cut\.json: not a model configuration: .*`, "cut.json"},
		{1, `lacks\.json: the configuration lacks: hidden_size, intermediate_size, num_attention_heads, num_hidden_layers`, "lacks.json"},
		{2, `unknown format "csv": use one of table, md, html, blocks, json`, "good.json --format csv"},
		{2, `.*--convention is full or causal`, "good.json --convention half"},
		{2, `.*--mla is absorbed or expanded`, "good.json --mla none"},
		{2, `.*--head is last or all`, "good.json --head first"},
		{2, `.*--context is auto, max or fixed`, "good.json --context long"},
		{2, `.*--dtype is fp64, fp32, .*`, "good.json --dtype int7"},
		{2, `--context fixed needs --fixed-context TOKENS, and vice versa`, "good.json --context fixed"},
		{2, `--context fixed needs --fixed-context TOKENS, and vice versa`, "good.json --fixed-context 5"},
		{2, `--fixed-context 0: want a number from 1 to 2147483648`, "good.json --context fixed --fixed-context 0"},
		{2, `--prefill -1: want a whole number up to 2147483648`, "good.json --prefill -1"},
		{2, `--decode -1: want a whole number up to 2147483648`, "good.json --decode -1"},
		{2, `--images -1: want a whole number up to 2147483648`, "good.json --images -1"},
		{2, `--crops -1: want a whole number up to 2147483648`, "good.json --crops -1"},
		{2, `--image-size "640": want WIDTHxHEIGHT in pixels, such as 1024x768, each from 1 to 65536`, "good.json --image-size 640"},
		{2, `--image-size "640x0": want WIDTHxHEIGHT .*`, "good.json --image-size 640x0"},
		{2, `--image-size "65537x1": want WIDTHxHEIGHT .*`, "good.json --image-size 65537x1"},
		{2, `--image-size "1x2x3": want WIDTHxHEIGHT .*`, "good.json --image-size 1x2x3"},
		{2, `--image-size "-1x-1": want WIDTHxHEIGHT .*`, "good.json --image-size=-1x-1"},
		{2, `--image-size applies to a configuration; for a run: prof ingest --run a --model CONFIG\.json --image-size 1x1`, "--run a --image-size 1x1"},
		{2, `--batch 0: want a whole number up to 2147483648, at least 1`, "good.json --batch 0"},
		{2, `--prefill 2147483649: want a whole number up to 2147483648`, "good.json --prefill 2147483649"},
		{2, `.*prefill.*; see .prof help model.`, "good.json --prefill many"},
		{2, `invalid argument: .* 2\^63 operations or more: .*`, "good.json --prefill " + many + " --decode " + many + " --batch " + many},
		{2, `invalid argument: .* 2\^63 operations or more: .*`, "good.json --prefill 55000 --decode 20000 --batch 5000000"}, // each component's fit
	} {
		p.wantLike(c.code, "", "prof: "+c.want+"\n", append([]string{"model"}, strings.Fields(c.args)...)...)
	}
	if got := listing(t, p.dir); len(got) != 6 {
		t.Errorf("left behind: %q", got)
	}
}

// TestModelOfRun: the model and the tokens of a run.
func TestModelOfRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	write(t, p.path("ocr/config.json"), ocrConfig(t))
	p.want(result{1, "", "prof: no warehouse yet in " + p.path(".prof") + ": run `prof ingest PATH` there, or name another home with --home\n"}, "model", "--run", "a")
	p.ok("ingest", "--run", "with", "--model", "ocr", "--prefill", "681", "--decode", "16", "--images", "1", "--batch", "2", "--warmup", "1", exported(t, "../torch/cpu.trace.json.gz"))
	p.ok("ingest", "--run", "without", exported(t, "../serving/own.json"))
	of, same := p.model("--run", "with"), p.model("ocr", "--prefill", "681", "--decode", "16", "--images", "1", "--batch", "2")
	if of.Params != same.Params || !*of.Stages["vision"].InPrefill {
		t.Errorf("%d parameters, of the configuration %d; %+v", of.Params, same.Params, of.Stages["vision"])
	}
	for _, stage := range []string{"prefill", "decode", "vision"} {
		if of.flop(t, stage) != same.flop(t, stage) || of.flop(t, stage) == 0 {
			t.Errorf("%s: %d, of the configuration %d", stage, of.flop(t, stage), same.flop(t, stage))
		}
	}
	if got, want := p.model("--run", "with", "--prefill", "7", "--images", "0").flop(t, "prefill"), p.model("ocr", "--prefill", "7", "--batch", "2").flop(t, "prefill"); got != want {
		t.Errorf("options go first: %d, want %d", got, want)
	}
	p.want(result{1, "", "prof: run without has no model: give its configuration with `prof ingest --run without --model CONFIG.json`\n"}, "model", "--run", "without")
	p.wantLike(1, "", "prof: no such run: \"nosuch\"[^\n]*\n", "model", "--run", "nosuch")
}

// TestModelNotes: numbers that do not belong together are remarked upon.
func TestModelNotes(t *testing.T) {
	t.Parallel()
	p := nowhere(t)
	write(t, p.path("llama.json"), config(2))
	write(t, p.path("ocr.json"), ocrConfig(t))
	for args, want := range map[string][]string{
		"llama.json --images 0":                          nil,
		"llama.json --images 1 --crops 1 --prefill 2000": {"no vision part is counted", "the model takes no crops", "prompt and decode steps need 2128 positions, but the model supports 2048"},
		"ocr.json --prefill 272":                         {"assumed: an image is"},
		"ocr.json --prefill 546 --images 2":              {"assumed: an image is"},
		"ocr.json --prefill 545 --images 2":              {"assumed: an image is", "prompt tokens include image tokens, but 545 are too few for 273 tokens per image (images: 2)"},
		"ocr.json --crops 3 --prefill 8192 --decode 0":   {"assumed: an image is"},
		"ocr.json --prefill 8192 --decode 1":             {"assumed: an image is", "prompt and decode steps need 8193 positions"},
	} {
		got := p.model(strings.Fields(args)...).Notes
		ok := len(got) == len(want)
		for i := range min(len(got), len(want)) {
			ok = ok && strings.HasPrefix(got[i], want[i])
		}
		if !ok {
			t.Errorf("%s: notes %q, want %q", args, got, want)
		}
	}
}

// TestModelArtifacts: static_compute.json and static_compute.md, of a model with a name that Markdown would read otherwise.
func TestModelArtifacts(t *testing.T) {
	t.Parallel()
	p := nowhere(t)
	write(t, p.path("a|b <i>x.json"), ocrConfig(t))
	r := p.run("model", "a|b <i>x.json", "--images", "1", "--out", "deep/out")
	if r.code != 0 || !strings.HasPrefix(r.out, "model       a|b <i>x (deepseek_vl_v2)\n") || r.err != "wrote deep/out/static_compute.json and deep/out/static_compute.md\n" {
		t.Errorf("%+v", r)
	}
	type stage struct {
		Params, Flops int64
		Operators     map[string]int64
		Notes         []string
	}
	var a struct {
		Metadata map[string]any
		Total    struct {
			Params, Flops int64
			ActiveParams  int64 `json:"active_params"`
		}
		Stages map[string]stage
		Notes  []string
	}
	if err := json.Unmarshal(read(t, p.path("deep/out/static_compute.json")), &a); err != nil {
		t.Fatal(err)
	}
	m := p.model("a|b <i>x.json", "--images", "1")
	if a.Metadata["model"] != "a|b <i>x" || a.Metadata["seq_len"] != 1024.0 || a.Total.Params != m.Params || a.Total.ActiveParams != 574095360 ||
		a.Total.Flops != m.flop(t, "prefill")+m.flop(t, "decode") {
		t.Errorf("%+v %+v", a.Metadata, a.Total)
	}
	var flops int64
	for _, name := range []string{"sam", "clip", "projector", "prefill", "decode"} {
		var operators int64
		for _, n := range a.Stages[name].Operators {
			operators += n
		}
		if a.Stages[name].Flops == 0 || operators != a.Stages[name].Flops || a.Stages[name].Params == 0 {
			t.Errorf("%s: %+v", name, a.Stages[name])
		}
		flops += operators
	}
	if len(a.Stages) != 5 || flops != a.Total.Flops {
		t.Errorf("%d stages with %d operations in sum, in all %d", len(a.Stages), flops, a.Total.Flops)
	}
	text := string(read(t, p.path("deep/out/static_compute.md")))
	if !strings.HasPrefix(text, "# Static compute: a\\|b \\<i") || strings.Contains(text, "<i>") {
		t.Errorf("the name: %.60q", text)
	}
	if got := p.ok("model", "a|b <i>x.json", "--images", "1", "--format", "md"); got != text {
		t.Error("--format md is not static_compute.md")
	}
	var cells, lines int
	unescaped := regexp.MustCompile(`(^|[^\\])\|`)
	for _, line := range strings.Split(text, "\n") {
		n := len(unescaped.FindAllString(line, -1))
		if !strings.HasPrefix(line, "| ") {
			cells = 0
			continue
		}
		if cells != 0 && n != cells {
			t.Errorf("%d cells, not %d: %s", n-1, cells-1, line)
		}
		cells = n
		lines++
	}
	if lines < 40 {
		t.Errorf("%d lines of tables", lines)
	}
	p.wantLike(1, "", "prof: [^\n]*static_compute[^\n]*|prof: mkdir [^\n]*\n", "model", "a|b <i>x.json", "--out", "a|b <i>x.json")
}

// TestModelGolden holds every form to its golden file.
func TestModelGolden(t *testing.T) {
	t.Parallel()
	p := nowhere(t)
	write(t, p.path("llama.json"), config(2))
	write(t, p.path("ocr.json"), ocrConfig(t))
	type drawn struct {
		name, form string
		args       []string
	}
	var all []drawn
	for _, m := range [][]string{{"ocr-images", "ocr.json", "--images", "1", "--crops", "4", "--prefill", "681", "--decode", "16"}, {"llama", "llama.json"}, {"ocr", "ocr.json"}} {
		for _, form := range []string{"80.table", "200.table", "md", "json"} {
			all = append(all, drawn{m[0], form, m[1:]})
		}
	}
	for _, c := range sample.Of(all, 3) { // each model and each form
		q := *p
		if columns, _, ok := strings.Cut(c.form, "."); ok {
			q.env = append(slices.Clone(p.env), "COLUMNS="+columns)
		}
		got := []byte(q.ok(append([]string{"model", "--format", c.form[strings.LastIndexByte(c.form, '.')+1:]}, c.args...)...))
		file := filepath.Join("testdata", "model-"+c.name+"."+c.form)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := read(t, file); !bytes.Equal(got, want) {
			t.Errorf("%s differs (-update writes it); got:\n%s", file, got)
		}
		for i, line := range strings.Split(string(got), "\n") {
			if c.form == "80.table" && len([]rune(line)) > 80 {
				t.Errorf("%s:%d is wider than the terminal: %s", file, i+1, line)
			}
		}
	}
}

// TestModelAssume: a field that bears on the shape and is not read leaves figures unknown; --assume goes on and says so. In a folder such a
// model is passed over, and the capture beside it is not.
func TestModelAssume(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	odd := bytes.Replace(config(2), []byte(`"hidden_size"`), []byte(`"interleave_moe_layer_step": 2, "hidden_size"`), 1)
	write(t, p.path("odd/config.json"), odd)
	write(t, p.path("plain.json"), config(2))
	const why = "interleave_moe_layer_step is not supported"
	p.wantLike(1, "", "prof: [^\n]*config\\.json: parameters and FLOPs are unknown, because "+why+"; --assume ignores it\n", "model", "odd")
	assumed, plain := p.model("odd", "--assume"), p.model("plain.json")
	if assumed.Params != plain.Params || assumed.flop(t, "decode") != plain.flop(t, "decode") || !slices.ContainsFunc(assumed.Notes, func(n string) bool { return strings.Contains(n, "--assume") && strings.Contains(n, why) }) {
		t.Errorf("%d parameters, want %d; %q", assumed.Params, plain.Params, assumed.Notes)
	}
	p.wantLike(1, "", "(?s).*"+why+".*", "ingest", "--run", "a", "--model", "odd/config.json", exported(t, "../torch/cpu.trace.json.gz"))
	p.ok("ingest", "--run", "a", "--model", "odd/config.json", "--assume", exported(t, "../torch/cpu.trace.json.gz"))
	if got := p.model("--run", "a", "--prefill", "1024", "--decode", "128"); got.Params != plain.Params {
		t.Errorf("%d parameters of the run, want %d", got.Params, plain.Params)
	}
}
