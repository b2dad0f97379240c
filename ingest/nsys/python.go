package nsys

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"prof/ingest/load"
	"prof/ingest/nsys/table"
)

// With --python-backtrace=cuda nsys puts a mark of a domain of its own at each CUDA call that it takes the stack of, on the thread and at the
// very time of the call. The mark's payload (nsys export --include-json=true) has the Python functions; a thread without Python gets no mark.
// Such a call is there twice: as always, and as a row of a class of its own, with the same correlation id, which begins with the mark.
const (
	backtraceDomain = "Python Backtrace on CUDA"
	eventClassEnum  = "ENUM_NSYS_EVENT_CLASS"
	backtraceClass  = "CUDA backtrace"
)

// maxFrames bounds the functions of one stack: Python ends at 1000 calls unless a program asks for more.
const maxFrames = 1 << 14

// pythonPayload is what a mark says, by the name of its domain. Functions and files are numbers in StringIds; the innermost function is first.
type pythonPayload map[string]struct {
	Frames []struct {
		Function, File int64
		Line           int64 // at which the function was
	}
}

// callPlace is where a call begins.
type callPlace struct{ thread, start int64 }

// stacks are the Python functions that CUDA calls were made in. A capture without backtraces has none and pays for none.
type stacks struct {
	class   int64               // event class of calls with backtraces
	at      map[callPlace]int32 // stack_id by the begin of the call
	mu      sync.Mutex
	launch  map[int32]int32 // stack_id by row of the launch table; 0 outside every function
	repeats atomic.Int64    // rows of the class
}

// put notes the stack of a launch by the row of its class.
func (s *stacks) put(launch int32, c callPlace) {
	id, isMarked := s.at[c]
	if isMarked && id == noStack {
		return
	}
	s.mu.Lock()
	s.launch[launch] = id
	s.mu.Unlock()
}

// of gives the stack of a launch; nil where it is not known.
func (s *stacks) of(launch int32) driver.Value {
	if s != nil {
		if id, ok := s.launch[launch]; ok {
			return id
		}
	}
	return nil
}

// repeated says why rows of the class are not stored; "" where there are none.
func (s *stacks) repeated() string {
	if s == nil || s.repeats.Load() == 0 {
		return ""
	}
	return fmt.Sprintf("%d rows are other rows' calls again, with their stacks", s.repeats.Load())
}

// readStacks reads the stacks, where calls have backtraces.
func (l *loader) readStacks(ctx context.Context) error {
	name := l.table(nvtxTable)
	if name == "" || !slices.Contains(slices.Collect(maps.Values(l.ranges.domains)), backtraceDomain) {
		return nil
	}
	s := &stacks{class: -1, at: map[callPlace]int32{}, launch: map[int32]int32{}}
	for class, label := range l.enums[eventClassEnum] {
		if label == backtraceClass {
			s.class = class
		}
	}
	if s.class < 0 {
		return nil
	}
	l.stacks = s
	if !l.hasPayloads(name) {
		l.info.Warnings = append(l.info.Warnings, name+": the export lacks the Python functions of CUDA calls: export it with --include-json=true")
	}
	unread, known := 0, map[string]int32{}
	err := eachBatch(ctx, l.export, name, payloadWants, func(b *table.Batch) error {
		for i := range b.N {
			if b.Cols[nvThread].Null(i) || !isMark(b.Cols[nvType].Ints[i]) {
				continue
			}
			thread := b.Cols[nvThread].Ints[i]
			if l.ranges.domains[domainKey{procOf(thread), b.Cols[nvDomain].Ints[i]}] != backtraceDomain {
				continue
			}
			text, err := l.payload(b, i)
			if err != nil {
				return err
			}
			id, isKnown := known[text]
			if !isKnown {
				if id, err = l.stackOf(text, backtraceDomain); err != nil {
					return err
				}
				known[text] = id
			}
			if id == noStack {
				unread++
			}
			s.at[callPlace{thread, b.Cols[nvStart].Ints[i]}] = id
		}
		return nil
	})
	if unread > 0 && l.hasPayloads(name) {
		l.info.Warnings = append(l.info.Warnings, fmt.Sprintf("%s: the Python functions of %d CUDA calls cannot be read; their stacks are unknown", name, unread))
	}
	return err
}

// noStack is the stack of a call whose functions cannot be read.
const noStack = int32(-1)

// stackOf gives the stack that a payload says, 0 for one without functions.
func (l *loader) stackOf(text, domain string) (int32, error) {
	var p pythonPayload
	if json.Unmarshal([]byte(text), &p) != nil {
		return noStack, nil
	}
	mark, isOne := p[domain]
	if !isOne || len(mark.Frames) > maxFrames {
		return noStack, nil
	}
	id := int32(0)
	for _, f := range slices.Backward(mark.Frames) {
		function, err := l.strings.get(f.Function)
		if err != nil {
			return 0, err
		}
		file, err := l.strings.get(f.File)
		if err != nil {
			return 0, err
		}
		id = l.target.Run.Stacks.Add(id, "", fmt.Sprintf("%s(%d): %s", pythonName(file), f.Line, pythonName(function)))
	}
	return id, nil
}

// pythonName is the name of a function or a file: nsys writes <module> as &lt;module&gt;.
func pythonName(text string) string { return html.UnescapeString(load.RangeName(text)) }
