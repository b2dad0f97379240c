package nvml

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"prof/schema/rundir"
)

// fakeNVML tells of made-up GPUs.
type fakeNVML struct {
	devices []rundir.Device
	failed  error // of Devices
	sample  func(index int, own func(int) bool) (Sample, error)
	details []DeviceDetail
}

func (f *fakeNVML) Devices() ([]rundir.Device, error) { return f.devices, f.failed }
func (f *fakeNVML) Sample(index int, own func(pid int) bool) (Sample, error) {
	return f.sample(index, own)
}
func (f *fakeNVML) Versions() (driver, cuda string)  { return "580.1", "13.0" }
func (f *fakeNVML) Close()                           {}
func (f *fakeNVML) Details() ([]DeviceDetail, error) { return f.details, nil }

func readSamples(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], rundir.SampleColumns) {
		t.Fatalf("header of %v", rows)
	}
	return rows[1:]
}

func TestSampler(t *testing.T) { synctest.Test(t, testSampler) }

func testSampler(t *testing.T) {
	var calls atomic.Int64
	n := &fakeNVML{devices: []rundir.Device{{Index: 0, UUID: "GPU-a"}, {Index: 3, UUID: "GPU-b"}}}
	n.sample = func(index int, own func(int) bool) (Sample, error) {
		calls.Add(1)
		if index == 3 {
			return Sample{PowerW: new(71.5)}, nil
		}
		if !own(42) || own(43) {
			t.Error("own is not what was given")
		}
		return Sample{new(0.25), new(1.0), new(int64(1 << 40)), new(int64(1980e6)), new(int64(3201e6)), new(699.123), new(36.0), new(int64(4)), new(int64(0))}, nil
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	begin := time.Now().UnixNano()
	s := StartSampler(t.Context(), n, 200, path, func(pid int) bool { return pid == 42 })
	for calls.Load() < 6 {
		time.Sleep(time.Millisecond)
	}
	rows, err := s.Stop()
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().UnixNano()
	got := readSamples(t, path)
	if len(got) != rows || int64(rows) != calls.Load() {
		t.Fatalf("%d lines, %d rows, %d calls", len(got), rows, calls.Load())
	}
	for i, row := range got {
		at, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil || at < begin || at > end {
			t.Errorf("row %d: time %s", i, row[0])
		}
		want := []string{"0", "0.25", "1", "1099511627776", "1980000000", "3201000000", "699.123", "36", "4", "0"}
		if i%2 == 1 {
			want = []string{"3", "", "", "", "", "", "71.5", "", "", ""}
		}
		if !slices.Equal(row[1:], want) {
			t.Errorf("row %d: %q, want %q", i, row[1:], want)
		}
	}
	want := []string{fmt.Sprintf("GPU 0 throttled in %d of %d samples: sw_power_cap", rows/2, rows/2)}
	if got := s.Findings(); !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
	if again, err := s.Stop(); again != rows || err != nil {
		t.Errorf("stopped again: %d, %v", again, err)
	}
}

// TestFindings: only bits that hold work down, and processes that were surely seen, make times doubtful.
func TestFindings(t *testing.T) {
	s := &Sampler{seen: map[int]*sampleSums{}}
	for _, v := range []Sample{{ThrottleMask: new(int64(0x1))}, {}, {ThrottleMask: new(int64(0x48)), OtherProcesses: new(int64(2))}, {OtherProcesses: new(int64(1))}} {
		s.sum(1, v)
	}
	s.sum(0, Sample{ThrottleMask: new(int64(0x3)), OtherProcesses: new(int64(0))})
	want := []string{"GPU 1 throttled in 1 of 2 samples: hw_slowdown, hw_thermal_slowdown", "GPU 1 was shared with up to 2 other process(es)"}
	if got := s.Findings(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSamplerErrors: a GPU that fails keeps its rows, and the error is told once with how often it was.
func TestSamplerErrors(t *testing.T) { synctest.Test(t, testSamplerErrors) }

func testSamplerErrors(t *testing.T) {
	lost := errors.New("GPU is lost")
	var calls atomic.Int64
	n := &fakeNVML{devices: []rundir.Device{{Index: 0}}, sample: func(int, func(int) bool) (Sample, error) {
		if calls.Add(1) > 2 {
			return Sample{TemperatureC: new(40.0)}, lost
		}
		return Sample{}, nil
	}}
	path := filepath.Join(t.TempDir(), "x.csv")
	s := StartSampler(t.Context(), n, 500, path, nil)
	for calls.Load() < 5 {
		time.Sleep(time.Millisecond)
	}
	rows, err := s.Stop()
	want := strconv.Itoa(rows-2) + " NVML samples are incomplete"
	if !errors.Is(err, lost) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if got := readSamples(t, path); len(got) != rows || got[len(got)-1][8] != "40" {
		t.Errorf("%d rows, %v", rows, got)
	}
}

// TestSamplerKilled: after a second what was sampled can be read, though nobody stopped the sampler.
func TestSamplerKilled(t *testing.T) { synctest.Test(t, testSamplerKilled) }

func testSamplerKilled(t *testing.T) {
	n := &fakeNVML{devices: []rundir.Device{{Index: 0}}, sample: func(int, func(int) bool) (Sample, error) { return Sample{}, nil }}
	path := filepath.Join(t.TempDir(), "x.csv")
	s := StartSampler(t.Context(), n, 100, path, nil)
	defer s.Stop()
	time.Sleep(flushEvery + 500*time.Millisecond)
	synctest.Wait()
	text, err := os.ReadFile(path)
	if want := 1 + 1 + 100; err != nil || strings.Count(string(text), "\n") != want || !strings.HasSuffix(string(text), "\n") { // the header, the first sample and those of a second
		t.Errorf("%d lines, not %d, %v", strings.Count(string(text), "\n"), want, err)
	}
}

// TestSamplerLate: ticks that were missed while a sample took long are left out, and not made up for by a burst.
func TestSamplerLate(t *testing.T) { synctest.Test(t, testSamplerLate) }

func testSamplerLate(t *testing.T) {
	const stall = 400 * time.Millisecond // 40 ticks
	var calls atomic.Int64
	n := &fakeNVML{devices: []rundir.Device{{Index: 0}}, sample: func(int, func(int) bool) (Sample, error) {
		if calls.Add(1) == 1 {
			time.Sleep(stall)
		}
		return Sample{}, nil
	}}
	path := filepath.Join(t.TempDir(), "x.csv")
	s := StartSampler(t.Context(), n, 100, path, nil)
	for calls.Load() < 20 {
		time.Sleep(time.Millisecond)
	}
	if _, err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	var times []int64
	for _, row := range readSamples(t, path) {
		at, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, at)
	}
	// The tick of the time of the stall comes at its end, the next by the clock.
	if took := times[10] - times[2]; times[1]-times[0] != stall.Nanoseconds() || took != (80*time.Millisecond).Nanoseconds() {
		t.Errorf("after a stall of %d ns 8 periods at 100 Hz took %d ns", times[1]-times[0], took)
	}
}

func TestSamplerRefused(t *testing.T) {
	one := []rundir.Device{{Index: 0}}
	quiet := func(int, func(int) bool) (Sample, error) { return Sample{}, nil }
	dir := t.TempDir()
	for name, c := range map[string]struct {
		n    *fakeNVML
		hz   float64
		path string
		want string
	}{
		"no rate":   {&fakeNVML{devices: one, sample: quiet}, 0, filepath.Join(dir, "a"), "0 samples per second is not a possible rate"},
		"no folder": {&fakeNVML{devices: one, sample: quiet}, 10, filepath.Join(dir, "no", "a"), "write NVML samples: "},
		"no GPU":    {&fakeNVML{failed: errors.New("gone")}, 10, filepath.Join(dir, "b"), "1 NVML samples are incomplete, the first: gone"},
	} {
		rows, err := StartSampler(t.Context(), c.n, c.hz, c.path, nil).Stop()
		if rows != 0 || err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
		if _, err := os.Stat(c.path); err == nil {
			t.Errorf("%s: a file was made", name)
		}
	}
}

// TestSamplerContext: the end of the context ends the sampling.
func TestSamplerContext(t *testing.T) { synctest.Test(t, testSamplerContext) }

func testSamplerContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := &fakeNVML{devices: []rundir.Device{{Index: 0}}, sample: func(int, func(int) bool) (Sample, error) { return Sample{}, nil }}
	s := StartSampler(ctx, n, 10, filepath.Join(t.TempDir(), "x.csv"), nil)
	cancel()
	<-s.done
}

// BenchmarkSample is the sampler's own cost of one row, NVML's calls aside.
func BenchmarkSample(b *testing.B) {
	full := Sample{new(0.25), new(1.0), new(int64(1 << 40)), new(int64(1980e6)), new(int64(3201e6)), new(699.123), new(36.0), new(int64(4)), new(int64(0))}
	n := &fakeNVML{sample: func(int, func(int) bool) (Sample, error) { return full, nil }}
	s := &Sampler{seen: map[int]*sampleSums{}}
	var row []byte
	b.ReportAllocs()
	for b.Loop() {
		row = s.sample(row[:0], n, 0, nil)
	}
}
