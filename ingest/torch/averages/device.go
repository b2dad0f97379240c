package averages

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// onRange is the kind of a row that is a range on the device: the time from its first work to its last, which overlaps that of the work in it.
const onRange = "range"

// maxKept bounds the rows that are kept for what only all of them tell; a table of PyTorch has one for each name.
const maxKept = 1 << 16

// totals are what PyTorch printed of all that was profiled, ns, also of rows that it did not print; 0 where it did not. They are exact to within
// their share of rounding.
type totals struct {
	cpu, device         float64
	cpuError, deviceErr float64 // as a share
}

// printedError is by how much rows and totals may differ that are printed with four digits at least.
const printedError = 0.001

// account is what a table says of all time against what its rows add up to, ns; 0 where it says nothing.
type account struct {
	printedCPU, readCPU, printedDevice, readDevice int64
}

// account finds the ranges among the rows of the device, and holds the rows to the totals.
func (p *plan) account(all []*row, t totals) account {
	t = p.shares(all, t)
	var a account
	var device int64 // kernels, copies and fills
	var ops int64
	onHost := map[string]bool{}
	for _, r := range all {
		a.readCPU += known(r.amounts[selfCPU])
		if r.kind == onCPU {
			onHost[r.name] = true
			ops += known(r.amounts[selfDevice])
		}
	}
	said := p.columnOf("is_user_annotation") >= 0
	whole := int64(0)
	for _, r := range all {
		if r.kind != onDevice {
			continue
		}
		whole += known(r.amounts[selfDevice])
		if r.annotated || !said && (onHost[r.name] || isStep(r.name)) {
			r.kind = onRange
			continue
		}
		device += known(r.amounts[selfDevice])
	}
	switch {
	case t.device > 0 && whole > 0 && near(float64(whole), t.device, t.deviceErr):
		device = whole // before PyTorch 2.5 it added ranges up too: what is left of the total without them is unknown
	case t.device > 0 && float64(device) > t.device*(1+t.deviceErr):
		device = p.furtherRanges(all, device, t)
	case whole == 0: // a table of operators alone, or of a profiler that counts kernels with their operators
		device = ops
	}
	a.readDevice = device
	a.printedCPU, a.printedDevice = exactly(t.cpu, a.readCPU, t.cpuError), exactly(t.device, a.readDevice, t.deviceErr)
	p.hold("CPU", t.cpu, float64(a.readCPU), t.cpuError)
	p.hold("GPU", t.device, float64(a.readDevice), t.deviceErr)
	if a.printedDevice > 0 && device == whole && whole > 0 { // ranges that the total counts, too
		ranges := int64(0)
		for _, r := range all {
			if r.kind == onRange {
				ranges += known(r.amounts[selfDevice])
			}
		}
		a.printedDevice, a.readDevice = a.printedDevice-ranges, a.readDevice-ranges
	}
	return a
}

// furtherRanges takes rows of the device for ranges whose names no kernel has, the longest first, until the rest is no more than the total.
func (p *plan) furtherRanges(all []*row, device int64, t totals) int64 {
	var perhaps []*row
	for _, r := range all {
		if r.kind == onDevice && !isWork(r.name) {
			perhaps = append(perhaps, r)
		}
	}
	slices.SortStableFunc(perhaps, func(a, b *row) int {
		return int(min(max(known(b.amounts[selfDevice])-known(a.amounts[selfDevice]), -1), 1))
	})
	for _, r := range perhaps {
		if float64(device) <= t.device*(1+t.deviceErr) {
			break
		}
		r.kind = onRange
		device -= known(r.amounts[selfDevice])
	}
	return device
}

// hold says where the rows are not all, or more than all.
func (p *plan) hold(processor string, printed, read, within float64) {
	switch {
	case printed <= 0 || read <= 0 && processor == "CPU":
	case read < printed*(1-within):
		p.warn("the rows have %.1f %% of the %s time that PyTorch printed as the total: the table has the first rows only (row_limit)", 100*read/printed, processor)
	case read > printed*(1+within):
		p.warn("the rows have %.1f %% of the %s time that PyTorch printed as the total: some count twice, or are ranges with the work in them", 100*read/printed, processor)
	}
}

// shares returns totals that are not printed but follow from the shares of rows, by the row with the largest.
func (p *plan) shares(all []*row, t totals) totals {
	if t.cpuError = printedError; t.cpu == 0 {
		t.cpu, t.cpuError = p.byShare(all, selfCPU)
	}
	if t.deviceErr = printedError; t.device == 0 {
		t.device, t.deviceErr = p.byShare(all, selfDevice)
	}
	return t
}

func (p *plan) byShare(all []*row, f field) (total, within float64) {
	best := 0.0
	for _, r := range all {
		if share := r.shares[f-selfCPU]; share > best && known(r.amounts[f]) > 0 {
			best, total = share, float64(known(r.amounts[f]))/share
		}
	}
	if best < 0.01 {
		return 0, 0
	}
	return total, printedError + 0.00005/best
}

// share reads the share of all time that PyTorch prints behind a time: 12.34%.
func (p *plan) share(r *record, f field) float64 {
	if p.shareColumns == nil {
		p.shareColumns = map[field]int{selfCPU: -1, selfDevice: -1}
		for id, c := range p.cols.list {
			if rest, ok := strings.CutSuffix(c.plain, "_%"); ok && strings.HasPrefix(rest, "self_") {
				of := columnOf(strings.ReplaceAll(rest, "_", " ")).field
				if _, is := p.shareColumns[of]; is {
					p.shareColumns[of] = id
				}
			}
		}
	}
	id := p.shareColumns[f]
	if id < 0 {
		return 0
	}
	var percent float64
	if _, err := fmt.Sscanf(r.cell(id).text, "%f%%", &percent); err != nil || percent < 0 || percent > 100 {
		return 0
	}
	return percent / 100
}

// columnOf finds a column by its plain name; -1 where there is none.
func (p *plan) columnOf(plain string) int {
	return slices.IndexFunc(p.cols.list, func(c column) bool { return c.plain == plain })
}

func known(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

// exactly returns a total that is not exact: what the rows add up to, where that may be it.
func exactly(total float64, rows int64, within float64) int64 {
	if within > printedError && near(total, float64(rows), within) {
		return rows
	}
	return int64(math.Round(total))
}

func near(a, b, within float64) bool { return math.Abs(a-b) <= within*math.Max(a, b) }

// isStep reports whether a name is that of a step of torch.profiler, which is a range.
func isStep(name string) bool {
	return name == "ProfilerStep*" || strings.HasPrefix(name, "ProfilerStep#")
}

// work fits names of kernels, copies and fills.
var work = regexp.MustCompile(`(?i)^(void |mem(cpy|set)\b|_Z|nvjet_|nccl|triton_|sm\d+_|(ampere|hopper|volta|turing|maxwell|blackwell)_|cijk_|device_kernel)|::.*\(|[<>]|kernel|gemm|cutlass|cublas|cudnn|fmha|flash|splitk|\(.*\*.*\)$`)

func isWork(name string) bool { return work.MatchString(name) }
