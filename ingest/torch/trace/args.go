package trace

func (p *parser) args(e *Event, base int64) bool {
	if p.b[p.i] != '{' {
		return p.wrong(e, eventArgs, "args", "an object", base)
	}
	at := p.i
	p.i++
	for first := true; ; first = false {
		key, more, ok := p.member(first)
		if !ok || !more {
			e.Args = p.b[at:p.i]
			return ok
		}
		if !p.arg(e, key, base) {
			return false
		}
	}
}

func (p *parser) arg(e *Event, key []byte, base int64) (ok bool) {
	switch string(key) {
	case "Input Dims", "Input dims":
		e.Shapes, ok = p.list(e, InputShapes, key, base)
		if ok && e.Shapes != nil {
			e.Has |= InputShapes
		}
		return ok
	case "Input type":
		e.Types, ok = p.list(e, inputTypes, key, base)
		return ok
	case "Input Strides":
		e.Strides, ok = p.list(e, inputStrides, key, base)
		return ok
	case "Concrete Inputs":
		e.Concrete, ok = p.list(e, concreteInputs, key, base)
		return ok
	case "grid":
		return p.three(e, "grid", &e.Grid, GridSize, base)
	case "block":
		return p.three(e, "block", &e.Block, BlockSize, base)
	case "name":
		return p.textArg(&e.ArgName)
	case "kernel":
		return p.textArg(&e.Launches)
	case "Call stack":
		return p.textArg(&e.Stack)
	case "call_stack":
		e.CallStack, ok = p.skip()
		return ok
	case "cuda_sync_kind":
		return p.textArg(&e.SyncKind)
	case "Collective name":
		return p.textArg(&e.Collective)
	case "dtype":
		return p.textArg(&e.DType)
	case "Process Group Name":
		return p.textArg(&e.GroupName)
	case "Process Group Ranks":
		return p.textArg(&e.GroupRanks)
	case "labels":
		return p.textArg(&e.Labels)
	case "direction":
		return p.textArg(&e.Direction)
	case "Task Type":
		return p.textArg(&e.TaskType)
	}
	if f := intField(key); f != 0 {
		// XPU's contexts are addresses.
		return p.intArg(e, string(key), f, base, f == Context)
	}
	_, ok = p.skip()
	return ok
}

// intArg reads a whole number; orText passes over texts.
func (p *parser) intArg(e *Event, name string, f Field, base int64, orText bool) bool {
	c := p.b[p.i]
	if c-'0' > 9 && p.isOdd() {
		return p.oddValue(e)
	}
	if c == 'n' || orText && c == '"' {
		_, ok := p.skip()
		return ok
	}
	v, found, ok := p.whole()
	if !ok || found {
		e.Ints[indexOf(f)] = v
		e.Has |= f
		return ok
	}
	if c == '-' || c-'0' <= 9 { // a number that no column holds: of this event, not of the trace
		e.Odd = true
		_, ok := p.skip()
		return ok
	}
	return p.wrong(e, f, name, "a whole number", base)
}

// textArg reads a text; other values are passed over.
func (p *parser) textArg(to *[]byte) (ok bool) {
	if p.b[p.i] != '"' {
		_, ok = p.skip()
		return ok
	}
	*to, ok = p.text()
	return ok
}

// list reads the JSON of an array.
func (p *parser) list(e *Event, f Field, key []byte, base int64) ([]byte, bool) {
	if p.b[p.i] != '[' {
		return nil, p.wrong(e, f, string(key), "an array", base)
	}
	p.odd = false
	raw, ok := p.skip()
	if p.odd { // no JSON to keep
		e.Odd = true
		return nil, ok
	}
	return raw, ok
}

// oddValue passes over a number that is none: of this event, not of the trace.
func (p *parser) oddValue(e *Event) bool {
	e.Odd = true
	_, ok := p.skip()
	return ok
}

// three reads the sizes of a grid or a block.
func (p *parser) three(e *Event, name string, to *[3]int64, f Field, base int64) bool {
	at := p.i
	if p.b[p.i] == '[' {
		p.i++
		for n := 0; ; n++ {
			more, ok := p.element(n == 0)
			if !ok {
				return false
			}
			if !more {
				if n == 3 {
					e.Has |= f
					return true
				}
				break
			}
			v, found, ok := p.whole()
			if !ok {
				return false
			}
			if !found && p.isOdd() {
				p.i = at
				return p.oddValue(e)
			}
			if c := p.b[p.i]; !found && (c == '-' || c-'0' <= 9) { // as in intArg
				e.Odd, p.i = true, at
				_, ok := p.skip()
				return ok
			}
			if n == 3 || !found {
				break
			}
			to[n] = v
		}
	}
	p.i = at
	return p.wrong(e, f, name, "three whole numbers", base)
}
