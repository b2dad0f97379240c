package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// TestRedact: a report made with --redact has nothing of whose the run is and where it ran, in none of its files; without, it has.
func TestRedact(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	captured(t, p)
	manifest := string(read(t, p.path("run/run.json")))
	for old, now := range map[string]string{`"host": "box"`: `"host": "gpu17.zcorp.example"`, `"run.py"`: `"/srv/zeta/run_zeta.py", "--model", "zetacorp/zetamodel-7b", "--note", "zflag"`, `"branch": "main"`: `"branch": "zbranch"`} {
		if !strings.Contains(manifest, old) {
			t.Fatalf("run.json has no %s", old)
		}
		manifest = strings.ReplaceAll(manifest, old, now)
	}
	write(t, p.path("run/run.json"), []byte(manifest))
	env := string(read(t, p.path("run/env.json")))
	env = strings.Replace(env, `"CUDA_VISIBLE_DEVICES": "0"`, `"CUDA_VISIBLE_DEVICES": "MIG-7ad1b1c2-1111-2222-3333-444455556666,GPU-e8352900", "MASTER_ADDR": "10.77.8.9", "CUDA_LAUNCH_BLOCKING": "true", "PYTHONPATH": "/srv/zqa:/opt/zqb", "HF_HOME": "~/zqc"`, 1)
	write(t, p.path("run/env.json"), []byte(env))
	config := write(t, p.path("zetamodel.config.json"), []byte(`{"_name_or_path": "Zcodename", "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 16, "vocab_size": 128256, "torch_dtype": "bfloat16"}`))
	p.ok("ingest", "--run", "r", "--tag", "owner=zowner", "--tag", "precision=bf16", "--model", config, "run", exported(t, "../ncu/source/lines.ncu-rep.gz"))
	private := []string{"gpu17", "zcorp", "zeta", "zflag", "zbranch", "zowner", "/home/", p.dir, "report-1.sqlite.gz", "MIG-7ad", "GPU-e8352900", "10.77.8.9", "zqa", "zqb", "zqc", "Zcodename", "kernels.cu", "threadIdx"}
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
	for _, word := range append(private[:6:6], "threadIdx") {
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
	p.ok("rm", "r")
	p.ok("ingest", "--run", "r-gpu17", "run")
	id := strings.TrimPrefix(strings.TrimSpace(p.ok("sql", "--format", "csv", "SELECT run_id FROM run")), "run_id\n")
	p.wantLike(0, "", "wrote the redacted report of run r-gpu17, without rows, to "+id+`\.prof\.zst\n`, "pack", "--run", "r-gpu17", "--redact")
	clean("of a run that is named after the host", string(zstdOf(t, p.path(id+".prof.zst"))))
	// A program that is called kernels, and a device that is, by Nsight Systems, a host of another name.
	p = reading(t, []testkit.Run{{Name: "k", Files: []string{"nsys/" + kernels}}, {Name: "node", Files: []string{"nsys/" + node}}})
	if text := p.ok("report", "k", "--redact", "--out", "-"); !strings.Contains(text, "= 16 kernels)") || strings.Contains(text, "/kernels") {
		t.Errorf("of a program called kernels: %s", text)
	}
	if text := p.ok("report", "node", "--redact", "--out", "-", "--file", "env.json"); !strings.Contains(text, `"capture.device": "[host]"`) {
		t.Errorf("the host as Nsight Systems calls it stays: %s", text)
	}
	p.wantLike(2, "", `prof: --keep-tag applies to --redact\n`, "report", "k", "--keep-tag", "x")
}
