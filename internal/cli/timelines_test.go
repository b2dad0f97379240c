package cli

import (
	"regexp"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// change writes to the place's warehouse.
func (p *place) change(stmt string) {
	p.t.Helper()
	p.settle()
	w, err := schema.Open(p.t.Context(), schema.Home{Dir: p.path(".prof")}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		p.t.Fatal(err)
	}
	_, err = w.DB.Exec(stmt + "; UPDATE derivation SET checksum = ''")
	closing(w, &err)
	if err != nil {
		p.t.Fatalf("%s: %v", stmt, err)
	}
}

// unwrapped puts facts that take several lines back into one.
func unwrapped(text string) string { return regexp.MustCompile(`\n {6,}`).ReplaceAllString(text, " ") }

// TestTwoTimelines follows a user with a run of two kinds of capture: which one is counted, and how to see the other. The second is
// a capture of Nsight Systems under another name.
func TestTwoTimelines(t *testing.T) {
	t.Parallel()
	const torch = "UPDATE source SET kind = 'torch', form = 'torch-trace' WHERE run_id = $run AND source_id = 2"
	captures := []string{"nsys/" + kernels, "nsys/" + node}
	p := reading(t, []testkit.Run{{Name: "first", Files: captures[:1]}, {Name: "second", Files: captures[1:]}, {Name: "both", Files: captures, SQL: torch},
		{Name: "without", Files: captures, SQL: torch + "; DELETE FROM kernel WHERE run_id = $run AND source_id = 2"},
		{Name: "neither", Files: captures, SQL: "UPDATE source SET kind = 'torch', form = 'torch-trace' WHERE run_id = $run; DELETE FROM kernel WHERE run_id = $run"}})
	ask := func(run string, args ...string) string {
		return p.ok(append([]string{"query", "top-kernels", "--run", run, "-f", "csv"}, args...)...)
	}
	line := func(run string) string {
		m := regexp.MustCompile(`(?m)^attribution  (.*)$`).FindStringSubmatch(unwrapped(p.ok("show", "--facts", run)))
		if m == nil {
			t.Fatalf("show %s proves nothing", run)
		}
		return m[1]
	}
	first, second := line("first"), line("second")
	alone := [2]string{ask("first"), ask("second")}
	if a, b := ask("both"), ask("both", "--source", "torch"); a != alone[0] || b != alone[1] || a == b {
		t.Errorf("by default:\n%s\nof torch:\n%s", a, b)
	}
	p.wantLike(0, `rank.*`, `note: the run has timelines from Nsight Systems and the PyTorch profiler; this counts the one from the PyTorch profiler \(--source nsys for the other\)\n`,
		"query", "top-kernels", "--run", "both", "--source", "torch", "--warmup", "-f", "csv")
	p.want(result{2, "", "prof: query api-calls: invalid argument: --source is prof, nsys, rocprof, torch, xla, proton, nsys-stats or proton-tree\n"}, "query", "api-calls", "--run", "both", "--source", "ncu")
	show := unwrapped(p.ok("show", "--facts", "both"))
	for _, want := range []string{"\nattribution (nsys)   " + first + "\nattribution (torch)  " + second + "\n", "this counts the one from Nsight Systems (--source torch for the other)"} {
		if !strings.Contains(show, want) {
			t.Errorf("show lacks %q:\n%s", want, show)
		}
	}
	if got := p.ok("query", "top-kernels", "-h"); !strings.Contains(got, "--source value") || !strings.Contains(got, "only this kind of capture: prof, nsys, rocprof, torch, xla, proton, nsys-stats or proton-tree; default: the first of these that the run has") {
		t.Errorf("the help says nothing of --source: %s", got)
	}
	if got := p.ok("show", "--facts", "without"); !strings.Contains(got, "\nattribution (torch)  no kernels\n") {
		t.Errorf("a timeline without kernels: %s", got)
	}
	if got := p.ok("show", "--facts", "neither"); strings.Contains(got, "attribution") {
		t.Errorf("one kind without kernels: %s", got)
	}
	p.wantLike(0, `rank[^\n]*\n`, `note: nothing has --source nsys; the run has the captures torch\n`, "query", "top-kernels", "--run", "neither", "--source", "nsys", "-f", "csv")
}
