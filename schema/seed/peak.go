package seed

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DevicePeak is what a device can do at most of one resource. Figures are dense: NVIDIA's tables often print only the one with
// structured (2:4) sparsity, which is twice as much (of Blackwell Ultra's FP4, 1.33 times) and which no ordinary kernel reaches; Doc
// says it where it was printed. Every figure is the vendor's, of the document that Reference names, read in public copies, quotations
// and excerpts of it, or follows from such a one as Doc says; where none was found, there is no row.
type DevicePeak struct {
	Device     string    // exact name as the CUDA driver gives it; a module's own name where the driver has one name for several
	Resource   string    // one of Resources
	Accumulate string    // precision of the sums; "" for dram. GeForce halves the rate of FP16 and FP8 when it is fp32
	FlopPerS   float64   // operations a second, a multiply-add being 2; 0 for dram
	BytesPerS  float64   // bytes a second, decimal; 0 unless dram
	Doc        string    // clock or variant it holds for
	Reference  string    // title of the document and where in it
	CheckedOn  time.Time // day, UTC
}

// Resources are what a device has a peak of, each with the precisions its sums can have.
var Resources = map[string][]string{
	"fp64": {"fp64"}, "fp32": {"fp32"}, "fp16": {"fp16"},
	"tensor_fp64": {"fp64"}, "tensor_tf32": {"fp32"}, "tensor_bf16": {"fp32"}, "tensor_fp16": {"fp32", "fp16"},
	"tensor_fp8": {"fp32", "fp16"}, "tensor_fp4": {"fp32"}, "tensor_int8": {"int32"},
	"dram": {""},
}

// Peaks parses and checks the built-in peaks of devices, in the order of the file.
func Peaks() ([]DevicePeak, error) { return load("device_peak.csv", ParsePeaks) }

var peakColumns = []string{"device", "resource", "accumulate", "flop_per_s", "bytes_per_s", "doc", "reference", "checked_on"}

// ParsePeaks reads peaks of devices from CSV with the header device,resource,accumulate,flop_per_s,bytes_per_s,doc,reference,
// checked_on. There is one row a device, resource and accumulate, and exactly one of the two figures in it.
func ParsePeaks(r io.Reader) ([]DevicePeak, error) {
	var peaks []DevicePeak
	seen := lines[[3]string]{}
	err := eachRow(r, peakColumns, func(line int, col []string) error {
		p, err := parsePeak(col)
		if err != nil {
			return err
		}
		what := strings.TrimSpace(p.Resource+" "+p.Accumulate) + " of " + p.Device
		if err := seen.add(line, [3]string{p.Device, p.Resource, p.Accumulate}, what); err != nil {
			return err
		}
		peaks = append(peaks, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return peaks, nil
}

func parsePeak(col []string) (DevicePeak, error) {
	p := DevicePeak{Device: col[0], Resource: col[1], Accumulate: col[2], Doc: col[5], Reference: col[6]}
	if err := filled("device", p.Device, "doc", p.Doc, "reference", p.Reference); err != nil {
		return p, err
	}
	if err := checkResource(p.Resource, p.Accumulate); err != nil {
		return p, err
	}
	var err error
	if p.FlopPerS, err = rate("flop_per_s", col[3], p.Resource != "dram"); err != nil {
		return p, err
	}
	if p.BytesPerS, err = rate("bytes_per_s", col[4], p.Resource == "dram"); err != nil {
		return p, err
	}
	if p.CheckedOn, err = time.Parse(time.DateOnly, col[7]); err != nil {
		return p, fmt.Errorf("checked_on %q is no day like 2026-01-31: %w", col[7], err)
	}
	return p, nil
}

func checkResource(resource, accumulate string) error {
	sums, ok := Resources[resource]
	if !ok {
		return fmt.Errorf("resource %q is not known", resource)
	}
	if !slices.Contains(sums, accumulate) {
		return fmt.Errorf("accumulate %q of %s is none of %q", accumulate, resource, sums)
	}
	return nil
}

// rate is the figure of one column: a positive number where wanted, empty elsewhere.
func rate(name, text string, wanted bool) (float64, error) {
	if !wanted {
		if text != "" {
			return 0, fmt.Errorf("%s %q does not belong to this resource", name, text)
		}
		return 0, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && !(v > 0 && !math.IsInf(v, 0)) {
		err = errors.New("it is not above 0 and finite")
	}
	if err != nil {
		return 0, fmt.Errorf("%s %q: %w", name, text, err)
	}
	return v, nil
}
