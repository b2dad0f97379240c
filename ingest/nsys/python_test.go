package nsys_test

import (
	"encoding/csv"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/queries"
)

// chains are stacks of Python functions, outermost first, by stack_id.
const chains = `WITH RECURSIVE chain AS (
		SELECT stack_id, function AS functions FROM python_stack WHERE parent_stack_id IS NULL
		UNION ALL SELECT s.stack_id, c.functions || ' > ' || s.function FROM python_stack s JOIN chain c ON c.stack_id = s.parent_stack_id) `

// TestStacks: of made calls, each kernel has the functions of its own, is outside Python or has none known.
func TestStacks(t *testing.T) {
	w := warehouseWith(t, derive.Facts{})
	mustIngest(t, w, "r", "testdata/stacks.sqlite")
	const outer = "/srv/llm/run.py(20): <module> > /srv/llm/run.py(9): step"
	expect(t, w, chains+`SELECT k.correlation_id, coalesce(c.functions, k.stack_id::VARCHAR) FROM kernel k LEFT JOIN chain c ON c.stack_id = k.stack_id ORDER BY 1`,
		"1|"+outer+" > /srv/llm/model.py(3): forward", "2|"+outer, "3|0", "4|0", "5|~", "6|~", "7|~", "8|~", "9|~")
	expect(t, w, `SELECT count(*), min(duration_ns), max(duration_ns) FROM api_call`, "9|10|10")
	expect(t, w, `SELECT read_count, stored_count, reason FROM source_part WHERE part = 'CUPTI_ACTIVITY_KIND_RUNTIME'`, "17|9|8 rows are other rows' calls again, with their stacks")
	expect(t, w, `SELECT message FROM diagnostic WHERE origin = 'ingest'`, "NVTX_EVENTS: the Python functions of 4 CUDA calls cannot be read; their stacks are unknown")
}

// TestStacksOfPyTorch compares the functions that calls were made in with those that the PyTorch profiler recorded of the same program.
// It leaves out one function of each nn.Module, and nsys takes no stack of cudaLaunchKernelExC.
func TestStacksOfPyTorch(t *testing.T) {
	w, _ := sharedWarehouse(t)
	const name = "../../testdata/nsys/stacks/torch.csv"
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	unknown := 0
	for _, r := range records[1:] {
		if r[0] == "cudaLaunchKernelExC" {
			unknown++
			continue
		}
		want = append(want, strings.Join(r, "|"))
	}
	got := rows(t, w, chains+`, named AS (
			SELECT c.stack_id, regexp_replace(replace(c.functions, ' > ', chr(10)), '(^|\n)(?:[^\n]*/)?([^\n]*?)\([0-9]+\): ', '\1\2 ', 'g') AS functions FROM chain c),
		work AS (SELECT source_id, run_id, launch_name_id, stack_id FROM kernel WHERE graph_node_id IS NULL UNION ALL SELECT source_id, run_id, launch_name_id, stack_id FROM graph_launch)
		SELECT regexp_replace(a.name, '_v[0-9]+$', ''), coalesce(replace(replace(n.functions, chr(10) || 'module.py _wrapped_call_impl', ''), chr(10), ' > '), ''), count(*)
		FROM work k JOIN run r ON r.run_id = k.run_id AND r.name = 'stacks' JOIN api_name a ON a.run_id = k.run_id AND a.api_name_id = k.launch_name_id LEFT JOIN named n ON n.stack_id = k.stack_id
		WHERE k.stack_id IS NOT NULL GROUP BY ALL ORDER BY ALL`)
	slices.Sort(want)
	slices.Sort(got)
	if len(want) != 14 || unknown != 3 || !slices.Equal(got, want) {
		t.Errorf("stored are\n%s\nPyTorch has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	expect(t, w, `SELECT a.name, k.stack_id, count(*) FROM kernel k JOIN run r ON r.run_id = k.run_id AND r.name = 'stacks' JOIN api_name a ON a.run_id = k.run_id AND a.api_name_id = k.launch_name_id
		WHERE k.stack_id IS NULL GROUP BY ALL`, "cudaLaunchKernelExC_v11060|~|30")
}

// TestHotLinesOfNsys: lines of the user's code come first, relative to the project, and all rows have all device work and idle time.
func TestHotLinesOfNsys(t *testing.T) {
	w, _ := sharedWarehouse(t)
	q, err := queries.Find("hot-lines")
	if err != nil {
		t.Fatal(err)
	}
	f, err := queries.Run(t.Context(), w, q, queries.Args{"run": "stacks", "top": "0"})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	var work, device, idle int64
	for _, row := range f.Rows {
		lines = append(lines, row[f.Index("line")].(string))
		work, device, idle = work+row[f.Index("work_count")].(int64), device+row[f.Index("device_ns")].(int64), idle+row[f.Index("idle_ns")].(int64)
	}
	all := rows(t, w, `SELECT (SELECT sum(x.duration_ns) FROM (SELECT run_id, duration_ns FROM kernel UNION ALL SELECT run_id, duration_ns FROM memop UNION ALL SELECT run_id, duration_ns FROM graph_launch) x WHERE x.run_id = r.run_id),
		(SELECT sum(g.duration_ns) FROM gap_sum g WHERE g.run_id = r.run_id) FROM run r WHERE r.name = 'stacks'`)
	if want := []string{strings.Join([]string{strconv.FormatInt(device, 10), strconv.FormatInt(idle, 10)}, "|")}; work != 205 || !slices.Equal(all, want) {
		t.Errorf("%d pieces of work, %v ns in lines, %v in all", work, want, all)
	}
	slices.Sort(lines)
	if want := []string{"(no stack)", "(not recorded)", "hot.py:22", "hot.py:26", "hot.py:27", "hot.py:28", "hot.py:33", "lib/model.py:12", "lib/model.py:13", "lib/model.py:17"}; !slices.Equal(lines, want) {
		t.Errorf("the lines are %v, want %v", lines, want)
	}
}
