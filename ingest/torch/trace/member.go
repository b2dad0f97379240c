package trace

import (
	"bytes"
	"strconv"
)

// event reads one entry of traceEvents.
func (p *parser) event(e *Event, base int64) bool {
	if p.b[p.i] != '{' {
		return p.fail("an event must be an object")
	}
	e.reset(base + int64(p.i))
	p.i++
	for first := true; ; first = false {
		key, more, ok := p.member(first)
		if !ok {
			return false
		}
		if !more {
			break
		}
		if !p.eventMember(e, key, base) {
			return false
		}
	}
	if e.Category == Other && len(e.TaskType) > 0 { // only Ascend's events say this, and they have no category
		e.Category, e.Label = NPUWork, e.TaskType
	} else if e.Category == Other && len(e.Label) == 0 && e.Has&ConnectionID != 0 && bytes.IndexByte(e.Name, '@') > 0 { // as Node@launch
		e.Category, e.Label = Runtime, cannLabel
	}
	if e.Category == Other {
		return true
	}
	for _, bad := range e.bad {
		if bad.field&(always|read[e.Category]) != 0 {
			p.i, p.err = int(bad.offset-base), bad.what
			return false
		}
	}
	return true
}

// cannLabel stands for the category of Ascend's API calls, which have none.
var cannLabel = []byte("CANN")

func (p *parser) eventMember(e *Event, key []byte, base int64) (ok bool) {
	switch string(key) {
	case "ph":
		var s []byte
		if s, ok = p.text(); ok && len(s) == 1 {
			e.Phase = s[0]
		}
		return ok
	case "cat":
		e.Label, ok = p.text()
		e.Category = categoryOf(e.Label)
		return ok
	case "name":
		if p.b[p.i] != '"' {
			return p.wrong(e, eventName, "name", "text", base)
		}
		e.Name, ok = p.text()
		return ok
	case "pid":
		at := p.i
		ok = p.track(&e.PID, &e.NoPID, wholeNumber)
		if ok && e.NoPID && p.b[at] == '"' {
			e.PIDText = p.b[at+1 : p.i-1]
		}
		return ok
	case "tid":
		return p.track(&e.TID, &e.NoTID, numberIn)
	case "ts":
		return p.time(e, "ts", &e.Start, StartTime, base)
	case "dur":
		return p.time(e, "dur", &e.Duration, DurationTime, base)
	case "id":
		return p.intArg(e, "id", FlowID, base, true)
	case "args":
		return p.args(e, base)
	}
	_, ok = p.skip()
	return ok
}

// track reads a process or thread id: a number, or a text that holds one.
func (p *parser) track(to *int64, none *bool, number func([]byte) (int64, bool)) bool {
	if p.b[p.i] == '"' {
		text, ok := p.text()
		v, found := number(text)
		*to, *none = v, !found
		return ok
	}
	v, found, ok := p.whole()
	if c := p.b[p.i]; ok && !found && (c == '-' || c-'0' <= 9 || p.isOdd()) { // none that a process can have
		*none = true
		_, ok = p.skip()
		return ok
	}
	if ok && !found {
		return p.fail("expected a whole number or text as pid and tid")
	}
	*to, *none = v, false
	return ok
}

// wholeNumber reads a text that is nothing but a number.
func wholeNumber(text []byte) (int64, bool) {
	v, err := strconv.ParseInt(string(text), 10, 64)
	return v, err == nil
}

// numberIn reads the first number in a text.
func numberIn(text []byte) (int64, bool) {
	from := bytes.IndexAny(text, "0123456789")
	if from < 0 {
		return 0, false
	}
	return wholeNumber(text[from : from+digits(text[from:])])
}

// time reads microseconds.
func (p *parser) time(e *Event, name string, to *int64, f Field, base int64) bool {
	if p.b[p.i] == '"' { // as Ascend's profiler writes them
		return p.timeText(e, name, to, f, base)
	}
	c := p.b[p.i]
	if c-'0' > 9 && p.isOdd() { // as good as none
		_, ok := p.skip()
		return ok
	}
	if c != '-' && c-'0' > 9 {
		return p.wrong(e, f, name, "microseconds", base)
	}
	e.Has |= f
	if v, end := plain(p.b, p.i, 3); end > 0 {
		*to, p.i = v, end
		return true
	}
	raw, ok := p.number()
	if !ok {
		return false
	}
	v, exact := scaled(raw, 3)
	if *to = v; !exact {
		e.Has &^= f // beyond 64 bits of nanoseconds: as good as none
	}
	return true
}

// timeText reads microseconds in a text; one that holds none is of the wrong type.
func (p *parser) timeText(e *Event, name string, to *int64, f Field, base int64) bool {
	at := p.i
	text, ok := p.text()
	if !ok {
		return false
	}
	if text = bytes.TrimSpace(text); len(text) == 0 || !isNumber(text) {
		p.i = at
		return p.wrong(e, f, name, "microseconds", base)
	}
	v, exact := scaled(text, 3)
	if *to = v; exact {
		e.Has |= f
	}
	return true
}

// maxBad bounds what is remembered of an event that has the same member again and again.
const maxBad = 100

// wrong passes over a value of the wrong type, which is an error only in an event of a known category.
func (p *parser) wrong(e *Event, f Field, name, want string, base int64) bool {
	at := base + int64(p.i)
	raw, ok := p.skip()
	if ok && string(raw) != "null" && len(e.bad) < maxBad {
		e.bad = append(e.bad, badValue{f, name + " must be " + want, at})
	}
	return ok
}
