package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/goccy/go-yaml/ast"

	"prof/capture"
	"prof/internal/file"
	"prof/internal/suggest"
)

// ConfigName is the file of a home that says what jobs may run.
const ConfigName = "serve.yaml"

// maxConfig bounds it.
const maxConfig = 1 << 20

// ErrConfig is wrapped by errors about what serve.yaml says.
var ErrConfig = errors.New("cannot use the settings of jobs")

// Config is what serve.yaml says.
type Config struct {
	Jobs      Limits
	Uploads   UploadLimits
	Templates []*Template // by name
}

// Limits bound the jobs.
type Limits struct {
	Queue   int           `yaml:"queue"`    // that wait
	Keep    int           `yaml:"keep"`     // that have ended and are still listed
	LogSize int64         `yaml:"log_size"` // of a job's log
	Timeout time.Duration `yaml:"timeout"`  // of a job whose template names none
	Grace   time.Duration `yaml:"grace"`    // from the interrupt that stops a job to SIGTERM
}

// UploadLimits bound the uploads.
type UploadLimits struct {
	Count  int           `yaml:"count"`   // that are there at once
	Size   int64         `yaml:"size"`    // of one file
	Free   int64         `yaml:"free"`    // of the disk that stay free
	MaxAge time.Duration `yaml:"max_age"` // from the last byte until what was not ingested is removed
}

// Template is what a job may run.
type Template struct {
	Name, Doc  string
	Parameters []*TemplateParameter // by name
	Timeout    time.Duration

	command []string
	options []option
	dir     string
	env     []string
}

// option is one of prof capture; values may mention parameters.
type option struct {
	name   string
	values []string
}

type configFile struct {
	Jobs      Limits                  `yaml:"jobs"`
	Uploads   UploadLimits            `yaml:"uploads"`
	Templates map[string]templateFile `yaml:"templates"`
	Node      ast.Node                `yaml:"-"`
}

type templateFile struct {
	Doc        string                   `yaml:"doc"`
	Command    []string                 `yaml:"command"`
	Options    map[string]ast.Node      `yaml:"options"`
	Dir        string                   `yaml:"dir"`
	Env        map[string]string        `yaml:"env"`
	Timeout    time.Duration            `yaml:"timeout"`
	Parameters map[string]parameterFile `yaml:"parameters"`
	Node       ast.Node                 `yaml:"-"`
}

// DefaultConfig holds where serve.yaml says nothing else.
func DefaultConfig() Config {
	return Config{
		Jobs:    Limits{Queue: 16, Keep: 200, LogSize: 16 << 20, Timeout: 2 * time.Hour, Grace: 30 * time.Second},
		Uploads: UploadLimits{Count: 64, Size: 16 << 30, Free: 2 << 30, MaxAge: 24 * time.Hour},
	}
}

// ReadConfig reads serve.yaml; a file that is not there says nothing. captureOptions are the options of prof capture that a template may set. A relative
// folder is below that of the file.
func ReadConfig(path string, captureOptions []string) (Config, error) {
	c := DefaultConfig()
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err := onlyOurs(path); err != nil {
		return c, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	f := configFile{Jobs: c.Jobs, Uploads: c.Uploads}
	err := capture.ReadYAML(path, maxConfig, ErrConfig, &f, func() error {
		if err := f.check(); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(f.Templates)) {
			t, err := f.Templates[name].template(f.Node, name, filepath.Dir(path), captureOptions)
			if err != nil {
				return err
			}
			t.Timeout = cmp.Or(t.Timeout, f.Jobs.Timeout)
			c.Templates = append(c.Templates, t)
		}
		return nil
	})
	c.Jobs, c.Uploads = f.Jobs, f.Uploads
	return c, err
}

// onlyOurs refuses a file that another user could change: it names commands that this one runs.
func onlyOurs(path string) error {
	if err := file.NoLink(path); err != nil {
		return err
	}
	for _, p := range []string{path, filepath.Dir(path)} {
		st, err := os.Stat(p)
		if err != nil {
			return err
		}
		if st.Mode().Perm()&0o022 != 0 {
			return fmt.Errorf("%s: others than its owner can change it, and so what the server runs: chmod go-w %[1]s (of a home that a team shares, keep the file elsewhere: --config)", p)
		}
		if sys, ok := st.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Getuid() && sys.Uid != 0 {
			return fmt.Errorf("%s: it belongs to another user, who could change what the server runs", p)
		}
	}
	return nil
}

