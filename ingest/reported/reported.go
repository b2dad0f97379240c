// Package reported reads what other tools said of a run in files of their own: figures that they computed, the environment, inputs and settings
// of the workload. Figures are stored as they were reported, in base units, in a table of their own, and are never mixed with what prof
// computes; the rest are facts of the source under the names reported.WHAT.KEY.
//
// The files are those that the first implementation of prof's design wrote next to its captures (llm-perf-opt): env.json, inputs.yaml, the
// config.yaml of Hydra, assumptions.md, kernels.md, static_compute.json, torchinfo's summary and JSON, and the JSON of analytic sweeps. Each is known by
// its content. The figures of its metrics.json are read by ingest/workload.
package reported

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/internal/file"
	"prof/internal/mask"
)

// MaxBytes bounds a file.
const MaxBytes = 16 << 20

// Bounds of what one file may say.
const (
	maxFacts = 10_000
	maxRows  = 100_000
	maxDepth = 16
	maxText  = 4 << 10 // bytes of one fact
	maxLine  = 1 << 20 // bytes of a line of a table
)

// Report is what a file says.
type Report struct {
	Facts    map[string]string // by name, without the prefix
	Values   []Value           // in the order of the file
	Warnings []string
}

// Scopes of figures: what they are about.
const (
	OfRun    = "run"
	OfStage  = "stage"
	OfModel  = "model"
	OfKernel = "kernel"
	OfPoint  = "point" // of a sweep
)

// Value is one figure in base units.
type Value struct {
	Scope   string
	Subject string // the stage, the kernel, the point of the sweep; "" for the run and for the whole model
	Metric  string
	Unit    string   // ns, count, bytes, ratio, flop, mac (multiply-add), flop_per_s, bytes_per_s or tokens_per_s; "" for others
	Value   *float64 // nil where the file has null
	Std     *float64 // of a mean; nil where the file has none
	Count   *int64   // calls that it sums; nil where the file has none
}

// Form is one kind of file.
type Form struct {
	Name string // as source.form
	// Sniff reports whether a file is one, by its lower-case name and its beginning.
	Sniff func(name string, head []byte) bool
	read  func(text []byte) (*Report, error)
}

// Forms are the kinds of files.
func Forms() []Form {
	return []Form{
		{"environment", sniffEnvironment, readEnvironment},
		{"inputs", sniffInputs, readInputs},
		{"settings", sniffSettings, readSettings},
		{"assumptions", sniffAssumptions, readAssumptions},
		{"kernel-table", sniffKernels, readKernels},
		{"ncu-command", sniffCommand, readSettings},
		{"static-compute", sniffStatic, readStatic},
		{"torchinfo", sniffTorchinfo, readTorchinfo},
		{"torchinfo-json", sniffTorchinfoJSON, readTorchinfoJSON},
		{"sweep", sniffSweep, readSweep},
	}
}

// Identify reads the file, so that what cannot be read is found before anything is stored.
func (f Form) Identify(_ context.Context, path, name string) (*load.SourceInfo, error) {
	_, err := f.open(path, name)
	return &load.SourceInfo{}, err
}

func (f Form) open(path, name string) (*Report, error) {
	text, err := file.Read(path, MaxBytes)
	if err != nil {
		return nil, err
	}
	r, err := f.read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Load stores a file as one source of the target's run.
func (f Form) Load(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	r, err := f.open(path, name)
	if err != nil {
		return nil, err
	}
	n, err := r.Store(ctx, t, f.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	_, err = t.Append(ctx, "diagnostic", func(add rows.Add) error {
		for _, w := range r.Warnings {
			if err := add(t.RunID, int32(t.SourceID), "ingest", "warning", nil, nil, w); err != nil {
				return err
			}
		}
		return nil
	})
	return &load.SourceInfo{Rows: n, Warnings: r.Warnings}, err
}

// Store stores the facts and figures as rows of the target's source and gives their number. Names of facts are joined to what they are about.
func (r *Report) Store(ctx context.Context, t *load.Target, about string) (int64, error) {
	run, source := t.RunID, int32(t.SourceID)
	n, err := t.Append(ctx, "source_fact", func(add rows.Add) error {
		for _, key := range slices.Sorted(maps.Keys(r.Facts)) {
			if err := add(run, source, "reported."+about+"."+key, r.Facts[key]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(r.Values) == 0 {
		return n, err
	}
	m, err := t.Append(ctx, "reported_value", func(add rows.Add) error {
		for i, v := range r.Values {
			if err := add(run, source, int32(i+1), v.Scope, load.TextOrNull(v.Subject), v.Metric, load.TextOrNull(v.Unit), load.OrNull(v.Value), load.OrNull(v.Std), load.OrNull(v.Count)); err != nil {
				return err
			}
		}
		return nil
	})
	return n + m, err
}

// errMany means that a file says more than any such file does.
var errMany = errors.New("it says more than any such file does")

// fact notes a fact. Variables of the environment are not stored, whatever they are called by.
func (r *Report) fact(name string, value any) error {
	text := strings.ToValidUTF8(strings.TrimSpace(fmt.Sprint(value)), "\uFFFD")
	if value == nil || text == "" {
		return nil
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "..."
	}
	if r.Facts == nil {
		r.Facts = map[string]string{}
	}
	if _, ok := r.Facts[name]; ok {
		return fmt.Errorf("two values have the name %.200q", name)
	}
	if len(r.Facts) == maxFacts {
		return fmt.Errorf("%w: over %d facts", errMany, maxFacts)
	}
	r.Facts[name] = text
	return nil
}

// variables are the last words of names of objects that hold an environment.
var variables = []string{"env", "environ", "environment", "env_vars", "environment_variables", "variables", "env_set"}

// flatten notes all that an object holds by dotted names. A list of values becomes one text, of a list of objects each has its place in the name.
func (r *Report) flatten(name string, value any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%.200q is nested more than %d deep", name, maxDepth)
	}
	dotted := func(key string) string {
		if name == "" {
			return key
		}
		return name + "." + key
	}
	switch v := value.(type) {
	case object:
		if last := name[strings.LastIndexByte(name, '.')+1:]; slices.Contains(variables, strings.ToLower(last)) {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: variables of an environment are never stored", name))
			return nil
		}
		for _, m := range v {
			if err := r.flatten(dotted(m.key), m.value, depth+1); err != nil {
				return err
			}
		}
		return nil
	case []any:
		var plain []string
		for i, inner := range v {
			switch inner.(type) {
			case object, []any:
				if err := r.flatten(dotted(fmt.Sprint(i+1)), inner, depth+1); err != nil {
					return err
				}
			case nil:
			default:
				plain = append(plain, fmt.Sprint(inner))
			}
		}
		if strings.HasSuffix(name, "command") || strings.HasSuffix(name, "argv") {
			return r.fact(name, mask.Command(plain))
		}
		return r.fact(name, strings.Join(plain, ", "))
	}
	return r.fact(name, value)
}

// value notes a figure; v is nil where the file has null.
func (r *Report) value(v Value) error {
	for _, f := range []*float64{v.Value, v.Std} {
		if f != nil && (math.IsInf(*f, 0) || math.IsNaN(*f)) {
			return fmt.Errorf("%s of %s is no finite number", v.Metric, v.Subject)
		}
	}
	if len(r.Values) == maxRows {
		return fmt.Errorf("%w: over %d figures", errMany, maxRows)
	}
	r.Values = append(r.Values, v)
	return nil
}
