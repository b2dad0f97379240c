package ingest_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/internal/exports"
	"prof/internal/testkit"
	"prof/queries"
)

// chains are stacks of Python functions, outermost first, by stack_id.
const chains = `WITH RECURSIVE chain AS (
		SELECT stack_id, function AS functions FROM python_stack WHERE parent_stack_id IS NULL
		UNION ALL SELECT s.stack_id, c.functions || ' > ' || s.function FROM python_stack s JOIN chain c ON c.stack_id = s.parent_stack_id) `

// TestStacks: of made calls, each kernel has the functions of its own, is outside Python or has none known.
func TestStacks(t *testing.T) {
	w := madeUp(t, "r", "stacks.sqlite")
	const outer = "/srv/llm/run.py(20): <module> > /srv/llm/run.py(9): step"
	testkit.Expect(t, w, chains+`SELECT k.correlation_id, coalesce(c.functions, k.stack_id::VARCHAR) FROM kernel k LEFT JOIN chain c ON c.stack_id = k.stack_id ORDER BY 1`,
		"1|"+outer+" > /srv/llm/model.py(3): forward", "2|"+outer, "3|0", "4|0", "5|~", "6|~", "7|~", "8|~", "9|~")
	testkit.Expect(t, w, `SELECT count(*), min(duration_ns), max(duration_ns) FROM api_call`, "9|10|10")
	testkit.Expect(t, w, `SELECT read_count, stored_count, reason FROM source_part WHERE part = 'CUPTI_ACTIVITY_KIND_RUNTIME'`, "17|9|8 rows are other rows' calls again, with their stacks")
	testkit.Expect(t, w, `SELECT message FROM diagnostic WHERE origin = 'ingest'`, "NVTX_EVENTS: the Python functions of 4 CUDA calls cannot be read; their stacks are unknown")
}

// TestSamples: of made samples, each gap has the function that its thread was in at more than half of them, else that of its launch, else none; no launch has the stack of a sample.
func TestSamples(t *testing.T) {
	w := madeUp(t, "r", "samples.sqlite")
	const outer = "/srv/llm/run.py(20): <module>"
	const step = outer + " > /srv/llm/run.py(10): step"
	testkit.Expect(t, w, chains+`SELECT p.tid, p.time_ns, coalesce(c.functions, p.stack_id::VARCHAR), r.path FROM python_sample p LEFT JOIN chain c ON c.stack_id = p.stack_id LEFT JOIN range_path r ON r.path_id = p.path_id ORDER BY ALL`,
		"101|12000|"+step+" > /srv/llm/data.py(30): prep > /usr/lib/python3.12/random.py(5): shuffle|prefill",
		"101|14000|"+step+" > /srv/llm/data.py(31): prep|prefill", "101|16000|"+step+" > /srv/llm/data.py(31): prep|prefill", "101|19945|"+step+" > /srv/llm/data.py(50): rest|prefill",
		"101|22000|"+step+" > /srv/llm/data.py(30): prep|prefill > Python GC", "101|24000|"+outer+" > /srv/llm/run.py(9): step > /srv/llm/data.py(50): rest|prefill",
		"101|40100|"+step+" > /srv/llm/data.py(31): prep|~", "101|50000|"+step+" > /srv/llm/data.py(50): rest|~", "101|50050|"+step+" > /srv/llm/data.py(50): rest|~",
		"101|52000|"+step+" > /srv/llm/data.py(31): prep|~", "101|53000|~|~", "101|62000|0|~", "102|33000|"+step+" > /srv/llm/data.py(31): prep|~")
	testkit.Expect(t, w, chains+`SELECT g.start_ns, coalesce(c.functions, x.stack_id::VARCHAR), x.found_by, x.sample_count, x.match_count FROM gap g LEFT JOIN gap_stack x USING (source_id, device_id, start_ns) LEFT JOIN chain c ON c.stack_id = x.stack_id ORDER BY ALL`,
		"10100|"+step+" > /srv/llm/data.py(31): prep|sample|4|3", // at two lines, in a library at one of them
		"20100|"+outer+" > /srv/llm/run.py(9): step|sample|2|2",  // below it each has half
		"30100|"+step+"|launch|0|~",
		"40100|"+step+" > /srv/llm/data.py(31): prep|sample|1|1", // a gap has its start, not its end
		"50100|~|~|2|~",
		"60100|"+step+"|launch|1|~",
		"70100|0|launch|0|~",
		"80100|~|~|0|~")
	testkit.Expect(t, w, chains+`SELECT k.correlation_id, coalesce(c.functions, k.stack_id::VARCHAR) FROM kernel k LEFT JOIN chain c ON c.stack_id = k.stack_id ORDER BY 1`,
		"1|"+step, "2|~", "3|"+step, "4|"+step, "5|~", "6|~", "7|"+step, "8|0", "9|~")
	testkit.Expect(t, w, `SELECT stage, sum(sample_count), sum(idle_sample_count), sum(idle_ns) FROM stack_sum GROUP BY ALL ORDER BY ALL`, "(none)|7|1|59400", "prefill|6|5|19800")
	testkit.Expect(t, w, `SELECT stage, subject, saving_ns, evidence->>'line', evidence->>'line_count', evidence->>'sample_count' FROM finding WHERE finding_id = 'gc-pauses'`, "prefill|Python GC|1000|data.py:30 prep|1|1")
	testkit.Expect(t, w, `SELECT kind, object, item_count, of_count, time_ns::BIGINT, of_time_ns::BIGINT FROM caveat WHERE topic IN ('stack', 'sampled') ORDER BY ALL`,
		"idle-by-samples|~|~|~|29700|79200", "launches-without-stack|cudaLaunchKernel|4|~|400|900", "python-sampled|~|13|2|2000|~")
	testkit.Expect(t, w, `SELECT message FROM diagnostic WHERE origin = 'ingest'`, "NVTX_EVENTS: the Python functions of 1 samples cannot be read; their stacks are unknown")
	testkit.Expect(t, w, `SELECT read_count, stored_count, reason FROM source_part WHERE part = 'NVTX_EVENTS'`, "22|2|domain and category names are stored with the ranges; 18 marks are Python stacks")
}

