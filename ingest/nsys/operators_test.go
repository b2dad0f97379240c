package nsys

import (
	"fmt"
	"slices"
	"testing"

	"prof/ingest/attribute"
)

// TestOperatorOrder: calls come thread by thread, those of each in the order of operator.Sweep, whatever the order of the table.
func TestOperatorOrder(t *testing.T) {
	t.Parallel()
	reader := &spanReader{}
	name := reader.names.OfString("aten::mm")
	parts := make([]spanPart, 2)
	for i, s := range []attribute.Span{{Start: 5, End: 6, Thread: 7}, {Start: 1, End: 9, Thread: 3}, {Start: 2, End: 3, Thread: 7}, {Start: 1, End: 8, Thread: 3}, {Start: 2, End: 4, Thread: 7}, {Start: 0, End: 1, Thread: 3}} {
		p := &parts[i/3]
		p.spanReader = reader
		p.calls = append(p.calls, emittedCall{span: int32(len(p.spans)), name: name, sizes: -1, sequence: -1})
		p.spans = append(p.spans, s)
	}
	reader.texts.Of(textKey{})
	r := &ranges{domains: map[domainKey]string{}}
	r.join([]*spanReader{reader}, parts)
	r.operators.sortCalls(r.spans)
	var got []string
	for _, c := range r.operators.calls {
		s := r.spans[c.span]
		got = append(got, fmt.Sprint(r.operators.threads[c.thread].Key, s.Thread, s.Start, s.End))
	}
	if want := []string{"7 7 2 4", "7 7 2 3", "7 7 5 6", "3 3 0 1", "3 3 1 9", "3 3 1 8"}; !slices.Equal(got, want) {
		t.Errorf("the calls are %q, want %q", got, want)
	}
}
