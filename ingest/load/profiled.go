package load

import "strings"

// ProfiledKey tells the results of one Nsight Compute capture apart, as each of its CSV pages names them.
type ProfiledKey struct {
	Group       string // the capture
	ID, PID     int32
	Kind, Name  string
	Grid, Block [3]int32
}

// Profiled is what is stored already of one result that several pages describe.
type Profiled struct {
	Launch   int32    // launch_id
	metrics  []uint64 // a bit for each metric number that has a value
	findings bool
}

// Take reports whether a metric has no value yet, and notes that it has one from now on.
func (p *Profiled) Take(metric int32) bool {
	word, bit := int(metric>>6), uint64(1)<<(metric&63)
	for len(p.metrics) <= word {
		p.metrics = append(p.metrics, 0)
	}
	if p.metrics[word]&bit != 0 {
		return false
	}
	p.metrics[word] |= bit
	return true
}

// TakeFindings reports whether findings are to be stored: those of one page, for several pages repeat them.
func (p *Profiled) TakeFindings(has bool) bool {
	first := has && !p.findings
	p.findings = p.findings || has
	return first
}

// NextLaunch returns the next launch_id of the run.
func (r *Run) NextLaunch() int32 {
	r.LaunchID++
	return r.LaunchID
}

// Profile finds the result that a page describes; first when no page before described it.
func (r *Run) Profile(key ProfiledKey) (p *Profiled, first bool) {
	if p, ok := r.profiled[key]; ok {
		return p, false
	}
	if r.profiled == nil {
		r.profiled = map[ProfiledKey]*Profiled{}
	}
	p = &Profiled{Launch: r.NextLaunch()}
	r.profiled[key] = p
	return p, true
}

// First reports whether something is seen for the first time in the run, by the table it goes to and what identifies it there.
func (r *Run) First(table string, key ...string) bool {
	k := table + "\x00" + strings.Join(key, "\x00")
	if r.seen[k] {
		return false
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[k] = true
	return true
}
