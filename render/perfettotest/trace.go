// Package perfettotest reads traces as Perfetto does, for the tests of what writes them.
package perfettotest

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/internal/file"
)

// Trace is a trace as Perfetto's trace processor reads it: events by time, and at one time in the order of the file; an end closes the innermost slice of its track.
// Numbers of fields are those of Perfetto's proto files, written down again here.
type Trace struct {
	Tracks  map[uint64]*Track
	Slices  []*Slice
	Flows   [][2]*Slice // from a slice to another
	Samples map[uint64][]Sample
	Marks   int
	First   int64 // of the events
}

// Track is one track.
type Track struct {
	UUID, Parent uint64
	Name         string // that of its process or thread, where it is one
	PID, TID     int64
	Unit         string
	IsThread     bool
	IsCounter    bool
}

// Slice is one slice. End is -1 where it never ended.
type Slice struct {
	Track          uint64
	Name, Category string
	Start, End     int64
	Depth          int
	Args           map[string]any
}

// Sample is a value of a counter.
type Sample struct {
	Time  int64
	Value float64
}

// Path is the name of a track after those around it.
func (t *Trace) Path(uuid uint64) string {
	k := t.Tracks[uuid]
	if k.Parent == 0 {
		return k.Name
	}
	return t.Path(k.Parent) + " / " + k.Name
}

// event is a TrackEvent with the texts of its sequence.
type event struct {
	time           int64
	kind           uint64
	track          uint64
	name, category string
	flows, ends    []uint64
	args           map[string]any
	value          float64
}

// field is one field of a message.
type field struct {
	number protowire.Number
	n      uint64 // of all but messages
	bytes  []byte
}

func fieldsOf(b []byte) (out []field, err error) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		f := field{number: number}
		switch kind {
		case protowire.VarintType:
			f.n, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			f.n, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			return nil, fmt.Errorf("field %d is of kind %d", number, kind)
		}
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		out = append(out, f)
	}
	return out, nil
}

// of returns the fields of a number.
func of(list []field, number protowire.Number) (out []field) {
	for _, f := range list {
		if f.number == number {
			out = append(out, f)
		}
	}
	return out
}

func last(list []field, number protowire.Number) field {
	all := of(list, number)
	if len(all) == 0 {
		return field{}
	}
	return all[len(all)-1]
}

// texts are what a sequence has numbers for, by the field that brought them.
type texts struct {
	by    map[protowire.Number]map[uint64]string
	track uint64
}

func (x *texts) get(kind protowire.Number, id uint64) (string, error) {
	text, known := x.by[kind][id]
	if !known {
		return "", fmt.Errorf("no text of kind %d has the number %d", kind, id)
	}
	return text, nil
}

// mostBytes is more than any test writes.
const mostBytes = 1 << 30

// Read reads a trace in gzip.
func Read(r io.Reader) (*Trace, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	whole, err := file.ReadAll(z, "trace", mostBytes)
	if err != nil {
		return nil, err
	}
	packets, err := fieldsOf(whole)
	if err != nil {
		return nil, err
	}
	t := &Trace{Tracks: map[uint64]*Track{}, Samples: map[uint64][]Sample{}, First: math.MaxInt64}
	sequences := map[uint64]*texts{}
	var events []event
	for i, p := range packets {
		fields, err := fieldsOf(p.bytes)
		if err == nil && len(of(fields, 60)) > 0 {
			err = t.readTrack(last(fields, 60).bytes)
		}
		if err == nil && len(of(fields, 11)) > 0 {
			var e event
			if e, err = t.readEvent(fields, sequences); err == nil {
				events = append(events, e)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("packet %d: %w", i, err)
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.time, b.time) })
	return t, t.play(events)
}

func (t *Trace) readTrack(b []byte) error {
	fields, err := fieldsOf(b)
	if err != nil {
		return err
	}
	k := &Track{UUID: last(fields, 1).n, Parent: last(fields, 5).n, Name: string(last(fields, 2).bytes)}
	if process, err := fieldsOf(last(fields, 3).bytes); err != nil {
		return err
	} else if len(process) > 0 {
		k.PID, k.Name = int64(last(process, 1).n), string(last(process, 6).bytes)
	}
	if thread, err := fieldsOf(last(fields, 4).bytes); err != nil {
		return err
	} else if len(thread) > 0 {
		k.PID, k.TID, k.IsThread = int64(last(thread, 1).n), int64(last(thread, 2).n), true
		if k.Name = string(last(thread, 5).bytes); k.Name == "" {
			k.Name = fmt.Sprintf("thread %d", k.TID)
		}
	}
	if k.IsCounter = len(of(fields, 8)) > 0; k.IsCounter {
		counter, err := fieldsOf(last(fields, 8).bytes)
		if err != nil {
			return err
		}
		if k.Unit = string(last(counter, 6).bytes); last(counter, 3).n == 3 {
			k.Unit = "bytes"
		}
	}
	if k.Parent != 0 && t.Tracks[k.Parent] == nil {
		return fmt.Errorf("track %d comes before its parent %d", k.UUID, k.Parent)
	}
	if t.Tracks[k.UUID] != nil || k.UUID == 0 {
		return fmt.Errorf("track %d comes twice", k.UUID)
	}
	t.Tracks[k.UUID] = k
	return nil
}

