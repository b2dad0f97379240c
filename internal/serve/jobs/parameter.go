package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"prof/capture/plan"
	"prof/internal/suggest"
)

// Types of parameters.
const (
	typeText    = "text"
	typeInteger = "integer"
	typeNumber  = "number"
	typeBoolean = "boolean"
	typePath    = "path"
)

var types = []string{typeText, typeInteger, typeNumber, typeBoolean, typePath}

// maxValue bounds the value of a parameter, in bytes.
const maxValue = 4096

// TemplateParameter is a value that a job may choose.
type TemplateParameter struct {
	Name    string   `json:"name" yaml:"-"`
	Type    string   `json:"type" enum:"text,integer,number,boolean,path" yaml:"type"`
	Doc     string   `json:"doc,omitempty" yaml:"doc"`
	Default *string  `json:"default,omitempty" doc:"The value if the request names none; absent: the parameter is required" yaml:"default"`
	Values  []string `json:"values,omitempty" doc:"The only values allowed" yaml:"values"`
	Pattern string   `json:"pattern,omitempty" doc:"A regular expression that all of a text must match" yaml:"pattern"`
	Min     *float64 `json:"min,omitempty" yaml:"min"`
	Max     *float64 `json:"max,omitempty" yaml:"max"`
	Below   []string `json:"-" yaml:"below"` // folders, of which a path is in one
	Dash    bool     `json:"-" yaml:"dash"`  // a text may begin with -
	Node    ast.Node `json:"-" yaml:"-"`

	plain bool           `yaml:"-"` // a text must match anyText, and leads up no folder
	whole *regexp.Regexp `yaml:"-"`
}

// anyText is what a text may be where the template says nothing: words, names of models, host names, and no path that leads up.
const anyText = `[A-Za-z0-9_][A-Za-z0-9_.:=,@+/-]*`

// complete checks what a template says of a parameter.
func (p *TemplateParameter) complete(name string) error {
	p.Name, p.Type = name, cmp.Or(p.Type, typeText)
	wrong := func(format string, args ...any) error {
		return plan.YAMLErrorf(p.Node, "parameter %s: %s", name, fmt.Sprintf(format, args...))
	}
	isNumber := p.Type == typeInteger || p.Type == typeNumber
	switch {
	case !slices.Contains(types, p.Type):
		return wrong("unknown type %s%s", p.Type, suggest.DidYouMean(p.Type, types))
	case (p.Min != nil || p.Max != nil) && !isNumber:
		return wrong("min and max are for numbers, not for type %s", p.Type)
	case p.Min != nil && p.Max != nil && *p.Min > *p.Max:
		return wrong("min is more than max")
	case (p.Pattern != "" || p.Dash) && p.Type != typeText:
		return wrong("pattern and dash are for type text, not for type %s", p.Type)
	case (len(p.Below) > 0) != (p.Type == typePath):
		return wrong("a path, and nothing else, needs below: a list of the folders that it may be in")
	}
	if p.Type == typeText {
		if p.Pattern == "" && len(p.Values) == 0 {
			p.Pattern, p.plain = anyText, true
		}
		var err error
		if p.whole, err = regexp.Compile(`\A(?:` + p.Pattern + `)\z`); err != nil {
			return wrong("pattern: %v", err)
		}
	}
	for _, dir := range p.Below {
		if !filepath.IsAbs(dir) {
			return wrong("below: %s is not an absolute path", dir)
		}
	}
	for _, v := range p.Values {
		if err := p.offered(v); err != nil {
			return wrong("values: %q: %v", v, err)
		}
	}
	if p.Default != nil {
		if err := p.offered(*p.Default); err != nil {
			return wrong("default: %v", err)
		}
	}
	return nil
}

// offered checks a value that the template itself names. Files come and go, and clients see their paths.
func (p *TemplateParameter) offered(v string) error {
	if p.Type == typePath {
		if !filepath.IsLocal(v) {
			return fmt.Errorf("%s: write paths relative to a folder of below", v)
		}
		return nil
	}
	_, err := p.check(v)
	return err
}

// known are the values that are known before a request; all says that no request can choose another.
func (p *TemplateParameter) known() (values []string, all bool) {
	var list []string
	switch {
	case p.Type == typePath:
	case len(p.Values) > 0:
		list, all = p.Values, true
	case p.Type == typeBoolean:
		list, all = []string{"false", "true"}, true
	case p.Default != nil:
		list = []string{*p.Default}
	}
	for _, v := range list {
		if text, err := p.check(v); err == nil {
			values = append(values, text)
		}
	}
	return values, all
}

