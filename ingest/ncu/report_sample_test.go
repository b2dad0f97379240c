package ncu_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"prof/ingest/rows/rowstest"
)

// courseOf adds up the samples of a result, by metric, and holds them to follow each other.
func courseOf(t *testing.T, k *rowstest.Kept, launch int64) (sum map[string]float64, from, to map[string]int64) {
	t.Helper()
	sum, from, to = map[string]float64{}, map[string]int64{}, map[string]int64{}
	for _, r := range k.Table("ncu_sample").Where(func(r rowstest.Row) bool { return r.Int("launch_id") == launch }) {
		name, start := r.Text("metric_id.name"), r.Int("start_ns")
		if _, begun := from[name]; !begun {
			from[name] = start
		} else if start != to[name] {
			t.Errorf("%s: a sample begins at %d, the last one ended at %d", name, start, to[name])
		}
		to[name] = r.Int("end_ns")
		sum[name] += r.Get("value").(float64) * float64(r.Int("sample_count"))
	}
	return sum, from, to
}

// TestSamples: the samples of a kernel begin before it, end after it, and those of a count add up to the metric's own value.
func TestSamples(t *testing.T) {
	k, _ := stored(t, "../../testdata/ncu/pmsampling.ncu-rep.gz")
	for launch := int64(1); launch <= 2; launch++ {
		own := map[string]float64{}
		for _, r := range k.Table("ncu_metric").Where(func(r rowstest.Row) bool { return r.Int("launch_id") == launch }) {
			own[r.Text("metric_id.name")], _ = r.Get("value").(float64)
		}
		sum, from, to := courseOf(t, k, launch)
		counts := 0
		for name, v := range sum {
			if duration := int64(own["gpu__time_duration.sum"]); from[name] > 0 || from[name] < -1504 || to[name] < duration || to[name] > duration+2*1504 {
				t.Errorf("launch %d: %s was sampled from %d to %d of %d ns", launch, name, from[name], to[name], duration)
			}
			if total, has := own[name]; has && strings.HasSuffix(name, ".sum") {
				counts++
				if math.Abs(v-total) > 1e-9*total {
					t.Errorf("launch %d: the samples of %s add up to %g of %g", launch, name, v, total)
				}
			}
		}
		if len(sum) < 25 || counts < 4 {
			t.Errorf("launch %d: %d metrics, %d counts", launch, len(sum), counts)
		}
	}
	labels := k.Table("ncu_section").Is("section", "PmSampling").Is("label", "DRAM Throughput").Texts("metric_id.name")
	if want := "FBSP.TriageCompute.dramc__throughput.avg.pct_of_peak_sustained_elapsed"; len(labels) != 1 || labels[0] != want {
		t.Errorf("DRAM Throughput is %q", labels)
	}
}

// sampledKernel makes a report of a kernel that ran from 10,000 to 10,000 + n x 100 ns, with n samples of 100 ns and ten before and after it.
func sampledKernel(n int, value func(i int) float64) []byte {
	var times []uint64
	for i := -10; i < n+10; i++ {
		times = append(times, uint64(10_000+i*100))
	}
	return sampledAt(uint64(10_000+n*100), times, func(i int) float64 { return value(i - 10) })
}

// sampledAt makes a report of a kernel that ran from 10,000 ns, with samples that begin at these times.
func sampledAt(end uint64, times []uint64, value func(i int) float64) []byte {
	at := func(time uint64, value []byte) []byte {
		return messageField(3, messageField(1, uintField(5, time)), messageField(2, value))
	}
	list := [][]byte{uintField(1, 2)}
	for i, t := range times {
		list = append(list, at(t, doubleField(3, value(i))))
	}
	return oneKernel([]string{"profiler__timestamp_workload_start_0", "profiler__timestamp_workload_end_0", "pmsampling:sm__cycles_active.sum"}, uintField(1, 7),
		messageField(13, uintField(1, 0), at(10_000, doubleField(3, 0))), messageField(13, uintField(1, 1), at(end, doubleField(3, 0))), messageField(13, list...))
}

// TestSamplesBackwards: no time counts twice where the times of samples go back.
func TestSamplesBackwards(t *testing.T) {
	k, _ := stored(t, saved(t, "samples.ncu-rep", sampledAt(10_500, []uint64{10_000, 10_100, 10_200, 9_900, 10_300, 10_400, 10_500}, func(i int) float64 { return float64(i) })))
	k.Table("ncu_sample").Expect(t, "start_ns end_ns value", "0|100|0", "100|200|1", "300|400|4", "400|500|5")
}

// TestSamplesBounded: of many samples neighbours are put together; none is lost, and their mean stays.
func TestSamplesBounded(t *testing.T) {
	for _, c := range []struct {
		n           int
		value       func(i int) float64
		least, most int
	}{
		{20, func(int) float64 { return 0 }, 1, 1},
		{20, func(i int) float64 { return float64(i) }, 20, 20},
		{512, func(i int) float64 { return float64(i) }, 512, 512},
		{513, func(i int) float64 { return float64(i) }, 257, 257},
		{100_000, func(i int) float64 { return float64(i % 7) }, 256, 512},
		{100_000, func(i int) float64 { return float64(i / 50_000) }, 2, 2},
	} {
		k, _ := stored(t, saved(t, "samples.ncu-rep", sampledKernel(c.n, c.value)))
		want, count := 0.0, int64(0)
		for i := range c.n {
			want += c.value(i)
		}
		rows := k.Table("ncu_sample")
		for _, r := range rows {
			count += r.Int("sample_count")
		}
		sum, from, to := courseOf(t, k, 1)
		const name = "pmsampling:sm__cycles_active.sum"
		if got := sum[name]; math.Abs(got-want) > 1e-9*want || count != int64(c.n) || from[name] != 0 || to[name] != int64(c.n)*100 || len(rows) < c.least || len(rows) > c.most {
			t.Errorf("%d samples: %d rows of %d samples from %d to %d, sum %g of %g", c.n, len(rows), count, from[name], to[name], got, want)
		}
		k.Table("source_part").Is("part", "samples while kernels ran").Expect(t, "read_count stored_count", fmt.Sprintf("%d|%d", c.n, c.n))
	}
}
