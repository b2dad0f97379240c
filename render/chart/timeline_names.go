package chart

import (
	"prof/render/typeset"
)

// timelineNames numbers the names of a timeline, so that each is in the page once.
type timelineNames struct {
	at    map[string]int64 // by whole name
	bytes int              // of the names so far
}

// How wide the names of a timeline are: whole up to wholeName columns, which most names of templates in C++ have not, as long as they take no
// more than wholeNames bytes together, then in short, then in brief, and after briefNames bytes only to be told apart. So a run with a new name
// for each kernel has no page of another size.
const (
	wholeName  = 1200
	wholeNames = 150_000
	shortName  = 110
	shortNames = 250_000
	briefName  = 40
	briefNames = 500_000
	leastName  = 12
)

// name returns the place of a name in the list of names.
func (d *TimelineData) name(text string) int64 {
	text = typeset.Neutral(text)
	at, known := d.names.at[text]
	if known {
		return at
	}
	most := wholeName
	switch {
	case d.names.bytes > briefNames:
		most = leastName
	case d.names.bytes > shortNames:
		most = briefName
	case d.names.bytes > wholeNames:
		most = shortName
	}
	short := typeset.Shorten(text, most, 60)
	at = int64(len(d.Names))
	d.names.at[text] = at
	d.names.bytes += len(short)
	d.Names = append(d.Names, short)
	return at
}

// work returns the place of a kind of work, which is a name in a lane: a kernel can be called like a copy.
func (d *TimelineData) work(name, lane string) int64 {
	key := [2]int64{d.name(name), d.name(lane)}
	at, known := d.workAt[key]
	if !known {
		at = int64(len(d.Works))
		d.workAt[key] = at
		d.Works = append(d.Works, key)
	}
	return at
}
