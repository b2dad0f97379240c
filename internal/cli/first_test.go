package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFirst ingests a folder as the first implementation of prof's design wrote it, in one command, and asks what such a run can answer.
func TestFirst(t *testing.T) {
	t.Parallel()
	p := newStored(t, various) // "both" is a run of the same program
	from, err := filepath.Abs("../../testdata/first")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(p.path("runs"), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	const folder = "runs/20251107-115812"
	write(t, p.path(folder+"/broken/inputs.yaml"), []byte("count: 1\ninputs:\n- a: [\n"))
	write(t, p.path(folder+"/viz/page.png"), []byte("\x89PNG\r\n"))
	r := p.run("ingest", "--run", "old", folder)
	if r.code != 0 || r.out != "old\n" {
		t.Fatalf("%+v", r)
	}
	for _, want := range []string{"(and 3 more): 3 metrics without a value in any result", "\nfiles not read: ", folder + "/report.md: it is a report for people, of figures that other files hold\n",
		folder + "/viz/page.png: it is a picture\n", folder + "/broken/inputs.yaml: line "} {
		if !strings.Contains(r.err, want) {
			t.Errorf("ingest says\n%s\nwant %q", r.err, want)
		}
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"query", "sources", "--run", "old", "-f", "csv"}, []string{",reported,environment,", ",reported,inputs,", ",reported,settings,", ",reported,assumptions,", ",reported,kernel-table,", ",reported,static-compute,", ",reported,torchinfo,", ",reported,ncu-command,", ",workload,workload,", ",torch,torch-averages,"}},
		{[]string{"query", "top-operators", "--run", "old", "-f", "csv"}, []string{",aten::linear,2310,,301250000,", ",void cutlass::Kernel<A|B>(T1::Params),1180,,120500000,"}},
		{[]string{"query", "kernel-sol", "--run", "old", "-f", "csv"}, []string{"fmha_cutlassF_bf16_aligned_64x64_rf_sm80", "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16"}},
		{[]string{"query", "roofline", "--run", "old", "-f", "csv"}, []string{"tensor_bf16"}},
		{[]string{"query", "reported-metrics", "--run", "old", "-f", "csv"}, []string{"stage,prefill,time_ns,ns,98336000,64006000,,,", "run,,tokens_per_s,tokens_per_s,90.501,1.49,,,", "stage,decode,mfu_ratio,ratio,0.000211,,,,", "model,,mac_count,mac,184270000000,,,,"}},
		{[]string{"query", "facts", "--run", "old", "-f", "csv"}, []string{"reported.environment.gpu,NVIDIA GeForce RTX 5090", "reported.inputs.count,2", "reported.settings.model.dtype,bf16", "reported.assumptions.Decoding Params.max_new_tokens,64", "reported.static-compute.seq_len,1024", "reported.settings.hf_token,"}},
		{[]string{"show", "old"}, []string{"reported by other tools\n", "prefill  98.3 ms ± 64.0 ms, MFU 2.1 %", "model    MFU 0.3 %, multiply-adds 184.27 B\nmodel    parameters 3.34 B (static_compute), 3.17 B (torchinfo-summary)\n", " of 2 kernels in isolation"}},
		{[]string{"report", "old", "--out", "reported"}, nil},
		{[]string{"reported/report.md"}, []string{"<summary>Reported by other tools</summary>", "| stage | prefill | `time_ns` | ns | 98,336,000 |"}},
		{[]string{"reported/env.json"}, []string{`"gpu": "NVIDIA GeForce RTX 5090"`, `"torch": "2.10.0.dev20251102+cu128"`}},
	} {
		var got string
		if file := p.path(c.args[0]); exists(file) { // that report wrote
			got = string(read(t, file))
		} else {
			got = p.ok(c.args...)
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q gives\n%s\nwant %q", c.args, got, want)
			}
		}
		if strings.Contains(got, "hf_example") || strings.Contains(got, "/home/someone") {
			t.Errorf("%q shows a secret or a name", c.args)
		}
	}
	if got := p.sql("SELECT count(*) AS n, count(DISTINCT kernel_name_id) AS k FROM ncu_launch JOIN run USING (run_id) WHERE name = 'old'"); got != "n,k\n2,2\n" {
		t.Errorf("each launch is once in four pages: %s", got)
	}
	p.wantLike(0, `.*`, `.*metrics\.json reports times of 4 stages, by the clock of the tool that wrote it: prof query reported-metrics\n.*`, "query", "stages", "--run", "old", "-f", "csv")

	// A new run of the same program is compared with it.
	if got := p.ok("diff", "old", "both"); !strings.Contains(got, "All device work: cannot tell") || !strings.Contains(strings.Join(strings.Fields(got), " "), "old is not whole: a table lacks rows of kernels") {
		t.Errorf("diff: %s", got)
	}

	// The same environment belongs to many runs; facts given again are there already, and new ones take the place of those of their form.
	p.ok("ingest", "--run", "again", folder+"/env.json", folder+"/config.yaml")
	p.wantLike(0, "again\n", `run again already has .*env.json; nothing to do\n`, "ingest", "--run", "again", folder+"/env.json")
	write(t, p.path("newer/env.json"), []byte(`{"gpu": "NVIDIA H200", "cuda": "13.0"}`))
	p.wantLike(0, "again\n", `.*replaced in run again: .*env\.json\n.*`, "ingest", "--run", "again", "newer/env.json")
	if got := p.sql("SELECT value FROM source_fact f JOIN run r USING (run_id) WHERE r.name = 'again' AND key IN ('reported.environment.gpu', 'reported.settings.device') ORDER BY key"); got != "value\nNVIDIA H200\ncuda:0\n" {
		t.Errorf("facts: %s", got)
	}
	p.ok("rm", "old")
	if got := p.sql("SELECT count(*) FROM reported_value"); got != "count_star()\n0\n" {
		t.Errorf("after rm, reported_value holds %s", got)
	}
	p.wantLike(1, "", `prof: .*broken/inputs\.yaml: line .*\n`, "ingest", folder+"/broken/inputs.yaml")

	// What prof report writes under these names is no fact of a run.
	p.ok("ingest", "--run", "written", "reported")
	if got := p.ok("query", "sources", "--run", "written", "--format", "csv"); strings.Count(got, "\n") != 2 || !whole(`.*\n1,workload,workload,[^,]*reported/metrics\.json,.*`).MatchString(got) {
		t.Errorf("of what prof report wrote, other files than metrics.json are read: %s", got)
	}
	if got := p.sql("SELECT count(*) FROM reported_value"); got != "count_star()\n0\n" {
		t.Errorf("figures of prof's own are stored as those of another tool: %s", got)
	}
}
