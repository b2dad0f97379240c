package averages

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// row is what is stored of one record.
type row struct {
	number  int
	name    string
	kind    string // cpu, device or range
	shapes  *string
	amounts [fieldCount]*int64 // count, ns, bytes and operations by field; nil when not in the file

	annotated bool                              // the file says that it is a range of the program
	shares    [selfDevice - selfCPU + 1]float64 // of all self time, as printed; 0 when not in the file
}

// Kinds of rows.
const (
	onCPU    = "cpu"
	onDevice = "device"
)

// deviceTypes are names of c10::DeviceType whose work PyTorch's profiler records, and their numbers (c10/core/DeviceType.h).
var deviceTypes = map[string]string{
	"cpu": onCPU, "0": onCPU,
	"cuda": onDevice, "1": onDevice, "hip": onDevice, "6": onDevice, "maia": onDevice, "8": onDevice, "xla": onDevice, "9": onDevice,
	"xpu": onDevice, "12": onDevice, "mps": onDevice, "13": onDevice, "hpu": onDevice, "15": onDevice, "mtia": onDevice, "19": onDevice,
	"privateuse1": onDevice, "20": onDevice, "npu": onDevice, "gpu": onDevice, "device": onDevice,
}

// kindOf reads a device type: DeviceType.CUDA, <DeviceType.CUDA: 1>, cuda or 1.
func kindOf(c cell) (string, bool) {
	s := strings.ToLower(strings.TrimSpace(c.text))
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "<"), ":")
	kind, ok := deviceTypes[strings.TrimPrefix(s, "devicetype.")]
	return kind, ok
}

// row reads what the plan takes from a record.
func (p *plan) row(r *record) (*row, error) {
	out := &row{number: r.number}
	var err error
	if out.name, err = p.name(r); err != nil {
		return nil, err
	}
	for f := nameField; f < fieldCount; f++ {
		if f.isAmount() {
			if out.amounts[f], err = p.amount(r, f); err != nil {
				return nil, err
			}
		}
	}
	if out.amounts[countField] == nil {
		return nil, fmt.Errorf("%s: %s: %q has no number of calls", p.file, r.where(), shorten(out.name))
	}
	out.kind = p.kind(r, out)
	out.shapes = p.shapes(r)
	for _, f := range []field{selfCPU, selfDevice} {
		out.shares[f-selfCPU] = p.share(r, f)
	}
	if id := p.columnOf("is_user_annotation"); id >= 0 {
		out.annotated = strings.EqualFold(r.cell(id).text, "true")
	}
	return out, nil
}

func (p *plan) name(r *record) (string, error) {
	name := ""
	for _, id := range p.from[nameField] {
		s := r.cell(id)
		switch {
		case s.kind == other:
			return "", p.wrong(r, id, fmt.Errorf("the name of an operator is text"))
		case name == "":
			name = s.text
		case s.text != "" && s.text != name:
			p.differ[nameField].add(r, p.cols.list[id].name)
		}
	}
	if name == "" {
		return "", fmt.Errorf("%s: %s: the row has no operator name", p.file, r.where())
	}
	return name, nil
}

// amount returns a field's amount; nil when the row has none.
func (p *plan) amount(r *record, f field) (*int64, error) {
	var out *int64
	for i, id := range p.from[f] {
		w, ok, err := parse(r.cell(id), f)
		if err != nil {
			return nil, p.wrong(r, id, err)
		}
		if !ok {
			continue
		}
		v, err := w.in(f, p.cols.list[id].unit)
		if errors.Is(err, errRange) && f != countField { // the survey counts them
			continue
		}
		if err != nil {
			return nil, p.wrong(r, id, err)
		}
		switch {
		case i == 0:
			out = &v
		case p.ofAnother(id, p.from[f][0]):
		case out == nil || disagree(f, *out, v):
			p.differ[f].add(r, p.cols.list[id].name)
		}
	}
	return out, nil
}

// ofAnother reports whether a column is empty because it is of another kind of device: PyTorch 2.1 has attributes for several.
func (p *plan) ofAnother(id, first int) bool {
	return p.cols.list[id].old && p.cols.list[first].old && p.tallies[id].nonzero == 0
}

// disagree reports whether two columns of one field differ by more than their rounding.
func disagree(f field, a, b int64) bool {
	d := math.Abs(float64(a) - float64(b))
	if f.isTime() {
		return d > 1e3 && d > math.Abs(float64(a))/1e3
	}
	return d > 0
}

// kind returns where a row's work ran: as the file says, and otherwise by its times. What ran on the device has none on the CPU, and
// every operator and CUDA function takes some. Without CPU times nothing tells them apart, and rows count as the CPU's.
func (p *plan) kind(r *record, out *row) string {
	if ids := p.from[deviceTypeField]; len(ids) > 0 {
		if kind, ok := kindOf(r.cell(ids[0])); ok {
			return kind
		}
	}
	known := false
	for _, f := range []field{selfCPU, totalCPU} {
		if v := out.amounts[f]; v != nil {
			if known = true; *v != 0 {
				return onCPU
			}
		}
	}
	for _, f := range []field{selfDevice, totalDevice} {
		if v := out.amounts[f]; known && v != nil && *v > 0 {
			return onDevice
		}
	}
	return onCPU
}

// shapes returns the sizes of a row's inputs; nil when it has none or they cannot be read.
func (p *plan) shapes(r *record) *string {
	if len(p.from[shapesField]) == 0 {
		return nil
	}
	c := r.cell(p.from[shapesField][0])
	if text := strings.TrimSpace(c.text); text == "" || text == "None" {
		return nil
	}
	s, ok := shapesJSON(c.text)
	if !ok {
		p.badShapes.add(r, c.text)
		return nil
	}
	return &s
}
