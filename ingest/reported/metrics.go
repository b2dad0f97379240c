package reported

import (
	"fmt"
	"math"
	"strings"
)

// Metrics returns the figures of a metrics.json: means over passes, times of stages, and utilisations. nil where it has none, or where prof
// itself computed them. What is no figure becomes a warning, since the rest of the file is read for other facts.
func Metrics(text []byte) (*Report, error) {
	o, err := parseMembers(text, "aggregates", "missing", "queries", "mfu_model_level", "mfu_per_stage", "model_dims", "peak_tflops")
	if err != nil {
		return nil, err
	}
	all := o.sub("aggregates")
	if len(all) == 0 || o.has("missing") && o.has("queries") {
		return nil, nil
	}
	r := &Report{}
	stages := all.sub("stage_ms")
	for _, m := range all {
		stage, isMs := strings.CutSuffix(m.key, "_ms")
		if m.key == "stage_ms" || isMs && same(stages.get(stage), m.value) {
			continue
		}
		r.mean("aggregates."+m.key, Value{Scope: OfRun, Metric: m.key}, m.value)
	}
	for _, m := range stages {
		r.mean("aggregates.stage_ms."+m.key, Value{Scope: OfStage, Subject: m.key, Metric: "time_ms"}, m.value)
	}
	r.ratio("mfu_model_level", Value{Scope: OfModel}, o.get("mfu_model_level"))
	for _, m := range o.sub("mfu_per_stage") {
		r.ratio("mfu_per_stage."+m.key, Value{Scope: OfStage, Subject: m.key}, m.value)
	}
	for _, m := range o.sub("model_dims") {
		if v := number(m.value, 0); v != nil {
			r.Values = append(r.Values, Value{Scope: OfModel, Metric: m.key, Unit: "count", Value: v})
		}
	}
	if v := number(o.get("peak_tflops"), 12); v != nil {
		r.Values = append(r.Values, Value{Scope: OfRun, Metric: "peak_flop_per_s", Unit: "flop_per_s", Value: v})
	}
	if len(r.Values) > maxRows {
		return nil, fmt.Errorf("%w: over %d figures", errMany, maxRows)
	}
	return r, nil
}

// same reports whether a value is the mean of another, both as the file has them.
func same(a, b any) bool {
	x, isObject := a.(object)
	y, also := b.(object)
	return isObject && also && x.get("mean") != nil && x.get("mean") == y.get("mean") && x.get("std") == y.get("std")
}

// mean notes {"mean": ..., "std": ...}.
func (r *Report) mean(path string, v Value, value any) {
	o, ok := value.(object)
	if !ok {
		if value != nil {
			r.Warnings = append(r.Warnings, path+" is not stored: want mean and std")
		}
		return
	}
	power := 0
	switch name, isMs := strings.CutSuffix(v.Metric, "_ms"); {
	case isMs:
		v.Metric, v.Unit, power = name+"_ns", "ns", 6
	case strings.HasSuffix(v.Metric, "tokens_per_s"):
		v.Unit = "tokens_per_s"
	case strings.HasSuffix(v.Metric, "tokens"):
		v.Unit = "count"
	}
	v.Value, v.Std = number(o.get("mean"), power), number(o.get("std"), power)
	if v.Value == nil && o.get("mean") != nil || v.Value != nil && math.IsInf(*v.Value, 0) {
		r.Warnings = append(r.Warnings, path+".mean is not stored: it is no number")
		return
	}
	r.Values = append(r.Values, v)
}

// ratio notes a utilisation. One over 1 is an error of the tool that reported it, and stays as it is.
func (r *Report) ratio(path string, v Value, value any) {
	v.Metric, v.Unit, v.Value = "mfu_ratio", "ratio", number(value, 0)
	switch {
	case value == nil:
	case v.Value == nil:
		r.Warnings = append(r.Warnings, path+" is not stored: it is no number")
	default:
		r.Values = append(r.Values, v)
	}
}
