package compare

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"

	"prof/queries/judge/diff"
	"prof/render/doc"
	"prof/render/typeset"
)

// TestBackEndIsOnePlace holds that a form of documents is one value of doc.BackEnds: diffs, checks and trends have it.
func TestBackEndIsOnePlace(t *testing.T) {
	all := doc.BackEnds
	t.Cleanup(func() { doc.BackEnds = all })
	doc.BackEnds = append(slices.Clone(all), doc.BackEnd{Name: "made", Ending: ".made", Doc: "made up", Write: func(w io.Writer, list []doc.Document, _ typeset.Options) error {
		_, err := fmt.Fprintf(w, "%d documents, the first %s", len(list), list[0].Title)
		return err
	}})
	for name, names := range map[string][]string{"diff": DiffForms().Names(), "check": GateForms().Names(), "trend": TrendForms().Names()} {
		if !slices.Contains(names, "made") {
			t.Errorf("%s has the forms %q", name, names)
		}
	}
	form, err := DiffForms().Named("made")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := form.Write(&out, []*diff.Result{{A: diff.Side{Label: "a"}, B: diff.Side{Label: "b"}}}, typeset.Options{}); err != nil || out.String() != "1 documents, the first b against a" {
		t.Errorf("%q, %v", &out, err)
	}
}
