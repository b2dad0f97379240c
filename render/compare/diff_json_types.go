package compare

import (
	"prof/queries/judge/diff"
	"prof/render/typeset"
)

// diffComparison is one comparison as JSON has it. Its keys are those of the columns of queries where these have the figure.
type diffComparison struct {
	A           diffSideJSON         `json:"a"` // the base
	B           diffSideJSON         `json:"b"`
	Options     diffOptionsJSON      `json:"options"`
	Verdict     string               `json:"verdict"` // better, worse, no change, cannot tell
	Words       string               `json:"words"`
	IsSame      bool                 `json:"is_same"` // both sides are the same captures
	Stages      []diffStageJSON      `json:"stages"`
	Items       []diffItemJSON       `json:"items"` // by options.by
	Differences []diffDifferenceJSON `json:"differences"`
	Notes       []string             `json:"notes"`
	Queries     []diffQueryJSON      `json:"queries"`
}

type diffSideJSON struct {
	Label string        `json:"label"`
	Runs  []diffRunJSON `json:"runs"`
}

type diffRunJSON struct {
	RunID     string  `json:"run_id"`
	Name      string  `json:"name"`
	CreatedAt string  `json:"created_at"` // RFC 3339, UTC
	StartedAt *string `json:"started_at"`
	Command   *string `json:"command"`
	Host      *string `json:"host"`
}

type diffOptionsJSON struct {
	By           string   `json:"by"`
	Stage        *string  `json:"stage"` // null: all
	Metric       string   `json:"metric"`
	Top          int      `json:"top"` // 0: all
	Alpha        *float64 `json:"alpha"`
	MinEffect    *float64 `json:"min_effect_ratio"`
	Margin       *float64 `json:"margin_ratio"`
	AssumedNoise *float64 `json:"assumed_noise_ratio"` // null: none was assumed
	NoiseFloor   *float64 `json:"noise_floor_ratio"`   // null: not known
}

type diffStageJSON struct {
	Stage        string                `json:"stage"` // "": all device work; "(none)": outside every stage
	Unit         string                `json:"unit"`  // pass, token or run
	Level        *string               `json:"level"` // what the samples are: passes, repeats or runs
	A            diffStageSideJSON     `json:"a"`
	B            diffStageSideJSON     `json:"b"`
	Delta        *diffDeltaJSON        `json:"delta"` // of per_unit_ns
	Comparison   *diffTestJSON         `json:"comparison"`
	Verdict      string                `json:"verdict"`
	WorkEffect   *float64              `json:"work_effect_ratio"` // change of the stage by its GPU work alone; null where the verdict is not by that
	Words        string                `json:"words"`
	Expected     *string               `json:"expected"` // what differences between the sides explain
	Contributors []diffContributorJSON `json:"contributors"`
	Ledger       []diffItemJSON        `json:"ledger"` // adds up to delta
	Figures      []diffFigureJSON      `json:"figures"`
}

type diffStageSideJSON struct {
	Passes    int64      `json:"passes"`
	Warmups   int64      `json:"warmups"`
	Units     int64      `json:"units"`
	Tokens    *int64     `json:"tokens"`
	TimeNs    int64      `json:"time_ns"`
	PerUnitNs int64      `json:"per_unit_ns"`
	Samples   []*float64 `json:"samples"` // of options.metric, for one unit
	Std       *float64   `json:"std"`
	Launches  *int64     `json:"launches"` // null where graphs were traced as a whole
}

type diffTestJSON struct {
	NA       int      `json:"a_samples"`
	NB       int      `json:"b_samples"`
	A        *float64 `json:"a"` // centres
	B        *float64 `json:"b"`
	LoA      *float64 `json:"a_low"`
	HiA      *float64 `json:"a_high"`
	LoB      *float64 `json:"b_low"`
	HiB      *float64 `json:"b_high"`
	Effect   *float64 `json:"effect_ratio"`
	Low      *float64 `json:"low_ratio"` // interval of effect_ratio, each end at alpha, with what processes differ by
	High     *float64 `json:"high_ratio"`
	P        *float64 `json:"p"`
	Method   *string  `json:"method"`
	Smallest *float64 `json:"smallest_ratio"`
	Why      *string  `json:"why"`
}

