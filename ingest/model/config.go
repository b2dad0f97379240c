package model

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

// config reads the fields of one object of a configuration. What is missing or of the wrong type is noted, so that one error can
// name all of it.
type config struct {
	path     string         // "", or the object's name and a dot
	fields   map[string]any // as decoded with UseNumber
	defaults map[string]any // of the class: transformers writes objects within a configuration without what equals it; may be nil
	strict   bool           // need takes no default: what a whole configuration lacks is a mistake
	faults   *faults
}

// faults are what is wrong with a configuration as a whole, and what was assumed.
type faults struct {
	foreign bool   // the decoder is of a class that is not supported
	refused string // what the model is made of that is not supported
	unread  []string
	missing []string
	wrong   []string
	notes   []Note

	assume bool            // go on without what is not supported
	asked  map[string]bool // fields that were looked at, by their whole path
}

// maxSize bounds a size in a configuration: more is a mistake. Products of four such sizes may overflow, and are checked.
const maxSize = 1 << 31

// field returns the value of a field and notes that it was looked at.
func (c config) field(name string) (v any, ok bool) {
	if c.faults.asked == nil {
		c.faults.asked = map[string]bool{}
	}
	c.faults.asked[c.path+name] = true
	v, ok = c.fields[name]
	return v, ok
}

// ignore notes that fields are of no matter to this family whatever they say.
func (c config) ignore(names ...string) {
	for _, n := range names {
		c.field(n)
	}
}

// has reports whether a field is there and not null.
func (c config) has(name string) bool {
	v, _ := c.field(name)
	return v != nil
}

// value finds the first of the names that is there; else the default of the class.
func (c config) value(names []string) (v any, name string) {
	if v, name = c.said(names); v != nil {
		return v, name
	}
	if _, null := c.field(name); null { // says: none
		return nil, name
	}
	for _, n := range names {
		if v := c.defaults[n]; v != nil {
			return v, n
		}
	}
	return nil, name
}

// said finds the first of the names that is there, else one that is null, else the first.
func (c config) said(names []string) (v any, name string) {
	name = names[0]
	null := false
	for _, n := range names { // all of them count as looked at
		switch x, ok := c.field(n); {
		case v != nil || !ok:
		case x != nil:
			v, name = x, n
		case !null:
			name, null = n, true
		}
	}
	return v, name
}

// need reads a whole number above 0 under the first of the names that is there. Where none is, the configuration is not complete.
func (c config) need(names ...string) int64 {
	v, name := c.said(names)
	if v == nil && !c.strict {
		if v, name = c.value(names); v != nil {
			c.assume("%s%s is %v, the default of its class", c.path, name, v)
		}
	}
	if v == nil {
		c.faults.missing = append(c.faults.missing, c.path+name)
		return 1
	}
	return c.whole(v, name, 1)
}

// opt reads a whole number of 0 or more; def where none of the names is there.
func (c config) opt(def int64, names ...string) int64 {
	v, name := c.value(names)
	if v == nil {
		return def
	}
	return c.whole(v, name, 0)
}

func (c config) whole(v any, name string, least int64) int64 {
	if n, ok := v.(json.Number); ok {
		if f, err := n.Float64(); err == nil && f == math.Trunc(f) && f >= float64(least) && f <= maxSize {
			return int64(f)
		}
	}
	c.wrong(name, v, fmt.Sprintf("a whole number from %d to %d", least, int64(maxSize)))
	return least
}

// number reads a number above 0; def where it is not there.
func (c config) number(def float64, name string) float64 {
	v, _ := c.value([]string{name})
	if v == nil {
		return def
	}
	if n, ok := v.(json.Number); ok {
		if f, err := n.Float64(); err == nil && f > 0 && f <= maxSize {
			return f
		}
	}
	c.wrong(name, v, "a number above 0")
	return def
}

