package ncu

import (
	"regexp"
	"strings"
)

// Unit is the base unit of a metric, as ncu prints it with --print-units base, from the metric's name alone: a binary report
// holds names and values, and leaves units to whoever prints it. "" is a plain number, UnknownUnit a name that no rule knows or
// to which ncu gives another unit from chip to chip or from section set to section set.
//
// A name has the structure that ncu's Profiling Guide documents ("Metrics Structure"): counter.rollup[.submetric], ratio.submetric
// or throughput.rollup.submetric, where the quantity within a counter's name "generally matches the dimensional units". What
// ncu --query-metrics says of counters, ratios and throughputs (ncu 2025.3.1; ga100, ad102, gh100, gb100, gb202) became
// quantities. How a submetric changes the unit of its counter is what NVIDIA's own samples of the metrics evaluator (DimUnit)
// check and what the pages of reports print. Metrics outside that structure are listed in unitOf.
func Unit(metric string) string {
	if unit, ok := unitOf[metric]; ok {
		return unit
	}
	// Attributes of the CUDA device have no unit in ncu, whatever they count; a group is no value of its own, and the times of PM sampling's passes are
	// keys of instances.
	for _, unitless := range []string{"device__attribute_", "group:", "profiler__pmsampler_ctxsw_", "profiler__timestamp_workload_"} {
		if strings.HasPrefix(metric, unitless) {
			return ""
		}
	}
	part := structure.FindStringSubmatch(metric)
	if part == nil {
		return UnknownUnit
	}
	config, counter, submetric := part[1], part[2], part[3]+part[4]
	if submetric == "pct" || strings.HasPrefix(submetric, "pct_of_peak_") {
		return "%"
	}
	if config == "" && chipDependent[counter] {
		return UnknownUnit
	}
	return applySubmetric(submetric, counter, quantityUnit(counter))
}

// structure splits a name into the configuration it is sampled with (PM sampling: "TPC.TriageCompute."), its counter, ratio or
// throughput, and its submetric. How a metric is asked for (pmsampling:, breakdown:) does not change its unit.
var structure = regexp.MustCompile(`^(?:pmsampling:|breakdown:)?((?:[A-Z]\w*\.)*)([a-z]\w*__\w+)` +
	`(?:\.(?:(?:sum|avg|min|max)(?:\.([a-z_.]+))?|(ratio|pct|max_rate)))?$`)

// chipDependent are the counters to which ncu gives one unit on some chips and another one on others.
var chipDependent = map[string]bool{
	"gcc__xbar2gcc_sectors":                   true, // sector on ga100 and ad102, none on gh100, gb100 and gb202
	"sm__pipe_tensor_op_dmma_cycles_active":   true, // inst on ga100, cycle on gh100
	"smsp__pipe_tensor_op_dmma_cycles_active": true,
}

// applySubmetric is the unit of a submetric of a counter. A rate is known only of quantities whose rate ncu has been seen to print.
func applySubmetric(submetric, counter, unit string) string {
	switch {
	case submetric == "" || submetric == "ratio" || submetric == "max_rate" || unit == UnknownUnit:
		return unit
	case peakOfSpan.MatchString(submetric): // a peak rate times the cycles of a span
		return unit
	case submetric == "per_second" || peakOfSpan.MatchString(strings.TrimSuffix(submetric, ".per_second")):
		return perSecond(counter, unit)
	case submetric == "peak_sustained" || perCycle.MatchString(submetric):
		return perCycleOf(counter, unit)
	}
	return UnknownUnit
}

var (
	peakOfSpan = regexp.MustCompile(`^peak_sustained_(active|elapsed|region|frame)$`)
	perCycle   = regexp.MustCompile(`^per_cycle_(active|elapsed|in_region|in_frame)$`)
	// inFlight are counters that add up in every cycle what is there, so that their dimension is a count times a cycle. ncu leaves
	// the cycle out: both smsp__warps_active.sum and its per_cycle_active are printed with warp.
	inFlight = regexp.MustCompile(`__(warps_(active|inactive|eligible|issue_stalled)|ctas_active|cgas_active|inst_pending)|` +
		`_(allocated|configured)(_|$)|_sram_bytes_`)
	// opsPath are the counters of plain numbers whose rates ncu prints as plain numbers too.
	opsPath = regexp.MustCompile(`^(sm|smsp)__ops_path_`)
)

func perSecond(counter, unit string) string {
	switch {
	case inFlight.MatchString(counter):
		return UnknownUnit
	case unit == "byte", unit == "sector", unit == "inst":
		return unit + "/s"
	case unit == "cycle":
		return "hz"
	case opsPath.MatchString(counter):
		return ""
	}
	return UnknownUnit
}

func perCycleOf(counter, unit string) string {
	switch {
	case inFlight.MatchString(counter):
		return unit
	case unit == "byte", unit == "sector", unit == "inst":
		return unit + "/cycle"
	case unit == "cycle", opsPath.MatchString(counter):
		return ""
	}
	return UnknownUnit
}

// quantityUnit is the unit of a counter, ratio or throughput by the first of quantities that its name holds.
func quantityUnit(counter string) string {
	unit, _, _ := strings.Cut(counter, "__")
	if !hardware[unit] {
		return UnknownUnit
	}
	for _, q := range quantities {
		if q.name.MatchString(counter) {
			return q.unit
		}
	}
	return UnknownUnit
}
