package serving

import (
	"slices"
	"strings"
	"testing"
)

// TestGenerator: a load generator is a table, and no table names what is no measure.
func TestGenerator(t *testing.T) {
	made := generator{
		form: "made-up", is: func(f fields) bool { return f.has("made_up") },
		names: "completed=n duration_s=took requests_per_s=rps,rate model=config/model request_rate=asked",
		times: func(_ fields, metric string) (string, unit, [len(Statistics)]string) {
			return metric, inMs, [len(Statistics)]string{"times/" + metric}
		},
	}
	const text = `{"made_up": 1, "config": {"model": "m"}, "n": 3, "took": 1.5, "rate": 2, "asked": "inf", "times": {"ttft": 4}}`
	form := made.formOf()
	list, err := form.read(strings.NewReader(text))
	if err != nil || len(list) != 1 || !form.Sniff("x.json", []byte(text)) || form.Sniff("x.json", []byte(`{"other": 1}`)) {
		t.Fatalf("%+v, %v", list, err)
	}
	b := list[0]
	if b.Tool != "made-up" || b.Model != "m" || *b.Completed != 3 || *b.DurationNs != 1.5e9 || *b.RequestsPerS != 2 || !*b.Unlimited || len(b.Latencies) != 1 || *b.Latencies[0].Ns[0] != 4e6 {
		t.Errorf("%+v", b)
	}
	for _, g := range append(generators(), made) {
		for entry := range strings.FieldsSeq(g.names) {
			name, fields, _ := strings.Cut(entry, "=")
			if fields == "" || !slices.ContainsFunc(measures, func(m measure) bool { return m.name == name }) {
				t.Errorf("%s: %s is no measure with its fields", g.form, entry)
			}
		}
	}
}
