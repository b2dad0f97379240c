package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"prof/queries"
)

// StaticForm writes what a model needs by its configuration.
type StaticForm func(w io.Writer, s *queries.Static, o Options) error

// StaticForms are the forms of it by name.
func StaticForms() map[string]StaticForm {
	return map[string]StaticForm{
		"table": StaticTable,
		"md":    func(w io.Writer, s *queries.Static, _ Options) error { return StaticMarkdown(w, s) },
		"json":  func(w io.Writer, s *queries.Static, _ Options) error { return StaticJSON(w, s) },
	}
}

// StaticTable writes facts of the model, its stages, and the components with the most operations, for a terminal.
func StaticTable(w io.Writer, s *queries.Static, o Options) error {
	if err := Pairs(w, "", staticPairs(s), o); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return Table(w, stageFrame(s), o)
}

// staticPairs are the facts in words, numbers scaled and, where they identify a model, in full.
func staticPairs(s *queries.Static) [][2]string {
	pairs := [][2]string{{"model", s.Name + " (" + s.Family + ")"}}
	params := scaled(float64(s.Params)) + " (" + groupedInt(s.Params) + ")"
	if s.VisionParams > 0 {
		params += ", " + scaled(float64(s.VisionParams)) + " of them vision"
	}
	pairs = append(pairs, [2]string{"parameters", params})
	if s.ActiveParams != nil {
		pairs = append(pairs, [2]string{"active", scaled(float64(*s.ActiveParams)) + " (" + groupedInt(*s.ActiveParams) + ") are multiplied with each token"})
	}
	if s.WeightBytes != nil {
		pairs = append(pairs, [2]string{"weights", binary(*s.WeightBytes) + " " + staticDType(s)})
	}
	if s.KVTokenBytes != nil {
		pairs = append(pairs, [2]string{"KV cache", groupedInt(int64(*s.KVTokenBytes)) + " B a token " + staticDType(s)})
	}
	if s.ImageTokens != nil {
		pairs = append(pairs, [2]string{"image", groupedInt(*s.ImageTokens) + " tokens of the prompt"})
	}
	return append(pairs, [2]string{"counted", staticBasis(s)})
}

func staticDType(s *queries.Static) string {
	if s.DTypeAssumed {
		return "in " + s.DType + " (assumed: the configuration names no precision; --dtype sets it)"
	}
	return "in " + s.DType
}

// staticBasis says what the operations are of.
func staticBasis(s *queries.Static) string {
	z := s.Size
	if s.ActiveParams == nil {
		return fmt.Sprintf("%d image(s), batch %d", max(z.Images, 1), z.Batch)
	}
	text := fmt.Sprintf("%s prompt tokens, %s decode steps, batch %s", groupedInt(z.Prefill), groupedInt(z.Decode), groupedInt(z.Batch))
	if z.ImagesGiven {
		text += fmt.Sprintf(", %d image(s) with %d crop(s) each", z.Images, z.Crops)
	}
	text += fmt.Sprintf("; convention %s, logits of %s position(s), context %s", z.Convention, z.Head, z.Context)
	if z.FixedContext != nil {
		text += " " + groupedInt(*z.FixedContext)
	}
	for _, row := range s.Groups.Rows {
		if row[s.Groups.Index("component")] == "kv_b_proj" {
			return text + ", latent attention " + z.MLA
		}
	}
	return text
}

// stageFrame lists stages with their operations.
func stageFrame(s *queries.Static) *queries.Frame {
	f := &queries.Frame{Query: "flops", Version: 1, Notes: s.Notes, Columns: []queries.Column{
		{Name: "stage", Type: queries.Text}, {Name: "part_of", Type: queries.Text}, {Name: "flop", Type: queries.Int, Unit: queries.Flop},
		{Name: "parameter_count", Type: queries.Int, Unit: queries.Count}, {Name: "most", Type: queries.Text}}}
	for _, st := range s.Stages {
		f.Rows = append(f.Rows, []any{st.Name, partOf(s, st), whole(st.Flop), st.Params, strings.Join(topOperators(st, 3), ", ")})
	}
	return f
}

// partOf says where the vision belongs: in the prefill, when the prompt has images.
func partOf(s *queries.Static, st queries.StaticStage) any {
	switch {
	case !st.Vision || s.ActiveParams == nil:
		return nil
	case s.Size.ImagesGiven:
		return "prefill"
	}
	return fmt.Sprintf("prefill, with --images (here: %d)", max(s.Size.Images, 1))
}

// topOperators names the operators with the most operations and their shares.
func topOperators(st queries.StaticStage, n int) []string {
	var out []string
	for _, op := range st.Operators[:min(n, len(st.Operators))] {
		if st.Flop != nil && *st.Flop > 0 && op.Flop > 0 {
			out = append(out, fmt.Sprintf("%s %.1f %%", op.Name, 100*float64(op.Flop)/float64(*st.Flop)))
		}
	}
	return out
}

func whole(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}

// scaled writes a count of parameters as people say it: 2.93 B.
func scaled(v float64) string {
	for _, u := range []struct {
		div  float64
		name string
	}{{1e12, " T"}, {1e9, " B"}, {1e6, " M"}, {1e3, " k"}} {
		if v >= u.div {
			return strconv.FormatFloat(v/u.div, 'f', 2, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// binary writes bytes in the largest binary unit below them.
func binary(v float64) string {
	best := step{1, "B"}
	for _, u := range ladder(queries.Bytes) {
		if v >= u.div {
			best = u
		}
	}
	decimals := 2
	if best.div == 1 {
		decimals = 0
	}
	return strconv.FormatFloat(v/best.div, 'f', decimals, 64) + " " + best.name
}

// groupedInt writes a whole number with separators.
func groupedInt(n int64) string { return scale{group: true}.grouping(strconv.FormatInt(n, 10)) }
