package ncu

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/ingest/load"
)

// decoder turns the messages of one report into Results, one after the other in the same memory.
type decoder struct {
	report   *Report
	buf      []byte
	result   Result
	nvtx     []byte
	taken    []int32 // by name, 1 more than the ID of the last result that has the metric
	haveKind [4]bool // kinds whose sections are read
	said     saying  // of the result
}

// resultFields are the numbers of the fields that results of every kind have, by kind; 0 where a kind lacks one.
type resultFields struct {
	kind                                             Kind
	metrics, created, sections, rules, nvtx, context protowire.Number
	stream, clock, driver                            protowire.Number
}

var fieldsOf = [...]resultFields{
	kernels:  {kind: Kernel, metrics: 13, created: 14, sections: 17, rules: 19, nvtx: 21, context: 22, stream: 23, clock: 25, driver: 35},
	ranges:   {kind: Range, metrics: 4, created: 5, sections: 7, rules: 20, nvtx: 10, context: 11, clock: 12, driver: 21},
	cmdlists: {kind: Cmdlist, metrics: 4, created: 5, sections: 7, rules: 21, nvtx: 10, context: 11, stream: 12, clock: 13, driver: 25},
	graphs:   {kind: Graph, metrics: 4, created: 5, sections: 7, rules: 22, nvtx: 10, context: 11, stream: 12, clock: 13, driver: 23},
}

// read decodes the result of n bytes whose size stands at a place of the file.
func (d *decoder) read(at, n int64, part int, p Process) error {
	r := d.report
	if n > maxMessage {
		return r.damaged(at, fmt.Errorf("a result of %d bytes is more than the %d that prof reads", n, maxMessage))
	}
	if int64(cap(d.buf)) < n {
		d.buf = make([]byte, n)
	}
	d.buf = d.buf[:n]
	if err := r.read(d.buf, at+4); err != nil {
		return err
	}
	old := d.result
	d.result = Result{ID: r.Results, PID: p.PID, Process: p.Name, Host: p.Host, Device: -1, Context: -1, Stream: -1,
		Metrics: old.Metrics[:0], Ranges: old.Ranges[:0], Findings: old.Findings[:0]}
	r.at = current{place: at + 4, result: &d.result, instanced: r.at.instanced[:0]}
	d.report.Results++
	if err := d.decode(&fieldsOf[part]); err != nil {
		return r.damaged(at+4, fmt.Errorf("result %d: %w", d.result.ID, err))
	}
	return nil
}

