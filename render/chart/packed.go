package chart

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Packed are numbers as the page holds them, in a text: each in groups of five bits, the lowest first, its sign in the lowest bit, a character of
// base 64 a group, which is 32 and more where another follows. Most times between kernels and calls take three characters so, and no commas.
type Packed []int64

const packedDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// MarshalJSON writes the text.
func (p Packed) MarshalJSON() ([]byte, error) {
	out := []byte{'"'}
	for _, n := range p {
		bits := uint64(n<<1 ^ n>>63)
		for ; bits >= 32; bits >>= 5 {
			out = append(out, packedDigits[32|bits&31])
		}
		out = append(out, packedDigits[bits])
	}
	return append(out, '"'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Packed) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*p = Packed{}
	var bits uint64
	shift := 0
	for i := range len(text) {
		digit := strings.IndexByte(packedDigits, text[i])
		if digit < 0 {
			return fmt.Errorf("packed numbers: %q at byte %d is no digit of base 64", text[i], i)
		}
		bits |= uint64(digit&31) << shift
		if shift += 5; digit < 32 {
			*p = append(*p, int64(bits>>1)^-int64(bits&1))
			bits, shift = 0, 0
		}
	}
	if shift > 0 {
		return fmt.Errorf("packed numbers: the last of %d bytes says that another follows", len(text))
	}
	return nil
}
