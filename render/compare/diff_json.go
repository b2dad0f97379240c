package compare

import (
	"cmp"
	"io"
	"time"

	"prof/queries/judge/diff"
	"prof/queries/judge/diff/conditions"
	"prof/queries/judge/stats"
	"prof/render/typeset"
	"prof/render/words"
)

// DiffJSON writes comparisons as DiffForm.
func DiffJSON(w io.Writer, list []*diff.Result, _ typeset.Options) error {
	return typeset.WriteIndented(w, DiffForm{1, typeset.Each(list, comparisonForm)})
}

// DiffForm is what comparisons are as JSON. Times are in ns, changes are ratios (0.01 is 1 %), what is not known is null. Keys are those of the columns of queries
// where these have the figure.
type DiffForm struct {
	Version     int              `json:"version" doc:"of this form: raised when a key goes or changes its meaning"`
	Comparisons []ComparisonForm `json:"comparisons" nullable:"false" doc:"one, or one for each scenario of a suite"`
}

// ComparisonForm is what differs between side a and side b.
type ComparisonForm struct {
	A           SideForm         `json:"a"`
	B           SideForm         `json:"b"`
	Options     OptionsForm      `json:"options"`
	Verdict     diff.Verdict     `json:"verdict" enum:"better,worse,no change,cannot tell" doc:"of all stages: b against a"`
	Words       string           `json:"words" doc:"the verdict in one line"`
	IsSame      bool             `json:"is_same" doc:"both sides are the same captures"`
	Stages      []StageForm      `json:"stages" nullable:"false" doc:"those that take most time first"`
	Items       []ItemForm       `json:"items" nullable:"false" doc:"by options.by, those that changed most first within a stage"`
	Operators   []ItemForm       `json:"operators" nullable:"false" doc:"compared by kernel, operators that changed most, those of all layers as one; empty where a side has none with inputs"`
	Serving     []ServingForm    `json:"serving" nullable:"false" doc:"what load generators measured, by load"`
	Differences []DifferenceForm `json:"differences" nullable:"false" doc:"what else differs between the sides"`
	Notes       []string         `json:"notes" nullable:"false" doc:"what a reader must know of the figures"`
	Next        []string         `json:"next" nullable:"false" doc:"commands that would tell what cannot be told"`
	Queries     []RunQueryForm   `json:"queries" nullable:"false" doc:"what the figures are from"`
}

// RunQueryForm is a query that figures are from.
type RunQueryForm struct {
	Run   string `json:"run" doc:"run name"`
	Query string `json:"query" doc:"name.vN"`
	SQL   string `json:"sql"`
}

// SideForm is the runs of a side.
type SideForm struct {
	Label string    `json:"label" doc:"as it was asked for"`
	Runs  []RunForm `json:"runs" nullable:"false" doc:"oldest first"`
}

// RunForm is a run of a side.
type RunForm struct {
	RunID     string  `json:"run_id"`
	Name      string  `json:"name"`
	CreatedAt string  `json:"created_at" doc:"time of the ingest, UTC"`
	StartedAt *string `json:"started_at" doc:"start of the capture, UTC"`
	Command   *string `json:"command"`
	Host      *string `json:"host"`
}

// DifferenceForm is a condition in which the sides differ.
type DifferenceForm struct {
	Aspect string            `json:"aspect" doc:"such as GPU, driver, clocks, precision, prompt tokens"`
	A      string            `json:"a"`
	B      string            `json:"b"`
	Effect string            `json:"effect" doc:"what it means for the comparison; empty for nothing"`
	Weight conditions.Weight `json:"weight" enum:"decides,clouds,tells" doc:"decides: other work or hardware, which the figures compare too; clouds: it may change times; tells: it was changed on purpose"`
}

// OptionsForm is how the sides were compared.
type OptionsForm struct {
	By                diff.Dimension `json:"by" doc:"what items are"`
	Stage             *string        `json:"stage" doc:"only this stage; null is all"`
	Metric            string         `json:"metric" doc:"what stages are judged by"`
	Top               int            `json:"top" doc:"items of a stage; 0 is all"`
	Alpha             typeset.Number `json:"alpha" doc:"probability of calling noise a change"`
	MinEffectRatio    typeset.Number `json:"min_effect_ratio" doc:"smaller changes count as none"`
	MarginRatio       typeset.Number `json:"margin_ratio" doc:"no change means that it is certainly smaller than this"`
	AssumedNoiseRatio *float64       `json:"assumed_noise_ratio" doc:"changes between runs up to this are noise, as the caller says"`
	NoiseFloorRatio   *float64       `json:"noise_floor_ratio" doc:"changes between runs up to this are noise, as earlier runs show"`
}

