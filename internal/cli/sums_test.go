package cli

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// TestSumsOnly follows a user who has nothing but sums of nsys stats: what explain, check and export say of them.
func TestSumsOnly(t *testing.T) {
	t.Parallel()
	sums := statsOf(t, "gpu_kern_sum")
	slower := shared(t, bytes.Replace(sums, []byte(",552288,"), []byte(",652288,"), 1))
	if bytes.Equal(sums, slower) {
		t.Fatalf("no kernel to slow down: %s", sums)
	}
	osrt := textRun("c", "c_osrt_sum.csv", "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n100.0,600,3,200.0,200.0,100,300,100.0,poll\n")
	osrt.Files = []string{"nsys/" + kernels}
	p := reading(t, []testkit.Run{textRun("a", "a_cuda_gpu_kern_sum.csv", string(sums)), textRun("b", "b_cuda_gpu_kern_sum.csv", string(slower)), textRun("facts", "env.json", `{"gpu": "NVIDIA H200", "cuda": "13.0"}`), osrt})
	if got := p.ok("explain", "b", "--wide"); strings.Count(got, "the run has only what nsys stats added up") != 1 || strings.Contains(got, "no device work") || !strings.Contains(got, "no rule was tried: rules need the times of single kernels") {
		t.Errorf("explain: %s", got)
	}
	// The built-in rule is about the sum of GPU work: one sample per side tells nothing, but within what the user knows of noise.
	p.wantLike(4, `cannot tell: 1 of 1 rules against a; none broken\n.*stage\.\*\.gpu_sum_ns: \+7\.7 % from one sample per side.*`, "", "check", "b", "--baseline", "a")
	p.wantLike(3, `regression: 1 of 1 rules broken against a\n.*broken +stage\.\*\.gpu_sum_ns +1\.40 ms +<= \+5% .*`, "", "check", "b", "--baseline", "a", "--assume-noise", "1%")
	p.wantLike(0, `passed: 1 of 1 rules hold against b\n.*`, "", "check", "a", "--baseline", "b", "--assume-noise", "1%")
	p.wantLike(4, `.*stage\.\*\.gpu_span_ns: b has sums of GPU work only: its gpu_span_ns is unknown, gpu_sum_ns and launches are known\n.*`, "", "check", "b", "--wide", "--rule", "stage.*.gpu_span_ns <= 5s")
	p.wantLike(1, "", `note: the run has only what nsys stats added up: .*\nprof: run a has no kernels to export: it has no timeline, only nsys-stats\n`, "export", "a")
	p.wantLike(1, "", `.*prof: run facts has no kernels to export: it has no timeline, only reported\n`, "export", "facts")

	// Sums of OS calls next to a timeline without them.
	for args, want := range map[string]string{"": "1,poll,3,600,", "nsys-stats": "1,poll,3,600,", "nsys": ""} {
		all := []string{"query", "osrt-calls", "--run", "c", "-f", "csv"}
		if args != "" {
			all = append(all, "--source", args)
		}
		if got := p.ok(all...); !strings.Contains(got, want) || want == "" && strings.Count(got, "\n") != 1 {
			t.Errorf("osrt-calls %s: %s", args, got)
		}
	}
	if got := p.ok("show", "c"); !strings.Contains(got, "attribution  exact, 16 kernels") {
		t.Errorf("show: %s", got)
	}
}

// shared writes the shares of a table of nsys stats anew, by the times beside them.
func shared(t *testing.T, table []byte) []byte {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := 0.0
	times := make([]float64, len(rows))
	for i, r := range rows[1:] {
		if times[i+1], err = strconv.ParseFloat(r[1], 64); err != nil {
			t.Fatal(err)
		}
		all += times[i+1]
	}
	var out bytes.Buffer
	for i, r := range rows[1:] {
		r[0] = strconv.FormatFloat(100*times[i+1]/all, 'f', 1, 64)
	}
	if err := csv.NewWriter(&out).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
