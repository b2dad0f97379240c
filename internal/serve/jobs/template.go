package jobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"prof/capture/plan"
	"prof/internal/mask"
	"prof/internal/suggest"
)

// CaptureOptions are the options of prof capture that a template may set.
type CaptureOptions struct {
	Names []string
	Check func(args []string) error // is an error where prof capture would refuse them; it looks at no files
}

// Template is what a job may run.
type Template struct {
	Name       string               `json:"name"`
	Doc        string               `json:"doc,omitempty"`
	Timeout    time.Duration        `json:"timeout_ns" doc:"A job that takes longer is stopped"`
	Parameters []*TemplateParameter `json:"parameters" nullable:"false"` // by name

	command []string
	options []option
	dir     string
	env     []string
	check   func(args []string) error // see CaptureOptions
}

// option is one of prof capture; values may mention parameters.
type option struct {
	key    string // as the template writes it
	name   string
	values []string
}

type templateFile struct {
	Doc        string                        `yaml:"doc"`
	Command    []string                      `yaml:"command"`
	Options    map[string]ast.Node           `yaml:"options"`
	Dir        string                        `yaml:"dir"`
	Env        map[string]string             `yaml:"env"`
	Timeout    time.Duration                 `yaml:"timeout"`
	Parameters map[string]*TemplateParameter `yaml:"parameters"`
	Node       ast.Node                      `yaml:"-"`
}

