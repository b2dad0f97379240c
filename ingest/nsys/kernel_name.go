package nsys

import (
	"regexp"

	"prof/ingest/load"
	"prof/ingest/nsys/table"
)

// kernelKind is what executions of one kernel share: its names as string ids, mangled noSymbol where the export does not say it, and its
// launch shape.
type kernelKind struct {
	demangled, mangled, short int64
	shape                     load.Shape
}

const noSymbol = -1

// kernelID is a kind as it is stored.
type kernelID struct {
	name  int64
	shape int32
}

// kernelKinds numbers names and shapes for one worker, and notes symbols on the way: all of them repeat, and their combinations are few.
func (l *loader) kernelKinds() *load.Memo[kernelKind, kernelID] {
	spread := func(k kernelKind) uint64 {
		h := uint64(k.demangled)
		for _, v := range k.shape.Values {
			h = h*0x9E3779B97F4A7C15 + uint64(uint32(v))
		}
		return h ^ h>>32
	}
	return load.NewMemo(spread, func(k kernelKind) (kernelID, error) {
		name, err := l.kernelName(k)
		return kernelID{name, l.target.Run.ShapeID(k.shape)}, err
	})
}

// shapeColumns name the values of a shape in messages.
const shapeColumns = "grids, blocks, registers and shared memory of kernels"

// mostShared is more shared memory than a block has; the sum of two such sizes fits an INTEGER.
const mostShared = 1 << 30

// shapeOf reads a launch shape from row i of its columns, which are in the order of its values.
func (l *loader) shapeOf(cols []table.Vector, i int) (s load.Shape) {
	for k := range cols {
		if !cols[k].Null(i) {
			v := cols[k].Ints[i]
			if small, ok := l.odd.Int32(shapeColumns, v, 0); ok && (k < load.StaticShared || v < mostShared) {
				s.Set(k, small)
			} else if ok {
				l.odd.Add(shapeColumns, v)
			}
		}
	}
	return s
}

// symbolText is what a symbol of an object file looks like. Whatever else an export names there is none: it also holds the profiled
// process's environment.
var symbolText = regexp.MustCompile(`^[A-Za-z_.$][A-Za-z0-9_.$@]*$`)

func (l *loader) kernelName(k kernelKind) (int64, error) {
	text, err := l.strings.get(k.demangled)
	if err != nil {
		return 0, err
	}
	base, err := l.strings.get(k.short)
	if err != nil {
		return 0, err
	}
	id := l.target.Run.Kernels.Add(text, &base)
	if k.mangled == noSymbol {
		return int64(id), nil
	}
	symbol, err := l.strings.get(k.mangled)
	if err == nil && symbolText.MatchString(symbol) {
		l.target.Run.Symbols.Add(id, symbol)
	}
	return int64(id), err
}
