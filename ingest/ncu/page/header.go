package page

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// pageHeader says where the columns of a page are. Versions of ncu order them differently and leave some out, so that they are
// found by name; -1 is a column that the page lacks.
type pageHeader struct {
	form   string
	quoted bool // whether the page quotes its fields, as ncu does
	width  int

	id, pid, process, host, nvtx, nvtxStartEnd, kernel, context, stream, block, grid, device, cc int

	// Of a details page.
	section, item, label, unit, value, rule, ruleType, ruleText, scope, speedup int

	// Of a raw page.
	metrics  []rawColumn
	hasUnits bool
}

// rawColumn is a column of a raw page that holds a metric.
type rawColumn struct {
	at     int
	metric *pageMetric
	unit   *pageUnit
}

const (
	nvtxColumn         = "thread Domain:Push/Pop_Range:"
	nvtxStartEndColumn = "Id:Domain:Start/Stop_Range:"
)

// headerStart finds where in a line the header of a page begins, -1 for nowhere. A program that ends without a line end leaves
// its last words before it.
func headerStart(line []byte) int {
	for _, begin := range []string{`"ID","`, `"Process ID","Process Name","`, `"Domain","Range:`} { // the last two are of summaries
		if at := bytes.Index(line, []byte(begin)); at >= 0 && bytes.Contains(line[at:], []byte(`"Kernel Name"`)) {
			return at
		}
	}
	// A page that another program wrote anew, without quotes.
	if bytes.HasPrefix(line, []byte("ID,Process ID,")) && bytes.Contains(line, []byte(",Kernel Name,")) {
		return 0
	}
	return -1
}

// newPageHeader reads the header's fields. metricNamed gives the metric of a name.
func newPageHeader(fields [][]byte, quoted bool, metricNamed func(string) *pageMetric) (*pageHeader, error) {
	h := &pageHeader{form: RawForm, quoted: quoted, width: len(fields)}
	columns := map[string]*int{
		"ID": &h.id, "Process ID": &h.pid, "Process Name": &h.process, "Host Name": &h.host, "Kernel Name": &h.kernel,
		"Context": &h.context, "Stream": &h.stream, "Block Size": &h.block, "Grid Size": &h.grid, "Device": &h.device, "CC": &h.cc,
		"Section Name": &h.section, "Body Item Label": &h.item, "Metric Name": &h.label, "Metric Unit": &h.unit, "Metric Value": &h.value,
		"Rule Name": &h.rule, "Rule Type": &h.ruleType, "Rule Description": &h.ruleText,
		"Estimated Speedup Type": &h.scope, "Estimated Speedup": &h.speedup,
	}
	for _, at := range columns {
		*at = -1
	}
	h.nvtx, h.nvtxStartEnd = -1, -1
	seen := map[string]bool{}
	for i, f := range fields {
		name := cleanText(f)
		at := columns[name]
		switch {
		case name == "Invocations":
			return nil, fmt.Errorf("%w; print it again without --print-summary", ErrSummaryPage)
		case strings.HasPrefix(name, nvtxColumn):
			at = &h.nvtx
		case strings.HasPrefix(name, nvtxStartEndColumn):
			at = &h.nvtxStartEnd
		}
		switch {
		case at != nil && *at < 0:
			*at = i
		case at == nil && !seen[name] && name != "" && !strings.Contains(name, " "): // "Kernel Time" and what later versions add
			seen[name] = true
			h.metrics = append(h.metrics, rawColumn{i, metricNamed(name), unknownUnit})
		}
	}
	if h.label >= 0 && h.value >= 0 {
		h.form, h.metrics = DetailsForm, nil
	}
	if h.id < 0 || h.kernel < 0 {
		return nil, fmt.Errorf("%w: its header has no column ID or Kernel Name; was it cut off?", ErrNotPage)
	}
	return h, nil
}

// mayStartRow reports whether a line can be the beginning of a row of this page.
func (h *pageHeader) mayStartRow(line []byte) bool {
	if !h.quoted {
		return len(line) > 0 && (line[0] >= '0' && line[0] <= '9' || line[0] == ',')
	}
	if len(line) < 3 || line[0] != '"' {
		return false
	}
	rest := bytes.TrimLeft(line[1:], "0123456789")
	return len(rest) >= 2 && rest[0] == '"' && rest[1] == ','
}

// row returns which result a row belongs to. It is not ok when the row is none of this page: a line of the program that looks like
// one, or a row that was cut off.
func (h *pageHeader) row(fields [][]byte) (key pageKey, ok bool) {
	if len(fields) > h.width || len(fields) <= h.minWidth() {
		return key, false
	}
	if key.id, ok = number32(fields[h.id]); !ok {
		return key, false
	}
	if h.pid >= 0 {
		if key.pid, ok = number32(fields[h.pid]); !ok {
			return key, false
		}
	}
	return key, true
}

// minWidth is the last column that every row has. Rows of metrics end before the columns of rules; those of a raw page are whole.
func (h *pageHeader) minWidth() int {
	if h.form == RawForm {
		return h.width - 1
	}
	return max(h.id, h.pid, h.kernel, h.context, h.stream, h.device, h.section, h.label, h.unit, h.value)
}

// isUnits reports whether a row is the second header of a raw page, which gives the units.
func (h *pageHeader) isUnits(fields [][]byte) bool {
	return h.form == RawForm && len(fields) == h.width && len(fields[h.id]) == 0 && len(fields[h.kernel]) == 0
}

// column returns a field of a row; nil where the page or the row lacks it.
func column(fields [][]byte, at int) []byte {
	if at < 0 || at >= len(fields) {
		return nil
	}
	return fields[at]
}

// number32 reads a number of at most 32 bits without sign.
func number32(b []byte) (int32, bool) {
	n, err := strconv.ParseUint(string(b), 10, 32)
	return int32(min(n, 1<<31-1)), err == nil
}

// numberOr reads a number, or gives what stands for one that is not said.
func numberOr(b []byte, unsaid int32) int32 {
	if n, ok := number32(b); ok {
		return n
	}
	return unsaid
}

// dimensions reads a size as ncu prints it, "(64, 64, 1)", or without brackets, or with x between the numbers.
func dimensions(b []byte) (d [3]int32) {
	parts := bytes.FieldsFunc(b, func(c rune) bool { return strings.ContainsRune("(), x", c) })
	if len(parts) == 0 || len(parts) > 3 {
		return d
	}
	d = [3]int32{1, 1, 1}
	for i, part := range parts {
		n, ok := number32(part)
		if !ok {
			return [3]int32{}
		}
		d[i] = n
	}
	return d
}

// computeCapability reads "9.0" as 90; 0 when not said.
func computeCapability(b []byte) int {
	major, minor, _ := strings.Cut(strings.ReplaceAll(string(b), ",", "."), ".")
	n, err := strconv.Atoi(major)
	m, err2 := strconv.Atoi(minor)
	if err != nil || err2 != nil || !slices.Contains([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, m) || n < 1 || n > 99 {
		return 0
	}
	return n*10 + m
}
