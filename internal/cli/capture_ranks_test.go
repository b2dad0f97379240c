package cli

import (
	"strings"
	"testing"
)

// Of a job of two ranks ncu profiles one, and no kernel that waits for the other.
func TestCaptureRanks(t *testing.T) {
	t.Parallel()
	p := fakes(t, "NSYS_FAKE_REPORT="+write(t, t.TempDir()+"/ranks.sqlite", unpacked(t, "nccl2/nccl2.sqlite.gz")))
	got := p.run("capture", "--run", "r", "--ncu-top", "20", "--", "sh", "-c", "true")
	asked := string(read(t, p.path("asked")))
	if got.code != 0 || !strings.Contains(asked, "--devices\n0\n") || strings.Contains(asked, "nccl") {
		t.Errorf("exit %d, ncu was asked for:\n%s", got.code, asked)
	}
	for _, want := range []string{"top kernels are excluded: each waits for other ranks", "Nsight Compute profiles GPU 0 only, and the other ranks run free; launches of kernels that other ranks alone run are not profiled: 1"} {
		if !strings.Contains(got.err, want) {
			t.Errorf("stderr lacks %q:\n%s", want, got.err)
		}
	}
}