func (t *Trace) readEvent(packet []field, sequences map[uint64]*texts) (event, error) {
	id, flags := last(packet, 10).n, last(packet, 13).n
	if flags&1 != 0 {
		sequences[id] = &texts{by: map[protowire.Number]map[uint64]string{}}
	}
	x := sequences[id]
	if x == nil || flags&2 == 0 {
		return event{}, fmt.Errorf("sequence %d, flags %d: no state", id, flags)
	}
	for _, message := range []protowire.Number{59, 12} {
		for _, f := range of(packet, message) {
			inner, err := fieldsOf(f.bytes)
			if err != nil {
				return event{}, err
			}
			if message == 59 {
				defaults, err := fieldsOf(last(inner, 11).bytes)
				if err != nil {
					return event{}, err
				}
				x.track = last(defaults, 11).n
				continue
			}
			for _, kind := range inner {
				entry, err := fieldsOf(kind.bytes)
				if err != nil {
					return event{}, err
				}
				if x.by[kind.number] == nil {
					x.by[kind.number] = map[uint64]string{}
				}
				x.by[kind.number][last(entry, 1).n] = string(last(entry, 2).bytes)
			}
		}
	}
	fields, err := fieldsOf(last(packet, 11).bytes)
	if err != nil {
		return event{}, err
	}
	e := event{time: int64(last(packet, 8).n), kind: last(fields, 9).n, track: x.track, args: map[string]any{}, value: math.Float64frombits(last(fields, 44).n)}
	if own := of(fields, 11); len(own) > 0 {
		e.track = own[0].n
	}
	if t.Tracks[e.track] == nil {
		return event{}, fmt.Errorf("track %d is not known", e.track)
	}
	for _, f := range fields {
		switch f.number {
		case 10:
			e.name, err = x.get(2, f.n)
		case 3:
			e.category, err = x.get(1, f.n)
		case 47:
			e.flows = append(e.flows, f.n)
		case 48:
			e.ends = append(e.ends, f.n)
		case 4:
			err = e.annotate(x, f.bytes)
		}
		if err != nil {
			return event{}, err
		}
	}
	return e, nil
}

func (e *event) annotate(x *texts, b []byte) error {
	fields, err := fieldsOf(b)
	if err != nil {
		return err
	}
	name, err := x.get(3, last(fields, 1).n)
	if err != nil {
		return err
	}
	for _, f := range fields {
		switch f.number {
		case 2:
			e.args[name] = f.n == 1
		case 4:
			e.args[name] = int64(f.n)
		case 17:
			if e.args[name], err = x.get(29, f.n); err != nil {
				return err
			}
		}
	}
	return nil
}

// play opens and closes slices in the order of time.
func (t *Trace) play(events []event) error {
	open, flows := map[uint64][]*Slice{}, map[uint64]*Slice{}
	for _, e := range events {
		t.First = min(t.First, e.time)
		switch stack := open[e.track]; e.kind {
		case 1:
			s := &Slice{Track: e.track, Name: e.name, Category: e.category, Start: e.time, End: -1, Depth: len(stack), Args: e.args}
			t.Slices, open[e.track] = append(t.Slices, s), append(stack, s)
			for _, f := range e.flows {
				if flows[f] != nil {
					return fmt.Errorf("flow %d starts twice", f)
				}
				flows[f] = s
			}
			for _, f := range e.ends {
				if flows[f] == nil {
					return fmt.Errorf("flow %d ends at %d and has not started", f, e.time)
				}
				t.Flows = append(t.Flows, [2]*Slice{flows[f], s})
				delete(flows, f)
			}
		case 2:
			if len(stack) == 0 {
				return fmt.Errorf("%s: nothing is open at %d", t.Path(e.track), e.time)
			}
			stack[len(stack)-1].End, open[e.track] = e.time, stack[:len(stack)-1]
		case 3:
			t.Marks++
		case 4:
			t.Samples[e.track] = append(t.Samples[e.track], Sample{e.time, e.value})
		default:
			return fmt.Errorf("an event of type %d", e.kind)
		}
	}
	if len(flows) > 0 {
		return fmt.Errorf("%d flows end nowhere", len(flows))
	}
	return nil
}
