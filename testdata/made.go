package testdata

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
)

// Trace is a capture that was made up, so that what differs between two of them is known: a workload that prefills and decodes on one
// GPU, launches its kernels one by one on one stream, and waits for them at the end of every pass.
type Trace struct {
	Seed   uint64  // traces of different seeds differ by noise alone
	Noise  float64 // relative standard deviation of the time of each kernel, and once more of all work of a pass together
	Passes int     // measured ones; a warm-up of the same work, twice as slow, goes before them
	Stages []Stage // of each pass, one after the other
	Clock  float64 // kernels take 1/Clock of their time; 0 is 1
}

// Stage is what a pass does of a stage.
type Stage struct {
	Name    string // of its range: prefill, decode_all
	Steps   int    // how often it does its kernels, each time in a range decode_step[i]; 0: once, without such a range
	Kernels []Kernel
}

// Kernel is a kernel of a stage or step.
type Kernel struct {
	Name        string
	Count       int     // launches in a row
	Ns          float64 // time of each
	Grid, Block [3]int
}

// What launches cost, in ns.
const (
	hostNs    = 1000 // of the workload between two calls
	callNs    = 2000 // of a launch call
	latencyNs = 1500 // from its end to the kernel's start on an idle GPU
	idleNs    = 200  // between two kernels that were both launched in time
)

// traceStart is when a made trace starts, in ns of Unix time: 2025-11-21 09:40:00 UTC.
const traceStart = 1_763_718_000_000_000_000

// event is an entry of a Chrome trace as the PyTorch profiler writes it; times are microseconds.
type event struct {
	Phase string         `json:"ph"`
	Cat   string         `json:"cat"`
	Name  string         `json:"name"`
	Pid   int            `json:"pid"`
	Tid   int            `json:"tid"`
	Ts    json.Number    `json:"ts"`
	Dur   json.Number    `json:"dur"`
	Args  map[string]any `json:"args,omitempty"`
}

// maker makes the events of a trace; times are ns from its start.
type maker struct {
	trace       Trace
	random      *rand.Rand
	events      []event
	host, gpu   int64 // how far each has come
	correlation int
}

// JSON is the trace as the PyTorch profiler exports it: user annotations, launches and kernels that they belong to.
func (t Trace) JSON() []byte {
	out, _ := t.made()
	return out
}

// made is JSON, and how long the trace lasts.
func (t Trace) made() ([]byte, int64) {
	if t.Clock == 0 {
		t.Clock = 1
	}
	m := &maker{trace: t, random: rand.New(rand.NewPCG(t.Seed, 9)), host: 50_000}
	for pass := range t.Passes + 1 {
		name, slow := fmt.Sprintf("repeat[%d]", pass-1), 1+t.Noise*m.random.NormFloat64()
		if pass == 0 {
			name, slow = "warmup", 2*slow
		}
		m.during(name, func() {
			for _, s := range t.Stages {
				m.stage(s, slow)
			}
		})
		m.host += 20_000
	}
	return encoded(map[string]any{
		"schemaVersion": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": traceStart, "traceName": "made.json",
		"deviceProperties": []any{map[string]any{"id": 0, "name": gpuName, "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0, "numSms": 132}},
		"traceEvents":      m.events,
	}), m.host
}

func encoded(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // values of the types that are made here always have a form
	}
	return out
}

// stage does the work of a stage and waits for it.
func (m *maker) stage(s Stage, slow float64) {
	m.during(s.Name, func() {
		for step := range max(1, s.Steps) {
			work := func() {
				for _, k := range s.Kernels {
					for range k.Count {
						m.launch(k, slow)
					}
				}
			}
			if s.Steps == 0 {
				work()
			} else {
				m.during(fmt.Sprintf("decode_step[%d]", step), work)
			}
		}
		from := m.host
		m.host = max(m.host, m.gpu) + callNs
		m.call("cudaStreamSynchronize", from)
	})
	m.host += 5 * hostNs
}

// launch launches a kernel and runs it as soon as the GPU is free.
func (m *maker) launch(k Kernel, slow float64) {
	m.host += hostNs
	from := m.host
	m.host += callNs
	m.call("cudaLaunchKernel", from)
	ns := int64(math.Max(1, math.Round(k.Ns/m.trace.Clock*slow*math.Exp(m.trace.Noise*m.random.NormFloat64()))))
	start := max(m.host+latencyNs, m.gpu+idleNs)
	m.gpu = start + ns
	m.events = append(m.events, event{"X", "kernel", k.Name, 0, 7, micros(start), micros(ns), map[string]any{
		"device": 0, "context": 1, "stream": 7, "correlation": m.correlation, "grid": k.Grid, "block": k.Block, "registers per thread": 64, "shared memory": 0}})
}

// call is an API call that lasts until now.
func (m *maker) call(name string, from int64) {
	m.correlation++
	m.events = append(m.events, event{"X", "cuda_runtime", name, 1000, 1000, micros(from), micros(m.host - from), map[string]any{"correlation": m.correlation}})
}

// during is an annotation around what do does.
func (m *maker) during(name string, do func()) {
	at, from := len(m.events), m.host
	m.events = append(m.events, event{})
	m.host += hostNs
	do()
	m.host += hostNs
	m.events[at] = event{"X", "user_annotation", name, 1000, 1000, micros(from), micros(m.host - from), nil}
}

func micros(ns int64) json.Number { return json.Number(fmt.Sprintf("%d.%03d", ns/1000, ns%1000)) }
