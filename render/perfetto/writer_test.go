package perfetto

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
	"prof/render/perfettotest"
)

// played writes slices of a thread and of a stream and reads them as Perfetto does.
func played(t *testing.T, isFlat bool, list [][2]int64) *perfettotest.Trace {
	t.Helper()
	var out bytes.Buffer
	w := newWriter(&out)
	p := w.process(7, "p")
	more := func() uint64 { return w.descriptor(p, 1, "t", nil) }
	r := w.newRow(more(), 100, isFlat, more)
	for i, s := range list {
		r.slice(s[0], s[1], r.annotateInt(r.named(fmt.Sprintf("slice %d", i), "c"), "i", int64(i)))
	}
	r.close()
	if err := w.close(true); err != nil {
		t.Fatal(err)
	}
	got, err := perfettotest.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Slices) != len(list) {
		t.Fatalf("%d slices of %d", len(got.Slices), len(list))
	}
	for _, s := range got.Slices {
		want := list[s.Args["i"].(int64)]
		if want[1] == never {
			want[1] = -101
		}
		if s.Start != want[0]+100 || s.End != want[1]+100 || s.Name != fmt.Sprint("slice ", s.Args["i"]) {
			t.Errorf("%s is %d to %d, want %d to %d", s.Name, s.Start, s.End, want[0]+100, want[1]+100)
		}
		if isFlat && s.Depth != 0 {
			t.Errorf("%s lies in another", s.Name)
		}
	}
	return got
}

func TestLanes(t *testing.T) {
	for name, c := range map[string]struct {
		list        [][2]int64
		nest, apart int // tracks that they need
	}{
		"none":            {nil, 0, 0},
		"one after other": {[][2]int64{{0, 5}, {5, 9}, {9, 9}, {9, 12}}, 1, 1},
		"nested":          {[][2]int64{{0, 9}, {0, 5}, {0, 0}, {5, 9}, {6, 9}, {9, 10}}, 1, 3},
		"crossing":        {[][2]int64{{0, 5}, {3, 8}, {4, 5}, {6, 7}, {8, 9}}, 2, 3},
		"never ends":      {[][2]int64{{0, never}, {2, 5}, {3, never}, {6, 9}}, 2, 3},
		"same times":      {[][2]int64{{0, 4}, {0, 4}, {4, 4}, {4, 4}}, 1, 2},
	} {
		for isFlat, want := range map[bool]int{false: c.nest, true: c.apart} {
			got := played(t, isFlat, c.list)
			used := map[uint64]bool{}
			for _, s := range got.Slices {
				used[s.Track] = true
			}
			if len(used) != want {
				t.Errorf("%s, flat %v: %d tracks, want %d", name, isFlat, len(used), want)
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var list [][2]int64
		for range random.IntN(60) {
			start := random.Int64N(40)
			list = append(list, [2]int64{start, start + random.Int64N(12)})
		}
		slices.SortFunc(list, func(a, b [2]int64) int {
			if a[0] != b[0] {
				return int(a[0] - b[0])
			}
			return int(b[1] - a[1])
		})
		played(t, false, list)
		played(t, true, list)
	}
}

// TestForget writes more texts than a sequence may have: it names them anew, in little memory.
func TestForget(t *testing.T) {
	var out bytes.Buffer
	w := newWriter(&out)
	r := w.newRow(w.process(1, "\xff"), 0, false, nil)
	long := strings.Repeat("x", 1000)
	const many = 3 * mostTexts / 1000
	for i := range int64(many) {
		event := r.named(fmt.Sprint(long, i), "c")
		event = append(event, r.cached(block{'x', i % 7}, func(b []byte) []byte { return r.annotateText(b, "seven", fmt.Sprint("of ", i%7)) })...)
		r.slice(i, i+1, event)
		if r.size > mostTexts+4000 {
			t.Fatalf("%d bytes of texts after %d slices", r.size, i)
		}
	}
	r.close()
	if err := w.close(true); err != nil {
		t.Fatal(err)
	}
	got, err := perfettotest.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	if got.Tracks[1].Name != "\uFFFD" || len(got.Slices) != many {
		t.Errorf("%d slices of %q", len(got.Slices), got.Tracks[1].Name)
	}
	for i, s := range got.Slices {
		if s.Name != fmt.Sprint(long, i) || s.Args["seven"] != fmt.Sprint("of ", i%7) || s.End != s.Start+1 {
			t.Fatalf("slice %d is %.20q with %v", i, s.Name, s.Args)
		}
	}
}

// TestFullDisk gives the error of the file, and ends.
func TestFullDisk(t *testing.T) {
	w := newWriter(full{})
	r := w.newRow(w.process(1, "p"), 0, true, nil)
	for i := range int64(200_000) {
		r.slice(i, i+1, r.named(fmt.Sprint("slice ", i*i), "c"))
	}
	if err := w.close(true); err == nil || err.Error() != "no space" {
		t.Errorf("got %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("no space") }

// TestCutOff: a trace that ends in its middle is no whole gzip stream, and its error is none of the file.
func TestCutOff(t *testing.T) {
	var out bytes.Buffer
	w := newWriter(&out)
	r := w.newRow(w.process(1, "p"), 0, true, nil)
	for i := range int64(200_000) {
		r.slice(i, i+1, r.named(fmt.Sprint("slice ", i*i), "c"))
	}
	if err := w.close(false); err != nil {
		t.Fatal(err)
	}
	if z, err := gzip.NewReader(&out); err != nil {
		t.Errorf("nothing of it is there: %v", err)
	} else if _, err := io.Copy(io.Discard, z); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("it ends with %v", err)
	}
	out.Reset()
	wrong := errors.New("no such relation")
	_, err := Write(&out, func(string, frame.Args, func(*frame.Cells) error) error { return wrong }, Options{})
	var of *ReadError
	if !errors.As(err, &of) || !errors.Is(err, wrong) || out.Len() > 0 {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
}

func TestBaseName(t *testing.T) {
	for name, want := range map[string]string{"/usr/bin/python3.12": "python3.12", "kworker/2:0H": "kworker/2:0H", `C:\tools\python.exe`: "python.exe", "python3": "python3", "": "", "/": ""} {
		if got := baseName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// TestFullDiskStops gives the error of the file where its rows would never end.
func TestFullDiskStops(t *testing.T) {
	o := Options{Clocks: frametest.Answer("clock-offsets", "source_id offset_ns", []any{int64(1), int64(1)}), Devices: frametest.Answer("devices", "source_id device", []any{int64(1), int64(1)}),
		Streams: frametest.Answer("streams", "source_id device pid stream context", []any{int64(1), int64(1), int64(1), int64(1), int64(1)})}
	_, err := Write(full{}, func(relation string, _ frame.Args, to func(*frame.Cells) error) error {
		columns := make([][]int64, 17)
		for i := range columns {
			columns[i] = []int64{1}
		}
		cells := &frame.Cells{Whole64: columns, Valid: make([][]uint64, 17), TextOf: func(int, int) string { return "x" }}
		for relation == "_trace-work" || columns[0] != nil {
			if err := to(cells); err != nil {
				return err
			}
			if relation != "_trace-work" {
				break
			}
			columns[4][0]++
		}
		return nil
	}, o)
	if err == nil || err.Error() != "no space" {
		t.Errorf("got %v", err)
	}
}
