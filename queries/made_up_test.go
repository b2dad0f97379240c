package queries

import (
	"slices"
	"strings"
	"testing"

	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/queries/judge/trend"
	"prof/schema/facts"
	"prof/schema/sqlfile"
	"prof/schema/terms"
)

// TestMadeUpMeasure: a measure is one row of terms, which SQL takes its choices from, and rules their figures.
func TestMadeUpMeasure(t *testing.T) {
	latencies, measures := terms.Latencies, terms.Measures
	t.Cleanup(func() { terms.Latencies, terms.Measures = latencies, measures })
	terms.Latencies = append(slices.Clone(latencies), terms.Latency{Name: "madeup"})
	terms.Measures = append(slices.Clone(measures), terms.Measure{Name: "madeup_ns", Unit: "ns", LessIsBetter: true, In: terms.Trend})
	all, err := parseAll(files, facts.Shared)
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{"trend-serving": "madeup_p99_ns", "trend": "madeup_ns"} {
		q, _ := named(all, query)
		at := slices.IndexFunc(q.Params, func(p Param) bool { return p.Name == "metric" })
		if !strings.Contains(q.Body, want) || !strings.Contains(q.Params[at].Doc, want) {
			t.Errorf("%s does not know %s: %s", query, want, q.Params[at].Doc)
		}
	}
	if got := trend.ServingNames(); !strings.Contains(got, "madeup") {
		t.Errorf("metrics of serving are %s", got)
	}
	if m, err := trend.ParseMetric("madeup_p90"); err != nil || !m.IsServing() || !m.LessIsBetter() {
		t.Errorf("%s, %v", m, err)
	}
}

// TestMadeUpSource: a kind of sources is one row of terms, which options, their documentation, SQL and sentences take it from.
func TestMadeUpSource(t *testing.T) {
	before, err := sqlfile.Checksum(facts.Shared, "shared/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	kinds := terms.Sources
	t.Cleanup(func() { terms.Sources = kinds })
	terms.Sources = append(slices.Clone(kinds), terms.Source{Name: "madeup", Label: "the made-up profiler", Knows: terms.Work, Operators: 9})
	all, err := parseAll(files, facts.Shared)
	if err != nil {
		t.Fatal(err)
	}
	asked, _ := named(all, "_is-asked")
	if !strings.Contains(asked.Body, "'madeup')") || !strings.Contains(asked.Body, "or madeup'") {
		t.Errorf("SQL does not know it: %s", asked.Body)
	}
	for _, name := range []string{"top-kernels", "top-operators"} {
		q, _ := named(all, name)
		at := slices.IndexFunc(q.Params, func(p Param) bool { return p.Name == "source" })
		limits, err := q.LimitsOf("source")
		if !strings.Contains(q.Params[at].Doc, "madeup") || err != nil || !slices.Contains(limits.Choices, "madeup") {
			t.Errorf("%s: %q, choices %v, %v", name, q.Params[at].Doc, limits.Choices, err)
		}
	}
	c := []frame.Caveat{{Topic: "timelines", Kind: "two-timelines", Object: "nsys", Detail: "madeup"}}
	if _, notes, err := caveat.Word(c); err != nil || !strings.Contains(strings.Join(notes, ""), "the made-up profiler") {
		t.Errorf("the sentence is %q, %v", notes, err)
	}
	if after, err := sqlfile.Checksum(facts.Shared, "shared/*.sql"); err != nil || after == before {
		t.Errorf("what identifies the facts is the same, %v", err)
	}
	if _, err := sqlfile.Parse("_a", "-- _a: The {missing}."); err == nil || !strings.Contains(err.Error(), "{missing}") {
		t.Errorf("a list that terms has not: %v", err)
	}
}
