package ncu_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/ingest/load"
	"prof/ingest/ncu"
	"prof/internal/sample"
)

// smallReport is kernels-range with its sources cut to a few bytes, so that every place of it can be tried.
func smallReport(t testing.TB) []byte {
	t.Helper()
	head, parts := takeApart(t, reportOf(t, "kernels-range"))
	out := slices.Clone(head)
	for _, p := range parts {
		header, _ := withoutField(p.header, 5)
		for i := range len(p.entries) - p.results {
			p.entries[i] = p.entries[i][:20]
		}
		out = append(out, blockWith(header, p.entries...)...)
	}
	return out
}

// borders are the places where a block, its payload or an entry of it begins.
func borders(parts []part) (out []int) {
	for _, p := range parts {
		out = append(out, p.at, p.at+4+len(p.header))
		out = append(out, p.ends...)
	}
	return out
}

// wholeBefore returns how many results end at or before a place, and whether a block begins or the file ends there.
func wholeBefore(parts []part, size, at int) (n int, border bool) {
	border = at == size
	for _, p := range parts {
		border = border || p.at == at
		for _, end := range p.ends[len(p.entries)-p.results:] {
			if end <= at {
				n++
			}
		}
	}
	return n, border
}

// isRefusal reports whether an error is one that the reader documents.
func isRefusal(err error) bool {
	return errors.Is(err, ncu.ErrNotReport) || errors.Is(err, ncu.ErrDamaged) || errors.Is(err, load.ErrNothingWhole)
}

// TestReportCutAnywhere: a report cut off at any byte gives the whole results before the cut, and says that something is lost, or
// is refused. Where a block begins, nothing shows that more was there.
func TestReportCutAnywhere(t *testing.T) {
	data := smallReport(t)
	_, whole := results(t, data)
	_, parts := takeApart(t, data)
	if len(whole) != 4 {
		t.Fatalf("%d results", len(whole))
	}
	near, reach := map[int]bool{}, len(sample.Of(make([]int, 40), 4))
	for _, b := range append(borders(parts), 0) {
		for at := max(b-reach, 0); at <= min(b+reach, len(data)); at++ {
			near[at] = true
		}
	}
	refused, cut, atBlock := 0, 0, 0
	for at := range len(data) + 1 {
		if !near[at] && at%23 != 0 { // every byte takes 13 s and finds no more
			continue
		}
		r, got, err := tryResults(t, data[:at])
		want, border := wholeBefore(parts, len(data), at)
		switch {
		case err != nil && !isRefusal(err):
			t.Fatalf("cut at %d: %v", at, err)
		case err != nil && want == 0:
			refused++
		case err != nil:
			t.Fatalf("cut at %d: %d whole results were refused: %v", at, want, err)
		case len(got) != want:
			t.Fatalf("cut at %d: %d results, want %d", at, len(got), want)
		case !reflect.DeepEqual(got, whole[:want:want]) && want > 0:
			t.Fatalf("cut at %d: the results are others", at)
		case r.Cut == border, r.Cut && r.Lost <= 0, r.Lost > int64(at):
			t.Errorf("cut at %d of %d: %v, %d bytes lost", at, len(data), r.Cut, r.Lost)
		case border:
			atBlock++
		default:
			cut++
		}
	}
	t.Logf("%d bytes: %d cuts refused, %d noticed, %d before a block", len(data), refused, cut, atBlock)
	if cut < 2000 || atBlock != len(parts)+1 {
		t.Errorf("%d cuts noticed, %d before one of %d blocks", cut, atBlock, len(parts))
	}
}

// TestReportCutBetween: a cut between two results of one block leaves none in part, and is a cut all the same.
func TestReportCutBetween(t *testing.T) {
	a := metricField(0, doubleField(3, 1))
	data := reportWith(blockWith(slices.Concat(uintField(1, 1), uintField(2, 2), stringTable("a")), []byte("source"), a, a))
	_, parts := takeApart(t, data)
	for i, want := range []int{0, 1, 2} {
		r, got := results(t, data[:parts[0].ends[i]])
		if len(got) != want || r.Cut != (want < 2) {
			t.Errorf("cut after entry %d: %d results, cut: %v", i, len(got), r.Cut)
		}
	}
}

