package trace

import (
	"bytes"
	"math/bits"
)

// Event is one entry of traceEvents. Its texts are views into the reader's memory, good until the next call of Next.
type Event struct {
	Offset   int64 // where it begins in the unpacked file, in bytes
	Phase    byte  // X complete, i instant, s and f ends of a flow, M metadata, C counter, B and E begin and end; 0 when absent
	Category Category
	Label    []byte // the category as written
	Name     []byte
	PID, TID int64
	// NoPID reports whether pid is absent or no number: what Kineto writes for its own tracks, and other tools where they merged traces.
	// NoTID says the same of tid; of texts like "24572 (python)" and "stream 7", as PyTorch 1.8 writes them, the number is taken.
	NoPID, NoTID bool
	// Start and Duration are nanoseconds: the file holds microseconds with decimals. Start is from an origin that the file's
	// baseTimeNanoseconds names, or from 1970.
	Start, Duration int64
	Has             Field // which of the following and of the times the event has
	Ints            [fieldCount]int64
	Grid, Block     [3]int64
	// Odd reports whether a number is no whole one of 64 bits.
	Odd bool
	// Texts of args. Shapes, Types, Strides and Concrete are the JSON of an operator's inputs.
	Shapes, Types, Strides, Concrete []byte
	ArgName, Stack, SyncKind         []byte
	PIDText                          []byte // the process where it is a text
	Labels                           []byte // of a process, in metadata
	Direction                        []byte // of a copy of MTIA
	TaskType                         []byte // of work of an Ascend NPU
	Launches                         []byte // the kernel that a call of HIP launches
	Args                             []byte // the JSON of args, of a profiler range only
	// Collective, DType, GroupName and GroupRanks are the arguments of a collective: its name, the type of its elements, its process
	// group and the ranks in that.
	Collective, DType, GroupName, GroupRanks []byte
	CallStack                                []byte // the JSON of the scopes around a kernel of Proton, and of its name

	bad []badValue // values of the wrong type; an error in a category of which they are read
}

type badValue struct {
	field  Field
	what   string
	offset int64
}

// Category is the kind of an event.
type Category uint8

// Categories that the PyTorch profiler writes. See toString(ActivityType) in Kineto's ActivityType.cpp.
const (
	Other Category = iota
	CPUOp
	UserAnnotation
	GPUUserAnnotation
	Kernel
	Memcpy
	Memset
	Runtime
	Driver
	PythonFunction
	CPUInstant
	Sync
	Overhead
	ForwardBackward
	AsyncCPUGPU
	Span
	MTIAWork
	NPUWork
	ProfilerRange
	CUDAEvent
)

func categoryOf(s []byte) Category {
	switch string(s) {
	case "cpu_op", "Operator":
		return CPUOp
	case "user_annotation":
		return UserAnnotation
	case "gpu_user_annotation":
		return GPUUserAnnotation
	case "kernel", "Kernel", "concurrent_kernel":
		return Kernel
	case "gpu_memcpy", "Memcpy":
		return Memcpy
	case "gpu_memset", "Memset":
		return Memset
	case "cuda_runtime", "Runtime", "hip_runtime", "privateuse1_runtime", "xpu_runtime", "mtia_runtime", "glow_runtime", "hpu_op", "collective_comm":
		return Runtime
	case "cuda_driver", "hip_driver", "privateuse1_driver", "xpu_driver":
		return Driver
	case "python_function":
		return PythonFunction
	case "cpu_instant_event":
		return CPUInstant
	case "cuda_sync", "xpu_sync":
		return Sync
	case "overhead":
		return Overhead
	case "fwdbwd", "forward_backward":
		return ForwardBackward
	case "ac2g", "async_cpu_to_gpu", "async_gpu":
		return AsyncCPUGPU
	case "Trace":
		return Span
	case "mtia_ccp_events":
		return MTIAWork
	case "cuda_profiler_range":
		return ProfilerRange
	case "cuda_event":
		return CUDAEvent
	}
	return Other
}

// Field is a set of fields of an event.
type Field uint64

// The fields: bits of Event.Has. Those before fieldEnd are whole numbers of args, with a place in Event.Ints.
const (
	ExternalID Field = 1 << iota
	Correlation
	Device
	Context
	Stream
	Bytes
	Registers
	Address
	TotalAllocated
	TotalReserved
	DeviceType
	DeviceID
	Sequence
	FlowID
	InElements
	OutElements
	GroupSize
	Size
	ConnectionID
	EventID
	RecordStream
	RecordCorrelation
	GraphID
	GraphNodeID
	Path // of a kernel without a launch: the path_id of the ranges around it
	fieldEnd
	GridSize
	BlockSize
	StartTime
	DurationTime
	InputShapes
	inputTypes
	inputStrides
	concreteInputs
	eventName
	eventArgs
)

// always are the fields of every event of a known category.
const always = StartTime | DurationTime | eventName | eventArgs

