package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/internal/file"
	"prof/queries/judge/gate"
)

// rulesName is the file of rules in a home.
const rulesName = "rules"

// maxRules bounds a text of rules, in bytes.
const maxRules = 1 << 20

// checkRules returns the rules of the options, else those of the home, else the built-in ones.
func (p *program) checkRules(c *cli.Context) ([]gate.Rule, error) {
	var out []gate.Rule
	for _, path := range c.StringSlice("rules") {
		text, err := p.readRules(c.Context, path)
		if err != nil {
			return nil, err
		}
		if out, err = addRules(out, path, text); err != nil {
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
	at := filepath.Join(home.Dir, rulesName)
	text, err := file.Read(at, maxRules)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gate.Default(), nil
	case err != nil:
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	return addRules(nil, at, string(text))
}

// readRules reads a file of rules, or stdin.
func (p *program) readRules(ctx context.Context, path string) (string, error) {
	if path == "-" {
		return p.stdin(ctx, maxRules)
	}
	text, err := file.Read(p.path(path), maxRules)
	if err != nil {
		return "", fmt.Errorf("read the rules: %w", err)
	}
	return string(text), nil
}

// addRules reads rules; a text without any is a mistake, since a gate without rules lets everything through.
func addRules(to []gate.Rule, path, text string) ([]gate.Rule, error) {
	rules, err := gate.Parse(path, text)
	if err != nil {
		return nil, &usageError{err}
	}
	if len(rules) == 0 {
		return nil, usagef("%s has no rules; see `prof help check`", path)
	}
	return append(to, rules...), nil
}
