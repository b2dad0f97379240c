package diff

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/schema/terms"
)

// pass is one row of stage-samples: a pass of a stage in one process, or all device work of a source of a run without stages; or a step of
// such a run on one GPU.
type pass struct {
	stage          string // "" for all device work
	basis          string // of a step: what its time is, gpu_period or gpu_span; "" of others
	number, repeat int64
	source         int64
	isWarmup       bool
	prompt, decode *int64 // tokens; nil when not known
	steps          *int64 // forward passes that decode; nil when not known
	cpu, span      *int64 // ns; nil when it never ended, or has no device work
	interval       *int64 // ns from its start to that of the next pass; nil where that does not follow directly
	busy, sum      int64  // ns, added up over GPUs
	gpus           int64  // that run its work
	time           *int64 // ns: first start to last end of its work on each GPU, added up; nil when that was not told
	parts          parts
	kernels        *int64 // nil where graphs were traced as a whole: theirs are not seen
	lost           int64  // launches without work, and pieces of work whose record cannot be right: GPU times are unknown where there are any
	isSum          bool   // a tool reported its work without a timeline: sum is all that is known of its time
}

// parts of a time on GPUs that exclude each other and add up to it, ns.
type parts struct {
	work  int64                    // kernels, graph replays or copies of its own ran
	other int64                    // only work of others ran
	idle  [len(terms.Causes)]int64 // by terms.Causes
}

func (p parts) sum() int64 {
	out := p.work + p.other
	for _, ns := range p.idle {
		out += ns
	}
	return out
}

// work is one row of pass-work: executions of one kernel by grid and block, copy operation or graph in one pass.
type work struct {
	stage              string // "" in runs without stages, "(none)" outside them
	number, repeat     int64
	isWarmup           bool
	kind, name, family string
	role, grid, block  string
	nameID             int64 // of a kernel of a pass
	tally              tally
}

// runData is what the warehouse holds of one run of a side.
type runData struct {
	run      Run
	passes   []pass
	work     []work
	isSum    bool // all of its work is what a tool added up, without a timeline
	losses   []judge.Loss
	hashes   []string            // SHA-256 of the contents of the sources that passes are of
	steps    *stepData           // of a run without stages whose steps were found; nil otherwise
	sessions []string            // of the profiler
	order    map[string][]string // by stage: the kernels of one pass in turn, where that was asked for
}

// concerns reports whether figures of a stage rest on what was not recorded. Those of all device work rest on everything, those of steps too, which may be anywhere, but for what the ends of the capture cut off.
func concerns(l judge.Loss, stage string) bool {
	return stage == "" || !l.IsCut && (l.Stage == "" || l.Stage == stage || isSteps(stage))
}

// load reads the facts of the runs, and which queries say so. Notes would be those of the stages of each run, which other queries show.
func load(ctx context.Context, asker frame.Asker, runs []Run, stage string) ([]runData, []Source, error) {
	var asked []frame.Question
	for _, r := range runs {
		args := frame.Args{"run": r.ID}
		whole := frame.Args{"run": r.ID}
		if stage != "" && !isSteps(stage) {
			args["stage"] = stage
		}
		asked = append(asked, frame.Question{Query: "pass-work", Args: args, Notes: frame.RowsOnly},
			frame.Question{Query: "stage-samples", Args: args, Notes: frame.RowsOnly}, frame.Question{Query: "sources", Args: whole, Notes: frame.RowsOnly}, frame.Question{Query: "losses", Args: whole, Notes: frame.RowsOnly})
	}
	frames, err := asker.AskAll(ctx, asked)
	if err != nil {
		return nil, nil, err
	}
	var out []runData
	var sources []Source
	for i, r := range runs {
		d := runData{run: r}
		used := frames[4*i : 4*i+4]
		if used[0].Warns(caveat.FactsLacking) {
			return nil, nil, &LackingError{r.Name, strings.Join(used[0].Said(caveat.Facts), "; ")}
		}
		if d.work, err = readWork(used[0]); err != nil {
			return nil, nil, fmt.Errorf("run %s: %w", r.Name, err)
		}
		if d.passes, err = readPasses(used[1]); err != nil {
			return nil, nil, fmt.Errorf("run %s: %w", r.Name, err)
		}
		if err := d.readSources(used[2]); err != nil {
			return nil, nil, fmt.Errorf("run %s: %w", r.Name, err)
		}
		if len(used[3].Rows) > 0 {
			worded, err := asker.AskAll(ctx, []frame.Question{{Query: "losses", Args: frame.Args{"run": r.ID}}})
			if err != nil {
				return nil, nil, err
			}
			d.losses = judge.Losses(worded[0])
		}
		for _, f := range used[:2] {
			sources = append(sources, sourceOf(r.Name, f))
		}
		out = append(out, d)
	}
	more, err := loadSteps(ctx, asker, out)
	if err != nil {
		return nil, nil, err
	}
	names, err := shareNames(ctx, asker, out)
	return out, slices.Concat(sources, more, names), err
}

func sourceOf(run string, f *frame.Frame) Source {
	return Source{Run: run, Query: fmt.Sprintf("%s.v%d", f.Query, f.Version), SQL: f.SQL}
}

