package nsys

import (
	"context"
	"strings"

	"prof/ingest/attribute"
	"prof/ingest/load"
	"prof/ingest/nsys/table"
	"prof/internal/mask"
)

// spanReader reads ranges for one worker.
type spanReader struct {
	*loader
	known    map[rangeText]textMeaning
	texts    load.Distinct[textKey]
	names    load.Texts // of operators
	sizes    load.Texts // of their inputs
	orphans  int64      // see ranges
	backward int64
	marks    int64
	read     int64
}

// rangeText is the text of a range in a domain.
type rangeText struct {
	domain domainKey
	text   string
}

// textMeaning is what a text says.
type textMeaning struct {
	name   int32       // in texts
	call   emittedCall // of the operator that a range in the default domain encloses
	isCall bool
}

// Of the texts of ranges those that recur are understood once: each takes 0.6 us. Where all differ, only the first are kept.
const (
	mostKnown   = 1 << 12
	longestText = 256
)

// textKey is a normalised name in a domain, whose own name may come later in the table.
type textKey struct {
	domain domainKey
	norm   string
}

// spanPart is what a morsel of the table holds.
type spanPart struct {
	*spanReader
	spans   []attribute.Span // named by number in texts
	calls   []emittedCall
	domains []namedDomain
}

// emittedCall is an operator's call, as emitted has it.
type emittedCall struct {
	span        int32 // in the part
	name, sizes int32 // numbers in the reader; sizes -1 not recorded
	sequence    int64
	id          uint64
}

type namedDomain struct {
	domainKey
	name string
}

// readSpans reads the ranges of the table with some goroutines, into the order of the table.
func (l *loader) readSpans(ctx context.Context, name string) error {
	scan, err := l.export.Scan(ctx, name, nvtxWants)
	if err != nil {
		return err
	}
	parts := make([]spanPart, scan.Morsels())
	readers, err := inParallel(scan, l.target.Options.Threads, func() (*spanReader, func(morsel int, b *table.Batch) error) {
		r := &spanReader{loader: l}
		return r, func(morsel int, b *table.Batch) error {
			parts[morsel].spanReader = r
			return parts[morsel].add(b)
		}
	})
	if err != nil {
		return err
	}
	l.ranges.join(readers, parts)
	return nil
}

func (p *spanPart) add(b *table.Batch) error {
	p.read += int64(b.N)
	for i := range b.N {
		s, ok := p.ranges.spanOf(b, i)
		if !ok {
			if err := p.addOther(b, i); err != nil {
				return err
			}
			continue
		}
		text, err := p.nvtxName(b, i)
		if err != nil {
			return err
		}
		domain := domainKey{id: b.Cols[nvDomain].Ints[i]}
		if domain.id != 0 {
			domain.proc = procOf(s.Thread)
		}
		m := p.understand(rangeText{domain, text})
		s.Name = m.name
		if m.isCall && !s.Process { // emit_nvtx pushes and pops its ranges
			m.call.span = int32(len(p.spans))
			p.calls = append(p.calls, m.call)
		}
		p.spans = append(p.spans, s)
	}
	return nil
}

// understand returns what a text says: the range's name, and the operator call that it describes.
func (r *spanReader) understand(t rangeText) textMeaning {
	m, isKnown := r.known[t]
	if isKnown {
		return m
	}
	m.name = r.texts.Of(textKey{t.domain, load.Normalise(mask.Stored(t.text))})
	if t.domain.id == 0 { // where emit_nvtx has its ranges
		var e emitted
		if e, m.isCall = parseEmitted(t.text); m.isCall {
			m.call = r.callOf(e)
		}
	}
	if len(r.known) < mostKnown && len(t.text) <= longestText {
		if r.known == nil {
			r.known = map[rangeText]textMeaning{}
		}
		t.text = strings.Clone(t.text) // it may be part of a longer one
		r.known[t] = m
	}
	return m
}

// callOf returns a call that has no range yet.
func (r *spanReader) callOf(e emitted) emittedCall {
	c := emittedCall{name: r.names.OfString(e.name), sizes: -1, sequence: e.sequence, id: e.id}
	if e.sizes != "" {
		c.sizes = r.sizes.OfString(e.sizes)
	}
	return c
}

// addOther takes a row that is no range which can be placed.
func (p *spanPart) addOther(b *table.Batch, i int) error {
	eventType, hasThread := b.Cols[nvType].Ints[i], !b.Cols[nvThread].Null(i)
	is, _ := isRange(eventType)
	switch {
	case is && hasThread:
		p.backward++
	case is:
		p.orphans++
	case hasThread && eventType == nvtxDomainCreate:
		name, err := p.nvtxName(b, i)
		if err != nil {
			return err
		}
		p.domains = append(p.domains, namedDomain{domainKey{procOf(b.Cols[nvThread].Ints[i]), b.Cols[nvDomain].Ints[i]}, mask.Stored(name)})
	case hasThread && isMark(eventType):
		p.marks++
	}
	return nil
}

// join puts the parts together, in their order, with numbers of names that all share.
func (r *ranges) join(readers []*spanReader, parts []spanPart) {
	total, calls := 0, 0
	for i := range parts {
		calls += len(parts[i].calls)
		r.firsts = append(r.firsts, int32(total))
		total += len(parts[i].spans)
		for _, d := range parts[i].domains {
			r.domains[d.domainKey] = d.name
		}
	}
	r.firsts = append(r.firsts, int32(total))
	var names load.Distinct[attribute.Name]
	nameOf := map[*spanReader][]int32{}
	for _, reader := range readers {
		r.read, r.orphans, r.backward, r.marks = r.read+reader.read, r.orphans+reader.orphans, r.backward+reader.backward, r.marks+reader.marks
		for _, k := range reader.texts.List {
			nameOf[reader] = append(nameOf[reader], names.Of(attribute.Name{Domain: r.domain(k.domain), Norm: k.norm}))
		}
	}
	r.names = names.List
	r.spans = make([]attribute.Span, 0, total)
	if calls > 0 {
		r.operators = newOperators(parts)
	}
	for i := range parts {
		p := &parts[i]
		for _, c := range p.calls {
			r.addOperator(p.spanReader, c, p.spans[c.span].Thread)
		}
		of := nameOf[p.spanReader]
		for _, s := range p.spans {
			s.Name = of[s.Name]
			r.spans = append(r.spans, s)
		}
		p.spans, p.calls = nil, nil
	}
}
