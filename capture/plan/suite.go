package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"prof/internal/file"
)

const (
	maxSuite = 1 << 20 // bytes of a suite's file
	maxRuns  = 10_000  // runs of a suite, axes multiplied
)

// ErrSuite is wrapped by errors about what a suite says.
var ErrSuite = errors.New("cannot use the suite")

// Tags that each run of a suite has beside its own.
const (
	SuiteTag = "suite" // the suite's name
	EntryTag = "entry" // the run's name within it
)

// Suite is several captures as one set, as its file says.
type Suite struct {
	Name string
	Runs []SuiteRun // in the order of the file, and of the axes of its matrix
}

// SuiteRun is one capture of a suite.
type SuiteRun struct {
	Name string      // within the suite
	Argv []string    // the workload
	Tags [][2]string // the suite's and its own, by key

	path           string
	node           ast.Node
	options        []ast.Node // the suite's, then its own
	own            ast.Node   // its own; nil: none
	inputs, subset string
}

// suiteFile is the file of a suite. Nodes are read later.
type suiteFile struct {
	Suite   string         `yaml:"suite"`
	Options ast.Node       `yaml:"options"`
	Matrix  ast.Node       `yaml:"matrix"`
	Runs    []suiteFileRun `yaml:"runs"`
	Node    ast.Node       `yaml:"-"`
}

type suiteFileRun struct {
	Name    string            `yaml:"name"`
	Command []string          `yaml:"command"`
	Tags    map[string]string `yaml:"tags"`
	Options ast.Node          `yaml:"options"`
	Inputs  string            `yaml:"inputs"`
	Subset  string            `yaml:"subset"`
	Node    ast.Node          `yaml:"-"`
}

// axis is one dimension of a matrix.
type axis struct {
	name   string
	values []string
	node   ast.Node
}

// ReadSuite reads a suite. Each of its runs is made once for every combination of values of the axes that it mentions as {axis} in name,
// command, tags, inputs or subset; the name gets the values that it does not mention. Errors wrap ErrSuite and name file and line.
func ReadSuite(path string) (*Suite, error) {
	text, err := file.Read(path, maxSuite)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSuite, err)
	}
	s, err := parseSuite(text, path)
	if err != nil {
		return nil, inFile(path, ErrSuite, err)
	}
	return s, nil
}

func parseSuite(text []byte, path string) (*Suite, error) {
	var f suiteFile
	if err := parseYAML(text, &f); err != nil {
		return nil, err
	}
	switch {
	case f.Node == nil || f.Suite == "":
		return nil, &configError{1, "it has no name: begin it with suite: NAME"}
	case len(f.Runs) == 0:
		return nil, configErrorf(f.Node, "it has no runs")
	}
	axes, err := readAxes(f.Matrix)
	if err != nil {
		return nil, err
	}
	s := &Suite{Name: f.Suite}
	used, named := map[string]bool{}, map[string]bool{}
	for _, r := range f.Runs {
		runs, err := r.expand(axes, used, f)
		if err != nil {
			return nil, err
		}
		for _, one := range runs {
			if one.path = path; named[one.Name] {
				return nil, configErrorf(r.Node, "two runs have the name %q", one.Name)
			}
			named[one.Name] = true
			s.Runs = append(s.Runs, one)
		}
		if len(s.Runs) > maxRuns {
			return nil, configErrorf(r.Node, "there are more than %d runs", maxRuns)
		}
	}
	for _, a := range axes {
		if !used[a.name] {
			return nil, configErrorf(a.node, "no run mentions {%s}", a.name)
		}
	}
	return s, nil
}

// readAxes reads a matrix, in its order.
func readAxes(n ast.Node) ([]axis, error) {
	if n == nil {
		return nil, nil
	}
	pairs, ok := pairsOf(n)
	if !ok {
		return nil, configErrorf(n, "matrix must have keys and values, such as preset: [min, max]")
	}
	var out []axis
	for _, p := range pairs {
		a := axis{name: p.Key.GetToken().Value, node: p.Key}
		if err := setList(reflect.ValueOf(&a.values).Elem(), p.Value, "matrix."+a.name); err != nil {
			return nil, err
		}
		switch {
		case len(a.values) == 0:
			return nil, configErrorf(p.Key, "matrix.%s has no values", a.name)
		case a.name == SuiteTag || a.name == EntryTag:
			return nil, configErrorf(p.Key, "matrix.%s: prof sets the tag %[1]s itself", a.name)
		}
		out = append(out, a)
	}
	return out, nil
}

