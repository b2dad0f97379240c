package typeset_test

import (
	"bytes"
	"strings"
	"testing"

	"prof/render/typeset"
)

func TestStream(t *testing.T) {
	mark := typeset.NewMark()
	bold := typeset.Style(typeset.Options{Color: true, Mark: mark}, typeset.Bold)
	for _, c := range []struct {
		styled bool
		in     []string
		want   string
	}{
		{false, []string{"plain\ttext\n"}, "plain\ttext\n"}, {false, []string{"a\x1b[2Jb\r\n"}, `a\x1b[2Jb\r` + "\n"}, {false, []string{typeset.Bold + "x\x1b[0m"}, `\x1b[1mx\x1b[0m`},
		{true, []string{bold("x") + "\x1b[2J\x1b]0;t\a"}, typeset.Bold + "x\x1b[0m" + `\x1b[2J\x1b]0;t\x07`},
		// The styles of others stay as little as their other escapes do.
		{true, []string{bold("a \x1b[31mred\x1b[0m") + typeset.Bold}, typeset.Bold + `a \x1b[31mred\x1b[0m` + "\x1b[0m" + `\x1b[1m`}, {true, []string{"\x1b[1;1m\x1b[;1m\x1b[1"}, `\x1b[1;1m\x1b[;1m\x1b[1`}, {false, []string{bold("x")}, `\x1b[` + string(mark) + `;1mx\x1b[` + string(mark) + `;0m`},
		{true, strings.Split(bold("é x"), ""), typeset.Bold + "é x\x1b[0m"}, {true, []string{bold("x")[:3], bold("x")[3:]}, typeset.Bold + "x\x1b[0m"}, {true, []string{"\x1b", "[2J"}, `\x1b[2J`}, {true, []string{"\x1b[" + string(mark) + ";", "31;4m"}, `\x1b[` + string(mark) + `;31;4m`}, {false, []string{"\u202eback\u2066\u200f\u061c\u0085\x7f\x00"}, `\u202eback\u2066\u200f\u061c\x85\x7f\x00`},
		{false, []string{"\xe7", "\x94", "\x9f生"}, "生生"}, {false, []string{"a\xff\xfeb", "c"}, `a\xff\xfebc`}, {false, []string{"\xe7x"}, `\xe7x`}, {false, []string{"zero\u200bwidth\ufeff"}, `zero\u200bwidth\ufeff`}, {false, []string{"\x1b", "[2J"}, `\x1b[2J`},
	} {
		var out bytes.Buffer
		s := &typeset.Stream{W: &out}
		if c.styled {
			s.Mark = mark
		}
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
