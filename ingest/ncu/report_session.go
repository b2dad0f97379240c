package ncu

import (
	"cmp"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Session is what a report says of the capture as a whole. Environments, which reports may hold, are never read.
type Session struct {
	PID      int32
	Created  int64  // Unix time in seconds; 0 when not said
	Command  string // ncu's own command line
	Host     System // where ncu ran
	Target   System // where the program ran
	Driver   string // version of the display driver; "" when not said
	Replay   string // replay mode as the settings say; "" when they do not
	Clock    string // clock control as the settings say; "" when they do not
	Sections string // sections as the settings say; "" when they do not
	Versions [][2]string
	Devices  []Device
}

// System is a machine.
type System struct{ OS, Build, Processor, Architecture, Name string }

// Device is a GPU with its attributes by name, e.g. device__attribute_multiprocessor_count.
type Device struct {
	ID         int32
	Name       string
	Capability int // as in Result, where no attribute says it
	Attributes map[string]Metric
}

// merge adds a ReportSessionDetails. ncu writes them in pieces over several blocks.
func (s *Session) merge(msg []byte) error {
	return eachField(msg, func(f field) error {
		switch {
		case f.number(1):
			s.PID = small(f.int, 0)
		case f.number(2):
			s.Created = int64(f.int)
		case f.message(3):
			return s.Host.merge(f.bytes)
		case f.message(4):
			return s.Target.merge(f.bytes)
		case f.message(6):
			var d Device
			if err := d.decode(f.bytes); err != nil {
				return err
			}
			s.Devices = append(s.Devices, d)
			return fewer(len(s.Devices), mostDevices, "GPUs")
		case f.message(8):
			return s.version(f.bytes)
		case f.message(10):
			return s.settings(f.bytes)
		case f.message(11):
			s.Command = f.text()
		}
		return nil
	})
}

func (y *System) merge(msg []byte) error {
	fields := []*string{1: &y.OS, 2: &y.Build, 3: &y.Processor, 4: &y.Architecture, 5: &y.Name}
	return eachField(msg, func(f field) error {
		if f.typ == protowire.BytesType && int(f.num) < len(fields) {
			*fields[f.num] = f.text()
		}
		return nil
	})
}

func (s *Session) version(msg []byte) error {
	var v [2]string
	err := eachField(msg, func(f field) error {
		if f.message(1) || f.message(2) {
			v[f.num-1] = f.text()
		}
		return nil
	})
	s.Versions = append(s.Versions, v)
	return cmp.Or(err, fewer(len(s.Versions), mostFacts, "versions"))
}

func (s *Session) settings(msg []byte) error {
	return eachField(msg, func(f field) error {
		switch {
		case f.message(7):
			s.Sections = f.text()
		case f.message(8):
			s.Clock = f.text()
		case f.message(11):
			s.Replay = f.text()
		}
		return nil
	})
}

func (d *Device) decode(msg []byte) error {
	d.Attributes = map[string]Metric{}
	return eachField(msg, func(f field) error {
		switch {
		case f.number(1):
			d.ID = small(f.int, -1)
		case f.message(2):
			d.Name = f.text()
		case f.message(3):
			return d.attribute(f.bytes)
		}
		return nil
	})
}

func (d *Device) attribute(msg []byte) error {
	var m Metric
	var has bool
	err := eachField(msg, func(f field) (err error) {
		switch {
		case f.message(1):
			m.Name = f.text()
		case f.message(2):
			has, err = m.value(f.bytes)
		}
		return err
	})
	if has {
		d.Attributes[m.Name] = m
	}
	return cmp.Or(err, fewer(len(d.Attributes), mostFacts, "attributes of a GPU"))
}

func itoa(v uint64) string { return strconv.FormatUint(v, 10) }
