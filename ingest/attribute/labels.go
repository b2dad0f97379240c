package attribute

import "prof/ingest/load"

// Label says what a piece of device work is, and where it ran.
type Label struct {
	Device     int32 // the machine's number of the GPU
	Kind       WorkKind
	KernelName int64  // kernel_name_id of a kernel
	Operation  string // of a copy, a fill or a graph replay; empty for a kernel
}

// GraphReplay is the operation of a graph replay that was traced as a whole.
const GraphReplay = "graph replay"

// Labels numbers the labels of a source's work. Safe for concurrent use.
type Labels struct{ load.Shared[Label] }

// Threads numbers the threads of a source. Safe for concurrent use.
type Threads struct{ load.Shared[int64] }

// Labeller numbers labels for one worker, which meets few.
type Labeller struct{ memo *load.Memo[Label, int32] }

// Labeller makes a labeller of one's own.
func (l *Labels) Labeller() *Labeller {
	spread := func(label Label) uint64 {
		return uint64(label.KernelName) + uint64(label.Device)<<5 + uint64(label.Kind)<<9 + uint64(len(label.Operation))
	}
	return &Labeller{load.NewMemo(spread, func(label Label) (int32, error) { return l.Of(label), nil })}
}

// Of returns the number of a label.
func (l *Labeller) Of(label Label) int32 {
	id, _ := l.memo.Of(label) // numbering never fails
	return id
}
