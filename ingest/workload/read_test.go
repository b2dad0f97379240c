package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
)

const samples = "../../testdata/workload/"

func n(v int64) *int64 { return &v }

func sample(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(samples + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// line is a pass as text: what is not said as ~.
func (p Pass) line() string {
	var parts []string
	if p.Each {
		parts = append(parts, "each")
	}
	if p.Warmup {
		parts = append(parts, "warmup")
	}
	for _, v := range []*int64{p.Prefill, p.Decode, &p.Batch, p.Images, p.Crops, p.PrefillNs, p.DecodeNs, p.VisionNs} {
		if v == nil {
			parts = append(parts, "~")
		} else {
			parts = append(parts, fmt.Sprint(*v))
		}
	}
	return strings.Join(parts, " ")
}

func (f *Facts) lines() []string {
	var out []string
	for _, p := range f.Passes {
		out = append(out, p.line())
	}
	return out
}

// TestSamples: what programs wrote beside their captures, milliseconds as whole nanoseconds.
func TestSamples(t *testing.T) {
	for _, c := range []struct {
		file, model, family string
		layers              string
		passes              []string
	}{
		{"dsocr-sdpa.workload.json", "dsocr", "deepseek_v2", "12", []string{
			"681 16 1 ~ ~ 45750029 616769718 ~", "681 16 1 ~ ~ 46066456 291329758 ~", "681 16 1 ~ ~ 45993542 286869421 ~"}},
		{"dsocr-eager.workload.json", "dsocr", "deepseek_v2", "12", []string{
			"681 16 1 ~ ~ 51765381 301604149 ~", "681 16 1 ~ ~ 51836179 288028824 ~", "681 16 1 ~ ~ 51119834 290311806 ~"}},
		{"llama-graph-node.workload.json", "llama", "llama", "16", []string{
			"512 32 1 ~ ~ 11186841 88452904 ~", "512 32 1 ~ ~ 11033075 88445489 ~", "512 32 1 ~ ~ 11269103 88400259 ~"}},
		{"dsocr-sdpa-torch.workload.json", "dsocr", "deepseek_v2", "12", []string{
			"681 8 1 ~ ~ 59140743 301646731 ~", "681 8 1 ~ ~ 57210699 192819290 ~"}},
	} {
		f, err := Read(strings.NewReader(string(sample(t, c.file))))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if got := f.lines(); !slices.Equal(got, c.passes) {
			t.Errorf("%s gives\n  %s\nwant\n  %s", c.file, strings.Join(got, "\n  "), strings.Join(c.passes, "\n  "))
		}
		if f.Model != c.model || f.Config["model_type"] != c.family || f.Config["num_hidden_layers"] != json.Number(c.layers) || f.Warmup != nil || f.Warnings != nil {
			t.Errorf("%s: %q, %v, %v, %q", c.file, f.Model, f.Config["num_hidden_layers"], f.Warmup, f.Warnings)
		}
	}
}

// TestFields: every field under every name, and what is said for all passes.
func TestFields(t *testing.T) {
	for _, c := range []struct {
		in       string
		passes   []string
		warnings []string // parts of each
	}{
		{`{"runs": [{"prefill_len": 7, "new_tokens": 3}]}`, []string{"7 3 1 ~ ~ ~ ~ ~"}, nil},
		{`{"passes": [{"prefill_tokens": 7, "decode_tokens": 3}]}`, []string{"7 3 1 ~ ~ ~ ~ ~"}, nil},
		{`{"runs": [{"tokens_in": 7, "tokens_out": 3}], "passes": null}`, []string{"7 3 1 ~ ~ ~ ~ ~"}, nil},
		{`{"runs": [{"prefill_len": 7.0, "new_tokens": 3e0, "batch": 2, "images": 4, "crops": 6, "warmup": true, "prefill_ms": 1, "decode_ms": 2.5, "vision_ms": 0}]}`,
			[]string{"warmup 7 3 2 4 6 1000000 2500000 0"}, nil},
		{`{"batch": 2, "images": 4, "crops": 6, "runs": [{"prefill_len": 7, "new_tokens": 3}, {"prefill_len": 7, "new_tokens": 3, "batch": 1, "images": 0, "crops": null, "warmup": false}]}`,
			[]string{"7 3 2 4 6 ~ ~ ~", "7 3 1 0 6 ~ ~ ~"}, nil},
		{`{"runs": [{"prefill_len": 0, "new_tokens": 2147483648, "prefill_ms": 0.0000004, "decode_ms": 0.0000006, "vision_ms": 1e12}]}`,
			[]string{"0 2147483648 1 ~ ~ 0 1 1000000000000000000"}, nil},
		{`{"runs": [{"prefill_len": null, "tokens_in": 7, "new_tokens": 3}]}`, []string{"7 3 1 ~ ~ ~ ~ ~"}, nil},
		{`{"runs": [{"prefill_len": 7, "tokens_in": 7, "prefill_tokens": 7, "tokens_out": 3}]}`, []string{"7 3 1 ~ ~ ~ ~ ~"}, nil},
		{`{"runs": [{"tokens_in": 5, "prefill_len": 7, "new_tokens": 3}, {"tokens_in": 5, "prefill_len": 7, "new_tokens": 3}]}`,
			[]string{"7 3 1 ~ ~ ~ ~ ~", "7 3 1 ~ ~ ~ ~ ~"}, []string{"runs[0].tokens_in is 5 and is ignored, because prefill_len is 7 (and 1 more)"}},
		{`{"runs": [{"warmup": true}, {"prefill_len": 7}, {"new_tokens": 3}, {}]}`,
			[]string{"warmup ~ ~ 1 ~ ~ ~ ~ ~", "7 ~ 1 ~ ~ ~ ~ ~", "~ 3 1 ~ ~ ~ ~ ~", "~ ~ 1 ~ ~ ~ ~ ~"},
			[]string{"pass 3 lacks prefill_len, which its FLOPs need (and 1 more): give --prefill N", "pass 2 lacks new_tokens"}},
		{`{"prefill_len": 7, "decode_ms": 1, "new_tokens": -1, "runs": [{"prefill_len": 8, "new_tokens": 3}]}`, []string{"8 3 1 ~ ~ ~ ~ ~"},
			[]string{"belongs inside each entry of runs: prefill_len, new_tokens, decode_ms"}},
		{`{"batch": 4}`, []string{"each ~ ~ 4 ~ ~ ~ ~ ~"}, nil},
		{`{"images": 4, "crops": 2}`, []string{"each ~ ~ 1 4 2 ~ ~ ~"}, nil},
		{`{"image_size": [480, 640], "runs": [{"prefill_len": 7, "new_tokens": 3}]}`, []string{"7 3 1 ~ ~ ~ ~ ~"}, []string{"image_size is ignored, because it belongs to the model in config"}},
		{`{"config": {}, "unknown": [1, {"runs": 5}]}`, nil, []string{"it lists no passes"}},
		{`{"runs": []}`, nil, []string{"it lists no passes"}},
		{`{"warmup": 2}`, nil, []string{"it lists no passes"}},
		{"\xef\xbb\xbf {\"runs\": [{\"prefill_len\": 7, \"new_tokens\": 3}]}\r\n", []string{"7 3 1 ~ ~ ~ ~ ~"}, nil},
	} {
		f, err := Read(strings.NewReader(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := f.lines(); !slices.Equal(got, c.passes) {
			t.Errorf("%s gives %q, want %q", c.in, got, c.passes)
		}
		if len(f.Warnings) != len(c.warnings) {
			t.Errorf("%s warns %q, want %q", c.in, f.Warnings, c.warnings)
			continue
		}
		for i, want := range c.warnings {
			if !strings.Contains(f.Warnings[i], want) {
				t.Errorf("%s warns %q, want %q", c.in, f.Warnings[i], want)
			}
		}
	}
}

// TestProcesses: each process of a job has passes of its own, and the facts the versions of its software.
func TestProcesses(t *testing.T) {
	f, err := Read(strings.NewReader(`{"batch": 2, "marks": {"python": "3.12.3", "torch": "2.11.0+cu130", "cuda": "13.0", "notes": ["x"]}, "processes": [
		{"pid": 71, "rank": 0, "world_size": 2, "tensor_parallel": 2, "runs": [{"prefill_len": 7, "new_tokens": 3}, {"prefill_len": 8, "new_tokens": 3}]}, {"pid": 72, "runs": []},
		{"pid": 73, "rank": 1, "passes": [{"prefill_len": 9, "new_tokens": 4, "batch": 1}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []Process{{71, n(0), n(2), n(2)}, {PID: 72}, {PID: 73, Rank: n(1)}}; !reflect.DeepEqual(f.Process, want) {
		t.Errorf("%+v", f.Process)
	}
	var of []int
	for _, p := range f.Passes {
		of = append(of, p.Process)
	}
	if want := []string{"7 3 2 ~ ~ ~ ~ ~", "8 3 2 ~ ~ ~ ~ ~", "9 4 1 ~ ~ ~ ~ ~"}; !slices.Equal(f.lines(), want) || !slices.Equal(of, []int{1, 1, 3}) || len(f.Warnings) > 0 {
		t.Errorf("%q of %v, %q", f.lines(), of, f.Warnings)
	}
	if want := []Version{{"python", "3.12.3"}, {"torch", "2.11.0+cu130"}, {"torch_cuda", "13.0"}}; !slices.Equal(f.Versions, want) {
		t.Errorf("%+v", f.Versions)
	}
	for in, want := range map[string]string{
		`{"processes": 3}`: "processes is 3, want a list",
		`{"processes": [{"pid": 1, "runs": []}], "runs": []}`:                     "processes and runs both list passes: keep one",
		`{"processes": [{"runs": []}]}`:                                           "processes[0].pid is null, want the id of a process that no other entry has",
		`{"processes": [{"pid": 1, "runs": []}, {"pid": 1, "runs": []}]}`:         "processes[1].pid is 1, want the id",
		`{"processes": [{"pid": 2147483648, "runs": []}]}`:                        "processes[0].pid is 2147483648, want a whole number from 1 to 2147483647",
		`{"processes": [{"pid": 1}]}`:                                             "processes[0].runs is missing: want the passes of the process",
		`{"processes": [{"pid": 1, "rank": -1, "runs": []}]}`:                     "processes[0].rank is -1, want",
		`{"processes": [{"pid": 1, "runs": [{"prefill_len": 7}, {"batch": 0}]}]}`: "processes[0].runs[1].batch is 0, want",
		`{"marks": {"torch": 2}, "runs": []}`:                                     "marks.torch is 2, want text",
	} {
		if f, err := Read(strings.NewReader(in)); f != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func TestWhole(t *testing.T) {
	f, err := Read(strings.NewReader(`{"model": "m", "warmup": 2, "config": {"hidden_size": 12345678901234567890}, "runs": []}`))
	want := &Facts{Model: "m", Config: map[string]any{"hidden_size": json.Number("12345678901234567890")}, Warmup: n(2),
		Warnings: []string{"it lists no passes: give their tokens with --prefill N and --decode M"}}
	if err != nil || !reflect.DeepEqual(f, want) {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err = Read(strings.NewReader(`{"config": {}, "image_size": [65536, 1.0], "batch": 1}`)); err != nil || f.Image != (load.ImageSize{Width: 1, Height: 65536}) || f.Warnings != nil {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err = Read(strings.NewReader(`{"config": {}, "image_size": null, "batch": 1}`)); err != nil || f.Image != (load.ImageSize{}) {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err = Read(strings.NewReader(`{"config": null, "model": null, "batch": 1}`)); err != nil || f.Config != nil || f.Model != "" {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestWrong: an error names the field and what it may be.
func TestWrong(t *testing.T) {
	const count, batch, wall = "want a whole number from 0 to 2147483648", "want a whole number from 1 to 2147483648", "want milliseconds from 0 to 1e+12"
	run := func(field string) string {
		return `{"runs": [{"prefill_len": 1}, {"prefill_len": 1}, {` + field + `}]}`
	}
	cases := map[string]string{
		run(`"prefill_len": -5`):                                       "runs[2].prefill_len is -5, " + count,
		run(`"batch": 0`):                                              "runs[2].batch is 0, " + batch,
		run(`"warmup": 1`):                                             "runs[2].warmup is 1, want true or false",
		run(`"tokens_in": 1, "x": 1}, 5, {"x": 1`):                     "runs[3] is 5, want an object",
		`{"runs": [null]}`:                                             "runs[0] is null, want an object",
		`{"passes": [[]]}`:                                             "passes[0] is [], want an object",
		`{"passes": [{"new_tokens": "3"}]}`:                            `passes[0].new_tokens is "3", ` + count,
		`{"runs": {"a": 1}}`:                                           `runs is {"a":1}, want a list`,
		`{"runs": 3}`:                                                  "runs is 3, want a list",
		`{"runs": [], "passes": []}`:                                   "runs and passes mean the same, and both are given: keep one",
		`{"batch": 0, "runs": []}`:                                     "batch is 0, " + batch,
		`{"batch": -1}`:                                                "batch is -1, " + batch,
		`{"images": 1.5}`:                                              "images is 1.5, " + count,
		`{"crops": true}`:                                              "crops is true, " + count,
		`{"warmup": true, "runs": []}`:                                 "warmup is true, " + count,
		`{"model": 5, "runs": []}`:                                     "model is 5, want text",
		`{"config": "llama", "runs": []}`:                              `config is "llama", want an object`,
		`{"aggregates": 5}`:                                            "aggregates is 5, want an object",
		`{"aggregates": {"tokens": 16}}`:                               "aggregates.tokens is 16, want an object",
		`{"aggregates": {"tokens": {"mean": "16"}}}`:                   `aggregates.tokens.mean is "16", want a number of 0 or more`,
		`{"aggregates": {"tokens": {"mean": -1}}}`:                     "aggregates.tokens.mean is -1, want a number of 0 or more",
		`{"aggregates": {"tokens": {"mean": 1e10}}}`:                   "aggregates.tokens.mean is 1e10, " + count,
		`{"aggregates": {"tokens": {"mean": 16, "std": -0.5}}}`:        "aggregates.tokens.std is -0.5, want a number of 0 or more",
		`{"aggregates": {"tokens": {"mean": 16, "std": []}}}`:          "aggregates.tokens.std is [], want a number of 0 or more",
		run(`"new_tokens": {"` + strings.Repeat("x", 100) + `": "<"}`): `runs[2].new_tokens is {"` + strings.Repeat("x", maxShown-2) + "..., " + count,
	}
	for _, name := range slices.Concat(prefillNames, decodeNames, []string{"images", "crops"}) {
		for _, v := range []string{"-1", "1.5", "2147483649", "1e400", `"7"`, "true", "[7]", "{}"} {
			cases[run(`"`+name+`": `+v)] = fmt.Sprintf("runs[2].%s is %s, %s", name, v, count)
		}
	}
	for _, name := range wallNames {
		for _, v := range []string{"-0.001", "1.1e12", "1e400", `"NaN"`, "false"} {
			cases[run(`"`+name+`": `+v)] = fmt.Sprintf("runs[2].%s is %s, %s", name, v, wall)
		}
	}
	for _, v := range []string{`"640x480"`, "640", "[]", "[480]", "[480,640,3]", "[0,640]", "[480,65537]", "[480,1.5]", `["480",640]`, "{}"} {
		cases[`{"config": {}, "image_size": `+v+`}`] = "image_size is " + v + ", want [height, width] in pixels, each from 1 to 65536"
	}
	for in, want := range cases {
		if f, err := Read(strings.NewReader(in)); err == nil || err.Error() != want || f != nil {
			t.Errorf("%s gives %v, want %s", in, err, want)
		}
	}
}

// TestNoJSON: an error names the byte, and the field near it; all of them say that there are no facts of a workload.
func TestNoJSON(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "byte 0: unexpected end of JSON input: was the file cut off?",
		"{":                              "byte 1: unexpected end of JSON input: was the file cut off?",
		"x":                              "byte 1: invalid character 'x' looking for beginning of value",
		`{"runs": []} x`:                 "byte 14: invalid character 'x' after top-level value",
		`{"runs": [{"decode_ms": NaN}]}`: "byte 25 (near runs[0].decode_ms): invalid character 'N' looking for beginning of value",
		"\xef\xbb\xbf{\"runs\": [{\"decode_ms\": NaN}]}": "byte 28 (near runs[0].decode_ms): invalid character 'N' looking for beginning of value",
		`{"runs": [{"x": 1}, {"decode_ms": -Infinity}]}`: "byte 36 (near runs[1].decode_ms): invalid character 'I' in numeric literal",
		`{"a": {"b": {"c": {"d": {"e": !`:                "byte 31 (near a.b.c.d): invalid character '!' looking for beginning of value",
		"null":                                           "the file is JSON, but not an object",
		"[]":                                             "the file is JSON, but not an object",
		`"runs"`:                                         "the file is JSON, but not an object",
		"{}":                                             "it has none of runs, passes, processes, config, warmup, batch, images, crops and aggregates",
		`{"model": "m", "runs": null}`:                   "it has none of runs, passes, processes, config, warmup, batch, images, crops and aggregates",
		`{"prefill_len": 7, "new_tokens": 3}`:            "it has none of runs, passes, processes, config, warmup, batch, images, crops and aggregates",
		strings.Repeat("[", 20000):                       "byte 10001 (near [0][0][0][0]): invalid character '[' exceeded max depth",
		strings.Repeat(" ", MaxBytes+1) + "{}":           "the file is larger than 32 MiB",
	} {
		_, err := Read(strings.NewReader(in))
		if !errors.Is(err, ErrNoWorkload) || err.Error() != ErrNoWorkload.Error()+": "+want {
			t.Errorf("%.60q gives %v, want %s", in, err, want)
		}
	}
}

// TestBounds: as many passes as are allowed are read, one more is an error.
func TestBounds(t *testing.T) {
	most := `{"runs": [{}` + strings.Repeat(",{}", maxPasses-1)
	f, err := Read(strings.NewReader(most + "]}"))
	if err != nil || len(f.Passes) != maxPasses || len(f.Warnings) != 2 {
		t.Fatal(err)
	}
	if _, err = Read(strings.NewReader(most + ",{}]}")); err == nil || err.Error() != "runs has more than 262144 passes" {
		t.Error(err)
	}
}

func TestUniform(t *testing.T) {
	for _, c := range []struct {
		pass Pass
		want string
	}{
		{Pass{Prefill: n(681), Decode: n(16)}, "each 681 16 0 ~ ~ ~ ~ ~"},
		{Pass{Batch: 4, Images: n(2), Crops: n(3)}, "each ~ ~ 4 2 3 ~ ~ ~"},
	} {
		f := Uniform(c.pass, n(1))
		if got := f.lines(); !slices.Equal(got, []string{c.want}) || *f.Warmup != 1 || f.Config != nil || f.Warnings != nil {
			t.Errorf("%q, %+v", got, f)
		}
	}
	if f := Uniform(Pass{}, nil); f.Warmup != nil {
		t.Errorf("%+v", f)
	}
}