// StageForm is a stage on both sides.
type StageForm struct {
	Stage        string                 `json:"stage" doc:"empty for all device work, (none) for what lies outside every stage"`
	Unit         diff.Unit              `json:"unit" enum:"pass,token,step,run" doc:"what times are divided by"`
	Level        *string                `json:"level" doc:"what the samples are: passes, steps, repeats or runs"`
	A            StageSideForm          `json:"a"`
	B            StageSideForm          `json:"b"`
	Delta        *DeltaForm             `json:"delta" doc:"of per_unit_ns"`
	Metric       string                 `json:"metric" doc:"what it is judged by: options.metric, or interval_ns where that was left open and the CPU paces its passes"`
	Comparison   *TestForm              `json:"comparison" doc:"of metric for one unit"`
	Verdict      diff.Verdict           `json:"verdict" enum:"better,worse,no change,cannot tell,"`
	Words        string                 `json:"words" doc:"a sentence with the figures and what contributes most"`
	Expected     *string                `json:"expected" doc:"what differences between the sides explain"`
	Contributors []StageContributorForm `json:"contributors" nullable:"false" doc:"those that contribute most"`
	Ledger       []ItemForm             `json:"ledger" nullable:"false" doc:"parts that add up to delta"`
	Figures      []FigureForm           `json:"figures" nullable:"false" doc:"other figures of the stage"`
}

// StageSideForm is a stage on one side.
type StageSideForm struct {
	Passes    int64            `json:"passes" doc:"measured passes"`
	Warmups   int64            `json:"warmups" doc:"passes that count as warm-up and are not measured"`
	Units     int64            `json:"units" doc:"what times are divided by"`
	Tokens    *int64           `json:"tokens" doc:"of all passes"`
	TimeNs    int64            `json:"time_ns" doc:"of all passes and GPUs"`
	PerUnitNs int64            `json:"per_unit_ns" doc:"time_ns by units"`
	Samples   []typeset.Number `json:"samples" nullable:"false" doc:"of options.metric for one unit"`
	Std       *float64         `json:"std" doc:"sample standard deviation of samples"`
	Launches  *int64           `json:"launches" doc:"kernels; null where graphs were traced as a whole"`
}

// DeltaForm is a change in ns and the parts that add up to it.
type DeltaForm struct {
	_             struct{} `nullable:"true"`
	Ns            int64    `json:"ns"`
	CountNs       int64    `json:"count_ns" doc:"by the number of calls, at their mean duration in a"`
	DurationNs    int64    `json:"duration_ns" doc:"by the mean duration, for the calls of a"`
	InteractionNs int64    `json:"interaction_ns" doc:"by both together"`
	NewNs         int64    `json:"new_ns" doc:"only b has it"`
	RemovedNs     int64    `json:"removed_ns" doc:"only a has it"`
}

// TestForm is a comparison of samples.
type TestForm struct {
	_             struct{} `nullable:"true"`
	ASamples      int      `json:"a_samples"`
	BSamples      int      `json:"b_samples"`
	A             *float64 `json:"a" doc:"median of three samples or more, else mean"`
	B             *float64 `json:"b"`
	ALow          *float64 `json:"a_low" doc:"interval of a at 1 - alpha"`
	AHigh         *float64 `json:"a_high"`
	BLow          *float64 `json:"b_low"`
	BHigh         *float64 `json:"b_high"`
	EffectRatio   *float64 `json:"effect_ratio" doc:"b / a - 1"`
	LowRatio      *float64 `json:"low_ratio" doc:"interval of effect_ratio, each end at alpha, with what processes differ by"`
	HighRatio     *float64 `json:"high_ratio"`
	P             *float64 `json:"p" doc:"probability of such a difference without a change"`
	Method        *string  `json:"method" doc:"the test"`
	SmallestRatio *float64 `json:"smallest_ratio" doc:"the smallest change that these samples could show"`
	Why           *string  `json:"why" doc:"what the verdict follows from, or what is missing for one"`
}

// ContributorForm is what contributes to the change of a stage.
type ContributorForm struct {
	Name        string   `json:"name"`
	Words       string   `json:"words"`
	DeltaNs     int64    `json:"delta_ns" doc:"for one unit, between the centres of the samples"`
	EffectRatio *float64 `json:"effect_ratio" doc:"of its own time; null when it is new"`
}

// StageContributorForm is a ContributorForm with its share.
type StageContributorForm struct {
	ContributorForm
	StageShareRatio *float64 `json:"stage_share_ratio" doc:"delta_ns as a share of the stage's time in a"`
}

