package ingest_test

import (
	"strings"
	"testing"

	"prof/internal/testkit"
)

// TestSymbols holds the mangled names of kernels: each name of a real capture has one, and those of a small one are known.
func TestSymbols(t *testing.T) {
	w := kept(t, testkit.Run{Name: "kernels", Files: []string{"nsys/kernels/kernels.sqlite.gz"}},
		testkit.Run{Name: "two", Files: []string{"nsys/llama-graph-node/llama-graph-node.sqlite.gz", "nsys/nccl2/nccl2.sqlite.gz"}})
	got := testkit.Rows(t, w, `SELECT n.short_name, s.symbol FROM kernel_symbol s JOIN kernel_name n USING (run_id, kernel_name_id) JOIN run r USING (run_id) WHERE r.name = 'kernels' ORDER BY n.short_name`)
	found := 0
	for _, r := range got {
		short, symbol, _ := strings.Cut(r, "|")
		for name, want := range map[string]string{"tiled_matmul": "_Z12tiled_matmuliPKfS0_Pf", "saxpy": "_Z5saxpyifPKfPf"} {
			if short == name {
				found++
				if symbol != want {
					t.Errorf("the symbol of %s is %s, want %s", short, symbol, want)
				}
			}
		}
	}
	if found != 2 {
		t.Errorf("symbols %q", got)
	}
	expectNone(t, w, "kernels without one symbol", `SELECT n.name, count(s.symbol) FROM kernel_name n LEFT JOIN kernel_symbol s USING (run_id, kernel_name_id) GROUP BY n.run_id, n.name HAVING count(s.symbol) <> 1`)
	expectNone(t, w, "symbols of no kernel", `SELECT s.symbol FROM kernel_symbol s ANTI JOIN kernel_name n USING (run_id, kernel_name_id)`)
	expectNone(t, w, "symbols of two kernels", `SELECT run_id, symbol FROM kernel_symbol GROUP BY ALL HAVING count(*) > 1`)
	testkit.Expect(t, madeUp(t, "old", "old.sqlite"), `SELECT count(*) FROM kernel_symbol`, "0") // its kernels have no such column
}
