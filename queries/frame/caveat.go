package frame

import "slices"

// Caveat is one thing that a reader of some rows must know: what they leave out, what they rest on, or why there are none. Fields that
// its kind does not have are empty.
type Caveat struct {
	Topic                   string // what it is about: a query names the topics that belong with its rows
	Kind                    string // what it says, e.g. kernels-without-launch
	Stage                   string // the stage that it is about
	Subject, Object, Detail string
	Count, OfCount          int64
	TimeNs, OfTimeNs, Ratio float64
	Text                    string // the note that says it, maybe with others of its kind
}

// Said returns the notes of a topic.
func (f *Frame) Said(topic string) []string {
	var out []string
	for _, c := range f.Caveats {
		if c.Topic == topic && !slices.Contains(out, c.Text) {
			out = append(out, c.Text)
		}
	}
	return out
}

// Warns reports whether there is a caveat of a kind.
func (f *Frame) Warns(kind string) bool {
	return slices.ContainsFunc(f.Caveats, func(c Caveat) bool { return c.Kind == kind })
}