// expand returns a run once for each combination of the axes that it mentions, the last axis first, and notes these.
func (r suiteFileRun) expand(axes []axis, used map[string]bool, f suiteFile) ([]SuiteRun, error) {
	if err := r.check(axes); err != nil {
		return nil, err
	}
	texts := slices.Concat([]string{r.Name, r.Inputs, r.Subset}, r.Command, slices.Collect(maps.Values(r.Tags)))
	combinations := [][]string{nil} // values of mine
	var mine []axis
	for _, a := range axes {
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, "{"+a.name+"}") }) {
			continue
		}
		used[a.name] = true
		mine = append(mine, a)
		if len(combinations)*len(a.values) > maxRuns {
			return nil, configErrorf(r.Node, "its axes make more than %d runs", maxRuns)
		}
		var more [][]string
		for _, c := range combinations {
			for _, v := range a.values {
				more = append(more, append(slices.Clone(c), v))
			}
		}
		combinations = more
	}
	var out []SuiteRun
	for _, values := range combinations {
		out = append(out, r.with(mine, values, f))
	}
	return out, nil
}

// check finds what is missing in a run.
func (r suiteFileRun) check(axes []axis) error {
	switch {
	case r.Name == "":
		return configErrorf(r.Node, "a run has no name")
	case len(r.Command) == 0:
		return configErrorf(r.Node, "run %s has no command: write it as a list, such as [python3, bench.py]", r.Name)
	case r.Subset != "" && r.Inputs == "":
		return configErrorf(r.Node, "run %s has a subset, but no inputs", r.Name)
	}
	for key := range r.Tags {
		if key == SuiteTag || key == EntryTag || slices.ContainsFunc(axes, func(a axis) bool { return a.name == key }) {
			return configErrorf(r.Node, "run %s: prof sets the tag %s itself", r.Name, key)
		}
	}
	return nil
}

// with is the run for one value of each axis.
func (r suiteFileRun) with(axes []axis, values []string, f suiteFile) SuiteRun {
	var pairs, rest []string
	tags := map[string]string{}
	for i, a := range axes {
		pairs = append(pairs, "{"+a.name+"}", values[i])
		tags[a.name] = values[i]
		if !strings.Contains(r.Name, "{"+a.name+"}") {
			rest = append(rest, values[i])
		}
	}
	fill := strings.NewReplacer(pairs...).Replace
	out := SuiteRun{Name: strings.Join(append([]string{fill(r.Name)}, rest...), "-"), node: r.Node, own: r.Options, inputs: fill(r.Inputs), subset: fill(r.Subset)}
	for _, word := range r.Command {
		out.Argv = append(out.Argv, fill(word))
	}
	for key, value := range r.Tags {
		tags[key] = fill(value)
	}
	tags[SuiteTag], tags[EntryTag] = f.Suite, out.Name
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out.Tags = append(out.Tags, [2]string{key, tags[key]})
	}
	for _, n := range []ast.Node{f.Options, r.Options} {
		if n != nil {
			out.options = append(out.options, n)
		}
	}
	return out
}

// Apply sets the options that the suite and the run name.
func (r SuiteRun) Apply(o *Options) error {
	for _, n := range r.options {
		pairs, _ := pairsOf(n)
		names := func(key string) bool {
			return slices.ContainsFunc(pairs, func(p *ast.MappingValueNode) bool { return p.Key.GetToken().Value == key })
		}
		if names("mode") && !names("tools") { // it says more than the tools that are named further out
			o.Tools = nil
		}
		if err := setFields(reflect.ValueOf(o).Elem(), n, "options."); err != nil {
			return inFile(r.path, ErrSuite, err)
		}
	}
	if r.inputs != "" {
		o.InputsManifest, o.Subset = r.inputs, r.subset
	}
	return nil
}

// Gives reports whether the run itself, and not the suite, names an option, by its name on the command line. One that is turned off does not count.
func (r SuiteRun) Gives(option string) bool {
	switch option {
	case "inputs":
		return r.inputs != ""
	case "subset":
		return r.subset != ""
	}
	return r.own != nil && gives(r.own, "", option)
}

// otherNames are options whose names on the command line are not those in a file with - for . and _.
var otherNames = map[string]string{
	"nsys-args": "nsys-arg", "nsys-graph-trace": "cuda-graph-trace", "nsys-keep-report": "keep-nsys-rep",
	"ncu-args": "ncu-arg", "ncu-sections": "ncu-section", "ncu-metrics": "ncu-metric", "ncu-clock-control": "clock-control",
	"inputs": "input", "inputs-manifest": "inputs", "max-artifact-bytes": "max-artifact-size", "serving-on": "serving",
}

// gives reports whether a node names an option. before are the names of the nodes that it is in.
func gives(n ast.Node, before, option string) bool {
	pairs, _ := pairsOf(n)
	return slices.ContainsFunc(pairs, func(p *ast.MappingValueNode) bool {
		name := before + strings.ReplaceAll(p.Key.GetToken().Value, "_", "-")
		if _, is := pairsOf(p.Value); is {
			return gives(p.Value, strings.Replace(name, "torch-options", "torch", 1)+"-", option)
		}
		if name, is := strings.CutPrefix(name, "serving-"); is && name == option {
			return true
		}
		return cmp.Or(otherNames[name], name) == option && p.Value.String() != "false"
	})
}

// Wrong is what is wrong with a run, with its place in the suite's file.
func (r SuiteRun) Wrong(err error) error {
	return inFile(r.path, ErrSuite, configErrorf(r.node, "run %s: %v", r.Name, err))
}
