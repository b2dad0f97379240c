package picture

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Terminal is a way in which terminals take pictures.
type Terminal string

// The ways that there are; both take PNG.
const (
	Kitty Terminal = "kitty" // the graphics protocol of kitty, which Ghostty and Konsole have too
	ITerm Terminal = "iterm" // the inline images of iTerm2, which WezTerm and mintty have too
)

// ErrNoPictures says that nothing is known of a terminal's taking pictures.
var ErrNoPictures = errors.New("this terminal is not known to show pictures; kitty, Ghostty, Konsole, iTerm2, WezTerm and mintty do")

// TerminalOf finds out by its environment what a terminal takes.
func TerminalOf(env func(name string) string) (Terminal, error) {
	name, program := env("TERM"), env("TERM_PROGRAM")
	switch {
	case env("TMUX") != "" || strings.HasPrefix(name, "tmux") || strings.HasPrefix(name, "screen"):
		return "", errors.New("tmux and screen do not pass pictures on to their terminal")
	case env("KITTY_WINDOW_ID") != "" || env("KONSOLE_VERSION") != "" || name == "xterm-kitty" || name == "xterm-ghostty" || program == "ghostty":
		return Kitty, nil
	case program == "iTerm.app" || program == "WezTerm" || program == "mintty" || env("LC_TERMINAL") == "iTerm2":
		return ITerm, nil
	}
	return "", ErrNoPictures
}

// kittyChunk is the most that kitty takes at once.
const kittyChunk = 4096

// WriteInline shows a PNG in a terminal, so many columns wide.
func WriteInline(w io.Writer, t Terminal, png []byte, columns int) error {
	out := bufio.NewWriter(w)
	text := base64.StdEncoding.EncodeToString(png)
	switch t {
	case Kitty:
		keys := fmt.Sprintf("a=T,f=100,q=2,c=%d,", columns)
		for ; len(text) > kittyChunk; text, keys = text[kittyChunk:], "" {
			fmt.Fprintf(out, "\x1b_G%sm=1;%s\x1b\\", keys, text[:kittyChunk])
		}
		fmt.Fprintf(out, "\x1b_G%sm=0;%s\x1b\\\n", keys, text)
	case ITerm:
		fmt.Fprintf(out, "\x1b]1337;File=inline=1;size=%d;width=%d;preserveAspectRatio=1:%s\a\n", len(png), columns, text)
	default:
		return fmt.Errorf("%q: %w", t, ErrNoPictures)
	}
	return out.Flush()
}
