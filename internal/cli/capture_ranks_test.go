package cli

import (
	"os/exec"
	"strings"
	"testing"
)

// Of a job of two ranks one runs under ncu, which profiles no kernel that waits for the other.
func TestCaptureRanks(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	p := fakes(t, "NSYS_FAKE_REPORT="+write(t, t.TempDir()+"/ranks.sqlite", unpacked(t, "nccl2/nccl2.sqlite.gz")))
	write(t, p.path("rank.py"), []byte(`import os, sys
under = "ncu" if os.path.exists("asked") else "nothing"
print(sys.argv[1], os.environ["LOCAL_RANK"], under, "PROF_MARK_NCU" in os.environ, file=open("ranks", "a"))
`))
	const job = `for r in 1 0; do RANK=$r LOCAL_RANK=$r python3 rank.py "a b"; done`
	got := p.run("capture", "--run", "r", "--ncu-top", "20", "--", "sh", "-c", job)
	asked := string(read(t, p.path("asked")))
	if got.code != 0 || strings.Contains(asked, "--devices") || !strings.HasSuffix(asked, "rank.py\na b\n") || strings.Contains(asked, "nccl") {
		t.Errorf("exit %d, ncu was asked for:\n%s\n%s", got.code, asked, got.err)
	}
	if got, want := string(read(t, p.path("ranks"))), "a b 1 nothing False\na b 0 nothing False\na b 1 nothing True\na b 0 ncu False\n"; got != want {
		t.Errorf("the ranks ran under\n%swant\n%s", got, want)
	}
	for _, want := range []string{"top kernels are excluded: each waits for other ranks", "the job has several ranks: Nsight Compute profiles only the rank on GPU 0, which needs Python and a launcher that sets RANK and LOCAL_RANK; the others run without it; launches of kernels that other ranks alone run are not profiled: 1"} {
		if !strings.Contains(got.err, want) {
			t.Errorf("stderr lacks %q:\n%s", want, got.err)
		}
	}
	// A job whose ranks are not known when their Python starts.
	got = p.run("capture", "--run", "s", "--tools", "ncu", "--ncu-kernels", "gemm", "--ncu-rank", "7", "--", "sh", "-c", "true")
	if want := "ncu-1: rank 7 did not start under Nsight Compute: that takes Python"; got.code != 1 || !strings.Contains(got.err, want) {
		t.Errorf("exit %d, want 1 and %q:\n%s", got.code, want, got.err)
	}
}
