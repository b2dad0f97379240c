package queries_test

import (
	"fmt"
	"os"
	osexec "os/exec"
	"slices"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/internal/testkit"
	"prof/queries"
	"prof/render/chart"
	"prof/schema"
	"prof/schema/terms"
)

// withCause is set in a process whose tables of words have another cause of idle time in place of queued.
const withCause = "PROF_TEST_CAUSE"

var sunspots = terms.Cause{Name: "sun-spots", Bound: "unknown", Label: "sun spots", Noun: "idle by sun spots", Verb: "idles by sun spots", Meaning: "while the sun has spots"}

func init() { // before anything reads them
	if os.Getenv(withCause) == "" {
		return
	}
	terms.Causes[slices.IndexFunc(terms.Causes[:], func(c terms.Cause) bool { return c.Name == "queued" })] = sunspots
	at := slices.IndexFunc(terms.Parts, func(p terms.Part) bool { return p.Name == "queued" })
	terms.Parts[at] = terms.Part{Name: sunspots.Name, Kind: sunspots.Name, Label: sunspots.Label, Fill: 's', Meaning: sunspots.Meaning}
}

// TestMadeCause: a cause of idle time that has its entry in terms, and rows, is in the rows, columns and documentation of all queries that list causes, in the
// view that SQL joins to, in the facts and in the words of a bar.
func TestMadeCause(t *testing.T) {
	if os.Getenv(withCause) == "" {
		c := osexec.Command(os.Args[0], "-test.run=^TestMadeCause$")
		c.Env = append(os.Environ(), withCause+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	made(t, w, spent("range_id = 1", "kernel_ns = 700000, host = 100000, sun-spots = 200000"), ran(1, 1, 0, 700_000, 200, ""),
		fmt.Sprintf("INSERT INTO gap SELECT '%[1]s', 1, 0, 700000, 300000, 'sun-spots', 1, 1, 1, 1, 0, 1, NULL, 1, NULL; INSERT INTO gap_part SELECT '%[1]s', 1, 0, 700000, unnest(['host', 'sun-spots']), unnest([100000, 200000])", findingRun),
		fmt.Sprintf("INSERT INTO gap_sum SELECT '%[1]s', 1, 1, 0, 1, 1, 0, 1, NULL, 1, NULL, 1, 300000, 300000, 700000; INSERT INTO gap_sum_part SELECT '%[1]s', 1, 1, unnest(['host', 'sun-spots']), unnest([100000, 200000])", findingRun))
	testkit.DeriveOnly(t, w)
	for stmt, want := range map[string]string{
		"SELECT kind, is_idle, label, meaning FROM stage_part WHERE part = 'sun-spots'":                                                                 "[sun-spots true idle: sun spots while the sun has spots]",
		"SELECT part, kind, total_ns, passes, min_ns FROM accounting('made', stage := 'decode') WHERE part = 'sun-spots'":                               "[sun-spots sun-spots 200000 2 0]",
		"SELECT idle_ns, host_ns, sun_spots_ns FROM pass_accounting('made') WHERE pass = 1":                                                             "[300000 100000 200000]",
		"SELECT sum(sun_spots_ns)::BIGINT FROM stage_samples('made')":                                                                                   "[200000]",
		"SELECT cause, sun_spots_ns FROM gaps('made')":                                                                                                  "[sun-spots 200000]",
		"SELECT cause, sun_spots_ns FROM longest_gaps('made')":                                                                                          "[sun-spots 200000]",
		"SELECT category, total_ns FROM time_breakdown('made') WHERE category = 'sun-spots'":                                                            "[sun-spots 200000]",
		"SELECT idle_ns, rest_max_ns FROM finding_idle WHERE cause = 'sun-spots'":                                                                       "[200000 200000]",
		"SELECT count(*) FROM duckdb_columns() WHERE table_name = 'step' AND column_name = 'sun_spots_ns' AND comment LIKE '%while the sun has spots%'": "[1]",
	} {
		if got := rows(t, w, stmt); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", stmt, got, want)
		}
	}
	for _, name := range []string{"accounting", "pass-accounting", "stage-samples", "gaps", "longest-gaps", "steps", "slow-steps", "time-breakdown", "tpot-causes"} {
		q, err := queries.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if docs := fmt.Sprint(q.Columns); !strings.Contains(docs, "sun") || strings.Contains(docs, "queued") {
			t.Errorf("%s: %s", name, docs)
		}
	}
	bars, err := chart.BarsOf(testkit.Query(t, w, "accounting", queries.Args{"run": "made", "stage": "decode"}))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(bars[0].Pieces, func(p chart.Piece) bool { return p.Text() == "idle: sun spots" && p.Ns == 100_000 }) {
		t.Errorf("no piece of a bar is the cause: %+v", bars[0].Pieces)
	}
}
