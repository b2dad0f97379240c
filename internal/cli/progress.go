package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/term"

	"prof/render/typeset"
)

// spinner shows on a terminal what a long step is at, how fast it goes and how long it will still take, in one line that is gone when it
// ends. Its methods are safe for concurrent use; those of a nil one do nothing.
type spinner struct {
	w         io.Writer
	now       func() time.Time
	begun     time.Time // of all steps
	done      chan struct{}
	mu        sync.Mutex
	turn      int
	what      string
	unit      string
	at, total int64     // of unit; total is below 1 where it is not known
	since     time.Time // when what began
	drawn     bool
	width     int // columns of the terminal; 0: usualWidth
}

// usualWidth is that of a terminal that does not say how wide it is.
const usualWidth = 80

const (
	spinAfter = time.Second / 2 // short work shows nothing
	spinEvery = time.Second / 10
)

// spin begins to show what is done, where the talk goes to a terminal.
func (p *program) spin(what string) *spinner {
	if !isTerminal(p.err) {
		return nil
	}
	s := &spinner{w: p.tty, now: time.Now, begun: time.Now(), done: make(chan struct{})}
	if f := beneath(p.tty); f != nil {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			s.width = w
		}
	}
	s.step(what)
	p.spinner = s
	go func() {
		for tick := time.NewTicker(spinEvery); ; {
			select {
			case <-s.done:
				tick.Stop()
				return
			case <-tick.C:
				s.draw()
			}
		}
	}()
	return s
}

// step begins what cannot be counted.
func (s *spinner) step(what string) { s.count(what, "", 0, -1) }

// rows says how many rows of how many are done.
func (s *spinner) rows(what string, done, total int64) { s.count(what, " rows", done, total) }

func (s *spinner) count(what, unit string, done, total int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if what != s.what {
		s.since = s.now()
	}
	s.what, s.unit, s.at, s.total = what, unit, done, total
}

func (s *spinner) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done: // the line is wiped
		return
	default:
	}
	if s.now().Sub(s.begun) >= spinAfter {
		s.turn, s.drawn = s.turn+1, true
		fmt.Fprint(s.w, "\r\x1b[K"+s.line())
	}
}

// line is what the terminal shows: what is done, how much of it, its rate and the rest; without numbers, how long it has taken. What is done
// is shortened so that the line does not wrap, which wiping it would leave in part.
func (s *spinner) line() string {
	turn, numbers := string([]rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[s.turn%10])+" ", " "+s.numbers()
	width := s.width
	if width == 0 {
		width = usualWidth
	}
	room := width - 1 - typeset.Width(turn) - typeset.Width(numbers)
	return turn + typeset.Shorten(typeset.Neutral(s.what), max(room, 0), 40) + numbers
}

func (s *spinner) numbers() string {
	took := s.now().Sub(s.since)
	if s.at <= 0 {
		return fmt.Sprintf("%d s", int(took.Seconds()))
	}
	text := fewDigits(float64(s.at))
	if s.total > 0 {
		text += " of " + fewDigits(float64(s.total))
	}
	text += s.unit
	if took < spinAfter {
		return text
	}
	rate := float64(s.at) / took.Seconds()
	text += fmt.Sprintf(", %s/s", fewDigits(rate))
	if s.total >= s.at {
		text += fmt.Sprintf(", %.0f s left", float64(s.total-s.at)/rate)
	}
	return text
}

// fewDigits is a number of up to four digits with its power of a thousand.
func fewDigits(n float64) string {
	for _, scale := range []struct {
		by   float64
		name string
	}{{1e9, " G"}, {1e6, " M"}, {1e4, " k"}} {
		if n >= scale.by {
			if scale.by == 1e4 {
				scale.by = 1e3
			}
			return fmt.Sprintf("%.1f%s", n/scale.by, scale.name)
		}
	}
	return fmt.Sprintf("%.0f", n)
}

// wipe makes room for something else on the line.
func (s *spinner) wipe() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawn {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.drawn = false
	}
}

// end wipes the line for good.
func (s *spinner) end() {
	if s != nil {
		close(s.done)
		s.wipe()
	}
}
