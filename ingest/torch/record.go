package torch

import (
	"math"

	"prof/ingest/attribute"
	"prof/ingest/load"
	"prof/ingest/operator"
)

// work is a kernel, a copy or a fill.
type work struct {
	start, duration       int64
	correlation, external int64 // absent: none
	bytes                 int64 // of a copy or fill
	config                int32
	launch                int32 // place in launches, -1 unknown
	op                    int32 // ID of the operator that launched it, 0 none, unknownOp
}

const (
	absent    = int64(-1 << 62)
	unclear   = int64(math.MaxInt64)
	unknownOp = int32(-1)
)

// config is what launches of one kind have in common.
type config struct {
	name                    int32 // of a kernel: number of its name; of others: of what the event is called
	device, context, stream int32
	grid, block             [3]int32
	registers               int32
	path                    int32 // path_id of the ranges around work without a launch
	has                     uint32
}

// What a config or a wait has.
const (
	hasContext = 1 << iota
	hasGrid
	hasBlock
	hasRegisters
	hasBytes
	hasStream
	hasDevice
	hasRecordStream
	hasNPU // device is a place in npus
	hasPath
)

// launch is an API call that issued device work.
type launch struct {
	start, duration int64
	thread          int32
	name            int32 // number of the function
	node            int32 // ranges open when it began
	stack           int32 // Python functions open when it began; 0 none
}

// thread is what happened on one thread, in the order of time once finish was called on each.
type thread struct {
	ops    packed // start, duration, name, inputs, External id, sequence number, number of its text of a stack
	apis   packed // start, duration, name, correlation id, number of the name of the kernel that it launches or -1
	python packed // start, duration, name
	memory packed // time, address, bytes, device type, device, total allocated, total reserved
	memOp  []int32
	base   int32 // ID of its first operator less 1
}

// Columns of a thread's rows after start and duration.
const (
	colName        = 2
	colInputs      = 3
	colExternal    = 4
	colSequence    = 5
	colStack       = 6
	colCorrelation = 3
	colKernel      = 4

	memAddress    = 1
	memBytes      = 2
	memDeviceType = 3
	memDevice     = 4
	memAllocated  = 5
	memReserved   = 6
)

// annotation is one record_function range.
type annotation struct {
	start, end   int64
	thread, name int32
}

// wait is one synchronisation.
type wait struct {
	start, duration, correlation int64
	device, context, stream      int32
	has                          uint32
	kind                         string
	launch                       int32
	event                        int64 // CUDA event; absent: none
	recordStream                 int32 // stream that the event was recorded on
	recordCall                   int64 // correlation id of the call that recorded it; absent: not said
	recordStart                  int64 // its start; absent: not captured; unclear: several threads have a call by that id
	recordThread                 int32
}

// overhead is time that the profiler took.
type overhead struct {
	start, duration int64
	name            string
}

// flow is one end of what ties a forward operator to its backward: the moment that it begins.
type flow struct {
	thread int32
	at     int64
}

// records are what a trace holds, as compact as its size asks for: some 10 bytes for an operator and an API call, 25 for a
// memory event, 60 for a kernel, none for anything else.
type records struct {
	threads threads
	of      []*thread // by thread

	names    load.Texts // of operators
	inputs   inputs
	texts    load.Texts // of inputs
	stackID  load.Texts // texts of stacks
	pyNames  load.Texts
	ranges   []annotation
	rgNames  load.Texts
	rangeIDs map[int64]bool // External ids of ranges

	kernels, memops load.Blocks[work]
	execs           attribute.Execs       // launches of graphs, by the work that names them
	bodies          []body                // the work that does not
	configs         load.Distinct[config] // what launches have in common
	kernName        load.Texts
	opName          load.Texts // of copies and fills
	apiNames        load.Texts
	launchName      load.Texts // of kernels, as their launches say it
	waits           []wait
	collectives     []collectiveCall
	overhead        []overhead
	forward, grads  map[int64]flow // by flow id

	counted      []countedRange
	counterNames load.Texts
	counterCount int
	makers       map[string]bool // of the devices that worked, where NVIDIA is not it
	npus         load.Distinct[int64]
	npuNumber    map[int64]int32 // number of an Ascend device by its process

	processNames map[int64]string
	threadNames  map[[2]int64]string

	span       [2]int64 // of the profiler's own track
	first, end int64    // of all events
	base       base     // what most events say
	counts     map[string]*part
	odd        load.Odd
}

// part is what became of the events of one category.
type part struct {
	read, stored int64
	unknown      int64 // intervals of a category that prof does not know
	reason       string
	left         map[string]int64 // events left out, by why
}

// leave counts an event that is left out.
func (p *part) leave(why string) {
	if p.left == nil {
		p.left = map[string]int64{}
	}
	p.left[why]++
}

func (r *records) part(name string) *part {
	p := r.counts[name]
	if p == nil {
		p = &part{}
		r.counts[name] = p
	}
	return p
}

// threads numbers threads and processes.
type threads struct {
	ids   map[[2]int64]int32
	procs map[int64]int64
	list  []operator.Thread
	last  [2]int64
	id    int32
}

// of returns the number of a thread.
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
		// Ids of threads as pthread has them are addresses; a thread is known by the lower half of it.
		t.list = append(t.list, operator.Thread{PID: int32(pid & math.MaxInt32), TID: int32(tid & math.MaxInt32), Key: proc<<24 | int64(id)})
		t.ids[k] = id
	}
	t.last, t.id = k, id
	return id
}

// only returns the process if there is just one.
func (t *threads) only() (pid int32, ok bool) {
	if len(t.procs) != 1 {
		return 0, false
	}
	return t.list[0].PID, true
}

// maxThreads is more than any job has, and fits the threads' keys.
const maxThreads = 1 << 20

// inputs numbers the inputs of operators: 0, 1, ... by the numbers of their texts.
type inputs struct {
	ids  map[[4]int32]int32
	list [][4]int32
}

func (n *inputs) of(texts *load.Texts, shapes, types, strides, concrete []byte) int32 {
	key := [4]int32{texts.Of(shapes), texts.Of(types), texts.Of(strides), texts.Of(concrete)}
	if id, ok := n.ids[key]; ok {
		return id
	}
	if n.ids == nil {
		n.ids = map[[4]int32]int32{}
	}
	id := int32(len(n.list))
	n.ids[key] = id
	n.list = append(n.list, key)
	return id
}