var (
	templateName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	placeholder  = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// runParameter is the name that every template has: that of the run.
const runParameter = "run"

func (f templateFile) template(file ast.Node, name, base string, captures CaptureOptions) (*Template, error) {
	at := f.Node
	if at == nil {
		return nil, plan.YAMLErrorf(file, "templates.%s is empty", name)
	}
	switch {
	case !templateName.MatchString(name):
		return nil, plan.YAMLErrorf(at, "templates.%s: name it with letters, digits, - and _", name)
	case len(f.Command) == 0 || f.Command[0] == "":
		return nil, plan.YAMLErrorf(at, "templates.%s has no command: write it as a list, such as [python3, bench.py]", name)
	case placeholder.MatchString(f.Command[0]):
		return nil, plan.YAMLErrorf(at, "templates.%s: the program, %s, must not depend on a parameter", name, f.Command[0])
	case f.Timeout < 0:
		return nil, plan.YAMLErrorf(at, "templates.%s: timeout must be more than 0", name)
	}
	t := &Template{Name: name, Doc: f.Doc, command: f.Command, dir: f.Dir, Timeout: f.Timeout, Parameters: []*TemplateParameter{}, check: captures.Check}
	if t.dir != "" && !filepath.IsAbs(t.dir) {
		t.dir = filepath.Join(base, t.dir)
	}
	for _, p := range slices.Sorted(maps.Keys(f.Parameters)) {
		one := f.Parameters[p]
		if one == nil { // a text
			one = &TemplateParameter{}
		}
		if one.Node == nil {
			one.Node = at
		}
		if !variableName.MatchString(p) || p == runParameter {
			return nil, plan.YAMLErrorf(one.Node, "templates.%s: a parameter must not be named %s", name, p)
		}
		if err := one.complete(p); err != nil {
			return nil, err
		}
		t.Parameters = append(t.Parameters, one)
	}
	used := map[string]bool{}
	for _, word := range f.Command {
		if err := t.mentions(at, word, used); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(f.Options)) {
		n := f.Options[key]
		o := option{key: key, name: strings.ReplaceAll(key, "_", "-")}
		if !slices.Contains(captures.Names, o.name) {
			return nil, plan.YAMLErrorf(n, "templates.%s: a template cannot set an option %s of prof capture%s", name, key, suggest.DidYouMean(o.name, captures.Names))
		}
		var err error
		if o.values, err = optionValues(n); err != nil {
			return nil, plan.YAMLErrorf(n, "templates.%s: options.%s: %v", name, key, err)
		}
		for _, v := range o.values {
			if err := t.mentions(n, v, used); err != nil {
				return nil, err
			}
		}
		t.options = append(t.options, o)
	}
	for _, key := range slices.Sorted(maps.Keys(f.Env)) {
		if !variableName.MatchString(key) || key == jobVariable {
			return nil, plan.YAMLErrorf(at, "templates.%s: env.%s: it cannot be set", name, key)
		}
		if err := t.mentions(at, f.Env[key], used); err != nil {
			return nil, err
		}
		t.env = append(t.env, key+"="+f.Env[key])
	}
	for _, p := range t.Parameters {
		if !used[p.Name] {
			return nil, plan.YAMLErrorf(p.Node, "templates.%s: nothing mentions {%s}", name, p.Name)
		}
	}
	return t, t.checkOptions(at, f.Options)
}

// maxTried bounds the combinations of values that checkOptions tries.
const maxTried = 500

// checkOptions finds options that prof capture would refuse whatever a request chooses, and values of a parameter that it would refuse with any others. nodes
// are where the options stand.
func (t *Template) checkOptions(at ast.Node, nodes map[string]ast.Node) error {
	choices, closed := []map[string]string{{runParameter: "run"}}, map[string]bool{runParameter: true}
	var used []*TemplateParameter
	for _, p := range t.Parameters {
		if !slices.ContainsFunc(t.options, func(o option) bool { return strings.Contains(strings.Join(o.values, " "), "{"+p.Name+"}") }) {
			continue
		}
		used = append(used, p)
		known, all := p.known()
		if closed[p.Name] = all && len(known)*len(choices) <= maxTried; !closed[p.Name] {
			known = append(known, "1")[:1] // which says nothing of the options that mention it
		}
		choices = with(choices, p.Name, known...)
	}
	if args, err := t.refused(choices, closed); err != nil {
		return plan.YAMLErrorf(t.blamed(args, err, at, nodes), "templates.%s: %v", t.Name, err)
	}
	for _, p := range used {
		known, _ := p.known()
		closed := maps.Clone(closed)
		closed[p.Name] = true
		for _, v := range known {
			if args, err := t.refused(with(choices, p.Name, v), closed); err != nil {
				return plan.YAMLErrorf(t.blamed(args, err, at, nodes), "templates.%s: %s is %q: %v", t.Name, p.Name, v, err)
			}
		}
	}
	return nil
}

// with are the choices with each of some values for a parameter.
func with(choices []map[string]string, name string, values ...string) (out []map[string]string) {
	for _, c := range choices {
		for _, v := range values {
			more := maps.Clone(c)
			more[name] = v
			out = append(out, more)
		}
	}
	return out
}

// refused returns what prof capture says against the options of the first of some choices; nil where it accepts one of them, or speaks of an option whose value
// depends on a parameter that is not closed: a request may choose another.
func (t *Template) refused(choices []map[string]string, closed map[string]bool) (args []string, err error) {
	for _, c := range choices {
		these := t.optionArgs(c)
		wrong := t.check(these)
		if wrong == nil || slices.ContainsFunc(t.options, func(o option) bool { return o.isOpen(closed) && strings.Contains(wrong.Error(), "-"+o.name) }) {
			return nil, nil
		}
		if err == nil {
			args, err = these, wrong
		}
	}
	return args, err
}

func (o option) isOpen(closed map[string]bool) bool {
	return slices.ContainsFunc(placeholder.FindAllStringSubmatch(strings.Join(o.values, " "), -1), func(m []string) bool { return !closed[m[1]] })
}

// blamed is where the first option stands without which prof capture says what comes first in err no more.
func (t *Template) blamed(args []string, err error, at ast.Node, nodes map[string]ast.Node) ast.Node {
	first, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), plan.ErrOptions.Error()+": "), ";")
	for _, o := range t.options {
		rest := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "--"+o.name+"=") })
		if other := t.check(rest); other == nil || !strings.Contains(other.Error(), first) {
			return nodes[o.key]
		}
	}
	return at
}

