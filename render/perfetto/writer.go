package perfetto

import (
	"io"
	"math"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"
)

// writer puts packets one after another into a gzip stream, which another goroutine compresses.
type writer struct {
	part     []byte // packets that are not compressed yet
	full     chan []byte
	empty    chan []byte
	done     chan error
	failed   atomic.Bool // the file cannot be written: what follows is lost
	isCut    bool        // the stream ends in its middle; set before full is closed
	packet   []byte      // reused
	tracks   uint64      // the last uuid
	sequence uint32      // the last one
}

const (
	partSize  = 1 << 19
	partCount = 4
)

func newWriter(out io.Writer) *writer {
	w := &writer{full: make(chan []byte, partCount), empty: make(chan []byte, partCount), done: make(chan error, 1)}
	for range partCount {
		w.empty <- make([]byte, 0, partSize)
	}
	w.part = <-w.empty
	go func() {
		z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
		for part := range w.full {
			if err == nil {
				_, err = z.Write(part)
				w.failed.Store(err != nil)
			}
			w.empty <- part[:0]
		}
		if err == nil && !w.isCut {
			err = z.Close()
		}
		w.done <- err
	}()
	return w
}

// close ends the file. It must be called once. What is not whole has no end, so that readers of gzip say so; as parts are long, one without slices is empty.
func (w *writer) close(isWhole bool) error {
	if w.isCut = !isWhole; isWhole {
		w.full <- w.part
	}
	close(w.full)
	return <-w.done
}

func (w *writer) write(packet []byte) {
	w.part = appendMessage(w.part, tracePacket, packet)
	if len(w.part) >= partSize {
		w.full <- w.part
		w.part = <-w.empty
	}
}

// descriptor writes what a track is and gives its uuid.
func (w *writer) descriptor(parent uint64, rank int, name string, more []byte) uint64 {
	w.tracks++
	d := appendUint(nil, trackUUID, w.tracks)
	if name != "" {
		d = appendText(d, trackName, plain(name))
	}
	if parent != 0 {
		d = appendUint(d, trackParent, parent)
		d = appendUint(d, trackRank, uint64(rank))
	}
	d = append(d, more...)
	d = appendUint(d, trackOrdering, orderExplicit)
	w.write(appendMessage(nil, packetTrackDescriptor, d))
	return w.tracks
}

func (w *writer) process(pid int64, name string) uint64 {
	p := appendText(appendUint(nil, processPID, uint64(pid)), processName, plain(name))
	return w.descriptor(0, 0, "", appendMessage(nil, trackProcess, p))
}

func (w *writer) thread(parent uint64, pid, tid int64, name string) uint64 {
	t := appendUint(appendUint(nil, threadPID, uint64(pid)), threadTID, uint64(tid))
	if name != "" {
		t = appendText(t, threadName, plain(name))
	}
	return w.descriptor(parent, 0, "", appendMessage(nil, trackThread, t))
}

// plain is a text that a reader of protobuf takes.
func plain(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// sequence is the packets of one track and its lanes: they name it, and the texts that occur in them, by numbers.
type sequence struct {
	w        *writer
	id       uint32
	track    uint64 // the one of events that name none
	shift    int64  // what is added to times
	isNew    bool   // the next packet forgets the texts before
	known    [4]map[string]uint64
	size     int
	interned []byte // texts that the next packet brings
	blocks   map[block][]byte
	event    []byte // reused
	slices   int64
}

// block names annotations that many slices have.
type block struct {
	kind byte
	id   int64
}

// The kinds of texts that have numbers, each from 1.
const (
	categories = iota
	names
	annotationNames
	annotationValues
)

var internedFields = [4]protowire.Number{internedCategories, internedNames, internedAnnotationNames, internedAnnotationValues}

// mostTexts bounds the texts of a sequence, in bytes, so that one with a new name for each slice does not grow.
const mostTexts = 1 << 20

func (w *writer) newSequence(track uint64, shift int64) *sequence {
	w.sequence++
	s := &sequence{w: w, id: w.sequence, track: track, shift: shift}
	s.forget()
	return s
}

func (s *sequence) forget() {
	for i := range s.known {
		s.known[i] = map[string]uint64{}
	}
	s.isNew, s.size, s.interned, s.blocks = true, 0, s.interned[:0], map[block][]byte{}
}

// intern returns the number of a text.
func (s *sequence) intern(kind int, text string) uint64 {
	if id, known := s.known[kind][text]; known {
		return id
	}
	id := uint64(len(s.known[kind])) + 1
	s.known[kind][text] = id
	s.size += len(text) + 64
	s.interned = appendMessage(s.interned, internedFields[kind], appendText(appendUint(nil, internedID, id), internedText, plain(text)))
	return id
}

// begin makes room for the texts of an event: what it names must not be forgotten before its packet.
func (s *sequence) begin() {
	if s.size > mostTexts {
		s.forget()
	}
	s.event = s.event[:0]
}

// cached returns annotations that were made before, or makes them.
func (s *sequence) cached(key block, add func(b []byte) []byte) []byte {
	b, known := s.blocks[key]
	if !known {
		b = add(nil)
		s.blocks[key] = b
		s.size += len(b) + 64
	}
	return b
}

func (s *sequence) annotate(b []byte, name string, value []byte) []byte {
	n := s.intern(annotationNames, name)
	b = protowire.AppendTag(b, eventAnnotation, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(1+protowire.SizeVarint(n)+len(value)))
	return append(appendUint(b, annotationName, n), value...)
}

func (s *sequence) annotateInt(b []byte, name string, n int64) []byte {
	var value [12]byte
	return s.annotate(b, name, appendUint(value[:0], annotationInt, uint64(n)))
}

func (s *sequence) annotateText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	var value [12]byte
	return s.annotate(b, name, appendUint(value[:0], annotationValue, s.intern(annotationValues, text)))
}

