package nsys

import (
	"context"

	"prof/ingest/attribute"
	"prof/ingest/load"
	"prof/ingest/nsys/table"
	"prof/internal/mask"
)

// spanReader reads ranges for one worker.
type spanReader struct {
	*loader
	texts    load.Distinct[textKey]
	names    load.Texts // of operators
	sizes    load.Texts // of their inputs
	orphans  int64      // see ranges
	backward int64
	marks    int64
	read     int64
}

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
		s.Name = p.texts.Of(textKey{domain, load.Normalise(mask.Stored(text))})
		if domain.id == 0 && !s.Process { // emit_nvtx pushes and pops its ranges in the default domain
			if e, ok := parseEmitted(text); ok {
				p.addCall(e)
			}
		}
		p.spans = append(p.spans, s)
	}
	return nil
}

// addCall takes the call that the next range encloses.
func (p *spanPart) addCall(e emitted) {
	c := emittedCall{span: int32(len(p.spans)), name: p.names.OfString(e.name), sizes: -1, sequence: e.sequence, id: e.id}
	if e.sizes != "" {
		c.sizes = p.spanReader.sizes.OfString(e.sizes)
	}
	p.calls = append(p.calls, c)
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
		r.operators = newOperators(calls)
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
