package gate

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrRule is wrapped by the errors of rules that cannot be read.
var ErrRule = errors.New("invalid rule")

// ruleError is one thing that is wrong with a rule, and where.
type ruleError struct {
	at   Position
	text string
}

func (e *ruleError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.at.File, e.at.Line, e.at.Column, e.text)
}

func (e *ruleError) Unwrap() error { return ErrRule }

// Parse reads rules, one a line; what stands behind a # that follows a space or begins a line is a comment. file is named in errors,
// which tell of every line that is wrong.
func Parse(file, text string) ([]Rule, error) {
	if !utf8.ValidString(text) {
		return nil, &ruleError{Position{file, 1, 1}, "the rules are not UTF-8 text"}
	}
	var out []Rule
	var wrong []error
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		s := &scanner{text: strings.TrimSuffix(line, "\r"), file: file, line: i + 1}
		s.blanks()
		if s.atEnd() {
			continue
		}
		r, err := s.rule()
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		out = append(out, r)
	}
	return out, errors.Join(wrong...)
}

// scanner reads one line.
type scanner struct {
	text, file string
	line, at   int // at in bytes
}

// blanks passes over spaces and a comment behind them.
func (s *scanner) blanks() {
	s.at += len(s.rest()) - len(strings.TrimLeft(s.rest(), " \t"))
	before := s.at == 0 || s.text[s.at-1] == ' ' || s.text[s.at-1] == '\t'
	if before && strings.HasPrefix(s.rest(), "#") {
		s.text = s.text[:s.at]
	}
}

func (s *scanner) rest() string { return s.text[s.at:] }

func (s *scanner) atEnd() bool { return s.at == len(s.text) }

// position is that of a byte of the line.
func (s *scanner) position(at int) Position {
	return Position{s.file, s.line, utf8.RuneCountInString(s.text[:at]) + 1}
}

func (s *scanner) errorf(at int, format string, args ...any) error {
	return &ruleError{s.position(at), fmt.Sprintf(format, args...)}
}

// rule reads the whole line.
func (s *scanner) rule() (Rule, error) {
	begin := s.at
	r := Rule{At: s.position(begin)}
	var err error
	if r.Subject, err = s.subject(); err != nil {
		return r, err
	}
	s.blanks()
	if r.AtMost, err = s.operator(); err != nil {
		return r, err
	}
	s.blanks()
	if r.Limit, err = s.limit(r); err != nil {
		return r, err
	}
	end := s.at
	s.blanks()
	if !s.atEnd() {
		return r, s.errorf(s.at, "%q follows the rule: write one rule per line, and # before a comment", s.rest())
	}
	r.Text = s.text[begin:end]
	return r, nil
}

func (s *scanner) operator() (atMost bool, err error) {
	switch {
	case strings.HasPrefix(s.rest(), "<="), strings.HasPrefix(s.rest(), ">="):
		s.at += 2
		return s.text[s.at-2] == '<', nil
	case s.atEnd():
		return false, s.errorf(s.at, "the rule has no limit: write <= or >= and a limit, such as <= +3%%")
	}
	return false, s.errorf(s.at, "expected <= (at most) or >= (at least), not %q", excerpt(s.rest()))
}

// word reads what is neither space nor the begin of an operator.
func (s *scanner) word() string {
	end := strings.IndexAny(s.rest(), " \t<>=")
	if end < 0 {
		end = len(s.rest())
	}
	s.at += end
	return s.text[s.at-end : s.at]
}

// excerpt is the begin of a text, for a message.
func excerpt(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if utf8.RuneCountInString(word) > 20 {
		return string([]rune(word)[:20]) + "..."
	}
	return word
}
