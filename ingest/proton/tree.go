package proton

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/terms"
)

// TreeKind is the kind of the sources that trees are.
const TreeKind = terms.ProtonTree

// Bounds of a tree, which is read whole: a frame's name comes behind all that is in it. A frame has some nine values.
const (
	MaxTree    = 64 << 20
	mostValues = 1 << 21
)

// SniffTree reports whether a file is a tree, by its beginning.
func SniffTree(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")) && bytes.Contains(head, []byte(`"frame"`)) && bytes.Contains(head, []byte(`"metrics"`))
}

// frame is a node of a tree: a scope, or a kernel in it, with the sums of its own work.
type frame struct {
	Frame struct {
		Name string `json:"name"`
	} `json:"frame"`
	Metrics  map[string]any `json:"metrics"`
	Children []frame        `json:"children"`
}

// element is an element of the file: a tree, or what describes the GPUs.
type element struct {
	frame
	CUDA map[string]gpu `json:"CUDA"`
	HIP  map[string]gpu `json:"HIP"`
}

// gpu is a GPU: clocks in kHz, the bus in bits.
type gpu struct {
	Arch        string `json:"arch"`
	Bus         int64  `json:"bus_width"`
	Clock       int64  `json:"clock_rate"`
	MemoryClock int64  `json:"memory_clock_rate"`
	SMs         int64  `json:"num_sms"`
}

// Metrics of kernels.
const (
	countMetric = "count"
	timeMetric  = "time (ns)"
)

// notFigures are metrics that say where a kernel ran.
var notFigures = []string{"device_id", "device_type"}