// TestReportZeroTail: files whose end was never written hold zeros there.
func TestReportZeroTail(t *testing.T) {
	data := smallReport(t)
	_, whole := results(t, data)
	_, parts := takeApart(t, data)
	places := borders(parts)
	for at := 10; at < len(data); at += 97 {
		places = append(places, at)
	}
	for _, at := range places {
		if at > len(data)-64 { // where zeros could fall into a last number alone
			continue
		}
		torn := slices.Clone(data)
		clear(torn[at:])
		want, _ := wholeBefore(parts, len(data), at)
		r, got, err := tryResults(t, torn)
		switch {
		case err != nil && !isRefusal(err):
			t.Fatalf("zeros from %d: %v", at, err)
		case err != nil:
		case len(got) != want || !r.Cut:
			t.Errorf("zeros from %d: %d results, %d bytes lost; %d results are whole", at, len(got), r.Lost, want)
		case want > 0 && !reflect.DeepEqual(got, whole[:want:want]):
			t.Errorf("zeros from %d: the results are others", at)
		}
	}
	// The payload alone was never written: an empty result is none.
	header := slices.Concat(uintField(2, 3), stringTable("a"))
	_, got, err := tryResults(t, reportWith(append(sized(header, uintField(5, 12)), make([]byte, 12)...)))
	if err == nil || !isRefusal(err) {
		t.Errorf("a payload of zeros: %d results, %v", len(got), err)
	}
}

// TestReportNodes: the nodes of graphs that ncu 2026 keeps to draw them are passed over.
func TestReportNodes(t *testing.T) {
	data := reportWith(blockWith(slices.Concat(uintField(9, 1), uintField(10, 2)), uintField(1, 7), uintField(1, 8), nil))
	if r, got := results(t, data); len(got) != 1 || got[0].Kind != ncu.Graph || r.Unknown != 0 {
		t.Errorf("%d results, %d bytes unknown", len(got), r.Unknown)
	}
}

// TestReportTrailing: what follows the last block is lost and takes nothing with it.
func TestReportTrailing(t *testing.T) {
	data := smallReport(t)
	_, whole := results(t, data)
	for _, tail := range []string{"x", "xyz", "abcd", "\xff\xff\xff\xff", strings.Repeat("\x00", 4096), strings.Repeat("\xaa", 5000), "\x10\x00\x00\x00\x08"} {
		r, got, err := tryResults(t, append(slices.Clone(data), tail...))
		if err != nil {
			t.Errorf("%.8q: %v", tail, err)
		} else if !reflect.DeepEqual(got, whole) || !r.Cut || r.Lost != int64(len(tail)) {
			t.Errorf("%.8q: %d results, %d bytes lost", tail, len(got), r.Lost)
		}
	}
	// Something that looks like a header and is none.
	if _, got, err := tryResults(t, slices.Concat(data, sized([]byte("no header")))); err != nil && !isRefusal(err) || len(got) > len(whole) {
		t.Errorf("%d results, %v", len(got), err)
	}
}

