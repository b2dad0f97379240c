package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest"
	"prof/internal/testkit"
)

// toRedact is what in the folder of a captured run becomes private, and privateModel a configuration that is.
var toRedact = [][3]string{
	{"run.json", `"host": "box"`, `"host": "gpu17.zcorp.example"`},
	{"run.json", `"run.py"`, `"/srv/zeta/run_zeta.py", "--model", "zetacorp/zetamodel-7b", "--note", "zflag"`},
	{"run.json", `"branch": "main"`, `"branch": "zbranch"`},
	{"env.json", `"CUDA_VISIBLE_DEVICES": "0"`, `"CUDA_VISIBLE_DEVICES": "MIG-7ad1b1c2-1111-2222-3333-444455556666,GPU-e8352900", "MASTER_ADDR": "10.77.8.9", "CUDA_LAUNCH_BLOCKING": "true", "PYTHONPATH": "/srv/zqa:/opt/zqb", "HF_HOME": "~/zqc"`},
}

const privateModel = `{"_name_or_path": "Zcodename", "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 16, "vocab_size": 128256, "torch_dtype": "bfloat16"}`

// privateRuns are a run that says whose it is in every way, and one by its name too.
var privateRuns = []testkit.Run{
	{Name: "r", Options: ingest.Options{Tags: [][2]string{{"owner", "zowner"}, {"precision", "bf16"}}}, Files: []string{"ncu/source/lines.ncu-rep.gz"}, Key: fmt.Sprint(toRedact, privateModel), Sources: privateSources,
		Make: func(dir string) ([]string, error) {
			config := filepath.Join(dir, "zetamodel.config.json")
			run, err := writePrivate(dir)
			return []string{run, config}, errors.Join(err, os.WriteFile(config, []byte(privateModel), 0o644))
		}},
	{Name: "r-gpu17", Key: fmt.Sprint(toRedact), Sources: privateSources, Make: func(dir string) ([]string, error) {
		run, err := writePrivate(dir)
		return []string{run}, err
	}},
}

var privateSources = []string{"testdata/capture/repeats", "testdata/nsys/kernels"}

// writePrivate writes the folder of a captured run with what is to be redacted.
func writePrivate(dir string) (string, error) {
	dir = filepath.Join(dir, "run")
	if err := writeCaptured(dir); err != nil {
		return "", err
	}
	for _, c := range toRedact {
		path := filepath.Join(dir, c[0])
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if !strings.Contains(string(text), c[1]) {
			return "", fmt.Errorf("%s has no %s", c[0], c[1])
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), c[1], c[2])), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// TestRedact: a report made with --redact has nothing of whose the run is and where it ran, in none of its files; without, it has.
func TestRedact(t *testing.T) {
	t.Parallel()
	p := reading(t, privateRuns)
	private := []string{"gpu17", "zcorp", "zeta", "zflag", "zbranch", "zowner", "/home/", "prof-test-made", "report-1.sqlite.gz", "MIG-7ad", "GPU-e8352900", "10.77.8.9", "zqa", "zqb", "zqc", "Zcodename", "kernels.cu", "threadIdx"}
	clean := func(name, text string) {
		for _, word := range private {
			if at := strings.Index(text, word); at >= 0 {
				t.Errorf("%s has %q: %q", name, word, text[max(0, at-60):min(len(text), at+60)])
			}
		}
	}
	texts := func(args ...string) string {
		dir := p.path("out" + strings.Join(args, ""))
		p.ok(append([]string{"report", "r", "--out", dir}, args...)...)
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) < 8 {
			t.Fatalf("%v: %d files", err, len(files))
		}
		var all strings.Builder
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if len(args) > 0 {
				clean(filepath.Base(f), string(text))
			}
			all.Write(text)
		}
		return all.String()
	}
	open, redacted, kept := texts(), texts("--redact"), p.ok("report", "r", "--out", "-", "--redact", "--keep-tag", "precision")
	for _, word := range append(private[:6:6], "prof-test-made", "threadIdx") {
		if !strings.Contains(open, word) {
			t.Errorf("an open report has no %q, so that the test says nothing", word)
		}
	}
	for _, by := range []string{"[host]", "[command]", "[model]", "owner=[tag]", "precision=[tag]"} {
		if !strings.Contains(strings.ReplaceAll(redacted, `\`, ""), by) {
			t.Errorf("a redacted report does not say %s", by)
		}
	}
	if !strings.Contains(strings.ReplaceAll(kept, `\`, ""), "precision=bf16") {
		t.Error("a tag that was to stay is gone")
	}
	if !strings.Contains(redacted, "vectorAdd") && !strings.Contains(redacted, "Kernel") {
		t.Error("no kernel is left")
	}
	packed := p.path("r.prof.zst")
	p.wantLike(0, "", "wrote the redacted report of run r, without rows, to .*\n", "pack", "r", "--redact", "--keep-tag", "precision", "--out", packed)
	clean(packed, string(zstdOf(t, packed)))
	id := testkit.RunID("r-gpu17")
	p.wantLike(0, "", "wrote the redacted report of run r-gpu17, without rows, to "+id+`\.prof\.zst\n`, "pack", "--run", "r-gpu17", "--redact")
	clean("of a run that is named after the host", string(zstdOf(t, p.path(id+".prof.zst"))))
	// A program that is called kernels, and a device that is, by Nsight Systems, a host of another name.
	p = reading(t, two)
	if text := p.ok("report", "a", "--redact", "--out", "-"); !strings.Contains(text, "= 16 kernels)") || strings.Contains(text, "/kernels") {
		t.Errorf("of a program called kernels: %s", text)
	}
	if text := p.ok("report", "llama", "--redact", "--out", "-", "--file", "env.json"); !strings.Contains(text, `"capture.device": "[host]"`) {
		t.Errorf("the host as Nsight Systems calls it stays: %s", text)
	}
	p.wantLike(2, "", `prof: --keep-tag applies to --redact\n`, "report", "a", "--keep-tag", "x")
}