// passRow is one row of stage-samples, but for its idle times, which have a column each.
type passRow struct {
	Stage    string `col:"stage"`
	Pass     int64  `col:"pass"`
	Repeat   int64  `col:"repeat"`
	SourceID int64  `col:"source_id"`
	IsWarmup bool   `col:"is_warmup"`
	Prompt   *int64 `col:"prompt_token_count"`
	Decode   *int64 `col:"decode_token_count"`
	Steps    *int64 `col:"step_count"`
	CPU      *int64 `col:"cpu_ns"`
	Interval *int64 `col:"interval_ns"`
	Span     *int64 `col:"gpu_span_ns"`
	Busy     *int64 `col:"gpu_busy_ns"`
	Sum      *int64 `col:"gpu_sum_ns"`
	Kernels  *int64 `col:"kernel_count"`
	Time     *int64 `col:"time_ns"`
	Kernel   *int64 `col:"kernel_ns"` // this and the next are NULL where time_ns is
	Graph    *int64 `col:"graph_ns"`
	Copy     *int64 `col:"copy_ns"`
	Other    *int64 `col:"other_ns"`
	Lost     int64  `col:"lost_count"`
	GPUs     int64  `col:"device_count"`
}

// workRow is one row of pass-work, as far as it is one of step-work.
type workRow struct {
	SourceID  int64    `col:"source_id"`
	IsWarmup  bool     `col:"is_warmup"`
	Kind      string   `col:"kind"`
	Family    string   `col:"family"`
	Role      string   `col:"role"`
	Grid      string   `col:"grid"`
	Block     string   `col:"block"`
	Launches  int64    `col:"launch_count"`
	Sum       int64    `col:"sum_ns"`
	Min       *int64   `col:"min_ns"`
	Max       *int64   `col:"max_ns"`
	Deviation *float64 `col:"deviation_ns2"`
}

type passWorkRow struct {
	workRow
	Stage  string `col:"stage"`
	Pass   *int64 `col:"pass"`
	Repeat int64  `col:"repeat"`
	Name   string `col:"name"`
	NameID *int64 `col:"kernel_name_id"`
}

var (
	passRows     = frame.RowsOf[passRow]("stage-samples")
	passWorkRows = frame.RowsOf[passWorkRow]("pass-work")
)

func readPasses(f *frame.Frame) ([]pass, error) {
	rows, err := passRows.Of(f)
	if err != nil {
		return nil, err
	}
	idle, err := idleTimes(f, func(c terms.Cause) (columns []string) {
		for _, part := range terms.PartsOf(c.Name) {
			columns = append(columns, part.Column())
		}
		return columns
	})
	if err != nil {
		return nil, err
	}
	out := make([]pass, len(rows))
	for i, r := range rows {
		// Passes that lost work, whose times are not known, are no samples.
		p := pass{stage: r.Stage, number: r.Pass, repeat: r.Repeat, source: r.SourceID, isWarmup: r.IsWarmup, prompt: r.Prompt, decode: r.Decode, steps: r.Steps, cpu: r.CPU, interval: r.Interval, span: r.Span,
			busy: frame.Or(r.Busy, 0), sum: frame.Or(r.Sum, 0), time: r.Time, kernels: r.Kernels, lost: r.Lost, gpus: r.GPUs}
		if p.time != nil {
			p.parts = parts{*r.Kernel + *r.Graph + *r.Copy, *r.Other, idle[i]}
			if off := *p.time - p.parts.sum(); off != 0 {
				return nil, fmt.Errorf("%s: row %d: the parts of pass %d of %s do not add up to its time (off by %d ns); ingest the run again", f.Query, i+1, p.number, stageName(p.stage), off)
			}
		}
		out[i] = p
	}
	return out, nil
}

// idleTimes returns the idle times of rows by cause, in the order of terms.Causes; a column that is NULL has no say.
func idleTimes(f *frame.Frame, columns func(terms.Cause) []string) ([][len(terms.Causes)]int64, error) {
	if len(f.Rows) == 0 {
		return nil, nil
	}
	out := make([][len(terms.Causes)]int64, len(f.Rows))
	for i, cause := range terms.Causes {
		for _, column := range columns(cause) {
			values, err := f.Numbers(column)
			if err != nil {
				return nil, err
			}
			for row, v := range values {
				out[row][i] += int64(frame.Or(v, 0))
			}
		}
	}
	return out, nil
}

func readWork(f *frame.Frame) ([]work, error) {
	rows, err := passWorkRows.Of(f)
	out := make([]work, len(rows))
	for i, r := range rows {
		out[i] = r.work(r.Name)
		out[i].stage, out[i].number, out[i].repeat, out[i].nameID = r.Stage, frame.Or(r.Pass, 0), r.Repeat, frame.Or(r.NameID, 0) // passes have numbers from 1
	}
	return out, err
}

func (r workRow) work(name string) work {
	return work{isWarmup: r.IsWarmup, kind: r.Kind, name: name, family: r.Family, role: r.Role, grid: r.Grid, block: r.Block,
		tally: tally{calls: r.Launches, total: r.Sum, min: frame.Or(r.Min, 0), max: frame.Or(r.Max, 0), m2: frame.Or(r.Deviation, math.NaN())}}
}

// readSources reads what the sources of the passes hold, for as far as the warehouse knows, and marks passes that are sums.
func (d *runData) readSources(f *frame.Frame) error {
	rows, err := judge.SourceRows.Of(f)
	for _, r := range rows {
		isCounted := false
		for i := range d.passes {
			if p := &d.passes[i]; p.source == r.SourceID {
				isCounted, p.isSum = true, slices.Contains(terms.Summed(), r.Kind)
			}
		}
		d.isSum = d.isSum || isCounted && slices.Contains(terms.Summed(), r.Kind)
		if isCounted && r.SHA256 != "" {
			d.hashes = append(d.hashes, r.SHA256)
		}
	}
	return err
}
