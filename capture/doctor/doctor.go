// Package doctor looks for what captures need, and says how to get what is missing.
package doctor

import (
	"context"
	"prof/capture/machine"
)

// Statuses of a check.
const (
	OK      = "ok"
	Warning = "warning" // captures work, with less in them
	Missing = "missing" // not installed
	Failed  = "failed"  // installed, and does not work
	Unknown = "unknown" // it could not be told
)

// Check is what prof doctor found of one thing.
type Check struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"`
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // what to do, with the command to run; "" where nothing is to be done
}

// Options are what Doctor looks at. The zero value is this machine and the current folder.
type Options struct {
	machine.Machine        // zero: this one
	Home            string // folder of the warehouse and the runs, which need not exist yet
	Dir             string // where a workload would run; "": the current folder
}

// Run finds what a capture on this machine would have and lack. It runs the profilers on a program that does nothing, and takes a
// few seconds. Every check that is not ok has an advice.
func Run(ctx context.Context, o Options) []Check {
	d := doctor{o: o, m: o.WithDefaults()}
	if d.o.Home == "" {
		d.o.Home = "."
	}
	if d.o.Dir == "" {
		d.o.Dir = "."
	}
	var checks []Check
	for _, group := range []func(context.Context) []Check{d.tracer, d.nsys, d.ncu, d.gpus, d.counters, d.system, d.python} {
		checks = append(checks, group(ctx)...)
	}
	return standIns(checks)
}

// standIns says what makes timelines where prof's own tracer or nsys cannot: each stands in for the other. Where neither can, captures have none.
func standIns(checks []Check) []Check {
	is := map[string]string{} // statuses; "" of what was not looked at
	for _, c := range checks {
		is[c.ID] = c.Status
	}
	traces, profiles := is["tracer"] == OK, is["nsys"] == OK && is["nsys_report"] != Failed
	for i, c := range checks {
		switch {
		case c.ID == "tracer" && !traces && profiles:
			checks[i].Detail += "; captures use Nsight Systems instead, which slows decode down more and records no serving engine"
		case c.ID == "tracer" && !traces:
			checks[i].Status = Missing
			checks[i].Detail += "; Nsight Systems cannot stand in for it here: captures have no timeline"
		case c.ID == "nsys" && c.Status == Missing && traces:
			checks[i].Status, checks[i].Detail = Warning, c.Detail+"; captures use prof's own tracer, which records no OS calls, stacks and GPU metrics"
		}
	}
	return checks
}

// doctor is one examination.
type doctor struct {
	o Options
	m machine.Machine
}

// Healthy reports whether nothing is missing and nothing fails. What is unknown, and warnings, do not count.
func Healthy(checks []Check) bool {
	for _, c := range checks {
		if c.Status == Missing || c.Status == Failed {
			return false
		}
	}
	return true
}
