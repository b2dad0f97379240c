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
	busy, sum      int64  // ns, added up over GPUs
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
	tally              tally
}

// runData is what the warehouse holds of one run of a side.
type runData struct {
	run    Run
	passes []pass
	work   []work
	isSum  bool // all of its work is what a tool added up, without a timeline
	losses []judge.Loss
	hashes []string  // SHA-256 of the contents of the sources that passes are of
	steps  *stepData // of a run without stages whose steps were found; nil otherwise
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
		if d.hashes, err = d.readSources(used[2]); err != nil {
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

func readPasses(f *frame.Frame) ([]pass, error) {
	t := table{f: f}
	var out []pass
	for t.next() {
		p := pass{stage: t.text("stage"), number: t.count("pass"), repeat: t.count("repeat"), source: t.count("source_id"), isWarmup: t.flag("is_warmup"),
			prompt: t.whole("prompt_token_count"), decode: t.whole("decode_token_count"), steps: t.whole("step_count"), cpu: t.whole("cpu_ns"), span: t.whole("gpu_span_ns"),
			busy: t.count("gpu_busy_ns"), sum: t.count("gpu_sum_ns"), time: t.whole("time_ns"), kernels: t.whole("kernel_count"), lost: t.count("lost_count")}
		p.parts.work = t.count("kernel_ns") + t.count("graph_ns") + t.count("copy_ns")
		p.parts.other = t.count("other_ns")
		for i, cause := range terms.Causes {
			for _, part := range terms.PartsOf(cause.Name) {
				p.parts.idle[i] += t.count(part.Column())
			}
		}
		left := -p.parts.sum()
		if p.time != nil && *p.time+left != 0 {
			return nil, fmt.Errorf("%s: row %d: the parts of pass %d of %s do not add up to its time (off by %d ns); ingest the run again", f.Query, t.at, p.number, stageName(p.stage), *p.time+left)
		}
		out = append(out, p)
	}
	return out, t.err
}

func readWork(f *frame.Frame) ([]work, error) {
	t := table{f: f}
	out := make([]work, 0, len(f.Rows))
	for t.next() {
		out = append(out, work{stage: t.text("stage"), number: t.count("pass"), repeat: t.count("repeat"), isWarmup: t.flag("is_warmup"),
			kind: t.text("kind"), name: t.text("name"), family: t.text("family"), role: t.text("role"), grid: t.text("grid"), block: t.text("block"),
			tally: tally{calls: t.count("launch_count"), total: t.count("sum_ns"), min: t.count("min_ns"), max: t.count("max_ns"), m2: t.squares()}})
	}
	return out, t.err
}

// squares returns the squared deviations of a row, NaN where they are not known.
func (t *table) squares() float64 {
	if v := t.amount("deviation_ns2"); v != nil {
		return *v
	}
	return math.NaN()
}

// readSources returns what the sources of the passes hold, for as far as the warehouse knows, and marks passes that are sums.
func (d *runData) readSources(f *frame.Frame) ([]string, error) {
	counted := map[int64]bool{}
	for _, p := range d.passes {
		counted[p.source] = true
	}
	t := table{f: f}
	var out []string
	for t.next() {
		id := t.count("source_id")
		if hash := t.text("sha256"); hash != "" && counted[id] {
			out = append(out, hash)
		}
		for i := range d.passes {
			if p := &d.passes[i]; p.source == id && t.text("kind") == terms.NsysStats {
				p.isSum, d.isSum = true, true
			}
		}
	}
	return out, t.err
}