// FigureForm is a figure of a stage with its own comparison.
type FigureForm struct {
	Name         string       `json:"name"`
	Unit         *string      `json:"unit"`
	LessIsBetter bool         `json:"less_is_better"`
	Comparison   *TestForm    `json:"comparison"`
	Verdict      diff.Verdict `json:"verdict" enum:"better,worse,no change,cannot tell,"`
}

// ItemForm is a kernel, copy, idle time, ... on both sides.
type ItemForm struct {
	Stage           string      `json:"stage"`
	Kind            string      `json:"kind" doc:"kernel, family, grid, moved (several kernels and what took their place), copy, fill, graph, overlap, other, idle, stage, operator, range, metric, node or rest"`
	Name            string      `json:"name"`
	Family          *string     `json:"family" doc:"of kernels"`
	Grid            *string     `json:"grid"`
	Block           *string     `json:"block"`
	Unit            string      `json:"unit" doc:"ns, or that of a metric"`
	Status          diff.Status `json:"status" enum:"both,new,removed,moved" doc:"moved: its work is done under another name or grid, see partner"`
	Places          int         `json:"places,omitempty" doc:"of modules and operators: in how many instances of modules"`
	Partner         *string     `json:"partner" doc:"what took its place, or what it took the place of; of moved both"`
	How             *string     `json:"how" doc:"how partner is known: renamed, other grid, same family, fused, split, in a graph, replaced; of a node also other kernels, other shapes"`
	A               MeasureForm `json:"a"`
	B               MeasureForm `json:"b"`
	Delta           *DeltaForm  `json:"delta"`
	TypicalDelta    *DeltaForm  `json:"typical_delta" doc:"of typical_ns; these do not add up to their stage"`
	StageShareRatio *float64    `json:"stage_share_ratio" doc:"delta.ns as a share of the stage's time in a"`
	Comparison      *TestForm   `json:"comparison" doc:"null where samples were not compared"`
	Verdict         *string     `json:"verdict"`
}

// MeasureForm is an item on one side.
type MeasureForm struct {
	Calls        int64          `json:"calls" doc:"of all passes"`
	CallsPerUnit typeset.Number `json:"calls_per_unit"`
	TotalNs      int64          `json:"total_ns" doc:"of all passes"`
	PerUnitNs    int64          `json:"per_unit_ns" doc:"rounded so that items add up to their stage"`
	TypicalNs    *int64         `json:"typical_ns" doc:"per unit, of the median sample of the stage, as verdicts are"`
	MeanNs       *float64       `json:"mean_ns" doc:"of a launch"`
	StdNs        *float64       `json:"std_ns"`
	MinNs        *int64         `json:"min_ns"`
	MaxNs        *int64         `json:"max_ns"`
	Value        *float64       `json:"value" doc:"of a metric"`
	Kernels      []string       `json:"kernels,omitempty" doc:"of a node: names of its kernels, copies and fills"`
	Shapes       string         `json:"shapes,omitempty" doc:"of a node: sizes of the inputs of its operator, as JSON; absent when not recorded, or of several"`
}

func comparisonForm(r *diff.Result) ComparisonForm {
	items := []ItemForm{}
	for _, g := range itemGroups(r) {
		items = append(items, typeset.Each(g.items, g.form)...)
	}
	return ComparisonForm{
		A: sideForm(r.A), B: sideForm(r.B), Options: optionsForm(r.Options), Verdict: r.Verdict, Words: r.Words, IsSame: r.Same,
		Stages: typeset.Each(r.Stages, stageForm), Items: items, Operators: typeset.Each(r.Operators, itemGroup{}.form), Serving: typeset.Each(r.Serving, servingForm), Differences: typeset.Each(r.Differences, differenceForm), Notes: typeset.Listed(r.Notes), Next: typeset.Listed(r.Next),
		Queries: typeset.Each(r.Queries, func(q diff.Source) RunQueryForm { return RunQueryForm{q.Run, q.Query, q.SQL} }),
	}
}

func sideForm(s diff.Side) SideForm {
	return SideForm{s.Label, typeset.Each(s.Runs, func(run diff.Run) RunForm {
		f := RunForm{RunID: run.ID, Name: run.Name, CreatedAt: run.CreatedAt.UTC().Format(time.RFC3339Nano), Command: typeset.Optional(run.Command), Host: typeset.Optional(run.Host)}
		if run.StartedAt != nil {
			f.StartedAt = typeset.Optional(run.StartedAt.UTC().Format(time.RFC3339Nano))
		}
		return f
	})}
}

func differenceForm(d conditions.Difference) DifferenceForm {
	return DifferenceForm{d.Aspect, d.A, d.B, d.Effect, d.Weight}
}

