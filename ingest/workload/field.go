package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"prof/ingest/load"
)

// Bounds of what a workload can say; more is a mistake in the file.
const (
	maxCount = 1 << 31
	maxMs    = 1e12 // 31 years
)

// reader reads one file's facts. It keeps what is wrong first, so that fields can be read one after the other.
type reader struct {
	facts  *Facts
	err    error
	passed []string // counts that were not taken since another name's differs
}

// object is one object of the file.
type object struct {
	r      *reader
	path   string // "", or its place and a dot: runs[2].
	fields map[string]any
}

// has reports whether a field is there and not null.
func (o object) has(name string) bool { return o.fields[name] != nil }

func (o object) wrong(name, want string) {
	if o.r.err == nil {
		o.r.err = fmt.Errorf("%s%s is %s, want %s", o.path, name, shown(o.fields[name]), want)
	}
}

// count reads a whole number under the first of the names that is said; nil where none is. The others are held to the same rules.
func (o object) count(least int64, names ...string) *int64 {
	var out *int64
	var taken string
	for _, name := range names {
		if !o.has(name) {
			continue
		}
		f, ok := float(o.fields[name])
		if !ok || f != math.Trunc(f) || f < float64(least) || f > maxCount {
			o.wrong(name, fmt.Sprintf("a whole number from %d to %d", least, int64(maxCount)))
			return nil
		}
		n := int64(f)
		switch {
		case out == nil:
			out, taken = &n, name
		case *out != n:
			o.r.passed = append(o.r.passed, fmt.Sprintf("%s%s is %d and is ignored, because %s is %d", o.path, name, n, taken, *out))
		}
	}
	return out
}

// id reads a count of 32 bits.
func (o object) id(least int64, name string) *int64 {
	n := o.count(least, name)
	if n != nil && *n > math.MaxInt32 {
		o.wrong(name, fmt.Sprintf("a whole number from %d to %d", least, math.MaxInt32))
	}
	return n
}

// picture reads height and width in pixels; zero where they are not said.
func (o object) picture(name string) (s load.ImageSize) {
	if !o.has(name) {
		return s
	}
	l, _ := o.fields[name].([]any)
	var sides [2]int64
	for i, v := range l {
		f, ok := float(v)
		if !ok || f != math.Trunc(f) || f < 1 || f > load.MaxSide || len(l) != len(sides) {
			l = nil
			break
		}
		sides[i] = int64(f)
	}
	if len(l) != len(sides) {
		o.wrong(name, fmt.Sprintf("[height, width] in pixels, each from 1 to %d", load.MaxSide))
	}
	return load.ImageSize{Height: sides[0], Width: sides[1]}
}

// wall reads milliseconds as nanoseconds, rounded to the nearest; nil where they are not said.
func (o object) wall(name string) *int64 {
	if !o.has(name) {
		return nil
	}
	f, ok := float(o.fields[name])
	if !ok || f < 0 || f > maxMs {
		o.wrong(name, fmt.Sprintf("milliseconds from 0 to %g", maxMs))
		return nil
	}
	ns := int64(math.Round(f * 1e6))
	return &ns
}

// amount reads a number that is not negative; ok is false where it is not said.
func (o object) amount(name string) (f float64, ok bool) {
	if !o.has(name) {
		return 0, false
	}
	if f, ok = float(o.fields[name]); !ok || f < 0 {
		o.wrong(name, "a number of 0 or more")
		return 0, false
	}
	return f, true
}

// flag reads true or false; false where it is not said.
func (o object) flag(name string) bool {
	b, ok := o.fields[name].(bool)
	if !ok && o.has(name) {
		o.wrong(name, "true or false")
	}
	return b
}

// text reads a text; "" where it is not said.
func (o object) text(name string) string {
	s, ok := o.fields[name].(string)
	if !ok && o.has(name) {
		o.wrong(name, "text")
	}
	return s
}

// sub reads an object within this one; its fields are nil where it is not said.
func (o object) sub(name string) object {
	m, ok := o.fields[name].(map[string]any)
	if !ok && o.has(name) {
		o.wrong(name, "an object")
	}
	return object{r: o.r, path: o.path + name + ".", fields: m}
}

// float reads a finite number.
func float(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	return f, err == nil
}

// maxShown bounds what a message repeats of a file.
const maxShown = 40

// shown is a value as the file has it, cut short.
func shown(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprintf("a value that is not JSON (%v)", err)
	}
	s := []rune(string(bytes.TrimSpace(b.Bytes())))
	if len(s) > maxShown {
		return string(s[:maxShown]) + "..."
	}
	return string(s)
}