// optionValues are the texts of an option's value, a list's or one.
func optionValues(n ast.Node) ([]string, error) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		list = &ast.SequenceNode{Values: []ast.Node{n}}
	}
	var out []string
	for _, v := range list.Values {
		switch v := v.(type) {
		case *ast.StringNode:
			out = append(out, v.Value)
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
			out = append(out, v.GetToken().Value)
		default:
			return nil, errors.New("it must be a value or a list of values")
		}
	}
	return out, nil
}

// mentions notes the parameters that a text names.
func (t *Template) mentions(at ast.Node, text string, used map[string]bool) error {
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if t.parameter(m[1]) == nil && m[1] != runParameter {
			return plan.YAMLErrorf(at, "templates.%s: %s: there is no parameter %s%s", t.Name, text, m[1], suggest.DidYouMean(m[1], append(t.names(), runParameter)))
		}
		used[m[1]] = true
	}
	return nil
}

// names are those of the parameters.
func (t *Template) names() (out []string) {
	for _, p := range t.Parameters {
		out = append(out, p.Name)
	}
	return out
}

func (t *Template) parameter(name string) *TemplateParameter {
	at := slices.IndexFunc(t.Parameters, func(p *TemplateParameter) bool { return p.Name == name })
	if at < 0 {
		return nil
	}
	return t.Parameters[at]
}

// filled is a text with the values of parameters. A value is not looked at for names of others.
func filled(text string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(m string) string { return values[m[1:len(m)-1]] })
}

// optionArgs are the options of prof capture.
func (t *Template) optionArgs(values map[string]string) (args []string) {
	for _, o := range t.options {
		for _, v := range o.values {
			args = append(args, "--"+o.name+"="+filled(v, values))
		}
	}
	return args
}

// run is what a job runs of prof: the options and the command line of prof capture, and what is added to its environment.
func (t *Template) run(values map[string]string) (args, env []string) {
	args = append(t.optionArgs(values), "--")
	for _, word := range t.command {
		args = append(args, filled(word, values))
	}
	for _, v := range t.env {
		env = append(env, filled(v, values))
	}
	return args, env
}

func (s *Service) template(name string) *Template {
	at := slices.IndexFunc(s.o.Config.Templates, func(t *Template) bool { return t.Name == name })
	if at < 0 {
		return nil
	}
	return s.o.Config.Templates[at]
}

// Capture queues a capture by a template. The error is a *valueError where a parameter is wrong.
func (s *Service) Capture(ctx context.Context, template string, chosen map[string]any, name string, tags []string) (Job, error) {
	t := s.template(template)
	if t == nil {
		var names []string
		for _, t := range s.o.Config.Templates {
			names = append(names, t.Name)
		}
		return Job{}, fmt.Errorf("%w: %s has no template %.100q%s", ErrInvalid, ConfigName, template, suggest.DidYouMean(template, names))
	}
	id := newID(template)
	if name == "" {
		name = id
	}
	if err := s.o.Runs.Check(ctx, name, tags); err != nil {
		return Job{}, err
	}
	values, err := t.values(chosen, name)
	if err != nil {
		return Job{}, err
	}
	if err := t.check(append(tagArgs(tags), t.optionArgs(values)...)); err != nil {
		return Job{}, fmt.Errorf("%w: %s", ErrInvalid, s.shorten(err.Error()))
	}
	shown := map[string]string{}
	for key := range chosen {
		text := values[key]
		if t.parameter(key).Type == typePath {
			text, _ = chosen[key].(string) // as the client knows it
		}
		shown[key] = mask.Value(key, text)
	}
	return s.add(&job{saved: saved{Job: Job{ID: id, Kind: KindCapture, Template: template, Parameters: shown, Name: name, Tags: tags}, Chosen: chosen}})
}
