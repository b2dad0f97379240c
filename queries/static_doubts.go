package queries

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// errTooLarge says that operations cannot be told as whole numbers of 64 bits.
var errTooLarge = fmt.Errorf("%w: so many tokens, sequences or images make 2^63 operations or more: ask for fewer, operations are proportional to --batch", ErrBadArgument)

// tooLarge gives errTooLarge in place of what DuckDB says of numbers that do not fit.
func tooLarge(err error) error {
	text := err.Error()
	if strings.Contains(text, "out of range for the destination type INT64") || strings.Contains(text, "Overflow in ") {
		return errTooLarge
	}
	return err
}

// overflows says whether all operations together are more than a whole number of 64 bits holds, as each component's by itself is not.
func (s *Static) overflows() bool {
	left := int64(math.MaxInt64)
	for _, row := range s.Flops.Rows {
		flop := record{s.Flops, row}.whole("flop")
		if flop == nil {
			continue
		}
		if left -= *flop; left < 0 {
			return true
		}
	}
	return false
}

// doubts are what the numbers that operations are counted for leave to wonder about.
func (s *Static) doubts() []string {
	var out []string
	z := s.Size
	view := func(is func(part, view string) bool) bool {
		return slices.ContainsFunc(s.Flops.Rows, func(row []any) bool {
			r := record{s.Flops, row}
			return is(r.text("part"), r.text("view"))
		})
	}
	if z.ImagesGiven && z.Images > 0 && !view(func(part, _ string) bool { return part != "decoder" }) {
		out = append(out, "the model has no vision: the images of the prompt count nothing")
	}
	if z.Crops > 0 && !view(func(_, view string) bool { return view == "crop" }) {
		out = append(out, "the model takes no crops: they count nothing")
	}
	if s.ActiveParams == nil {
		return out
	}
	if n := s.ImageTokens; n != nil && z.ImagesGiven && z.Images > 0 && *n > z.Prefill/z.Images {
		out = append(out, fmt.Sprintf("a prompt of %d tokens has no room for the %d tokens of each of its images (%d): they count among those of the prompt", z.Prefill, *n, z.Images))
	}
	if n := s.MaxContext; n != nil && z.Prefill+z.Decode > *n {
		out = append(out, fmt.Sprintf("prompt and decode steps are %d tokens, more than the %d positions that the model was made for", z.Prefill+z.Decode, *n))
	}
	return out
}
