package seed

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// SMRate is what one streaming multiprocessor can do at most of one resource in a clock cycle: with multiprocessors and clock of a
// device, a second opinion on its peak. Rates are dense, as the peaks are.
type SMRate struct {
	ComputeCapability string  // e.g. 9.0
	Device            string  // exact name where chips of the compute capability differ; else ""
	Resource          string  // one of Resources, but dram
	Accumulate        string  // precision of the sums, as in DevicePeak
	FlopPerCycle      float64 // operations a cycle, a multiply-add being 2
	Reference         string  // where the figure is from
}

// SMRates parses and checks the built-in rates, in the order of the file.
func SMRates() ([]SMRate, error) { return load("sm_rate.csv", ParseSMRates) }

var (
	rateColumns = []string{"compute_capability", "device", "resource", "accumulate", "flop_per_cycle", "reference"}
	capability  = regexp.MustCompile(`^[1-9][0-9]*\.[0-9]$`)
)

// ParseSMRates reads rates from CSV with the header compute_capability,device,resource,accumulate,flop_per_cycle,reference. For a
// compute capability, resource and accumulate there is either one row for every device or one a device, so that at most one row
// is that of a device.
func ParseSMRates(r io.Reader) ([]SMRate, error) {
	var rates []SMRate
	seen, every, named := lines[[4]string]{}, lines[[3]string]{}, lines[[3]string]{}
	err := eachRow(r, rateColumns, func(line int, col []string) error {
		s, err := parseSMRate(col)
		if err != nil {
			return err
		}
		key := [3]string{s.ComputeCapability, s.Resource, s.Accumulate}
		what := fmt.Sprintf("%s %s of %s", s.Resource, s.Accumulate, s.ComputeCapability)
		if err := seen.add(line, [4]string{key[0], s.Device, key[1], key[2]}, strings.TrimSpace(what+" "+s.Device)); err != nil {
			return err
		}
		if first, ok := named[key]; ok && s.Device == "" {
			return fmt.Errorf("%s is of every device here, and of one in line %d", what, first)
		}
		if first, ok := every[key]; ok && s.Device != "" {
			return fmt.Errorf("%s is of %s here, and of every device in line %d", what, s.Device, first)
		}
		if s.Device == "" {
			every[key] = line
		} else {
			named[key] = line
		}
		rates = append(rates, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rates, nil
}

func parseSMRate(col []string) (SMRate, error) {
	s := SMRate{ComputeCapability: col[0], Device: col[1], Resource: col[2], Accumulate: col[3], Reference: col[5]}
	if !capability.MatchString(s.ComputeCapability) {
		return s, fmt.Errorf("compute_capability %q is none like 9.0", s.ComputeCapability)
	}
	if s.Device != strings.TrimSpace(s.Device) {
		return s, fmt.Errorf("device %q has space around it", s.Device)
	}
	if err := filled("reference", s.Reference); err != nil {
		return s, err
	}
	if s.Resource == "dram" {
		return s, fmt.Errorf("resource dram is no rate of a multiprocessor")
	}
	if err := checkResource(s.Resource, s.Accumulate); err != nil {
		return s, err
	}
	var err error
	s.FlopPerCycle, err = rate("flop_per_cycle", col[4], true)
	return s, err
}
