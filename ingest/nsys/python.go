package nsys

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"prof/ingest/load"
	"prof/ingest/nsys/table"
	"prof/ingest/rows"
	"prof/internal/file"
)

// With --python-backtrace=cuda nsys puts a mark of a domain of its own at each CUDA call that it takes the stack of, on the thread and at the
// very time of the call. The mark's payload (nsys export --include-json=true) has the Python functions; a thread without Python gets no mark.
// Such a call is there twice: as always, and as a row of a class of its own, with the same correlation id, which begins with the mark.
//
// With --python-sampling nsys puts marks of another domain, with the same payload, on threads with Python at the frequency asked for.
const (
	backtraceDomain = "Python Backtrace on CUDA"
	sampleDomain    = "Python Periodic Sampling"
	eventClassEnum  = "ENUM_NSYS_EVENT_CLASS"
	backtraceClass  = "CUDA backtrace"
)

// maxFrames bounds the functions of one stack: Python ends at 1000 calls unless a program asks for more.
const maxFrames = 1 << 14

// pythonFrame is one function of what a mark says. Functions and files are numbers in StringIds.
type pythonFrame struct {
	Function, File int64
	Line           int64 // at which the function was
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

// of returns the stack of a launch; nil where it is not known.
func (s *stacks) of(launch int32) any {
	if s != nil {
		if id, ok := s.launch[launch]; ok {
			return id
		}
	}
	return nil
}

// repeated returns why rows of the class are not stored; "" where there are none.
func (s *stacks) repeated() string {
	if s == nil || s.repeats.Load() == 0 {
		return ""
	}
	return fmt.Sprintf("%d rows are other rows' calls again, with their stacks", s.repeats.Load())
}

// readStacks reads the stacks of calls and stores the samples, where there are any.
func (l *loader) readStacks(ctx context.Context) error {
	domains := slices.Collect(maps.Values(l.ranges.domains))
	if slices.Contains(domains, backtraceDomain) {
		for class, label := range l.enums[eventClassEnum] {
			if label == backtraceClass {
				l.stacks = &stacks{class: class, at: map[callPlace]int32{}, launch: map[int32]int32{}}
			}
		}
	}
	hasSamples := slices.Contains(domains, sampleDomain)
	if l.stacks == nil && !hasSamples {
		return nil
	}
	name := l.table(nvtxTable)
	r := &stackReader{loader: l, known: map[string]int32{}}
	if !hasSamples {
		if err := r.read(ctx, name, nil); err != nil {
			return err
		}
	} else if _, err := l.target.Append(ctx, "python_sample", func(add rows.Add) error { return r.read(ctx, name, add) }); err != nil {
		return err
	}
	if !l.hasPayloads(name) {
		l.info.Warnings = append(l.info.Warnings, name+": the export lacks Python functions: export it with --include-json=true")
		return nil
	}
	for _, u := range []struct {
		count int
		what  string
	}{{r.calls, "CUDA calls"}, {r.samples, "samples"}} {
		if u.count > 0 {
			l.info.Warnings = append(l.info.Warnings, fmt.Sprintf("%s: the Python functions of %d %s cannot be read; their stacks are unknown", name, u.count, u.what))
		}
	}
	return nil
}

// stackReader reads the marks with Python stacks.
type stackReader struct {
	*loader
	known          map[string]int32 // stack_id by payload, which begins with its domain
	calls, samples int              // whose functions cannot be read
}

func (r *stackReader) read(ctx context.Context, name string, addSample func(...any) error) error {
	hint := 0
	return eachBatch(ctx, r.export, name, payloadWants, func(b *table.Batch) error {
		for i := range b.N {
			if b.Cols[nvThread].Null(i) || !isMark(b.Cols[nvType].Ints[i]) {
				continue
			}
			thread, at := b.Cols[nvThread].Ints[i], b.Cols[nvStart].Ints[i]
			domain := r.ranges.domains[domainKey{procOf(thread), b.Cols[nvDomain].Ints[i]}]
			isCall, isSample := domain == backtraceDomain && r.stacks != nil, domain == sampleDomain && isInterval(at, at)
			if !isCall && !isSample {
				continue
			}
			text, err := r.payload(b, i)
			if err != nil {
				return err
			}
			id, isKnown := r.known[domain+text]
			if !isKnown {
				if id, err = r.stackOf(text, domain); err != nil {
					return err
				}
				r.known[domain+text] = id
			}
			if isCall {
				if r.stacks.at[callPlace{thread, at}] = id; id == noStack {
					r.calls++
				}
				continue
			}
			stack := any(id)
			if id == noStack {
				r.samples++
				stack = nil
			}
			if err := addSample(r.target.RunID, r.sourceID(), pidOf(thread), tidOf(thread), at, stack, r.ranges.lines.Path(r.ranges.lines.Of(thread).At(at, &hint))); err != nil {
				return err
			}
		}
		return nil
	})
}

// noStack is the stack of a call or sample whose functions cannot be read.
const noStack = int32(-1)

// stackOf returns the stack that a payload says, 0 for one without functions.
func (l *loader) stackOf(text, domain string) (int32, error) {
	frames, ok := framesOf(text, domain)
	if !ok {
		return noStack, nil
	}
	id := int32(0)
	for _, f := range slices.Backward(frames) {
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

// framesOf reads a payload of a domain, the innermost function first. ok is false for one that cannot be read.
func framesOf(text, domain string) (frames []pythonFrame, ok bool) {
	var p map[string]struct{ Frames []pythonFrame }
	if file.FewValues([]byte(text), file.MostValues) != nil || json.Unmarshal([]byte(text), &p) != nil {
		return nil, false
	}
	mark, isOne := p[domain]
	return mark.Frames, isOne && len(mark.Frames) <= maxFrames
}

// pythonName is the name of a function or a file: nsys writes <module> as &lt;module&gt;.
func pythonName(text string) string { return html.UnescapeString(load.RangeName(text)) }
