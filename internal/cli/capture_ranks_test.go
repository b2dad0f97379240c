package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/capture/capturetest"
)

// Of a job of two ranks one runs under ncu, which profiles no kernel that waits for the other.
func TestCaptureRanks(t *testing.T) {
	t.Parallel()
	b := newBench(t).storing()
	b.nsys.SQLite = write(t, filepath.Join(b.temp, "ranks.sqlite"), unpacked(t, nccl))
	asked := ""
	b.work = func(p *capturetest.Process) int { // each rank's Python reads what it is to start itself under
		if p.Getenv("PROF_MARK_NCU") != "" {
			asked = strings.Join(slices.DeleteFunc(slices.Clone(p.Env), func(v string) bool { return !strings.HasPrefix(v, "PROF_MARK_NCU") }), "\n")
		}
		return 0
	}
	got := b.prof("capture", "--run", "r", "--ncu-top", "20", "--", "work")
	if got.code != 1 || !strings.Contains(asked, `"/bin/ncu"`) || strings.Contains(asked, "--devices") || strings.Contains(asked, "nccl") || !strings.Contains(asked, "--kernel-id") {
		t.Errorf("exit %d, ncu was asked for:\n%s\n%s", got.code, asked, got.err)
	}
	for _, want := range []string{"top kernels are excluded: each waits for other ranks", "the job has several ranks: Nsight Compute profiles only the rank on GPU 0, which needs Python and a launcher that sets RANK and LOCAL_RANK; the others run without it; launches of kernels that other ranks alone run are not profiled: 1",
		"ncu-1: local rank 0 did not start under Nsight Compute: that takes Python"} {
		if !strings.Contains(got.err, want) {
			t.Errorf("stderr lacks %q:\n%s", want, got.err)
		}
	}
	// A job whose ranks are not known when their Python starts.
	got = b.prof("capture", "--run", "s", "--no-ingest", "--tools", "ncu", "--ncu-kernels", "gemm", "--ncu-rank", "7", "--", "work")
	if want := "ncu-1: rank 7 did not start under Nsight Compute: that takes Python"; got.code != 1 || !strings.Contains(got.err, want) {
		t.Errorf("exit %d, want 1 and %q:\n%s", got.code, want, got.err)
	}
}
