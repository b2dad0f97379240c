package report

import "prof/render/typeset"

// document is a file of figures for other programs: what is not known is null, and missing says why, by its path.
type document struct {
	*reader
	out, missing *typeset.Object
}

func newDocument(r *reader) document { return document{r, new(typeset.Object), new(typeset.Object)} }

// need puts a member, and its reason where it is null.
func (d document) need(o *typeset.Object, path, key string, value any, why string) {
	o.Put(key, value)
	if value == nil {
		d.missing.Put(path+key, why)
	}
}

// list puts a list; one without members has a reason.
func (d document) list(name string, list []any, why string) {
	d.out.Put(name, list)
	if len(list) == 0 {
		d.missing.Put(name, why)
	}
}

// answer puts the rows of an answer as a list of objects.
func (d document) answer(name, key string, columns ...string) {
	d.list(name, d.objects(key, columns...), d.whyNone(key))
}

// objects returns the rows of an answer as objects with the columns in their order, NULL left out.
func (r *reader) objects(key string, columns ...string) []any {
	return typeset.List(r.rows(key, columns...), func(row answered) *typeset.Object { return row.object(columns...) })
}

// object returns a row as an object with the columns in their order, NULL left out.
func (r answered) object(columns ...string) *typeset.Object {
	o := new(typeset.Object)
	for _, c := range columns {
		if v := r.value(c); v != nil {
			o.Put(c, v)
		}
	}
	return o
}
