package cli

import (
	"strings"
	"testing"
)

// Of a job of two ranks ncu profiles one, and no kernel that waits for the other.
func TestCaptureRanks(t *testing.T) {
	t.Parallel()
	p := fakes(t, "NSYS_FAKE_REPORT="+write(t, t.TempDir()+"/ranks.sqlite", unpacked(t, "nccl2/nccl2.sqlite.gz")))
	got := p.run("capture", "--run", "r", "--ncu-top", "20", "--", "sh", "-c", `echo "$PROF_MARK_NCU_LOCAL_RANK,$(ls "${PYTHONPATH%%:*}"/prof_mark/ncu.py | wc -l)" >>ranks`)
	asked := string(read(t, p.path("asked")))
	if got.code != 0 || !strings.Contains(asked, "--devices\n0\n") || !strings.Contains(asked, "$:^(1)$\n--launch-count\n5\n") || strings.Contains(asked, "nccl") {
		t.Errorf("exit %d, ncu was asked for:\n%s", got.code, asked)
	}
	if got := string(read(t, p.path("ranks"))); got != ",0\n0,1\n" {
		t.Errorf("the workload was told of ranks, and had the helper, in the passes of nsys and ncu: %q", got)
	}
	for _, want := range []string{"top kernels are excluded: each waits for other ranks", "the job has several ranks: Nsight Compute profiles only the rank on GPU 0; the others run without it if their launcher sets RANK and LOCAL_RANK; launches of kernels that other ranks alone run are not profiled: 1"} {
		if !strings.Contains(got.err, want) {
			t.Errorf("stderr lacks %q:\n%s", want, got.err)
		}
	}
}
