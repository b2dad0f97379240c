package torch

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"

	"prof/ingest/load"
	"prof/ingest/torch/trace"
)

// parts are the traces that a trace was merged from. SGLang's merger puts "[TP00] " before the process of each event and leaves all else as it is: ids and
// GPUs of the parts have the same numbers.
type parts struct {
	ofPID  map[int64]int32 // by the number of the process; absent: of no part
	byName map[string]int32
	number map[int32]int32 // of a GPU, by part and the part's own number, after numberParts
	named  []string
}

// idBits are more than ids of a trace have.
const idBits = 40

// partIDs are numbers that are one trace's own.
var partIDs = []trace.Field{trace.Correlation, trace.ExternalID, trace.FlowID, trace.RecordCorrelation, trace.EventID, trace.Sequence}

// add notes the part that a process is of.
func (p *parts) add(pid int64, text []byte) {
	end := bytes.LastIndex(text, []byte("] "))
	if !bytes.HasPrefix(text, []byte("[")) || end < 0 {
		return
	}
	if p.ofPID == nil {
		p.ofPID, p.byName = map[int64]int32{}, map[string]int32{}
	}
	name := string(text[1:end])
	if _, ok := p.byName[name]; !ok {
		p.byName[name] = int32(len(p.named))
		p.named = append(p.named, name)
	}
	p.ofPID[pid] = p.byName[name]
}

// tell makes the ids of an event those of its part.
func (p *parts) tell(e *trace.Event) {
	part := p.ofPID[e.PID]
	if part == 0 {
		return
	}
	for _, f := range partIDs {
		if v, ok := e.Int(f); ok && v > 0 && v < 1<<idBits {
			e.SetInt(f, v+int64(part)<<idBits)
		}
	}
}

// gpu is the number of a part's GPU until all parts are known.
func (p *parts) gpu(e *trace.Event, device int32) int32 {
	if part := p.ofPID[e.PID]; part > 0 && device >= 0 && device < load.MaxDevices {
		return part*load.MaxDevices + device
	}
	return device
}

// numberParts gives each GPU of each part a number: its own where no other part has a GPU of that number.
func (c *collector) numberParts() {
	if len(c.parts.named) < 2 {
		return
	}
	taken := map[int32]bool{}
	c.eachDevice(func(d *int32) { taken[*d%load.MaxDevices] = true })
	c.parts.number = map[int32]int32{}
	first := map[int32]bool{} // own numbers that a part had
	for part := range int32(len(c.parts.named)) {
		c.eachDevice(func(d *int32) {
			own := *d % load.MaxDevices
			if _, done := c.parts.number[*d]; done || *d < 0 || *d/load.MaxDevices != part {
				return
			}
			n := own
			if first[own] {
				if r, ok := c.parts.rank(part); ok {
					n = r
				}
				for ; taken[n]; n++ {
				}
			}
			first[own], taken[n], c.parts.number[*d] = true, true, n
		})
	}
	c.eachDevice(func(d *int32) { *d = c.parts.numberOf(*d) })
}

// numberOf is the number of a part's GPU.
func (p *parts) numberOf(device int32) int32 {
	if n, ok := p.number[device]; ok {
		return n
	}
	return max(device, -1) % load.MaxDevices // no kernel ran on it
}

// described are the numbers of the GPUs that their parts call so.
func (p *parts) described(own int32) (out []int32) {
	for part := range int32(max(1, len(p.named))) {
		if n, ok := p.number[part*load.MaxDevices+own]; ok {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return []int32{own}
	}
	return out
}

// warnShared says which GPU has work of several processes: Kineto records one, so the trace is of several, and each may mean another GPU.
func (l *loader) warnShared() {
	pids := map[int32]bool{}
	for k, th := range l.of {
		if th.apis.n > 0 {
			pids[l.threads.list[k].PID] = true
		}
	}
	if len(pids) < 2 {
		return
	}
	of := map[int32]int32{} // the first process by GPU
	for i := range int32(l.works()) {
		w := l.work(i)
		if w.launch < 0 {
			continue
		}
		pid, device := l.threads.list[l.launches[w.launch].thread].PID, l.configs.List[w.config].device
		if first, ok := of[device]; ok && first != pid {
			l.info.Warnings = append(l.info.Warnings, fmt.Sprintf("processes %d and %d launched work on GPU %d, as in a trace merged from several: whether each means another GPU is not known, and their work adds up as that of one; ingest the trace of each process instead", first, pid, device))
			return
		}
		of[device] = pid
	}
}

// eachDevice gives all numbers of GPUs that work has.
func (c *collector) eachDevice(each func(*int32)) {
	for i := range c.configs.List {
		each(&c.configs.List[i].device)
	}
	for i := range c.waits {
		each(&c.waits[i].device)
	}
	for i := range c.collectives {
		each(&c.collectives[i].device)
	}
}

// rankPart is the name of a part that says its rank, and nothing of data, pipeline or expert parallelism.
var rankPart = regexp.MustCompile(`(?i)^(?:TP|rank)[ _-]?(\d{1,6})$`)

// rank is the rank that a part's name says.
func (p *parts) rank(part int32) (int32, bool) {
	m := rankPart.FindStringSubmatch(p.named[part])
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	return int32(n), err == nil
}