func optionsForm(o diff.Options) OptionsForm {
	f := OptionsForm{
		By: cmp.Or(o.By, diff.ByKernel), Stage: typeset.Optional(o.Stage), Metric: words.JudgedBy(o), Top: o.Top,
		Alpha: typeset.Number(o.Stats.Alpha), MinEffectRatio: typeset.Number(o.Stats.MinEffect), MarginRatio: typeset.Number(o.Stats.Margin), AssumedNoiseRatio: o.AssumeNoise,
	}
	if o.Stats.Noise != nil {
		f.NoiseFloorRatio = typeset.Finite(&o.Stats.Noise.Floor)
	}
	return f
}

func stageForm(s diff.Stage) StageForm {
	g := itemGroup{name: s.Name, stage: &s}
	return StageForm{
		Stage: s.Name, Unit: s.Unit, Level: typeset.Optional(s.Level), A: stageSideForm(s.A), B: stageSideForm(s.B), Delta: deltaForm(s.Delta),
		Metric: s.Metric, Comparison: testForm(&s.Comparison), Verdict: s.Verdict,
		Words: s.Words, Expected: typeset.Optional(s.StageExpected),
		Contributors: typeset.Each(s.Contributors, func(c diff.Contributor) StageContributorForm {
			return StageContributorForm{contributorForm(c), typeset.Finite(c.ShareRatio)}
		}),
		Ledger: typeset.Each(s.Ledger, g.form),
		Figures: typeset.Each(s.More, func(m diff.Metric) FigureForm {
			return FigureForm{m.Name, typeset.Optional(m.Unit), m.LessIsBetter, testForm(&m.Comparison), m.Verdict}
		}),
	}
}

func contributorForm(c diff.Contributor) ContributorForm {
	return ContributorForm{c.Name, c.Words, c.DeltaNs, typeset.Finite(c.Effect)}
}

func stageSideForm(s diff.StageSide) StageSideForm {
	return StageSideForm{s.Passes, s.Warmups, s.Units, s.Tokens, s.TimeNs, s.PerUnitNs, typeset.Each(s.Samples, number), typeset.Finite(s.Std), s.Launches}
}

// testForm is nil where no samples were compared.
func testForm(c *stats.Comparison) *TestForm {
	if c == nil {
		return nil
	}
	centre := func(v float64, n int) *float64 {
		if n == 0 {
			return nil
		}
		return typeset.Finite(&v)
	}
	return &TestForm{
		ASamples: c.NA, BSamples: c.NB, A: centre(c.A, c.NA), B: centre(c.B, c.NB),
		ALow: typeset.Finite(c.LoA), AHigh: typeset.Finite(c.HiA), BLow: typeset.Finite(c.LoB), BHigh: typeset.Finite(c.HiB),
		EffectRatio: typeset.Finite(c.Effect), LowRatio: typeset.Finite(c.Low), HighRatio: typeset.Finite(c.High),
		P: typeset.Finite(c.JudgedP()), Method: typeset.Optional(c.Method), SmallestRatio: typeset.Finite(c.Smallest), Why: typeset.Optional(c.Why),
	}
}

func deltaForm(d *diff.Delta) *DeltaForm {
	if d == nil {
		return nil
	}
	return &DeltaForm{Ns: d.Ns, CountNs: d.CountNs, DurationNs: d.DurationNs, InteractionNs: d.InteractionNs, NewNs: d.NewNs, RemovedNs: d.RemovedNs}
}

// form is an item of the group.
func (g itemGroup) form(i diff.Item) ItemForm {
	return ItemForm{
		Stage: i.Stage, Kind: i.Kind, Name: i.Name, Family: typeset.Optional(i.Family), Grid: typeset.Optional(i.Grid), Block: typeset.Optional(i.Block),
		Unit: cmp.Or(i.Unit, "ns"), Status: i.Status, Partner: typeset.Optional(i.Partner), How: typeset.Optional(i.How),
		A: measureForm(i.A), B: measureForm(i.B), Delta: deltaForm(i.Delta), TypicalDelta: deltaForm(i.Typical), StageShareRatio: typeset.Finite(shareOfStage(g, i)),
		Comparison: testForm(i.Comparison), Verdict: typeset.Optional(string(i.Verdict)), Places: i.Places,
	}
}

func measureForm(m diff.Measure) MeasureForm {
	return MeasureForm{m.Calls, typeset.Number(m.PerUnitCalls), m.TotalNs, m.PerUnitNs, m.TypicalNs, typeset.Finite(m.MeanNs), typeset.Finite(m.StdNs), m.MinNs, m.MaxNs, typeset.Finite(m.Value), m.Kernels, m.Shapes}
}

func number(v float64) typeset.Number { return typeset.Number(v) }