// value returns the text of a parameter for a value of JSON.
func (p *TemplateParameter) value(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return p.check(v)
	case bool:
		return p.check(strconv.FormatBool(v))
	case float64:
		return p.check(strconv.FormatFloat(v, 'f', -1, 64))
	}
	return "", errors.New("it must be a string, a number or a boolean")
}

// check returns the text that the command line gets for a value.
func (p *TemplateParameter) check(v string) (string, error) {
	switch {
	case len(v) > maxValue:
		return "", fmt.Errorf("it has %d bytes, more than %d", len(v), maxValue)
	case !utf8.ValidString(v) || strings.ContainsFunc(v, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }):
		return "", errors.New("it must be UTF-8 without control characters")
	}
	var err error
	switch p.Type {
	case typeInteger, typeNumber:
		v, err = p.number(v)
	case typeBoolean:
		if v != "true" && v != "false" {
			err = errors.New("it must be true or false")
		}
	case typeText:
		if strings.HasPrefix(v, "-") && !p.Dash {
			err = errors.New("it must not begin with -")
		} else if p.Pattern != "" && !p.whole.MatchString(v) {
			err = fmt.Errorf("it does not match %s", p.Pattern)
		} else if p.plain && slices.Contains(strings.Split(v, "/"), "..") {
			err = errors.New("it must not contain the folder ..")
		}
	}
	if err == nil && len(p.Values) > 0 && !slices.Contains(p.Values, v) {
		err = fmt.Errorf("it must be one of %s", suggest.List(p.Values, 12))
	}
	if err == nil && p.Type == typePath {
		return p.path(v)
	}
	return v, err
}

func (p *TemplateParameter) number(v string) (string, error) {
	n, err := strconv.ParseFloat(v, 64)
	switch {
	case err != nil || math.IsInf(n, 0) || math.IsNaN(n):
		return "", errors.New("it must be a number")
	case p.Type == typeInteger && (n != math.Trunc(n) || math.Abs(n) > 1<<53):
		return "", errors.New("it must be a whole number")
	case n < 0 && (p.Min == nil || *p.Min >= 0):
		return "", errors.New("it must not be negative")
	case p.Min != nil && n < *p.Min:
		return "", fmt.Errorf("it must be at least %v", *p.Min)
	case p.Max != nil && n > *p.Max:
		return "", fmt.Errorf("it must be at most %v", *p.Max)
	}
	return strconv.FormatFloat(n+0, 'f', -1, 64), nil // -0 + 0 is 0
}

// path returns the real path of a file or folder, which links must not lead out of the folders that are allowed. A relative one is below each of them in turn.
// What it says names no path but the client's.
func (p *TemplateParameter) path(v string) (string, error) {
	if v == "" {
		return "", errors.New("it is empty")
	}
	for _, dir := range p.Below {
		root, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue
		}
		at := v
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			continue
		}
		st, err := os.Stat(real)
		if rest, e := filepath.Rel(root, real); err == nil && e == nil && filepath.IsLocal(rest) && (st.IsDir() || st.Mode().IsRegular()) {
			return real, nil
		}
	}
	return "", errors.New("no such file or folder in the folders that the template allows")
}

// values checks what a job chose, and gives what its command line gets: a value for each parameter. The error names the parameter.
func (t *Template) values(chosen map[string]any, run string) (map[string]string, error) {
	for name := range chosen {
		if t.parameter(name) == nil {
			return nil, &valueError{name, fmt.Errorf("template %s has no such parameter%s", t.Name, suggest.DidYouMean(name, t.names()))}
		}
	}
	out := map[string]string{runParameter: run}
	for _, p := range t.Parameters {
		v, ok := chosen[p.Name]
		if !ok && p.Default == nil {
			return nil, &valueError{p.Name, errors.New("it is required")}
		} else if !ok {
			v = *p.Default
		}
		text, err := p.value(v)
		if err != nil {
			return nil, &valueError{p.Name, err}
		}
		out[p.Name] = text
	}
	return out, nil
}

// valueError says which parameter cannot have its value.
type valueError struct {
	name string
	err  error
}

func (e *valueError) Error() string { return fmt.Sprintf("parameter %.100q: %v", e.name, e.err) }
func (e *valueError) Unwrap() error { return e.err }