type diffDeltaJSON struct {
	Ns            int64 `json:"ns"`
	CountNs       int64 `json:"count_ns"`
	DurationNs    int64 `json:"duration_ns"`
	InteractionNs int64 `json:"interaction_ns"`
	NewNs         int64 `json:"new_ns"`
	RemovedNs     int64 `json:"removed_ns"`
}

func newDiffDelta(d *diff.Delta) *diffDeltaJSON {
	if d == nil {
		return nil
	}
	return &diffDeltaJSON{d.Ns, d.CountNs, d.DurationNs, d.InteractionNs, d.NewNs, d.RemovedNs}
}

type diffContributorJSON struct {
	Name    string   `json:"name"`
	Words   string   `json:"words"`
	DeltaNs int64    `json:"delta_ns"`
	Effect  *float64 `json:"effect_ratio"`
	Share   *float64 `json:"stage_share_ratio"`
}

type diffFigureJSON struct {
	Name         string        `json:"name"`
	Unit         *string       `json:"unit"`
	LessIsBetter bool          `json:"less_is_better"`
	Comparison   *diffTestJSON `json:"comparison"`
	Verdict      string        `json:"verdict"`
}

type diffDifferenceJSON struct {
	Aspect string `json:"aspect"`
	A      string `json:"a"`
	B      string `json:"b"`
	Effect string `json:"effect"`
	Weight string `json:"weight"` // decides, clouds, tells
}

type diffQueryJSON struct {
	Run   string `json:"run"`
	Query string `json:"query"`
	SQL   string `json:"sql"`
}

type diffItemJSON struct {
	Stage      string          `json:"stage"`
	Kind       string          `json:"kind"`
	Name       string          `json:"name"`
	Family     *string         `json:"family"`
	Grid       *string         `json:"grid"`
	Block      *string         `json:"block"`
	Unit       string          `json:"unit"` // ns, or that of a metric
	Status     string          `json:"status"`
	Partner    *string         `json:"partner"`
	How        *string         `json:"how"`
	A          diffMeasureJSON `json:"a"`
	B          diffMeasureJSON `json:"b"`
	Delta      *diffDeltaJSON  `json:"delta"`
	Share      *float64        `json:"stage_share_ratio"`
	Comparison *diffTestJSON   `json:"comparison"`
	Verdict    *string         `json:"verdict"`
}

func newDiffItem(g itemGroup, i diff.Item) diffItemJSON {
	unit := i.Unit
	if unit == "" {
		unit = "ns"
	}
	return diffItemJSON{Stage: i.Stage, Kind: i.Kind, Name: i.Name, Family: typeset.TextOrNull(i.Family), Grid: typeset.TextOrNull(i.Grid), Block: typeset.TextOrNull(i.Block), Unit: unit, Status: string(i.Status),
		Partner: typeset.TextOrNull(i.Partner), How: typeset.TextOrNull(i.How), A: newDiffMeasure(i.A), B: newDiffMeasure(i.B), Delta: newDiffDelta(i.Delta), Share: typeset.FinitePointer(shareOfStage(g, i)),
		Comparison: newDiffTest(i.Comparison), Verdict: typeset.TextOrNull(string(i.Verdict))}
}

type diffMeasureJSON struct {
	Calls        int64    `json:"calls"`
	PerUnitCalls *float64 `json:"calls_per_unit"`
	TotalNs      int64    `json:"total_ns"`
	PerUnitNs    int64    `json:"per_unit_ns"`
	MeanNs       *float64 `json:"mean_ns"`
	StdNs        *float64 `json:"std_ns"`
	MinNs        *int64   `json:"min_ns"`
	MaxNs        *int64   `json:"max_ns"`
	Value        *float64 `json:"value"`
}

func newDiffMeasure(m diff.Measure) diffMeasureJSON {
	return diffMeasureJSON{m.Calls, typeset.Finite(m.PerUnitCalls), m.TotalNs, m.PerUnitNs, typeset.FinitePointer(m.MeanNs), typeset.FinitePointer(m.StdNs), m.MinNs, m.MaxNs, typeset.FinitePointer(m.Value)}
}