// LoadTree stores a tree: sums of kernels by name and by scope, and what the program said of scopes.
func LoadTree(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	text, err := file.Read(path, MaxTree)
	if err != nil {
		return nil, err
	}
	elements, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l := &tree{t: t, place: map[sumKey]int{}, flop: map[string]bool{}, replayed: map[string]bool{}}
	for i := range elements {
		if e := &elements[i]; e.Frame.Name != "" || e.Metrics != nil {
			if err := l.add(&e.frame, nil); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if l.kernels == 0 {
		return nil, fmt.Errorf("%s: %w: give a tree of proton.start(), without instrumentation", name, ErrNoKernels)
	}
	info := &load.SourceInfo{Rows: l.kernels + int64(len(l.values)), Warnings: l.warnings()}
	return info, errors.Join(l.store(ctx), storeGPUs(ctx, t, elements), l.describe(ctx, info))
}

// parse reads the file. Numbers stay as they are written.
func parse(text []byte) (out []element, err error) {
	if err := file.FewValues(text, mostValues); err != nil {
		return nil, fmt.Errorf("not a tree of Proton: %w", err)
	}
	body := file.PastMark(text)
	marked := int64(len(text) - len(body))
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err = d.Decode(&out); err == nil {
		if _, next := d.Token(); next == nil || d.More() {
			err = errors.New("more data follows the tree")
		}
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return out, nil
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("at byte %d: not a tree of Proton: %w", marked+syntax.Offset, err)
	case errors.As(err, &kind):
		return nil, fmt.Errorf("at byte %d: not a tree of Proton: %s is a %s", marked+kind.Offset, cmp.Or(kind.Field[strings.LastIndexByte(kind.Field, '.')+1:], "it"), kind.Value)
	}
	at := marked + d.InputOffset()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		at = int64(len(text))
	}
	return nil, fmt.Errorf("at byte %d: not a tree of Proton: %w", at, err)
}

// tree adds up the frames of a file.
type tree struct {
	t       *load.Target
	sums    []sum
	place   map[sumKey]int // in sums
	values  []value
	kernels int64 // frames of kernels
	left    int64 // metrics that are no numbers

	flop     map[string]bool // scopes of which the program said what they compute or move, by the names down to them
	replayed map[string]bool // those in which graphs were captured whose replays have kernels, and no such figures
}

// sumKey is what a row of reported_sum adds up: a kernel in all, or in a scope.
type sumKey struct {
	report string
	scope  scope // of range_kernel; none for kernels outside every scope
	kernel int32
}

type sum struct {
	sumKey
	count, ns int64
}

// Rows of reported_sum.
const (
	ofKernel = "kernel"
	inScope  = "range_kernel"
)

// value is what the program said of a scope or a kernel.
type value struct {
	scope, subject, metric, unit string
	value                        float64
}

// most is more than any sum is: 36 years.
const most = 1 << 60

// add takes a frame and those in it; around are the names of the frames that it is in.
func (l *tree) add(f *frame, around []string) error {
	here := append(around[:len(around):len(around)], f.Frame.Name)
	count, hasCount := f.Metrics[countMetric]
	ns, hasTime := f.Metrics[timeMetric]
	isRoot := len(around) == 0 && f.Frame.Name == root
	isKernel := hasCount && hasTime && !isRoot
	if isKernel {
		if err := l.kernel(f.Frame.Name, around, count, ns); err != nil {
			return fmt.Errorf("%s: %w", shown(here), err)
		}
	}
	says := l.figures(f, here, isRoot, isKernel)
	if at := slices.Index(here, captured); at >= 0 && at < len(here)-1 {
		inner := strings.Join(here[at+1:], "\n")
		l.replayed[inner] = l.replayed[inner] || says
	} else if says && at < 0 {
		l.flop[strings.Join(here[min(1, len(here)-1):], "\n")] = true
	}
	for i := range f.Children {
		if err := l.add(&f.Children[i], here); err != nil {
			return err
		}
	}
	return nil
}

// kernel adds a kernel to its sums: in all, and in each scope that it is in, once where one is in itself.
func (l *tree) kernel(name string, around []string, countText, nsText any) error {
	count, okCount := whole(countText)
	ns, okTime := whole(nsText)
	if !okCount || !okTime || count == 0 {
		return fmt.Errorf("%s is %v and %s is %v, which no kernels have", countMetric, countText, timeMetric, nsText)
	}
	l.kernels++
	name = demangle.Filter(strings.ToValidUTF8(name, "\uFFFD"))
	short := load.ShortName(name)
	kernel := l.t.Run.Kernels.Add(name, &short)
	keys := []sumKey{{report: ofKernel, kernel: kernel}}
	for _, s := range scopesOf(around) {
		if k := (sumKey{inScope, s, kernel}); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 1 {
		keys = append(keys, sumKey{report: inScope, kernel: kernel})
	}
	for _, k := range keys {
		at, ok := l.place[k]
		if !ok {
			at = len(l.sums)
			l.place[k] = at
			l.sums = append(l.sums, sum{sumKey: k})
		}
		s := &l.sums[at]
		if s.count, s.ns = s.count+count, s.ns+ns; s.count > most || s.ns > most {
			return errors.New("the sums are out of range")
		}
	}
	return nil
}

// whole reads a whole number.
func whole(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil && i >= 0 && i <= most
}

// figures takes the other metrics of a frame; the root has zeros for those that any frame has. It reports whether one is of FLOP or bytes.
func (l *tree) figures(f *frame, here []string, isRoot, isKernel bool) (says bool) {
	for _, metric := range slices.Sorted(maps.Keys(f.Metrics)) {
		if isKernel && (metric == countMetric || metric == timeMetric) || slices.Contains(notFigures, metric) {
			continue
		}
		n, isNumber := f.Metrics[metric].(json.Number)
		v, err := strconv.ParseFloat(string(n), 64)
		if !isNumber || err != nil {
			l.left++
			continue
		}
		if isRoot && v == 0 {
			continue
		}
		out := value{scope: "range", subject: subject(here), metric: mask.Stored(strings.ToValidUTF8(metric, "\uFFFD")), unit: unitOf(metric), value: v}
		if isKernel {
			out.scope = "kernel"
		}
		if isRoot {
			out.scope = "run"
		}
		says = says || out.unit == "flop" || out.unit == "bytes"
		l.values = append(l.values, out)
	}
	return says
}

// unitOf is the unit of a metric, by its name: "" where that says none.
func unitOf(metric string) string {
	digits, isFLOP := strings.CutPrefix(metric, "flops")
	switch {
	case isFLOP && strings.Trim(digits, "0123456789") == "": // flops8, flops16, ...: by the size of operands
		return "flop"
	case metric == "bytes":
		return "bytes"
	case strings.HasSuffix(metric, "(ns)"):
		return "ns"
	}
	return ""
}

// subject is a frame by the names of the scopes down to it; a kernel by its own, demangled.
func subject(here []string) string {
	if here[0] == root {
		here = here[1:]
	}
	var names []string
	for _, name := range here {
		names = append(names, demangle.Filter(mask.Stored(strings.ToValidUTF8(name, "\uFFFD"))))
	}
	return load.RangeName(strings.Join(names, " > "))
}

// shown is where a frame is, for a message.
func shown(here []string) string {
	if n := len(here); n > 6 {
		here = append(slices.Clone(here[:2]), append([]string{"..."}, here[n-3:]...)...)
	}
	text := []rune(strings.Join(here, " > "))
	return "at " + strconv.Quote(string(text[:min(len(text), 300)]))
}

// store stores the sums and figures.
func (l *tree) store(ctx context.Context) error {
	columns := []rows.Column{{Name: "report", Type: rows.Varchar}, {Name: "kernel_name_id"}, {Name: "name", Type: rows.Varchar}, {Name: "normalised_name", Type: rows.Varchar},
		{Name: "domain", Type: rows.Varchar}, {Name: "item_count"}, {Name: "total_ns"}, {Name: "min_ns"}, {Name: "max_ns"}, {Name: "mean_ns", Type: rows.Double}, {Name: "step_ns", Type: rows.Double}}
	_, err := l.t.Insert(ctx, "reported_sum", rows.Listed(len(l.sums), columns, func() rows.RowFunc {
		return func(c *rows.Chunk, n int, i int32) {
			s := &l.sums[i]
			c.SetText(0, n, s.report)
			c.Int64(1)[n] = int64(s.kernel)
			for k, text := range []string{s.scope.name, load.Normalise(s.scope.name), s.scope.domain} {
				if s.scope == (scope{}) {
					c.SetNull(2+k, n)
				} else {
					c.SetText(2+k, n, text)
				}
			}
			c.Int64(5)[n], c.Int64(6)[n], c.Int64(7)[n], c.Int64(8)[n], c.Float64(9)[n], c.Float64(10)[n] = s.count, s.ns, s.ns, s.ns, float64(s.ns)/float64(s.count), 1
			if s.count > 1 { // the file has no more than the sum
				c.SetNull(7, n)
				c.SetNull(8, n)
			}
		}
	}))
	if err != nil {
		return err
	}
	_, err = l.t.Append(ctx, "reported_value", func(add rows.Add) error {
		for i, v := range l.values {
			if err := add(l.t.RunID, int32(l.t.SourceID), int32(i+1), v.scope, load.TextOrNull(v.subject), v.metric, load.TextOrNull(v.unit), v.value, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// storeGPUs stores what the file says of the GPUs, which is not their name.
func storeGPUs(ctx context.Context, t *load.Target, elements []element) error {
	_, err := t.Append(ctx, "device", func(add rows.Add) error {
		seen := map[int64]bool{}
		for _, e := range elements {
			for _, list := range []map[string]gpu{e.CUDA, e.HIP} {
				for _, id := range slices.Sorted(maps.Keys(list)) {
					n, err := strconv.ParseInt(id, 10, 32)
					if err != nil || n < 0 || n >= load.MaxDevices || seen[n] {
						continue
					}
					seen[n] = true
					g := list[id]
					var name, capability, bandwidth any
					if major := len(g.Arch) - 1; major > 0 && strings.Trim(g.Arch, "0123456789") == "" {
						capability = g.Arch[:major] + "." + g.Arch[major:]
					} else if e.HIP != nil {
						name = "AMD device"
					}
					if g.Bus > 0 && g.MemoryClock > 0 && g.Bus < 1<<20 && g.MemoryClock < 1<<30 {
						bandwidth = 2 * g.MemoryClock * 1000 * g.Bus / 8 // two transfers a clock, as CUDA's own samples compute it
					}
					if err := add(t.RunID, int32(t.SourceID), int32(n), name, nil, nil, nil, capability, amount(g.SMs, 1), amount(g.Clock, 1000), nil, bandwidth, nil, nil, nil); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	return err
}

// amount is a number in base units as a value, NULL where it cannot be one.
func amount(n, unit int64) any {
	if n <= 0 || n > math.MaxInt32 {
		return nil
	}
	return n * unit
}

// warnings say what the tree lacks.
func (l *tree) warnings() []string {
	out := []string{"Proton's tree has sums by kernel and scope: times of single kernels, launches and copies are unknown; proton.start(data=\"trace\") records each kernel"}
	var once []string
	for s := range l.flop {
		if says, is := l.replayed[s]; is && !says {
			once = append(once, strings.ReplaceAll(s, "\n", " > "))
		}
	}
	if slices.Sort(once); len(once) > 0 {
		out = append(out, fmt.Sprintf("FLOP and bytes of %s are those of the capture of a CUDA graph: Proton adds none for its replays, whose kernels have the time", mask.Stored(strings.Join(once[:min(3, len(once))], ", "))))
	}
	return out
}

// describe stores what became of the frames and metrics, and the warnings.
func (l *tree) describe(ctx context.Context, info *load.SourceInfo) error {
	run, id := l.t.RunID, int32(l.t.SourceID)
	_, err := l.t.Append(ctx, "source_part", func(add rows.Add) error {
		var why any
		if l.left > 0 {
			why = "only numbers are stored"
		}
		return errors.Join(add(run, id, "kernels of scopes", l.kernels, l.kernels, nil), add(run, id, "metrics", int64(len(l.values))+l.left, int64(len(l.values)), why))
	})
	if err != nil {
		return err
	}
	_, err = l.t.Append(ctx, "diagnostic", func(add rows.Add) error {
		for _, w := range info.Warnings {
			if err := add(run, id, "ingest", "warning", nil, nil, w); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
