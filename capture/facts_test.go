package capture

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"prof/capture/plan"
	"prof/internal/golden"
	"prof/schema/rundir"
)

// TestFacts: what the processes of a recording said becomes one file: as it was of one process, each with its passes of a job.
func TestFacts(t *testing.T) {
	const (
		alone  = `{"config":{"a":1},"runs":[{"prefill_len":7}],"marks":{"pid":70}}`
		rank0  = `{"config":{"a":1},"runs":[{"prefill_len":7}],"marks":{"pid":71,"rank":0,"world_size":2,"tensor_parallel":2,"torch":"2"}}`
		rank1  = `{"config":{"a":1},"runs":[{"prefill_len":9}],"marks":{"pid":72,"rank":1,"world_size":2}}`
		other  = `{"config":{"a":2},"runs":[{"prefill_len":9}],"marks":{"pid":73}}`
		idle   = `{"marks":{"pid":74,"notes":["x"]}}`
		both   = `"processes":[{"pid":71,"rank":0,"world_size":2,"tensor_parallel":2,"runs":[{"prefill_len":7}]},{"pid":72,"rank":1,"world_size":2,"runs":[{"prefill_len":9}]}`
		marks0 = `"marks":{"pid":71,"rank":0,"world_size":2,"tensor_parallel":2,"torch":"2"},`
	)
	for what, c := range map[string]struct {
		files map[string]string // by the name below nsys
		want  string            // "": there is no workload.json
		says  string
	}{
		"one process":      {map[string]string{"report-1.facts.json": alone}, alone, ""},
		"repeats of one":   {map[string]string{"report-1.facts.json": strings.Replace(alone, "70", "7", 1), "report-2.facts.json": alone}, alone, ""},
		"two ranks":        {map[string]string{"report-1.facts.json": rank0, "report-1-72.facts.json": rank1}, `{"config":{"a":1},` + marks0 + both + "]}\n", ""},
		"either one first": {map[string]string{"report-1.facts.json": rank0, "report-1-72.facts.json": rank1, "report-2.facts.json": strings.Replace(rank1, "72", "82", 1), "report-2-81.facts.json": strings.Replace(rank0, "71", "81", 1)}, `{"pid":82,"rank":1,"world_size":2,"runs":[{"prefill_len":9}]},{"pid":81,`, ""},
		"one rank of two":  {map[string]string{"report-1.facts.json": rank1}, `"processes":[{"pid":72,"rank":1,"world_size":2,"runs":[{"prefill_len":9}]}]}`, ""},
		"an idle one":      {map[string]string{"report-1.facts.json": idle, "report-1-70.facts.json": alone}, alone, ""},
		"150,000 passes":   {map[string]string{"report-1.facts.json": alone + strings.Repeat(" ", 50<<20)}, alone, ""},
		"nothing ran":      {map[string]string{"report-1.facts.json": idle}, idle, ""},
		"two models":       {map[string]string{"report-1.facts.json": alone, "report-1-73.facts.json": other}, `{"marks":{"pid":70},"processes":[{"pid":70,"runs"`, "different configurations"},
		"other repeats":    {map[string]string{"report-1.facts.json": alone, "report-2.facts.json": other}, "", "did not all do the same work"},
		"ranks exchanged":  {map[string]string{"report-1.facts.json": rank0, "report-1-72.facts.json": rank1, "report-2.facts.json": strings.Replace(rank0, "7}", "9}", 1), "report-2-72.facts.json": strings.Replace(rank1, "9}", "7}", 1)}, "", "did not all do the same work"},
		"none":             {nil, "", ""},
	} {
		t.Run(what, func(t *testing.T) {
			s := &Session{dir: t.TempDir(), setup: Setup{Talk: func(string) {}}}
			for n := range 2 {
				s.manifest.Passes = append(s.manifest.Passes, rundir.Pass{Name: "nsys", Tool: rundir.ToolNsys, Repeat: n + 1})
			}
			golden.Write(t, s.below("nsys/workload.json"), "{}")
			for name, text := range c.files {
				golden.Write(t, s.below("nsys/"+name), text)
			}
			if c.files == nil {
				remove(t, s.below("nsys/workload.json"))
			}
			if err := s.chooseFacts(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(s.below("nsys/workload.json"))
			if os.IsNotExist(err) != (c.want == "") || !strings.Contains(string(got), c.want) {
				t.Errorf("%v\n got %s\nwant %s", err, got, c.want)
			}
			if said := strings.Join(s.manifest.Warnings, "; "); !strings.Contains(said, c.says) || c.says == "" && said != "" {
				t.Errorf("it warns %q, want %q", said, c.says)
			}
		})
	}
}

// TestTorchFacts: of the recording under the PyTorch profiler one file is left, which says what all did.
func TestTorchFacts(t *testing.T) {
	s := &Session{dir: t.TempDir(), setup: Setup{Talk: func(string) {}}}
	const name = "torch/trace-1.workload.json"
	if err := s.joinTorchFacts(name); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, s.below(name), `{"runs":[{"prefill_len":7}],"marks":{"pid":71,"rank":0,"world_size":2}}`)
	golden.Write(t, s.below("torch/trace-1-72.workload.json"), `{"runs":[{"prefill_len":9}],"marks":{"pid":72,"rank":1,"world_size":2}}`)
	if err := s.joinTorchFacts(name); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(s.below("torch/*"))
	if err != nil || len(left) != 1 {
		t.Errorf("%q, %v", left, err)
	}
	got, err := os.ReadFile(s.below(name))
	if err != nil || !strings.Contains(string(got), `"processes":[{"pid":71,"rank":0,"world_size":2,"runs":[{"prefill_len":7}]},{"pid":72,`) {
		t.Errorf("%s, %v", got, err)
	}
	golden.Write(t, s.below("torch/trace-1-73.workload.json"), `{"runs": [`)
	if err := s.joinTorchFacts(name); err == nil || !strings.HasPrefix(err.Error(), "trace-1-73.workload.json: ") {
		t.Errorf("a file that is cut: %v", err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// The workload is told each input as often as it is to be worked on.
func TestWorkloadInputs(t *testing.T) {
	s := &Session{o: plan.With(func(o *plan.Options) { o.InputsManifest, o.RepeatInputs = "m.yaml", 2 }), dir: t.TempDir()}
	s.setup.Environ = []string{"A=1", "PROF_INPUTS=/of/another"}
	if err := s.writeWorkloadInputs([]rundir.Input{{ID: "a", Path: "/a"}, {ID: "b", Path: "/b", Pages: new(int64(2))}}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(s.dir, "inputs.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version int
		Inputs  []map[string]any
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Version != 1 || len(got.Inputs) != 4 || got.Inputs[2]["id"] != "a" || got.Inputs[3]["pages"] != 2.0 {
		t.Errorf("%v\n%s", err, text)
	}
	if env := s.inputsEnv(); !reflect.DeepEqual(env, []string{"A=1", "PROF_INPUTS=" + name}) {
		t.Errorf("the environment is %q", env)
	}
	s.o.InputsManifest = ""
	if env := s.inputsEnv(); !reflect.DeepEqual(env, []string{"A=1"}) {
		t.Errorf("without a manifest it is %q", env)
	}
}
