package queries_test

import (
	"encoding/json"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// TestPlanSteps: each step of ncu-plan joins the choices so far with what is left to choose, and nothing else: what a step makes anew, it makes for each
// choice, and in an order of joins that follows estimates. Of eight ranks that took 20 GB.
func TestPlanSteps(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	var id, kind, text string
	if err := w.DB.QueryRowContext(t.Context(), `SELECT r.run_id::VARCHAR FROM run r WHERE r.name = 'nccl2'`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	if err := w.DB.QueryRowContext(t.Context(), `EXPLAIN (FORMAT json) SELECT * FROM ncu_plan('`+id+`')`).Scan(&kind, &text); err != nil {
		t.Fatal(err)
	}
	type node struct {
		Name     string `json:"name"`
		Children []node `json:"children"`
	}
	var roots []node
	if err := json.Unmarshal([]byte(text), &roots); err != nil {
		t.Fatal(err)
	}
	var joins func(n node) int
	joins = func(n node) (count int) {
		if strings.Contains(n.Name, "JOIN") {
			count++
		}
		for _, c := range n.Children {
			count += joins(c)
		}
		return count
	}
	steps := 0
	var walk func(n node)
	walk = func(n node) {
		if strings.HasPrefix(n.Name, "REC") && len(n.Children) == 2 {
			steps++
			if got := joins(n.Children[1]); got != 1 {
				t.Errorf("a step has %d joins, not one", got)
			}
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	for _, n := range roots {
		walk(n)
	}
	if steps != 1 {
		t.Errorf("%d recursions, not one: %s", steps, text[:200])
	}
}
