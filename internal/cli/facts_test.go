package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// config is the configuration of a small Llama with that many layers.
func config(layers int) []byte {
	return fmt.Appendf(nil, `{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2,
		"num_hidden_layers": %d, "vocab_size": 100, "tie_word_embeddings": false}`, layers)
}

const stored = `\d+ rows from %d sources?, 0\.0 MB in \d+\.\d\d s\n`

func added(run string, sources int) string {
	return `added to run ` + run + `: ` + fmt.Sprintf(stored, sources)
}

// TestFacts: facts that are beside captures already, after them, again, in place of others, and alone.
func TestFacts(t *testing.T) {
	t.Parallel()
	const workload = `{"warmup": 1, "runs": [{"prefill_len": 7, "new_tokens": 4}]}`
	p := newStored(t, []testkit.Run{{Name: "a", Files: filled[0].Files, TrueSums: true, Key: workload + string(config(2)), Make: func(dir string) ([]string, error) {
		model, facts := filepath.Join(dir, "model"), filepath.Join(dir, "workload.json")
		return []string{model, facts}, errors.Join(os.Mkdir(model, 0o755), os.WriteFile(filepath.Join(model, "config.json"), config(2), 0o644), os.WriteFile(facts, []byte(workload), 0o644))
	}}})
	write(t, p.path("model/config.json"), config(2))
	write(t, p.path("baseline.json"), config(3))
	write(t, p.path("workload.json"), []byte(workload))
	before := state(p)
	p.want(result{0, "a\n", "run a already has model/config.json; nothing to do\n"}, "ingest", "--run", "a", "--model", "model/config.json")
	p.want(result{0, "a\n", "run a already has model/config.json; nothing to do\nrun a already has workload.json; nothing to do\n"}, "ingest", "--run", "a", "model", "workload.json")
	p.want(result{0, "a\n", exported(t, kernels) + held("a")}, "ingest", exported(t, kernels), "model", "workload.json")
	p.want(result{0, "a\n", "warning: baseline.json was not stored, because its captures are already in run a; to replace what the run has: prof ingest --run a --model baseline.json\n" +
		exported(t, kernels) + held("a", "b")}, "ingest", "--run", "b", "--model", "baseline.json", exported(t, kernels))
	p.want(result{1, "", "prof: run a exists already: tag it with `prof tag a KEY=VALUE`\n"}, "ingest", "--run", "a", "--tag", "k=v", "--model", "baseline.json")
	p.want(result{1, "", "prof: bad.json: the configuration lacks: hidden_size, intermediate_size, num_attention_heads, num_hidden_layers, vocab_size\n"},
		"ingest", "--run", "a", "--model", string(write(t, p.path("bad.json"), []byte(`{"model_type": "llama"}`)))[len(p.dir)+1:], "--prefill", "5")
	if after := state(p); after != before {
		t.Errorf("the warehouse changed:\n%s\n%s", before, after)
	}
	p.wantLike(0, "a\n", `warning: replaced in run a: [^ ]*/model/config\.json\n`+added("a", 2), "ingest", "--run", "a", "--model", "baseline.json", "--prefill", "681", "--images", "3", "--warmup", "1")
	if got := p.ok("query", "models", "--run", "a", "-f", "csv"); !strings.Contains(got, "\n2,baseline,llama,") || strings.Count(got, "\n") != 2 {
		t.Errorf("models:\n%s", got)
	}
	// Options add to those of before, here of a run that has nothing else, whose facts are soon derived.
	p.wantLike(0, "alone\n", "warning: there was no run alone: [^\n]*\n"+fmt.Sprintf(stored, 1), "ingest", "--run", "alone", "--model", "baseline.json")
	p.want(result{0, "alone\n", "run alone already has baseline.json; nothing to do\n"}, "ingest", "--model", "baseline.json")
	p.wantLike(0, "alone\n", added("alone", 1), "ingest", "--run", "alone", "--prefill", "681", "--images", "3", "--warmup", "1")
	p.wantLike(0, "alone\n", added("alone", 1), "ingest", "--run", "alone", "--decode=16", "--batch", "2", "--images", "1", "--crops", "4")
	if got := p.sql("SELECT p.* EXCLUDE (run_id, source_id), w.warmup_count FROM workload_pass p JOIN workload w USING (run_id, source_id) JOIN source s USING (run_id, source_id) JOIN run r USING (run_id) WHERE s.form = 'options' AND r.name = 'alone'"); got !=
		"pass_id,is_warmup,prefill_count,decode_count,batch_count,image_count,crop_count,prefill_ns,decode_ns,vision_ns,input,process_id,warmup_count\n,false,681,16,2,1,4,,,,,,1\n" {
		t.Errorf("options: %q", got)
	}
	again := []string{"ingest", "--run", "alone", "--decode", "16", "--batch", "2", "--images", "1", "--crops", "4"}
	p.want(result{0, "alone\n", "run alone already has the facts in the options; nothing to do\n"}, again...)
	p.ok("rm", "a", "alone")
	for _, line := range strings.Fields(counts(p))[1:] {
		name, n, _ := strings.Cut(line, ",")
		if n != "0" && (strings.HasPrefix(name, "model") || strings.HasPrefix(name, "workload") || strings.HasPrefix(name, "source") || name == "diagnostic" || name == "run") {
			t.Errorf("after rm, %s holds %s rows", name, n)
		}
	}
}

// TestWrongOptionFacts: what cannot be is refused before a home is made.
func TestWrongOptionFacts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{"prefill", "decode", "batch", "images", "crops", "warmup"} {
		least := 0
		if name == "batch" {
			least = 1
		}
		for _, value := range []string{"-1", "2147483649", fmt.Sprint(least - 1)} {
			p.want(result{2, "", fmt.Sprintf("prof: --%s %s: want a whole number from %d to 2147483648\n", name, value, least)}, "ingest", "--run", "a", "--"+name, value, exported(t, kernels))
		}
		for _, value := range []string{"many", "1.5", "", "99999999999999999999"} {
			p.wantLike(2, "", "prof: [^\n]*"+name+"[^\n]*; see `prof help ingest`\n", "ingest", "--run", "a", "--"+name, value, exported(t, kernels))
		}
	}
	p.want(result{1, "", "prof: nosuch.json: there is no such file or folder\n"}, "ingest", "--model", "nosuch.json", exported(t, kernels))
	p.want(result{1, "", "prof: nosuch.json: there is no such file or folder\n"}, "ingest", "--workload", "nosuch.json")
	p.want(result{2, "", "prof: ingest takes files or folders; see `prof help ingest`\n"}, "ingest", "--run", "a")
	if got := listing(t, p.dir); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}
