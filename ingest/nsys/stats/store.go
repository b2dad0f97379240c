package stats

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/internal/mask"
)

// loader stores the tables of one capture.
type loader struct {
	ctx   context.Context
	t     *load.Target
	files []load.Part
	name  string
	info  load.SourceInfo
	first map[key]*table // of their kind
	parts []*part
}

// key is what two tables of one source must not both add up.
type key struct{ what, style string }

func (t *table) key() key { return key{t.what, t.style} }

// part is what became of a table.
type part struct {
	title        string
	read, stored int64
	reason       string
	kinds        []string // what is stored of a table of several kinds
	held
}

// part adds a part. A title that another one has gets a number.
func (l *loader) part(title string) *part {
	p := &part{title: title}
	for n := 2; slices.ContainsFunc(l.parts, func(o *part) bool { return o.title == p.title }); n++ {
		p.title = fmt.Sprintf("%s (%d)", title, n)
	}
	l.parts = append(l.parts, p)
	return p
}

const noQuery = "not stored: prof has no query for its rows"

// begin decides what of a table is stored.
func (l *loader) begin(t *table) *part {
	p := l.part(t.title())
	has := func(k key) bool { return l.first[k] != nil }
	switch first := l.first[t.key()]; {
	case t.what == "":
		p.reason = noQuery
		if r, known := named(t.report); t.form.what == apiCalls && (!known || r.what != "") {
			p.reason = "not stored: its columns do not say which API its functions are of; name the file as nsys does, e.g. run_osrt_sum.csv"
		}
	case first.file != t.file || first.line != t.line:
		p.reason = fmt.Sprintf("not stored: %s has the same report", first.file)
	case t.what == ranges && !t.hasStyle() && l.hasAllStyles():
		p.reason = "not stored: nvtx_sum has all of its rows"
	case t.what == deviceWork && has(key{kernels, ""}) && has(key{memoryTimes, ""}):
		p.reason = "not stored: the reports of kernels and of memory operations have all of its rows"
	case t.what == deviceWork:
		for category, what := range map[string]string{"CUDA_KERNEL": kernels, "MEMORY_OPER": memoryTimes} {
			if !has(key{what, ""}) {
				p.kinds = append(p.kinds, category)
			} else {
				p.reason = "some rows are not stored: another report has them"
			}
		}
	}
	return p
}

func (h *header) hasStyle() bool {
	_, has := h.at["style"]
	return has
}

// hasAllStyles reports whether a table of ranges of every style is there.
func (l *loader) hasAllStyles() bool {
	t := l.first[key{ranges, ""}]
	return t != nil && t.hasStyle()
}

// store stores the rows of the tables.
func (l *loader) store() error {
	var failed error
	n, err := l.t.Append(l.ctx, "reported_sum", func(add rows.Add) error {
		var p *part
		failed = l.each(l.noTable, sink{
			begin: func(t *table) error {
				p = l.begin(t)
				return nil
			},
			row: func(t *table, r row) error {
				p.read++
				if p.reason != "" && p.kinds == nil {
					return nil
				}
				values, err := l.values(t, r, p)
				if err != nil || values == nil {
					return err
				}
				p.stored++
				if total, ok := values[timesColumn].(int64); ok && p.kinds == nil {
					p.add(r, t.what, total)
				}
				return add(values...)
			},
		})
		return failed
	})
	l.info.Rows = n
	return cmp.Or(failed, err)
}

// noTable notes a file without a table: nsys leaves it empty where a report has no rows.
func (l *loader) noTable(f load.Part, isEmpty bool) {
	p := l.part(cmp.Or(ofFile(f.Name), filepath.Base(f.Name)))
	r, known := named(p.title)
	switch {
	case isEmpty:
		p.reason = "nsys found nothing to add up"
	case known && r.what == "":
		p.reason = noQuery
	default:
		p.reason = "not stored: none of its lines is the header of a report that prof reads"
	}
}

