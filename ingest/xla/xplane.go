package xla

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/ingest/load"
	"prof/ingest/torch/trace"
)

// space is an XSpace. Of its planes the names are held; what they hold is read again, in pieces, when it is asked for.
type space struct {
	in      *source
	planes  []plane
	sum     string
	started int64 // ns from 1970; 0 not said
	said    []trace.Said
	lines   int // of all planes
	evented int // events of all lines
	texts   int // bytes that events refer to, so far
	held    int // bytes of names
}

// plane is an XPlane: a device, or the host.
type plane struct {
	message
	name   string
	lines  int
	events map[uint64]string // names of events, where the plane is one whose events are read
	stats  map[uint64]string // names of stats, and texts that they refer to
	own    map[string]stat   // those of the plane that say something of it
}

// Bounds of what is held of a file, whatever it has: of tens of thousands of names those of a large model's profile take some MiB.
const (
	mostPlanes = 10_000
	mostLines  = 1_000_000
	mostEvents = 43_000_000 // of the 25 bytes that JAX's short ones take, more than a file of MaxBytes has
	mostLabel  = 1 << 10    // bytes of a plane's name or a line's that are read
	mostTexts  = 8 << 30    // bytes of names and details that events refer to
	mostHeld   = 64 << 20   // bytes of names
	nameCost   = 64         // bytes that one takes beside its text
)

// ErrMany is wrapped by errors for a file that has more of something than any profile; they name the byte.
var ErrMany = errors.New("it has more than any profile")

func many(at int64, most int, what string) error {
	return fmt.Errorf("at byte %d: %w: over %d %s", at, ErrMany, most, what)
}

// Numbers of fields in xplane.proto.
const (
	spacePlanes   = 1
	spaceErrors   = 2
	spaceWarnings = 3

	planeName   = 2
	planeLines  = 3
	planeEvents = 4
	planeStats  = 5
	planeOwn    = 6

	entryKey   = 1
	entryValue = 2

	metadataName    = 2
	metadataDisplay = 4

	lineID        = 1
	lineName      = 2
	lineTimestamp = 3
	lineEvents    = 4

	eventMetadata = 1
	eventOffset   = 2
	eventDuration = 3
	eventStats    = 4

	statMetadata = 1
	statUint     = 3
	statInt      = 4
	statText     = 5
	statRef      = 7
)