// flag reads true or false; def where it is not there.
func (c config) flag(def bool, name string) bool {
	v, _ := c.value([]string{name})
	switch b := v.(type) {
	case nil:
		return def
	case bool:
		return b
	}
	c.wrong(name, v, "true or false")
	return def
}

// text reads a text; "" where it is not there.
func (c config) text(name string) string {
	v, _ := c.value([]string{name})
	switch s := v.(type) {
	case nil:
		return ""
	case string:
		return s
	}
	c.wrong(name, v, "text")
	return ""
}

// list reads a list; nil where it is not there.
func (c config) list(name string) []any {
	v, _ := c.value([]string{name})
	switch l := v.(type) {
	case nil:
		return nil
	case []any:
		return l
	}
	c.wrong(name, v, "a list")
	return nil
}

// texts reads a list of texts.
func (c config) texts(name string) []string {
	var out []string
	for _, v := range c.list(name) {
		s, ok := v.(string)
		if !ok {
			c.wrong(name, v, "a list of text")
			return nil
		}
		out = append(out, s)
	}
	return out
}

// wholes reads a list of whole numbers.
func (c config) wholes(name string) []int64 {
	var out []int64
	for _, v := range c.list(name) {
		out = append(out, c.whole(v, name, 0))
	}
	return out
}

// indexes reads a list of whole numbers as a set.
func (c config) indexes(name string) map[int64]bool {
	out := map[int64]bool{}
	for _, n := range c.wholes(name) {
		out[n] = true
	}
	return out
}

// sub reads an object within this one; ok is false where it is not there.
func (c config) sub(name string) (config, bool) {
	v, _ := c.field(name)
	if v == nil {
		return config{}, false
	}
	m, ok := v.(map[string]any)
	if !ok {
		c.wrong(name, v, "an object")
		return config{}, false
	}
	s := config{path: c.path + name + ".", fields: m, faults: c.faults}
	if t, ok := m["model_type"].(string); ok {
		s.defaults = classDefaults()[t]
	}
	return s, true
}

func (c config) wrong(name string, v any, want string) {
	text := fmt.Sprint(v)
	if r := []rune(text); len(r) > 40 {
		text = string(r[:40]) + "..."
	}
	c.faults.wrong = append(c.faults.wrong, fmt.Sprintf("%s%s is %s, want %s", c.path, name, text, want))
}

func (c config) assume(format string, args ...any) { c.note(Assumed, format, args...) }

func (c config) note(kind NoteKind, format string, args ...any) {
	n := Note{kind, fmt.Sprintf(format, args...)}
	if !slices.Contains(c.faults.notes, n) {
		c.faults.notes = append(c.faults.notes, n)
	}
}

// err is one error for all that is wrong.
func (f *faults) err() error {
	switch {
	case f.refused != "":
		return fmt.Errorf("%w: it has %s", ErrUnread, f.refused)
	case len(f.unread) > 0 && (f.foreign || len(f.missing) == 0):
		return fmt.Errorf("%w, because %s; --assume ignores it", ErrUnknown, strings.Join(f.unread, "; "))
	case len(f.missing) > 0:
		slices.Sort(f.missing)
		return fmt.Errorf("%w: %s", ErrMissing, strings.Join(slices.Compact(f.missing), ", "))
	case len(f.wrong) > 0:
		return fmt.Errorf("%w: %s", ErrWrong, strings.Join(f.wrong, "; "))
	}
	return nil
}

// Defaults of the configuration classes of transformers 5.17 by model_type: what save_pretrained leaves out of
// objects within a configuration. They are the sizes and switches in the to_dict() of each class without arguments.
//
//go:embed defaults.json
var defaultsText []byte

// classDefaults gives the defaults by model_type, decoded once.
var classDefaults = sync.OnceValue(func() map[string]map[string]any {
	d := json.NewDecoder(bytes.NewReader(defaultsText))
	d.UseNumber()
	var out map[string]map[string]any
	if err := d.Decode(&out); err != nil {
		panic("defaults.json: " + err.Error()) // it is part of the program
	}
	return out
})