// TestStacksOfPyTorch compares the functions that calls were made in with those that the PyTorch profiler recorded of the same program.
// It leaves out one function of each nn.Module, and nsys takes no stack of cudaLaunchKernelExC.
func TestStacksOfPyTorch(t *testing.T) {
	w, _ := sharedWarehouse(t)
	const name = "../testdata/nsys/stacks/torch.csv"
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
	got := testkit.Rows(t, w, chains+`, named AS (
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
	testkit.Expect(t, w, `SELECT a.name, k.stack_id, count(*) FROM kernel k JOIN run r ON r.run_id = k.run_id AND r.name = 'stacks' JOIN api_name a ON a.run_id = k.run_id AND a.api_name_id = k.launch_name_id
		WHERE k.stack_id IS NULL GROUP BY ALL`, "cudaLaunchKernelExC_v11060|~|30")
}

// sampleMark is a sample as the export has it; its functions are outermost first, as they are stored.
type sampleMark struct {
	thread, at int64
	functions  []string
}

// sampleMarks reads the samples of an export.
func sampleMarks(t *testing.T, path string) []sampleMark {
	t.Helper()
	tables, err := exports.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	texts, domain := map[int64]string{}, int64(0)
	var events *exports.Table
	for _, x := range tables {
		for _, row := range x.Rows {
			if x.Name == "StringIds" {
				texts[x.Int(row, "id")] = row[x.Column("value")].(string)
			} else if x.Name == "NVTX_EVENTS" && row[x.Column("text")] == "Python Periodic Sampling" {
				events, domain = x, x.Int(row, "domainId")
			}
		}
	}
	var out []sampleMark
	for _, row := range events.Rows {
		if events.Int(row, "eventType") != 34 || events.Int(row, "domainId") != domain {
			continue
		}
		var said map[string]struct {
			Frames []struct{ Function, File, Line int64 }
		}
		if err := json.Unmarshal([]byte(row[events.Column("jsonText")].(string)), &said); err != nil {
			t.Fatal(err)
		}
		s := sampleMark{thread: events.Int(row, "globalTid"), at: events.Int(row, "start")}
		for _, f := range said["Python Periodic Sampling"].Frames {
			s.functions = append(s.functions, fmt.Sprintf("%s(%d): %s", texts[f.File], f.Line, html.UnescapeString(texts[f.Function])))
		}
		slices.Reverse(s.functions)
		out = append(out, s)
	}
	return out
}

// TestSamplesOfExport: samples by stack are those of the export, and each gap that is known by samples has the function that more than half of those within it are in, and no gap else.
func TestSamplesOfExport(t *testing.T) {
	w := kept(t, testkit.Run{Name: "stacks", Files: []string{"nsys/stacks/stacks.sqlite.gz"}}, testkit.Run{Name: "idle", Files: []string{"cpu/idle.sqlite.gz"}})
	for run, path := range map[string]string{"stacks": "../testdata/nsys/stacks/stacks.sqlite.gz", "idle": "../testdata/cpu/idle.sqlite.gz"} {
		marks, counts := sampleMarks(t, path), map[string]int{}
		for _, m := range marks {
			counts[strings.Join(m.functions, " > ")]++
		}
		var want []string
		for functions, n := range counts {
			want = append(want, fmt.Sprintf("%s|%d", functions, n))
		}
		of := fmt.Sprintf(`run_id = (SELECT r.run_id FROM run r WHERE r.name = '%s')`, run)
		got := testkit.Rows(t, w, chains+`SELECT c.functions, count(*) FROM python_sample p JOIN chain c ON c.stack_id = p.stack_id WHERE p.`+of+` GROUP BY ALL`)
		slices.Sort(want)
		slices.Sort(got)
		if len(want) < 10 || !slices.Equal(got, want) {
			t.Errorf("%s: stored are\n%s\nthe export has\n%s", run, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		named := 0
		for _, row := range testkit.Rows(t, w, chains+`SELECT g.start_ns, g.duration_ns, g.tid, coalesce(x.sample_count, 0), coalesce(x.match_count, 0), coalesce(CASE WHEN x.found_by = 'sample' THEN c.functions END, '') FROM gap g
			LEFT JOIN gap_stack x USING (run_id, source_id, device_id, start_ns) LEFT JOIN chain c ON c.stack_id = x.stack_id WHERE g.`+of) {
			f := strings.SplitN(row, "|", 6)
			start, _ := strconv.ParseInt(f[0], 10, 64)
			duration, _ := strconv.ParseInt(f[1], 10, 64)
			all, hits := 0, map[string]int{} // by functions, without the line of the last
			for _, m := range marks {
				if m.at < start || m.at >= start+duration || strconv.FormatInt(m.thread&0xFFFFFF, 10) != f[2] {
					continue
				}
				all++
				for k := range m.functions {
					hits[withoutLine(m.functions[:k+1])]++
				}
			}
			best, depth := "", 0
			for functions, n := range hits {
				if d := strings.Count(functions, " > ") + 1; 2*n > all && d > depth {
					best, depth = functions, d
				}
			}
			got := ""
			if f[5] != "" {
				named++
				got = withoutLine(strings.Split(f[5], " > "))
			}
			if got != best || f[3] != strconv.Itoa(all) || f[4] != strconv.Itoa(hits[best]) {
				t.Errorf("%s: the gap at %s has %s of %s samples in %q, want %d of %d in %q", run, f[0], f[4], f[3], got, hits[best], all, best)
			}
		}
		if named < 10 {
			t.Errorf("%s: %d gaps are known by samples", run, named)
		}
	}
}

// withoutLine joins functions, without the line at which the last was.
func withoutLine(functions []string) string {
	last := functions[len(functions)-1]
	return strings.Join(append(slices.Clone(functions[:len(functions)-1]), last[:strings.LastIndex(last, "(")]+last[strings.Index(last, "): "):]), " > ")
}

// TestHotLinesOfNsys: lines of the user's code come first, relative to the project, and all rows have all device work and idle time. Two of 98 samples
// are in lines that have neither.
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
	var work, device, idle, samples, idleSamples int64
	for _, row := range f.Rows {
		lines = append(lines, row[f.Index("line")].(string))
		work, device, idle = work+row[f.Index("work_count")].(int64), device+row[f.Index("device_ns")].(int64), idle+row[f.Index("idle_ns")].(int64)
		samples, idleSamples = samples+row[f.Index("samples")].(int64), idleSamples+row[f.Index("idle_sample_count")].(int64)
	}
	all := testkit.Rows(t, w, `SELECT (SELECT sum(x.duration_ns) FROM (SELECT run_id, duration_ns FROM kernel UNION ALL SELECT run_id, duration_ns FROM memop UNION ALL SELECT run_id, duration_ns FROM graph_launch) x WHERE x.run_id = r.run_id),
		(SELECT sum(g.duration_ns) FROM gap_sum g WHERE g.run_id = r.run_id) FROM run r WHERE r.name = 'stacks'`)
	if want := []string{strings.Join([]string{strconv.FormatInt(device, 10), strconv.FormatInt(idle, 10)}, "|")}; work != 205 || !slices.Equal(all, want) {
		t.Errorf("%d pieces of work, %v ns in lines, %v in all", work, want, all)
	}
	if samples != 96 || idleSamples > samples || idleSamples < 80 {
		t.Errorf("%d samples in lines, %d of them in gaps", samples, idleSamples)
	}
	slices.Sort(lines)
	if want := []string{"(no stack)", "(not recorded)", "hot.py:12", "hot.py:22", "hot.py:26", "hot.py:27", "hot.py:28", "hot.py:33", "lib/model.py:12", "lib/model.py:13", "lib/model.py:17"}; !slices.Equal(lines, want) {
		t.Errorf("the lines are %v, want %v", lines, want)
	}
}
