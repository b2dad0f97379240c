package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/queries/judge/gate"
)

// rulesName is the file of rules in a home.
const rulesName = "rules"

// checkRules gives the rules of the options, else those of the home, else the built-in ones.
func (p *program) checkRules(c *cli.Context) ([]gate.Rule, error) {
	var out []gate.Rule
	for _, file := range c.StringSlice("rules") {
		text, err := p.readRules(file)
		if err != nil {
			return nil, err
		}
		if out, err = addRules(out, file, text); err != nil {
			return nil, err
		}
	}
	for i, rule := range c.StringSlice("rule") {
		var err error
		if out, err = addRules(out, "--rule", strings.Repeat("\n", i)+rule); err != nil { // the line of the second is 2
			return nil, err
		}
	}
	if c.IsSet("rules") || c.IsSet("rule") {
		return out, nil
	}
	home, err := p.home(c)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(home.Dir, rulesName)
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gate.Default(), nil
	case err != nil:
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	return addRules(nil, file, string(text))
}

// readRules reads a file of rules, or stdin.
func (p *program) readRules(file string) (string, error) {
	if file == "-" {
		var text bytes.Buffer
		if _, err := text.ReadFrom(p.in); err != nil {
			return "", fmt.Errorf("read the rules from stdin: %w", err)
		}
		return text.String(), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the rules: %w", err)
	}
	return string(text), nil
}

// addRules reads rules; a text without any is a mistake, since a gate without rules lets everything through.
func addRules(to []gate.Rule, file, text string) ([]gate.Rule, error) {
	rules, err := gate.Parse(file, text)
	if err != nil {
		return nil, &usageError{err}
	}
	if len(rules) == 0 {
		return nil, usagef("%s has no rules; see `prof help check`", file)
	}
	return append(to, rules...), nil
}