// TestReportRefusals: damage that is no cut is refused, and the message says where it is.
func TestReportRefusals(t *testing.T) {
	metric := metricField(0, doubleField(3, 1))
	for what, data := range map[string][]byte{
		"no magic":                   []byte("NVR"),
		"another magic":              []byte("NVS\x00\x02\x00\x00\x00\x08\x07"),
		"no file header":             []byte(ncu.Magic),
		"file header no message":     append([]byte(ncu.Magic), sized([]byte{0xff})...),
		"block header no message":    reportWith(sized([]byte{0x08})),
		"name out of range":          oneKernel([]string{"a"}, metricField(1, doubleField(3, 1))),
		"name far out of range":      oneKernel([]string{"a"}, metricField(math.MaxUint64, doubleField(3, 1))),
		"metric no message":          oneKernel([]string{"a"}, messageField(13, []byte{0x12, 0x7f})),
		"value no message":           oneKernel([]string{"a"}, metricField(0, []byte{0x19, 1, 2})),
		"a field of number 0":        oneKernel([]string{"a"}, metric, []byte{0}),
		"ranges no message":          oneKernel([]string{"a"}, metric, messageField(21, messageField(2, []byte{0x12, 0x05}))),
		"rule no message":            oneKernel([]string{"a"}, metric, messageField(19, messageField(3, []byte{0x0a, 0x05}))),
		"section no message":         oneKernel([]string{"a"}, metric, messageField(17, []byte{0x0a, 0x05})),
		"grid no message":            oneKernel([]string{"a"}, metric, messageField(10, []byte{0x08})),
		"an endless varint":          oneKernel([]string{"a"}, bytes.Repeat([]byte{0xff}, 20)),
		"a group that never ends":    oneKernel([]string{"a"}, protowire.AppendTag(nil, 50, protowire.StartGroupType)),
		"groups nested deep":         oneKernel([]string{"a"}, bytes.Repeat(protowire.AppendTag(nil, 50, protowire.StartGroupType), 100_000)),
		"an entry beyond its block":  reportWith(append(sized(uintField(2, 1), uintField(5, 8)), 50, 0, 0, 0, 1, 1, 1, 1), make([]byte, 100)),
		"more results than payload":  reportWith(append(sized(uintField(2, 1<<40), uintField(5, 8)), sized(metric)[:8]...), make([]byte, 100)),
		"results without a payload":  reportWith(sized(uintField(2, math.MaxUint64)), blockWith(uintField(1, 0))),
		"sources without a payload":  reportWith(sized(uintField(1, math.MaxUint64)), blockWith(uintField(1, 0))),
		"an empty result":            reportWith(blockWith(uintField(2, 1), nil)),
		"an entry that ends nowhere": reportWith(append(sized(uintField(2, 1), uintField(5, 4)), 0xff, 0xff, 0xff, 0xff), make([]byte, 100)),
		"session no message":         reportWith(blockWith(messageField(3, []byte{0x32, 0x05}))),
		"strings no message":         reportWith(blockWith(messageField(4, []byte{0x0a, 0x05}))),
		"process no message":         reportWith(blockWith(messageField(6, []byte{0x0a, 0x05}))),
		"attribute of a device cut":  reportWith(blockWith(messageField(3, messageField(6, messageField(3, []byte{0x0a, 0x05}))))),
	} {
		r, got, err := tryResults(t, data)
		if err == nil {
			t.Errorf("%s: %d results, %d bytes lost and no error", what, len(got), r.Lost)
		} else if !isRefusal(err) || !strings.HasPrefix(err.Error(), "test.ncu-rep: ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestReportMemory: what a small file says of sizes costs no memory, and what it holds costs in proportion.
func TestReportMemory(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff}
	many := func(n int, field []byte) []byte { return bytes.Repeat(field, n) }
	const n = 100_000
	for _, c := range []struct {
		what string
		data []byte
		max  uint64 // bytes that reading it may allocate for each of its own
	}{
		{"a file header of 4 GiB", append([]byte(ncu.Magic), huge...), 1000},
		{"a block header of 4 GiB", reportWith(huge), 1000},
		{"a payload of 2^64 bytes", reportWith(sized(uintField(2, math.MaxUint64), uintField(5, math.MaxUint64))), 1000},
		{"a result of 4 GiB", reportWith(sized(uintField(2, 1), uintField(5, 1<<32)), huge), 1000},
		{"a source of 4 GiB", reportWith(sized(uintField(1, 1), uintField(2, 1), uintField(5, 1<<32)), huge), 1000},
		{"names", reportWith(blockWith(slices.Concat(uintField(2, 1), messageField(4, many(n, textField(1, "")))), metricField(0, doubleField(3, 1)))), 64},
		{"blocks", reportWith(many(n, sized(uintField(5, 0)))), 128},
		{"devices", reportWith(blockWith(messageField(3, many(n, messageField(6))))), 256},
		{"metrics", oneKernel([]string{"a"}, many(n, metricField(0, uintField(4, 1)))), 64},
		{"findings", oneKernel(nil, many(n, messageField(19, messageField(3, messageField(1, messageField(1, textField(1, "x"))))))), 128},
		{"ranges", oneKernel(nil, messageField(21, messageField(2, messageField(2, many(n, messageField(3)))))), 512},
		{"domains", oneKernel(nil, messageField(21, many(n, messageField(3, uintField(1, 7), messageField(3))))), 256},
		{"sections", oneKernel(nil, messageField(17, messageField(4, distinct(n, func(s string) []byte { return messageField(2, textField(1, s)) })))), 128},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, got, err := tryResults(t, c.data)
		runtime.ReadMemStats(&after)
		spent := after.TotalAlloc - before.TotalAlloc
		t.Logf("%-24s %7d bytes: %3d times as much allocated, %d results, %v", c.what, len(c.data), spent/uint64(len(c.data)), len(got), err)
		if limit := c.max*uint64(len(c.data)) + 64<<10; spent > limit {
			t.Errorf("%s: %d bytes of input took %d bytes of memory, more than %d", c.what, len(c.data), spent, limit)
		}
	}
}

// distinct makes fields of different texts.
func distinct(n int, field func(string) []byte) (all []byte) {
	for i := range n {
		all = append(all, field(strconv.Itoa(i))...)
	}
	return all
}

// guarded fails when bytes of a source are asked for.
type guarded struct {
	io.ReaderAt
	sources [][2]int64 // places of their bytes
}

func (g guarded) ReadAt(b []byte, at int64) (int, error) {
	for _, s := range g.sources {
		if at < s[1] && at+int64(len(b)) > s[0] {
			return 0, fmt.Errorf("bytes %d to %d of a source were read", max(at, s[0]), min(at+int64(len(b)), s[1]))
		}
	}
	return g.ReaderAt.ReadAt(b, at)
}

// TestReportSourcesUnread: compiled code, most of a report's bytes, is never read.
func TestReportSourcesUnread(t *testing.T) {
	data := reportOf(t, "kernels-prefill")
	_, parts := takeApart(t, data)
	g := guarded{ReaderAt: bytes.NewReader(data)}
	var total int
	for _, p := range parts {
		for i := range len(p.entries) - p.results {
			g.sources = append(g.sources, [2]int64{int64(p.ends[i] - len(p.entries[i])), int64(p.ends[i])})
			total += len(p.entries[i])
		}
	}
	if total < 20_000 {
		t.Fatalf("only %d bytes of sources", total)
	}
	r, err := ncu.OpenReport(g, int64(len(data)), "test.ncu-rep")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := r.Each(t.Context(), func(*ncu.Result) error { n++; return nil }); err != nil || n != 4 {
		t.Fatal(n, err)
	}
	if _, err := g.ReadAt(make([]byte, 1), g.sources[0][0]); err == nil {
		t.Error("the guard guards nothing")
	}
}

// errDisk is what a disk says.
var errDisk = errors.New("input/output error")

type broken struct {
	io.ReaderAt
	from int64
}

func (b broken) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > b.from {
		return 0, errDisk
	}
	return b.ReaderAt.ReadAt(p, at)
}

// TestReportReadErrors: what cannot be read is no damage of the report, and the disk's own words are kept.
func TestReportReadErrors(t *testing.T) {
	data := smallReport(t)
	for _, from := range []int64{0, 6, 20, int64(len(data)) / 2, int64(len(data)) - 1} {
		r, err := ncu.OpenReport(broken{bytes.NewReader(data), from}, int64(len(data)), "test.ncu-rep")
		if err == nil {
			err = r.Each(t.Context(), func(*ncu.Result) error { return nil })
		}
		if !errors.Is(err, errDisk) || isRefusal(err) {
			t.Errorf("from byte %d: %v", from, err)
		}
	}
}

// TestCodeReadErrors: nor is compiled code that cannot be read.
func TestCodeReadErrors(t *testing.T) {
	data := codeReport(t)
	head := bytes.Index(data, []byte("\x7fELF"))
	for _, from := range []int{head, head + 100, bytes.Index(data, []byte(".nv_debug_line_sass")), bytes.Index(data, []byte(".version 9.0")), head + 20_000} {
		r, err := ncu.OpenReport(bytes.NewReader(data), int64(len(data)), "test.ncu-rep")
		if err != nil {
			t.Fatal(err)
		}
		failed, err := ncu.OpenReport(hole{bytes.NewReader(data), int64(from)}, int64(len(data)), "test.ncu-rep")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*ncu.Report{r, failed} {
			err = r.Each(t.Context(), func(*ncu.Result) error {
				_, _, err := r.EachInstance(func(ncu.Instance) error { return nil })
				return err
			})
			if err == nil {
				err = r.EachInstruction(func(ncu.Instruction) error { return nil })
			}
			if r == failed && (!errors.Is(err, errDisk) || isRefusal(err)) || r != failed && err != nil {
				t.Errorf("byte %d: %v", from, err)
			}
		}
	}
}

// hole is a file of which one byte cannot be read.
type hole struct {
	io.ReaderAt
	at int64
}

func (h hole) ReadAt(p []byte, at int64) (int, error) {
	if at <= h.at && h.at < at+int64(len(p)) {
		return 0, errDisk
	}
	return h.ReaderAt.ReadAt(p, at)
}
