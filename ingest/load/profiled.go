package load

import (
	"strings"
	"sync"
)

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

// Take says whether a metric has no value yet, and notes that it has one from now on.
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

// TakeFindings says whether findings are to be stored: those of one page, for several pages repeat them.
func (p *Profiled) TakeFindings(has bool) bool {
	first := has && !p.findings
	p.findings = p.findings || has
	return first
}

// NextLaunch gives the next launch_id of the run: 0, 1, ...
func (r *Run) NextLaunch() int32 {
	r.launches++
	return r.launches - 1
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

// Metrics numbers the names of a run's metrics: 1, 2, ... within the run. It is safe for concurrent use.
type Metrics struct {
	numbers Numbers
	mu      sync.Mutex
	units   map[int32]string
}

// Add gives the number of a metric and keeps its unit; nil is a unit that is not known.
func (m *Metrics) Add(name string, unit *string) int32 {
	id := m.numbers.Add(name)
	if unit == nil {
		return id
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.units[id]; !ok {
		if m.units == nil {
			m.units = map[int32]string{}
		}
		m.units[id] = *unit
	}
	return id
}

// Each visits the metrics in the order of their numbers.
func (m *Metrics) Each(f func(id int32, name string, unit *string) error) error {
	for i, name := range m.numbers.All() {
		var unit *string
		if u, ok := m.units[int32(i+1)]; ok {
			unit = &u
		}
		if err := f(int32(i+1), name, unit); err != nil {
			return err
		}
	}
	return nil
}

// First says whether something is seen for the first time in the run, by the table it goes to and what identifies it there.
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
