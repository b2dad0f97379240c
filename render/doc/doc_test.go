package doc

import (
	"bytes"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/render/rendertest"
	"prof/render/table"
	"prof/render/typeset"
)

// every is a document with a block of each kind.
func every() Document {
	of := table.Table{Columns: []table.Column{{Title: "what", Least: 8}, {Title: "A"}, {Title: "B"}, {Title: "effect"}}}
	of.AddRow("said in pairs", "550", "560", "may move times")
	below := of
	below.Columns = append(append([]table.Column{}, of.Columns[:3]...), table.Column{Title: "became"})
	return Document{Title: "title", Sign: "!", Blocks: []Block{
		Lead{"said as lead", typeset.ToneWorse}, Facts{{"run", "said as fact"}},
		Section{Title: "open", Blocks: []Block{Table{Of: of, AsPairs: true}}},
		Section{Title: "folded", Folded: true, Blocks: []Block{Table{Of: below, Legend: func([]string) []string { return []string{"said as legend"} }, Below: &Below{"became", []Swap{{"split", []string{"a"}, []string{"b", "c"}}}}}}},
		Rows{Frame: &frame.Frame{Query: "q", Columns: []frame.Column{{Name: "calls", Type: frame.Int}}, Rows: [][]any{{int64(41)}}}},
		List{Items: []Item{{Sign: "+", Name: "name", Text: "said in a list", See: []string{"prof show a"}}}}, List{Ordered: true, Items: []Item{{Text: "said first", Under: []string{"said under it"}, Of: "said_of", Try: "said to do", See: []string{"prof show b", "prof show c"}}}}, Doubts{Texts: []string{"said in doubt"}}, Commands{"more", []string{"prof show d"}}, Hint{Text: "said in small"},
		List{Ordered: true, Plain: true, Items: []Item{{Text: "said plainly"}}}, Figure{Template: "samples-of-sides", Text: "said"}, Either{Page: []Block{Text("said to all")}, Other: []Block{Text("said to all")}},
		Remark{Lead: "also changed", Text: "said aside"}, Text("said by itself"), Notes{"said as note"}, SQL{"from the query q", []Query{{"q.v1", "a", "SELECT 1"}}},
	}}
}

// TestBlocks holds that each back end writes each kind of block.
func TestBlocks(t *testing.T) {
	for _, b := range BackEnds {
		var out bytes.Buffer
		if err := b.Write(&out, []Document{every()}, typeset.Options{Width: 80}); err != nil {
			t.Fatalf("%s: %v", b.Name, err)
		}
		for _, want := range []string{"said as lead", "said as fact", "said in pairs", "said as legend", "41", "said in a list", "prof show a", "said first", "said under it", "said_of", "said to do", "prof show b", "prof show c", "prof show d", "said in doubt", "said in small", "said plainly", "said to all", "said aside", "said by itself", "said as note"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s lacks %q:\n%s", b.Name, want, &out)
			}
		}
		if err := b.Write(&out, []Document{{Blocks: []Block{made{}}}}, typeset.Options{}); err == nil {
			t.Errorf("%s takes blocks that it does not know", b.Name)
		}
	}
}

type made struct{ Lead }

// TestContrast holds that verdicts can be read, in the light and in the dark.
func TestContrast(t *testing.T) {
	for name, colors := range rendertest.Themes(t, Styles) {
		for _, color := range []string{"good", "bad", "unsure", "soft"} {
			if got := rendertest.Contrast(t, colors[color], colors["paper"]); got < 4.5 {
				t.Errorf("%s: %s has a contrast of %.2f", name, color, got)
			}
		}
	}
}