func (d *decoder) decode(fields *resultFields) error {
	res := &d.result
	res.Kind = fields.kind
	d.nvtx, d.said = nil, 0
	var demangled, renamed string
	wantSections := !d.haveKind[res.Kind]
	d.haveKind[res.Kind] = true
	sections := sectionReader{out: &d.report.Sections}
	err := eachField(d.buf, func(f field) error {
		switch {
		case f.message(fields.metrics):
			return d.metric(f.bytes)
		case f.number(1):
			res.TID = d.small("threads", f.int, 0)
		case f.number(fields.created):
			res.Created = int64(f.int)
		case f.number(fields.context):
			res.Context = d.small("contexts", f.int, -1)
		case fields.stream != 0 && f.number(fields.stream):
			res.Stream = d.small("streams", f.int, -1)
		case f.message(fields.clock):
			return d.clock(f.bytes)
		case f.message(fields.nvtx):
			d.nvtx, res.HasNVTX = f.bytes, true
		case f.message(fields.rules):
			return d.rule(f.bytes)
		case f.message(fields.sections) && wantSections:
			return sections.read(f.bytes)
		case f.num == fields.driver && f.typ == protowire.Fixed32Type:
			if v := driverVersion(f.float()); v != "" {
				d.report.Session.Driver = v
			}
		case res.Kind != Kernel:
		case f.message(5):
			res.Symbol = f.text()
		case f.message(6):
			res.Function = f.text()
		case f.message(7):
			demangled = f.text()
		case f.message(31):
			renamed = f.text()
		case f.message(15):
			return eachField(f.bytes, func(m field) error {
				if m.number(1) {
					d.report.at.module = m.int
				}
				return nil
			})
		case f.message(10):
			return d.dims(f.bytes, &res.Grid)
		case f.message(11):
			return d.dims(f.bytes, &res.Block)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if res.Kind == Kernel {
		res.Name = kernelName(demangled, renamed, res.Function, res.Symbol)
	}
	d.device()
	if d.nvtx == nil {
		return nil
	}
	return d.ranges(d.nvtx)
}

// kernelName is the name that ncu shows: functions with C linkage have no demangled one. A name that the user gave would hide
// which kernel it is, so it serves only where there is no other.
func kernelName(demangled, renamed, function, symbol string) string {
	for _, name := range []string{demangled, function, symbol, renamed} {
		if name != "" {
			return name
		}
	}
	return ""
}

// driverVersion undoes the rounding of a version that the report keeps as a 32-bit float: 580.159.
func driverVersion(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 32)
}

// small returns a number that fits an INTEGER column; any other is counted and unsaid.
func (d *decoder) small(what string, v uint64, unsaid int32) int32 {
	if v > math.MaxInt32 {
		d.report.odd.Add(what, v)
	}
	return small(v, unsaid)
}

// unknownSize stands for a size of a grid or a block that cannot be.
const unknownSize = -1

func (d *decoder) dims(msg []byte, into *[3]int32) error {
	return eachField(msg, func(f field) error {
		if f.typ == protowire.VarintType && f.num >= 1 && f.num <= 3 {
			into[f.num-1] = d.small("grids and blocks", f.int, unknownSize)
		}
		return nil
	})
}

// clock reads whether ncu held the clocks while it measured: asked for and done.
func (d *decoder) clock(msg []byte) error {
	return eachField(msg, func(f field) error {
		if f.number(2) {
			held := f.int != 0
			d.result.ClockLocked = &held
		}
		return nil
	})
}

// device finds the GPU among the metrics: the message itself does not say.
func (d *decoder) device() {
	for _, name := range []string{"launch__device_id", "device__attribute_device_index"} {
		for i := range d.result.Metrics {
			if m := &d.result.Metrics[i]; m.Name == name && !m.IsText && m.Value >= 0 && m.Value < load.MaxDevices {
				d.result.Device = int32(m.Value)
				return
			}
		}
	}
}

// metric reads one metric. One that has no value of its own, only those of instances, gives no row.
func (d *decoder) metric(msg []byte) error {
	var m Metric
	var has, isInstanced bool
	var id uint64
	err := eachField(msg, func(f field) (err error) {
		switch {
		case f.number(1):
			id = f.int
		case f.message(2):
			has, err = m.value(f.bytes)
		case f.message(3):
			d.report.Instances++
			isInstanced = true
		}
		return err
	})
	if err != nil || !has && !isInstanced {
		return err
	}
	if id >= uint64(len(d.report.strings)) {
		return fmt.Errorf("a metric refers to name %d of %d", id, len(d.report.strings))
	}
	// ncu writes some metrics twice, with the same value.
	if d.taken == nil {
		d.taken = make([]int32, len(d.report.strings))
	}
	if d.taken[id] == d.report.Results {
		return nil
	}
	d.taken[id] = d.report.Results
	if isInstanced {
		d.report.at.instanced = append(d.report.at.instanced, msg)
	}
	if !has {
		return nil
	}
	m.Name = d.report.strings[id]
	m.Unit = d.report.unit(id)
	d.result.Metrics = append(d.result.Metrics, m)
	return nil
}

// unit returns the unit of the metric with that name, found once a name.
func (r *Report) unit(id uint64) string {
	if r.units == nil {
		r.units = make([]string, len(r.strings))
		for i, name := range r.strings {
			r.units[i] = Unit(name)
		}
	}
	return r.units[id]
}

// value decodes a ProfileMetricValue; false when it holds none. ncu sets one of its fields; of several the last one counts.
func (m *Metric) value(msg []byte) (has bool, err error) {
	err = eachField(msg, func(f field) error {
		v := Metric{Name: m.Name, Unit: m.Unit}
		switch {
		case f.message(1):
			v.Text, v.IsText = f.text(), true
		case f.num == 2 && f.typ == protowire.Fixed32Type:
			v.Value = f.float()
		case f.num == 3 && f.typ == protowire.Fixed64Type:
			v.Value = f.double()
		case f.number(4), f.number(5):
			v.Value = float64(f.int)
			if bits.Len64(f.int)-bits.TrailingZeros64(f.int) > 53 {
				v.Text = strconv.FormatUint(f.int, 10)
			}
		default:
			return nil
		}
		*m, has = v, true
		return nil
	})
	return has, err
}
