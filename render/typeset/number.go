package typeset

import (
	"math"
	"strconv"
	"strings"

	"prof/queries/frame"
)

// Number shows one value in the column's scale. A non-zero value never shows as zero, and an exact zero is a bare 0.
func (s Scale) Number(v any) string {
	switch v := v.(type) {
	case int64:
		if s.Div == 1 {
			return s.grouping(strconv.FormatInt(v, 10))
		}
		return s.float(float64(v))
	case float64:
		return s.float(v)
	}
	return ""
}

func (s Scale) float(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, 64), "+")
	}
	v /= s.Div
	size, decimals := math.Abs(v), s.Decimals
	if s.mixed {
		decimals = ownDecimals(size)
	}
	switch {
	case size >= maxPlain:
		return strconv.FormatFloat(v, 'e', 3, 64)
	case !Visible(size, decimals):
		return strconv.FormatFloat(v, 'e', 1, 64)
	}
	return s.grouping(strconv.FormatFloat(v, 'f', decimals, 64))
}

// grouping puts thousands separators into the whole part of a decimal number, where the column has them.
func (s Scale) grouping(digits string) string {
	if !s.group {
		return digits
	}
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	whole, fraction, hasPoint := strings.Cut(digits, ".")
	var out strings.Builder
	out.WriteString(sign)
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteByte(whole[i])
	}
	if hasPoint {
		out.WriteString("." + fraction)
	}
	return out.String()
}

// grouped reports whether a column's numbers take thousands separators: quantities do, identifiers and ranks do not. A whole
// number without a unit is a quantity if its name is a plural (calls, passes, tokens).
func grouped(c frame.Column) bool {
	if c.Unit != frame.None || c.Type != frame.Int {
		return true
	}
	name := strings.ToLower(c.Name)
	for _, singular := range []string{"ss", "us", "is"} {
		if strings.HasSuffix(name, singular) {
			return false
		}
	}
	return strings.HasSuffix(name, "s")
}
