package judge

import (
	"reflect"
	"slices"

	"prof/queries/frame"
)

// keys are the fields by which things are found, of which none is of the run.
var keys = []string{"ID", "Query", "Unit", "Kind", "Topic", "Source"}

// Rewrite changes every text of a report: names, facts, answers and notes, and so the Summary, which is made of them anew.
func (r *Report) Rewrite(change func(string) string) {
	r.summary, r.worded = nil, nil
	rewrite(reflect.ValueOf(r).Elem(), change, map[any]bool{})
}

// rewrite changes the texts that a value holds, each thing that is pointed to once.
func rewrite(v reflect.Value, change func(string) string, done map[any]bool) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(change(v.String()))
		}
	case reflect.Pointer:
		if v.IsNil() || !v.CanInterface() || done[v.Interface()] {
			return
		}
		done[v.Interface()] = true
		rewrite(v.Elem(), change, done)
	case reflect.Interface:
		if text, ok := v.Interface().(string); ok {
			v.Set(reflect.ValueOf(change(text)))
		} else if !v.IsNil() {
			rewrite(v.Elem(), change, done)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(keys, f.Name) && f.Type != reflect.TypeFor[[]frame.Column]() {
				rewrite(v.Field(i), change, done)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			rewrite(v.Index(i), change, done)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if e := v.MapIndex(key); e.Kind() == reflect.Pointer {
				rewrite(e, change, done)
			}
		}
	}
}