// check finds limits that cannot be.
func (f *configFile) check() error {
	for _, l := range []struct {
		name string
		ok   bool
	}{
		{"jobs.queue: it must be from 1 to 10000", f.Jobs.Queue >= 1 && f.Jobs.Queue <= 10_000},
		{"jobs.keep: it must be from 1 to 100000", f.Jobs.Keep >= 1 && f.Jobs.Keep <= 100_000},
		{"jobs.log_size: it must be from 128KiB to 1GiB", f.Jobs.LogSize >= 128<<10 && f.Jobs.LogSize <= 1<<30},
		{"jobs.timeout: it must be more than 0", f.Jobs.Timeout > 0},
		{"jobs.grace: it must be from 0 to 1h", f.Jobs.Grace >= 0 && f.Jobs.Grace <= time.Hour},
		{"uploads.count: it must be from 1 to 10000", f.Uploads.Count >= 1 && f.Uploads.Count <= 10_000},
		{"uploads.size: it must be at least 1", f.Uploads.Size >= 1},
		{"uploads.free: it must be at least 0", f.Uploads.Free >= 0},
		{"uploads.max_age: it must be at least 1m", f.Uploads.MaxAge >= time.Minute},
	} {
		if !l.ok {
			return capture.YAMLErrorf(f.Node, "%s", l.name)
		}
	}
	return nil
}

var (
	templateName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	placeholder  = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// runParameter is the name that every template has: that of the run.
const runParameter = "run"

func (f templateFile) template(file ast.Node, name, base string, captureOptions []string) (*Template, error) {
	at := f.Node
	if at == nil {
		return nil, capture.YAMLErrorf(file, "templates.%s is empty", name)
	}
	switch {
	case !templateName.MatchString(name):
		return nil, capture.YAMLErrorf(at, "templates.%s: name it with letters, digits, - and _", name)
	case len(f.Command) == 0 || f.Command[0] == "":
		return nil, capture.YAMLErrorf(at, "templates.%s has no command: write it as a list, such as [python3, bench.py]", name)
	case placeholder.MatchString(f.Command[0]):
		return nil, capture.YAMLErrorf(at, "templates.%s: the program, %s, must not depend on a parameter", name, f.Command[0])
	case f.Timeout < 0:
		return nil, capture.YAMLErrorf(at, "templates.%s: timeout must be more than 0", name)
	}
	t := &Template{Name: name, Doc: f.Doc, command: f.Command, dir: f.Dir, Timeout: f.Timeout}
	if t.dir != "" && !filepath.IsAbs(t.dir) {
		t.dir = filepath.Join(base, t.dir)
	}
	for _, p := range slices.Sorted(maps.Keys(f.Parameters)) {
		one := f.Parameters[p]
		if one.Node == nil { // it is empty: a text
			one.Node = at
			f.Parameters[p] = one
		}
		if !variableName.MatchString(p) || p == runParameter {
			return nil, capture.YAMLErrorf(one.Node, "templates.%s: a parameter must not be named %s", name, p)
		}
		made, err := one.parameter(p)
		if err != nil {
			return nil, err
		}
		t.Parameters = append(t.Parameters, made)
	}
	used := map[string]bool{}
	for _, word := range f.Command {
		if err := t.mentions(at, word, used); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(f.Options)) {
		n := f.Options[key]
		o := option{name: strings.ReplaceAll(key, "_", "-")}
		if !slices.Contains(captureOptions, o.name) {
			return nil, capture.YAMLErrorf(n, "templates.%s: a job has no option %s of prof capture%s", name, key, suggest.DidYouMean(o.name, captureOptions))
		}
		var err error
		if o.values, err = optionValues(n); err != nil {
			return nil, capture.YAMLErrorf(n, "templates.%s: options.%s: %v", name, key, err)
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
			return nil, capture.YAMLErrorf(at, "templates.%s: env.%s: it cannot be set", name, key)
		}
		if err := t.mentions(at, f.Env[key], used); err != nil {
			return nil, err
		}
		t.env = append(t.env, key+"="+f.Env[key])
	}
	for _, p := range t.Parameters {
		if !used[p.Name] {
			return nil, capture.YAMLErrorf(f.Parameters[p.Name].Node, "templates.%s: nothing mentions {%s}", name, p.Name)
		}
	}
	return t, nil
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
			names := []string{runParameter}
			for _, p := range t.Parameters {
				names = append(names, p.Name)
			}
			return capture.YAMLErrorf(at, "templates.%s: %s: there is no parameter %s%s", t.Name, text, m[1], suggest.DidYouMean(m[1], names))
		}
		used[m[1]] = true
	}
	return nil
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

// run is what a job runs of prof: the options and the command line of prof capture, and what is added to its environment.
func (t *Template) run(values map[string]string) (args, env []string) {
	for _, o := range t.options {
		for _, v := range o.values {
			args = append(args, "--"+o.name+"="+filled(v, values))
		}
	}
	args = append(args, "--")
	for _, word := range t.command {
		args = append(args, filled(word, values))
	}
	for _, v := range t.env {
		env = append(env, filled(v, values))
	}
	return args, env
}

// quoted is a list of values for a message.
func quoted(values []string) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strconv.Quote(v)
	}
	return suggest.List(out, 12)
}
