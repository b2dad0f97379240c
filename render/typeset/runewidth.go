package typeset

import "github.com/mattn/go-runewidth"

// runeWidth returns the terminal columns of one printable character: 0 for a combining mark, 2 for a wide one, else 1. The
// library's package functions would read the locale from the environment; a condition of our own does not.
func runeWidth(r rune) int {
	c := runewidth.Condition{StrictEmojiNeutral: true}
	return c.RuneWidth(r)
}
