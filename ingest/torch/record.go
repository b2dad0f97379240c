package torch

import (
	"prof/ingest/load"
	"prof/ingest/operator"
)

// work is a kernel, a copy or a fill.
type work struct {
	start, duration         int64
	correlation, external   int64 // none: absent
	bytes                   int64 // of a copy or fill
	name                    int32 // of a kernel: number of its name; of others: of what the event is called
	device, context, stream int32
	grid, block             [3]int32
	registers               int32
	has                     uint32
	api                     int32 // the launching call, -1 unknown
	call                    int32 // the operator that launched it, -1 none
}

const absent = int64(-1 << 62)

// What a work has.
const (
	hasContext = 1 << iota
	hasGrid
	hasBlock
	hasRegisters
	hasBytes
	hasOperator // whether it was launched in an operator is known
)

// apiCall is one call of the CUDA runtime or driver.
type apiCall struct {
	start, end  int64
	correlation int64
	thread      int32
	name        int32 // number of the function
	node        int32 // ranges open when it began
	call        int32 // innermost operator around it, -1 none
	python      int32 // innermost Python function around it, -1 none
}

// annotation is one record_function range.
type annotation struct {
	start, end   int64
	thread, name int32
}

// memoryEvent is an allocation or a release.
type memoryEvent struct {
	time, address, bytes int64
	allocated, reserved  int64
	thread               int32
	deviceType, device   int16
	call                 int32
}

// wait is one synchronisation.
type wait struct {
	start, duration, correlation int64
	device, context, stream      int32
	has                          uint32
	kind                         string
}

// overhead is time that the profiler took.
type overhead struct {
	start, duration int64
	name            string
}

// flow ties a forward operator to its backward by the moments they begin.
type flow struct {
	thread int32
	at     int64
}

// records are what a trace holds, as compact as its size asks for: some 90 bytes for an operator and for a kernel, 60 for a
// memory event, 50 for an API call, none for anything else.
type records struct {
	threads threads
	calls   operator.Calls
	names   numbers // of operators
	ranges  load.Blocks[annotation]
	rgNames numbers
	inputs  numbers
	python  operator.Calls
	pyNames numbers

	kernels  load.Blocks[work]
	kernName numbers
	memops   load.Blocks[work]
	opName   numbers // of copies and fills
	apis     load.Blocks[apiCall]
	apiNames numbers
	memory   load.Blocks[memoryEvent]
	waits    []wait
	overhead []overhead

	callByID map[int64]int32 // External id -> operator
	dense    []int32         // the same while ids are small, plus 1
	stacks   map[int32]int32 // call -> number of its text of a stack
	stackIDs numbers
	sequence map[int32]int64
	backward map[int32]bool // backward operators
	forward  map[int64]flow // by flow id
	grads    map[int64]flow

	processNames map[int64]string
	threadNames  map[[2]int64]string

	span       [2]int64 // of the profiler's own track
	first, end int64    // of all events
	counts     map[string]*part
}

// part is what became of the events of one category.
type part struct {
	read, stored int64
	reason       string
}

// threads numbers threads and processes.
type threads struct {
	ids   map[[2]int64]int32
	procs map[int64]int64
	list  []operator.Thread
	last  [2]int64
	id    int32
}

// of gives the number of a thread.
func (t *threads) of(pid, tid int64) int32 {
	k := [2]int64{pid, tid}
	if len(t.list) > 0 && k == t.last {
		return t.id
	}
	id, ok := t.ids[k]
	if !ok {
		if t.ids == nil {
			t.ids, t.procs = map[[2]int64]int32{}, map[int64]int64{}
		}
		proc, known := t.procs[pid]
		if !known {
			proc = int64(len(t.procs))
			t.procs[pid] = proc
		}
		id = int32(len(t.list))
		t.list = append(t.list, operator.Thread{PID: int32(pid), TID: int32(tid), Key: proc<<24 | int64(id)})
		t.ids[k] = id
	}
	t.last, t.id = k, id
	return id
}

// only gives the process if there is just one.
func (t *threads) only() (pid int32, ok bool) {
	if len(t.procs) != 1 {
		return 0, false
	}
	return t.list[0].PID, true
}

// maxThreads is more than any job has, and fits the threads' keys.
const maxThreads = 1 << 20

// numbers numbers texts: 0, 1, ...
type numbers struct {
	ids  map[string]int32
	list []string
}

func (n *numbers) of(b []byte) int32 {
	if id, ok := n.ids[string(b)]; ok {
		return id
	}
	if n.ids == nil {
		n.ids = map[string]int32{}
	}
	id := int32(len(n.list))
	s := string(b)
	n.ids[s] = id
	n.list = append(n.list, s)
	return id
}

func (r *records) part(name string) *part {
	p := r.counts[name]
	if p == nil {
		p = &part{}
		r.counts[name] = p
	}
	return p
}

// identify notes an operator's External id.
func (r *records) identify(id int64, call int32) {
	if id >= 0 && id < int64(4*len(r.dense))+1<<16 {
		for int64(len(r.dense)) <= id {
			r.dense = append(r.dense, make([]int32, max(1<<12, len(r.dense)/2))...)
		}
		r.dense[id] = call + 1
		return
	}
	r.callByID[id] = call
}

// identified gives the operator of an External id, -1 when none has it.
func (r *records) identified(id int64) int32 {
	if id >= 0 && id < int64(len(r.dense)) && r.dense[id] > 0 {
		return r.dense[id] - 1
	}
	if c, ok := r.callByID[id]; ok {
		return c
	}
	return -1
}