// values returns the row of reported_sum; nil for one that is not stored.
func (l *loader) values(t *table, r row, p *part) ([]any, error) {
	what, label := t.what, r.cells[t.label]
	if what == deviceWork {
		category := strings.ToUpper(r.cell("category"))
		if !slices.Contains(p.kinds, category) {
			if category != "CUDA_KERNEL" && category != "MEMORY_OPER" {
				p.reason = "some rows are neither kernels nor memory operations"
			}
			return nil, nil
		}
		what = map[string]string{"CUDA_KERNEL": kernels, "MEMORY_OPER": memoryTimes}[category]
	}
	count, err := r.integer(r.columns[t.count].name)
	if err != nil {
		return nil, err
	}
	if *count == 0 {
		return nil, fmt.Errorf("%s is 0: it adds up nothing", r.names[t.count])
	}
	units := timeUnits
	if what == memorySizes {
		units = sizeUnits
		if t.unitless {
			return nil, fmt.Errorf("%s has no unit", r.names[r.at[t.total]])
		}
	}
	f, err := r.figures(units)
	if err != nil {
		return nil, err
	}
	if *count == 1 { // nsys prints 0 for the deviation of one
		f.std = nil
	}
	out := make([]any, columnCount)
	out[runColumn], out[sourceColumn], out[whatColumn], out[countColumn] = l.t.RunID, int32(l.t.SourceID), what, *count
	kernel := ""
	switch what {
	case kernels, kernelGrids:
		kernel = label
	case rangeKernels:
		kernel = r.cell("kernel name")
	case apiCalls, osrtCalls:
		out[apiColumn] = l.t.Run.APIs.Add(label)
	case memoryTimes, memorySizes:
		out[nameColumn] = operation(label)
	}
	if kernel != "" {
		short := load.ShortName(kernel)
		out[kernelColumn] = l.t.Run.Kernels.Add(kernel, &short)
	} else if label == "" && what != rangeKernels {
		return nil, fmt.Errorf("%s is empty", r.names[t.label])
	}
	switch what {
	case ranges, rangeWork, rangeKernels:
		if label != "" { // kernels outside every range
			domain, name := rangeOf(mask.Stored(label))
			out[domainColumn], out[nameColumn], out[normalColumn] = domain, name, load.Normalise(name)
		}
		if style := cmp.Or(styleOf(r.cell("style")), t.style); style != "" {
			out[styleColumn] = style
		}
	case kernelGrids:
		for i, name := range []string{"grid", "block"} {
			dims, ok := xyz(r.cell(name))
			if !ok {
				return nil, fmt.Errorf("%s is %q, not three numbers", r.names[r.at[name]], shorten(r.cell(name)))
			}
			for k, v := range dims {
				out[gridColumn+3*i+k] = v
			}
		}
	}
	for i, name := range []string{"pid", "tid"} {
		if text := r.cell(name); text != "" {
			v, err := strconv.ParseInt(text, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("%s is %q, not a number", r.names[r.at[name]], shorten(text))
			}
			out[pidColumn+i] = int32(v)
		}
	}
	at := timesColumn
	if what == memorySizes {
		at = sizesColumn
	}
	for i, v := range []*int64{f.total, f.min, f.max} {
		if v != nil {
			out[at+i] = *v
		}
	}
	out[at+6] = f.step
	for i, v := range []*float64{f.mean, f.median, f.std} {
		if v != nil {
			out[at+3+i] = *v
		}
	}
	return out, nil
}

// Columns of reported_sum.
const (
	runColumn = iota
	sourceColumn
	whatColumn
	kernelColumn
	apiColumn
	nameColumn
	normalColumn
	domainColumn
	styleColumn
	pidColumn
	_ // tid
	gridColumn
	countColumn = gridColumn + 6
	timesColumn = countColumn + 1
	sizesColumn = timesColumn + 7
	columnCount = sizesColumn + 7
)

// directions are what older versions call those of copies.
var directions = strings.NewReplacer("HtoD", "Host-to-Device", "DtoH", "Device-to-Host", "DtoD", "Device-to-Device", "HtoH", "Host-to-Host", "PtoP", "Peer-to-Peer")

// operation names a memory operation as timelines do: [CUDA memcpy Host-to-Device] is memcpy Host-to-Device.
func operation(label string) string {
	return directions.Replace(strings.TrimSuffix(strings.TrimPrefix(label, "[CUDA "), "]"))
}

// reasons returns why tables are not stored.
func (l *loader) reasons() []string {
	var out []string
	for _, p := range l.parts {
		if p.reason != "" {
			out = append(out, p.title+": "+p.reason)
		}
	}
	return out
}

// describe stores what became of the tables, and warnings.
func (l *loader) describe() error {
	run, id := l.t.RunID, int32(l.t.SourceID)
	_, err := l.t.Append(l.ctx, "source_part", func(add rows.Add) error {
		for _, p := range l.parts {
			var reason any
			if p.reason != "" {
				reason = p.reason
			}
			if err := add(run, id, p.title, p.read, p.stored, reason); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = l.t.Append(l.ctx, "source_fact", func(add rows.Add) error {
		said := map[string]bool{}
		for _, p := range l.parts {
			all, ok := p.printed()
			if !ok || said[p.held.what] || !slices.Contains([]string{kernels, kernelGrids, memoryTimes, apiCalls, osrtCalls}, p.held.what) {
				continue
			}
			said[p.held.what] = true
			for key, v := range map[string]int64{"printed": all, "read": p.ns} {
				if err := add(run, id, key+"."+p.held.what+"_ns", strconv.FormatInt(v, 10)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = l.t.Append(l.ctx, "diagnostic", func(add rows.Add) error {
		for _, w := range l.info.Warnings {
			if err := add(run, id, "ingest", "warning", nil, nil, w); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