// put writes an event of a track at a time of the source.
func (s *sequence) put(at int64, event []byte) {
	p := appendUint(s.w.packet[:0], packetTimestamp, uint64(at+s.shift))
	p = appendUint(p, packetSequence, uint64(s.id))
	if s.isNew {
		p = appendUint(p, packetFlags, flagCleared|flagNeeds)
		p = appendMessage(p, packetDefaults, appendMessage(nil, defaultsTrackEvent, appendUint(nil, eventTrack, s.track)))
		s.isNew = false
	} else {
		p = appendUint(p, packetFlags, flagNeeds)
	}
	if len(s.interned) > 0 {
		p = appendMessage(p, packetInterned, s.interned)
		s.interned = s.interned[:0]
	}
	s.w.packet = appendMessage(p, packetTrackEvent, event)
	s.w.write(s.w.packet)
}

// row is where slices of one kind lie: a track, and more where they cross. A reader ends the innermost open slice of a track, so that a track with slices that
// cross has wrong durations.
type row struct {
	*sequence
	isFlat bool // no slice lies within another
	lanes  []lane
	more   func() uint64 // a further track
}

type lane struct {
	track uint64
	ends  []int64 // of the open slices, the innermost last
}

// never is the end of what did not end.
const never = math.MaxInt64

func (w *writer) newRow(track uint64, shift int64, isFlat bool, more func() uint64) *row {
	return &row{sequence: w.newSequence(track, shift), isFlat: isFlat, lanes: []lane{{track: track}}, more: more}
}

// slice writes a slice, whose event has all but type and track. Slices come by start, and of one start the longer first.
func (r *row) slice(start, end int64, event []byte) {
	at := -1
	for i := range r.lanes {
		r.end(&r.lanes[i], start)
		if open := r.lanes[i].ends; len(open) == 0 || !r.isFlat && open[len(open)-1] >= end {
			at = i
			break
		}
	}
	if at < 0 {
		r.lanes = append(r.lanes, lane{track: r.more()})
		at = len(r.lanes) - 1
	}
	l := &r.lanes[at]
	l.ends = append(l.ends, end)
	r.slices++
	event = r.on(l, appendUint(event, eventType, typeBegin))
	r.put(start, event)
	r.event = event[:0]
}

// on names the track of an event, unless it is the sequence's.
func (r *row) on(l *lane, event []byte) []byte {
	if l.track != r.track {
		return appendUint(event, eventTrack, l.track)
	}
	return event
}

// end closes what has ended by a time.
func (r *row) end(l *lane, by int64) {
	var event [16]byte
	for n := len(l.ends); n > 0 && l.ends[n-1] <= by && l.ends[n-1] != never; n-- {
		r.put(l.ends[n-1], r.on(l, appendUint(event[:0], eventType, typeEnd)))
		l.ends = l.ends[:n-1]
	}
}

// close ends all that ends.
func (r *row) close() {
	for i := range r.lanes {
		l := &r.lanes[i]
		for len(l.ends) > 0 && l.ends[len(l.ends)-1] != never {
			r.end(l, l.ends[len(l.ends)-1])
		}
	}
}

// instant writes what has no duration.
func (r *row) instant(at int64, event []byte) {
	r.end(&r.lanes[0], at)
	r.put(at, appendUint(event, eventType, typeInstant))
}

// named begins an event.
func (s *sequence) named(name, category string) []byte {
	s.begin()
	return s.name(s.event, name, category)
}

func (s *sequence) name(b []byte, name, category string) []byte {
	return appendUint(appendUint(b, eventName, s.intern(names, name)), eventCategory, s.intern(categories, category))
}

// cachedNamed begins an event with what many have, without looking for long names.
func (s *sequence) cachedNamed(key block, add func(b []byte) []byte) []byte {
	s.begin()
	return append(s.event, s.cached(key, add)...)
}
