package typeset_test

import (
	"bytes"
	"testing"

	"prof/render/typeset"
)

func TestStream(t *testing.T) {
	for _, c := range []struct {
		styled bool
		in     []string
		want   string
	}{
		{false, []string{"plain\ttext\n"}, "plain\ttext\n"}, {false, []string{"a\x1b[2Jb\r\n"}, `a\x1b[2Jb\r` + "\n"}, {false, []string{typeset.Bold + "x\x1b[0m"}, `\x1b[1mx\x1b[0m`},
		{true, []string{typeset.Bold + "x\x1b[0m\x1b[2J\x1b]0;t\a"}, typeset.Bold + "x\x1b[0m" + `\x1b[2J\x1b]0;t\x07`}, {false, []string{"\u202eback\u2066\u200f\u061c\u0085\x7f\x00"}, `\u202eback\u2066\u200f\u061c\x85\x7f\x00`},
		{false, []string{"\xe7", "\x94", "\x9f生"}, "生生"}, {false, []string{"a\xff\xfeb", "c"}, `a\xff\xfebc`}, {false, []string{"\xe7x"}, `\xe7x`}, {false, []string{"zero\u200bwidth\ufeff"}, `zero\u200bwidth\ufeff`}, {false, []string{"\x1b", "[2J"}, `\x1b[2J`},
	} {
		var out bytes.Buffer
		s := &typeset.Stream{W: &out, Styled: c.styled}
		for _, p := range c.in {
			if n, err := s.Write([]byte(p)); n != len(p) || err != nil {
				t.Errorf("%q: %d, %v", p, n, err)
			}
		}
		if out.String() != c.want {
			t.Errorf("%q gives %q, want %q", c.in, out.String(), c.want)
		}
	}
}
