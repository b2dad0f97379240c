package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// TestProtonRaw: kernels of a trace that names scopes, without ranges, stand under the names that are known, also where names as recorded are asked for; a note says
// so, and queries about what was not recorded say that.
func TestProtonRaw(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	ask := func(run, query string, args queries.Args) (rows, notes string) {
		f := testkit.Query(t, w, query, map[string]string{"run": run})
		if args != nil {
			args["run"] = run
			f = testkit.Query(t, w, query, args)
		}
		return fmt.Sprint(f.Rows), strings.Join(f.Notes, "\n")
	}
	if _, notes := ask("proton-trace", "peaks", nil); !strings.Contains(notes, "does not name its GPU") {
		t.Errorf("peaks: %q", notes)
	}
	if rows, _ := ask("proton-tree", "devices", nil); strings.Contains(rows, "false") {
		t.Errorf("devices: %s", rows)
	}
	plain, _ := ask("proton-trace", "range-kernels", nil)
	raw, notes := ask("proton-trace", "range-kernels", queries.Args{"raw": "true"})
	if raw != plain || len(plain) < 10 || !strings.Contains(notes, "names are normalised") {
		t.Errorf("raw %s, %q; want %s", raw, notes, plain)
	}
	for _, run := range []string{"llama-graph-node", "proton-trace"} {
		for _, query := range []string{"api-calls", "captured-kernels", "copy-sizes", "graphs", "launches", "library-calls", "memops", "osrt-calls", "ranges", "pass-accounting", "cold-passes", "passes", "stage-notes", "stream-queues", "syncs", "timeline-calls", "timeline-passes", "timeline-ranges"} {
			rows, notes := ask(run, query, nil)
			if isProton := run == "proton-trace"; isProton != strings.Contains(notes, "the timeline has kernels alone") || isProton && rows != "[]" {
				t.Errorf("%s of %s: %.100s, %q", query, run, rows, notes)
			}
		}
		if _, notes := ask(run, "range-kernels", queries.Args{"raw": "true"}); slices.Contains([]string{"llama-graph-node"}, run) && strings.Contains(notes, "names are normalised") {
			t.Errorf("%s: %q", run, notes)
		}
	}
}