// read are the further fields that categories are read for. Others may hold anything: profilers of other devices write texts
// where CUDA's writes numbers.
var read = [...]Field{
	CPUOp:           ExternalID | Sequence | InputShapes | inputTypes | inputStrides | concreteInputs,
	UserAnnotation:  ExternalID,
	Kernel:          ExternalID | Correlation | Device | Context | Stream | Registers | GridSize | BlockSize,
	Memcpy:          ExternalID | Correlation | Device | Context | Stream | Bytes,
	Memset:          ExternalID | Correlation | Device | Context | Stream | Bytes,
	Runtime:         Correlation | ConnectionID,
	Driver:          Correlation,
	CPUInstant:      Bytes | DeviceType | DeviceID | Address | TotalAllocated | TotalReserved,
	Sync:            Correlation | Device | Context | Stream,
	ForwardBackward: FlowID,
	Span:            0,
	MTIAWork:        Correlation | Device | Stream | Size,
	NPUWork:         Stream | Size | ConnectionID,
}

const fieldCount = 25

// Int returns a whole number of args; ok is false when the event has none.
func (e *Event) Int(f Field) (v int64, ok bool) {
	return e.Ints[indexOf(f)], e.Has&f != 0
}

// SetInt gives an event a whole number of args.
func (e *Event) SetInt(f Field, v int64) {
	e.Ints[indexOf(f)] = v
	e.Has |= f
}

// Clone returns a copy that outlives the next call of Next.
func (e *Event) Clone() *Event {
	out := *e
	for _, text := range []*[]byte{&out.Label, &out.Name, &out.Shapes, &out.Types, &out.Strides, &out.Concrete, &out.ArgName, &out.Stack, &out.SyncKind, &out.PIDText, &out.Labels,
		&out.Direction, &out.TaskType, &out.Launches, &out.Args, &out.Collective, &out.DType, &out.GroupName, &out.GroupRanks, &out.CallStack} {
		*text = bytes.Clone(*text)
	}
	out.bad = nil
	return &out
}

// Fill takes the args of another event that this one lacks.
func (e *Event) Fill(from *Event) {
	more := from.Has &^ e.Has
	for f := Field(1); f < fieldEnd; f <<= 1 {
		if more&f != 0 {
			e.SetInt(f, from.Ints[indexOf(f)])
		}
	}
	if more&GridSize != 0 {
		e.Grid = from.Grid
	}
	if more&BlockSize != 0 {
		e.Block = from.Block
	}
	e.Has |= more & (GridSize | BlockSize)
	e.Odd = e.Odd || from.Odd
}

func indexOf(f Field) int { return bits.TrailingZeros64(uint64(f)) }

// intField returns the field that an arg's whole number goes to, 0 when it is not read. Names with a small first letter are
// those of PyTorch before 1.11.
func intField(key []byte) Field {
	switch string(key) {
	case "External id", "external id":
		return ExternalID
	case "correlation":
		return Correlation
	case "device":
		return Device
	case "context":
		return Context
	case "stream":
		return Stream
	case "bytes", "Bytes":
		return Bytes
	case "registers per thread":
		return Registers
	case "Addr":
		return Address
	case "Total Allocated":
		return TotalAllocated
	case "Total Reserved":
		return TotalReserved
	case "Device Type":
		return DeviceType
	case "Device Id":
		return DeviceID
	case "Sequence number":
		return Sequence
	case "In msg nelems":
		return InElements
	case "Out msg nelems":
		return OutElements
	case "Group size":
		return GroupSize
	case "Stream Id":
		return Stream
	case "connection_id":
		return ConnectionID
	case "size", "size(B)":
		return Size
	case "wait_on_cuda_event_id":
		return EventID
	case "wait_on_stream":
		return RecordStream
	case "wait_on_cuda_event_record_corr_id":
		return RecordCorrelation
	case "graph id":
		return GraphID
	case "graph node id":
		return GraphNodeID
	}
	return 0
}

// reset clears an event for the next one; the numbers that Has does not name stay undefined.
func (e *Event) reset(offset int64) {
	e.Offset, e.Phase, e.Category, e.Label, e.Name, e.PID, e.TID, e.NoPID, e.NoTID = offset, 0, Other, nil, nil, 0, 0, true, true
	e.Start, e.Duration, e.Has, e.Odd = 0, 0, 0, false
	e.Shapes, e.Types, e.Strides, e.Concrete = nil, nil, nil, nil
	e.ArgName, e.Stack, e.SyncKind = nil, nil, nil
	e.PIDText, e.Labels, e.Direction, e.TaskType, e.Launches, e.Args = nil, nil, nil, nil, nil, nil
	e.Collective, e.DType, e.GroupName, e.GroupRanks, e.CallStack = nil, nil, nil, nil, nil
	e.bad = e.bad[:0]
}
