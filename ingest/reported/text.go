package reported

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"prof/ingest/load"
)

// sniffAssumptions: settings of a run as a list by heading, under a first heading of these words. prof's own has another one.
func sniffAssumptions(name string, head []byte) bool {
	text := bytes.TrimSpace(head)
	return strings.HasSuffix(name, ".md") && bytes.HasPrefix(text, []byte("# Run Assumptions")) && settingLine.Match(text)
}

var settingLine = regexp.MustCompile(`(?m)^[ \t]*[-*] ([^:\r\n]{1,80}): *([^\r\n]*)`)

func readAssumptions(text []byte) (*Report, error) {
	r := &Report{}
	within := ""
	i := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		i++
		if title, ok := strings.CutPrefix(line, "## "); ok {
			within = strings.TrimSpace(title) + "."
		}
		m := settingLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		value := strings.TrimSpace(m[2])
		if value == "null" || value == "None" {
			continue
		}
		if err := r.fact(within+strings.TrimSpace(m[1]), value); err != nil {
			return nil, fmt.Errorf("line %d: %w", i, err)
		}
	}
	if len(r.Facts) == 0 {
		return nil, errors.New("it has no setting")
	}
	return r, nil
}

// kernelColumns are those of the first implementation's kernels.md; prof's own has more.
var kernelColumns = []string{"kernel_name", "total_ms", "calls", "mean_ms", "device"}

// sniffKernels: a table of kernels with these columns and no others.
func sniffKernels(name string, head []byte) bool {
	return strings.HasSuffix(name, ".md") && slices.ContainsFunc(strings.Split(string(head), "\n"), isKernelHeader)
}

func isKernelHeader(line string) bool { return slices.Equal(tableCells(line), kernelColumns) }

func tableCells(line string) (out []string) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	for _, cell := range strings.Split(strings.TrimSuffix(line[1:], "|"), "|") {
		out = append(out, strings.TrimSpace(cell))
	}
	return out
}

func readKernels(text []byte) (*Report, error) {
	r := &Report{}
	inTable := false
	i := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		if i++; len(line) > maxLine {
			return nil, fmt.Errorf("line %d: it has more than %d KiB", i, maxLine>>10)
		}
		cells := tableCells(line)
		switch isHeader := isKernelHeader(line); {
		case isHeader && inTable || isHeader && len(r.Values) > 0:
			return nil, fmt.Errorf("line %d: a second table begins", i)
		case isHeader:
			inTable = true
			continue
		case len(cells) == 0:
			inTable = false
			continue
		case !inTable || strings.Trim(strings.Join(cells, ""), ":-") == "":
			continue
		}
		last := len(cells) - 1 // nobody escaped bars in names of kernels
		if last < 4 {
			return nil, fmt.Errorf("line %d: it has %d cells, the header %d", i, len(cells), len(kernelColumns))
		}
		name := strings.ToValidUTF8(strings.ReplaceAll(strings.Join(cells[:last-3], "|"), `\|`, "|"), "\uFFFD")
		total, errTotal := load.Scaled(cells[last-3], 6) // ms
		calls, errCalls := strconv.ParseInt(cells[last-2], 10, 64)
		mean, errMean := load.Scaled(cells[last-1], 6)
		if err := errors.Join(errTotal, errCalls, errMean); err != nil || name == "" || calls < 0 {
			return nil, fmt.Errorf("line %d: want a name, total_ms, calls, mean_ms and device", i)
		}
		for _, v := range []Value{{Metric: "total_ns", Value: &total, Count: &calls}, {Metric: "mean_ns", Value: &mean}} {
			v.Scope, v.Subject, v.Unit = OfKernel, name, "ns"
			if err := r.value(v); err != nil {
				return nil, fmt.Errorf("line %d: %w", i, err)
			}
		}
	}
	if len(r.Values) > 0 {
		r.Warnings = append(r.Warnings, "its times are stored as reported only: the tool that wrote it took times of launches that Nsight Compute profiled for totals, whatever their unit was")
	}
	return r, nil
}

// sniffTorchinfo: the summary of a model that torchinfo prints.
func sniffTorchinfo(_ string, head []byte) bool {
	return torchinfoHeader.Match(head)
}

var (
	torchinfoHeader = regexp.MustCompile(`(?m)^={20,}\r?\nLayer \(type[^\r\n]*depth-idx\)[^\r\n]*Param #[^\r\n]*\r?\n={20,}`)
	torchinfoTotal  = regexp.MustCompile(`(?m)^(Total params|Trainable params|Non-trainable params|Total mult-adds \([^)\r\n]*\)|Input size \(MB\)|Forward/backward pass size \(MB\)|Params size \(MB\)|Estimated Total Size \(MB\)): ([0-9,.]+)\r?$`)
	multAddUnit     = regexp.MustCompile(`\((?:Units\.)?(\w+)\)`)
)

// torchinfoMetrics are the totals under the layers. Its megabytes are decimal.
var torchinfoMetrics = map[string]struct {
	metric, unit string
	power        int // of ten
}{
	"Total params": {"parameter_count", "count", 0}, "Trainable params": {"trainable_parameter_count", "count", 0}, "Non-trainable params": {"non_trainable_parameter_count", "count", 0},
	"Input size (MB)": {"input_bytes", "bytes", 6}, "Forward/backward pass size (MB)": {"pass_bytes", "bytes", 6}, "Params size (MB)": {"parameter_bytes", "bytes", 6}, "Estimated Total Size (MB)": {"estimated_bytes", "bytes", 6},
}

// multAdds are the powers of ten of its multiply-adds: the letter that newer versions print, and the name of the unit that others do.
var multAdds = map[string]int{"NONE": 0, "K": 3, "M": 6, "G": 9, "T": 12, "KILOBYTES": 3, "MEGABYTES": 6, "GIGABYTES": 9, "TERABYTES": 12}

func readTorchinfo(text []byte) (*Report, error) {
	r := &Report{}
	seen := map[string]bool{}
	for _, m := range torchinfoTotal.FindAllStringSubmatch(string(text), -1) {
		label, digits := m[1], strings.ReplaceAll(m[2], ",", "")
		if seen[label] {
			return nil, fmt.Errorf("it has two totals %q: save each summary in a separate file", label)
		}
		seen[label] = true
		known, ok := torchinfoMetrics[label]
		if !ok {
			unit := multAddUnit.FindStringSubmatch(label)
			if unit == nil {
				return nil, fmt.Errorf("%s: the unit is not known", label)
			}
			if known.power, ok = multAdds[unit[1]]; !ok {
				return nil, fmt.Errorf("%s: the unit is not known", label)
			}
			known.metric, known.unit = "mac_count", "mac"
		}
		f, err := load.Scaled(digits, known.power)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is not a number", label, m[2])
		}
		if err := r.value(Value{Scope: OfModel, Metric: known.metric, Unit: known.unit, Value: &f}); err != nil {
			return nil, err
		}
	}
	if !seen["Total params"] {
		return nil, errors.New("it has no total under its layers: was it cut off?")
	}
	return r, nil
}
