package judge

import (
	"fmt"
	"math"

	"prof/queries/frame"
	"prof/schema/say"
	"prof/schema/terms"
)

// OverheadRow is a row of overhead: a stage, or the whole process, without a profiler and under one.
type OverheadRow struct {
	Stage                  string   `col:"stage"` // "" for the whole process
	Mode                   string   `col:"mode"`
	Tool                   string   `col:"tool"`
	OverheadRatio          *float64 `col:"overhead_ratio"`
	NoiseRatio             *float64 `col:"noise_ratio"`
	HighRatio              *float64 `col:"high_ratio"`
	Reason                 string   `col:"reason"`
	BaselineMedianNs       *float64 `col:"baseline_median_ns"`
	WorkloadMedianNs       *float64 `col:"workload_median_ns"`
	BaselineRecordingCount int64    `col:"baseline_recording_count"`
	RecordingCount         int64    `col:"recording_count"`
}

// IsNoise reports whether both sides were measured and differ by less than recordings do by chance.
func (r OverheadRow) IsNoise() bool { return r.Reason == terms.ReasonNoise }

// IsMeasured reports whether both sides were measured, whatever they tell.
func (r OverheadRow) IsMeasured() bool {
	_, isKnown := frame.Finite(r.OverheadRatio)
	return isKnown || r.IsNoise()
}

// what names what was measured.
func (r OverheadRow) what() string {
	if r.Stage == "" {
		return "the whole process"
	}
	return r.Stage
}

// Change is by how much it takes longer under the profiler: +4.2 %, or not measurable.
func (r OverheadRow) Change() string {
	ratio, isKnown := frame.Finite(r.OverheadRatio)
	switch {
	case !isKnown:
		return "not measurable"
	case ratio < 0:
		return "-" + shareText(-ratio)
	}
	return "+" + shareText(ratio)
}

// Basis is what it was measured by: 3 recordings each, noise 2.1 %.
func (r OverheadRow) Basis() string {
	of := fmt.Sprintf("%s alone, %d under it", say.Count(r.BaselineRecordingCount, "recording", "recordings"), r.RecordingCount)
	if r.BaselineRecordingCount == r.RecordingCount {
		of = say.Count(r.RecordingCount, "recording", "recordings") + " each"
	}
	if noise, isKnown := frame.Finite(r.NoiseRatio); isKnown {
		return of + ", noise " + shareText(noise)
	}
	return of + ", noise unknown"
}

// shareText is a share with the digits that one reads: 4.2 %, 40 %.
func shareText(ratio float64) string {
	if math.Abs(ratio) >= 0.0995 {
		return fmt.Sprintf("%.0f %%", 100*ratio)
	}
	return percentText(ratio)
}

// recorded are recordings that were made alike.
type recorded struct{ tool, mode string }

// stagedOverhead are the recordings whose stages were measured, of which the whole process says less: it loads and compiles too.
func stagedOverhead(rows []OverheadRow) map[recorded]bool {
	out := map[recorded]bool{}
	for _, r := range rows {
		if r.Stage != "" && r.IsMeasured() {
			out[recorded{r.Tool, r.Mode}] = true
		}
	}
	return out
}

// OverheadLines words what was measured of the overhead of profiling, a line each. Nsight Compute is left out, which executes kernels again and again.
func OverheadLines(rows []OverheadRow) (out []string) {
	staged, modes, several := stagedOverhead(rows), map[string]string{}, map[string]bool{}
	for _, r := range rows {
		several[r.Tool] = several[r.Tool] || modes[r.Tool] != "" && modes[r.Tool] != r.Mode
		modes[r.Tool] = r.Mode
	}
	for _, r := range rows {
		alone, isAlone := frame.Finite(r.BaselineMedianNs)
		under, isUnder := frame.Finite(r.WorkloadMedianNs)
		switch {
		case !r.IsMeasured(), r.Tool == "ncu", !isAlone, !isUnder:
			continue
		case r.Stage == "" && r.IsNoise() && staged[recorded{r.Tool, r.Mode}]:
			continue
		}
		tool := terms.SourceLabel(r.Tool)
		if several[r.Tool] {
			tool += " (" + r.Mode + ")"
		}
		out = append(out, fmt.Sprintf("%s: alone %s, recorded by %s %s: %s (%s)", r.what(), DurationText(alone), tool, DurationText(under), r.Change(), r.Basis()))
	}
	return out
}

// NoOverhead is why none of the rows tells of the overhead of profiling, as the end of a sentence.
func NoOverhead(rows []OverheadRow) string {
	for _, r := range rows {
		if why := terms.OverheadReason(r.Reason); why != "" && r.Tool != "ncu" {
			if r.Stage == "" {
				return why
			}
			return "of " + r.Stage + ", " + why
		}
	}
	return "no recording without a profiler succeeded"
}