// readSpace reads the planes and their names.
func readSpace(in *source) (*space, error) {
	s := &space{in: in}
	err := in.each(message{0, in.size}, func(num protowire.Number, v value) error {
		switch {
		case v.is(num, spaceErrors, bytes):
			return s.say("error", v)
		case v.is(num, spaceWarnings, bytes):
			return s.say("warning", v)
		case v.is(num, spacePlanes, bytes):
			return s.readPlane(v.message)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(s.planes) == 0 {
		return nil, fmt.Errorf("at byte 0: %w: it has no planes", ErrSyntax)
	}
	for i := range s.planes {
		if p := &s.planes[i]; p.name == environment {
			if n := p.own[startTime].n; n > 0 && n < math.MaxInt64/2 {
				s.started = n
			}
		}
	}
	return s, nil
}

// say notes a message of the profiler.
func (s *space) say(severity string, v value) error {
	text, err := s.in.text(v.message, trace.MostSaidSize)
	if err == nil && len(s.said) < trace.MostSaid {
		s.said = append(s.said, trace.Said{Severity: severity, Text: text})
	}
	return err
}

func (s *space) readPlane(m message) error {
	if len(s.planes) == mostPlanes {
		return many(m.at, mostPlanes, "planes")
	}
	p := plane{message: m, events: map[uint64]string{}, stats: map[uint64]string{}, own: map[string]stat{}}
	err := s.in.each(m, func(num protowire.Number, v value) (err error) {
		switch {
		case v.is(num, planeName, bytes):
			p.name, err = s.in.text(v.message, mostLabel)
		case v.is(num, planeLines, bytes):
			p.lines++
			if s.lines++; s.lines > mostLines {
				return many(v.at, mostLines, "lines")
			}
			err = s.in.each(v.message, func(num protowire.Number, v value) error {
				if v.is(num, lineEvents, bytes) {
					s.evented++
				}
				if s.evented > mostEvents {
					return many(v.at, mostEvents, "events")
				}
				return nil
			})
		}
		return err
	})
	if s.held += len(p.name); err == nil && s.held > mostHeld {
		err = many(m.at, mostHeld>>20, "MiB of names")
	}
	if _, isGPU := p.gpu(); err == nil && (isGPU || p.name == host || p.name == environment) {
		err = errors.Join(s.readNames(&p), s.readOwn(&p)) // the names come behind what has them, if the writer likes
	}
	s.planes = append(s.planes, p)
	return err
}

// readNames reads what a plane calls its events and stats.
func (s *space) readNames(p *plane) error {
	return s.in.each(p.message, func(num protowire.Number, v value) error {
		switch {
		case v.is(num, planeEvents, bytes):
			return s.readEntry(v.message, p.events)
		case v.is(num, planeStats, bytes):
			return s.readEntry(v.message, p.stats)
		}
		return nil
	})
}

// readOwn reads the stats of a plane that are read.
func (s *space) readOwn(p *plane) error {
	return s.in.each(p.message, func(num protowire.Number, v value) error {
		if !v.is(num, planeOwn, bytes) || v.end-v.at > mostText {
			return nil
		}
		m, err := s.in.field(v.message)
		if err != nil {
			return err
		}
		own, err := p.stat(m)
		if slices.Contains(ownStats, own.name) {
			p.own[own.name] = own
		}
		return err
	})
}

// readEntry reads an entry of a map from ids to what has a name.
func (s *space) readEntry(m message, into map[uint64]string) error {
	var id uint64
	var name, display string
	err := s.in.each(m, func(num protowire.Number, v value) error {
		switch {
		case v.is(num, entryKey, number):
			id = v.n
		case v.is(num, entryValue, bytes):
			return s.in.each(v.message, func(num protowire.Number, v value) (err error) {
				switch {
				case v.is(num, metadataName, bytes):
					name, err = s.in.text(v.message, mostHeld)
				case v.is(num, metadataDisplay, bytes):
					display, err = s.in.text(v.message, mostHeld)
				}
				return err
			})
		}
		return nil
	})
	if name == "" {
		name = display
	}
	if s.held += len(name) + nameCost; err == nil && s.held > mostHeld {
		err = many(m.at, mostHeld>>20, "MiB of names")
	}
	into[id] = name
	return err
}

// stat is one XStat. n is its number where that is one.
type stat struct {
	name, text string
	n          int64
}

func (p *plane) stat(m field) (s stat, err error) {
	err = m.each(func(num protowire.Number, v part) error {
		switch {
		case v.is(num, statMetadata, number):
			s.name = p.stats[v.n]
		case v.is(num, statUint, number), v.is(num, statInt, number):
			s.n = int64(v.n)
		case v.is(num, statText, bytes):
			s.text = string(v.b)
		case v.is(num, statRef, number):
			s.text = p.stats[v.n]
		}
		return nil
	})
	return s, err
}

// Names of planes.
const (
	gpuPlane    = "/device:GPU:"
	host        = "/host:CPU"
	environment = "Task Environment"
)

const startTime = "profile_start_time"

// ownStats are the stats of planes that are read.
var ownStats = []string{startTime, "gpu_device_name", "device_vendor", "compute_cap_major", "compute_cap_minor", "clock_rate", "core_count", "memory_bandwidth", "memory_size"}

// number is the GPU that a plane is of.
func (p *plane) gpu() (int32, bool) {
	text, ok := strings.CutPrefix(p.name, gpuPlane)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err == nil && n >= 0 && n < load.MaxDevices
}

// device describes the GPU of a plane with events.
func (p *plane) device() *trace.DeviceProperties {
	n, ok := p.gpu()
	if !ok || p.lines == 0 {
		return nil
	}
	d := &trace.DeviceProperties{ID: &n}
	if vendor := p.own["device_vendor"].text; vendor == "AMD" || vendor == "Intel" {
		d.Name = vendor + " device"
	}
	for _, own := range p.own {
		v := own.n
		switch own.name {
		case "compute_cap_major":
			d.Major = &v
		case "compute_cap_minor":
			d.Minor = &v
		}
		if v <= 0 || v > maxTime/1000 {
			continue // it says nothing
		}
		switch own.name {
		case "clock_rate":
			d.ClockHz = new(v * 1000) // from kHz
		case "core_count":
			d.SMs = &v
		case "memory_bandwidth":
			d.MemoryBytesPerS = &v
		case "memory_size":
			d.MemoryBytes = &v
		}
	}
	d.Name = cmp.Or(p.own["gpu_device_name"].text, d.Name)
	return d
}
