package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"prof/internal/testkit"
)

// TestAdd: what --add and rm --source say. That the answers are right is TestGrown of queries.
func TestAdd(t *testing.T) {
	t.Parallel()
	raw, details, sums := ncuFile(t, "pages/kernels.raw.csv"), ncuFile(t, "pages/kernels.details.csv"), []string{exported(t, "kernels/stats/kernels_cuda_gpu_kern_sum.csv"), exported(t, "kernels/stats/kernels_cuda_gpu_kern_gb_sum.csv")}
	p := newStored(t, append(slices.Clone(two), testkit.Run{Name: "pages", Files: []string{raw}, TrueSums: true}, testkit.Run{Name: "sums", Files: sums, TrueSums: true}))
	report := ncuFile(t, "kernels-prefill.ncu-rep.gz")
	p.want(result{2, "", "prof: --add takes the --run to add to, and not --replace\n"}, "ingest", "--add", report)
	p.want(result{2, "", "prof: --add takes the --run to add to, and not --replace\n"}, "ingest", "--run", "a", "--add", "--replace", report)
	p.want(result{1, "", "prof: no such run: \"b\"; did you mean a?\n"}, "ingest", "--run", "b", "--add", report)
	p.wantLike(0, "sums\n", `run sums already has .*/kernels_\*\.csv; nothing to do\n`, append([]string{"ingest", "--run", "@latest", "--add"}, sums...)...)
	before := state(p)
	p.wantLike(0, "a\n", "run a already has .*\nadded to run a: \\d+ rows from 2 sources, .*\n", "ingest", "--run", "a", "--add", exported(t, kernels), report, ncuFile(t, "kernels-range.ncu-rep.gz"))
	p.want(result{0, "a\n", "run a already has " + report + "; nothing to do\n"}, "ingest", "--run", "a", "--add", report)
	if got := p.ok("query", "sources", "--run", "a", "-f", "csv"); strings.Count(got, "\n") != 4 || !strings.Contains(got, ",added_at,") {
		t.Errorf("sources:\n%s", got)
	}
	if got := p.ok("show", "--facts", "a", "--wide"); !strings.Contains(got, "added at") {
		t.Errorf("show --facts:\n%s", got)
	}
	p.want(result{1, "", "prof: run a: the run has no such source: 4; it has 1, 2, 3, see `prof show a --facts`\n"}, "rm", "a", "--source", "4")
	p.want(result{1, "", "prof: run a would have no capture left: to remove it, `prof rm a`\n"}, "rm", "a", "--source", "1", "--source", "2", "--source", "3")
	p.want(result{2, "", "prof: rm --source takes one run\n"}, "rm", "a", "b", "--source", "1")
	p.wantLike(0, "", "removed source 2 of a: .*\nremoved source 3 of a: .*\n", "rm", "a", "--source", "2", "--source", "3")
	if after := state(p); after != before {
		t.Errorf("after rm --source the warehouse differs:\n%s\n%s", before, after)
	}
	p.want(result{1, "", "prof: the warehouse has part of this already: " + exported(t, node) + " is in run llama; omit it, or `prof rm llama` to store all of these files as one run\n"}, "ingest", "--run", "a", "--add", exported(t, node))
	if after := state(p); after != before {
		t.Error("a refused file changed the warehouse")
	}
	// Pages of one capture depend on each other.
	p.want(result{1, "", "prof: " + details + ": run pages has " + raw + " of the same capture: to have all of them, `prof rm pages --source 1`, then add them together\n"},
		"ingest", "--run", "pages", "--add", details)
	p.ok("ingest", "--run", "pages", "--replace", raw, details)
	p.want(result{0, "pages\n", "run pages already has " + raw + "; nothing to do\nrun pages already has " + details + "; nothing to do\n"}, "ingest", "--run", "pages", "--add", raw, details)
	// So do sums: those of one capture, added up, would count its work again.
	other := exported(t, "kernels/stats/kernels_cuda_api_sum.csv")
	p.wantLike(1, "", "prof: \\Q"+other+"\\E: run sums has [^ ]*kernels_\\*.csv of the same capture: to have all of them, `prof rm sums --source 1`, then add them together\n", "ingest", "--run", "sums", "--add", other)
	if got := p.run(append([]string{"ingest", "--run", "sums", "--add", other}, sums...)...); got.code != 1 || !strings.Contains(got.err, "of the same capture") {
		t.Errorf("more sums of a capture: %+v", got)
	}
	p.want(result{1, "", "prof: run pages: source 2 has other pages of the capture of source 1: take out both (--source 1 --source 2)\n"}, "rm", "pages", "--source", "1")
}

// statsOf is what nsys stats reported of the capture kernels.
func statsOf(t *testing.T, report string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "nsys", "kernels", "stats", "kernels_cuda_"+report+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestDeviceName: GPUs that pages of Nsight Compute do not name get a name, and what follows from it.
func TestDeviceName(t *testing.T) {
	t.Parallel()
	text := bytes.ReplaceAll(page(t, "kernels.details.csv"), []byte(`"9.0"`), []byte(`"12.0"`))
	p := newStored(t, []testkit.Run{filled[0], textRun("c", "k.details.csv", string(text))})
	write(t, p.path("k.details.csv"), text)
	if got := p.ok("query", "devices", "--run", "c", "-f", "csv"); !strings.Contains(got, "\n1,0,,12.0,") {
		t.Errorf("devices without a name:\n%s", got)
	}
	if got := p.ok("query", "ceilings", "--run", "c", "-f", "csv"); strings.Count(got, "\n") != 1 {
		t.Errorf("ceilings of a GPU without a name:\n%s", got)
	}
	before := state(p)
	const no = "prof: the GPU cannot be named so: "
	p.want(result{1, "", no + "device_peak has no \"RTX 5090\"; did you mean NVIDIA GeForce RTX 5090? (docs/warehouse.md says how to add a row)\n"}, "ingest", "--run", "c", "--device-name", "RTX 5090")
	p.want(result{1, "", no + "GPU 0 of run c has compute capability 12.0, NVIDIA H200 has 9.0\n"}, "ingest", "--run", "c", "--device-name", "NVIDIA H200")
	p.want(result{1, "", no + "a capture of run a says that GPU 0 is NVIDIA H200, not NVIDIA L4\n"}, "ingest", "--run", "a", "--device-name", "NVIDIA L4")
	p.want(result{1, "", "prof: options without files add facts to a stored run: name it with --run, or give captures too\n"}, "ingest", "--device-name", "NVIDIA L4")
	p.want(result{0, "a\n", "nothing to do: run a has all of it\n"}, "ingest", "--run", "a", "--device-name", "NVIDIA H200")
	if after := state(p); after != before {
		t.Errorf("names that were refused changed the warehouse:\n%s\n%s", before, after)
	}
	p.want(result{0, "c\n", "named 1 GPU of run c: NVIDIA RTX PRO 6000 Blackwell Server Edition\n"}, "ingest", "--run", "c", "--device-name", "NVIDIA RTX PRO 6000 Blackwell Server Edition")
	p.want(result{0, "c\n", "named 1 GPU of run c: NVIDIA GeForce RTX 5090\n"}, "ingest", "--run", "c", "--device-name", "NVIDIA GeForce RTX 5090") // it was no capture that said the other
	later := p.ok("query", "ceilings", "--run", "c", "-f", "csv") + p.ok("query", "devices", "--run", "c", "-f", "csv") + p.ok("query", "facts", "--run", "c", "-f", "csv")
	if !strings.Contains(later, "NVIDIA GeForce RTX 5090,tensor_bf16,device_peak,209500000000000") || !strings.Contains(later, "1,device.name,NVIDIA GeForce RTX 5090\n") {
		t.Errorf("of a GPU named later:\n%s", later)
	}
	p.ok("ingest", "--run", "c", "--replace", "--device-name", "NVIDIA GeForce RTX 5090", "k.details.csv")
	if now := p.ok("query", "ceilings", "--run", "c", "-f", "csv") + p.ok("query", "devices", "--run", "c", "-f", "csv") + p.ok("query", "facts", "--run", "c", "-f", "csv"); now != later {
		t.Errorf("of a GPU named at once:\n%s\nlater:\n%s", now, later)
	}
}

// TestKilledAdd: killed at any moment, an ingest that adds to a run has left the run as it was, or added all of it.
func TestKilledAdd(t *testing.T) {
	p := newFilled(t)
	args := []string{"ingest", "--run", "a", "--add", ncuFile(t, "kernels-prefill.ncu-rep.gz")}
	before := counts(p)
	was := answers(p, "a")
	killed, complete := 0, ""
	delays := []time.Duration{20 * time.Millisecond, 300 * time.Millisecond} // of about half a second; in the first it cannot be done
	for _, delay := range delays {
		cmd := p.startWriting(args...)
		time.Sleep(delay)
		cmd.Process.Signal(syscall.SIGKILL) // fails when it is done already
		if cmd.Wait() != nil {
			killed++
		}
		p.clearUnfinished()
		if got := counts(p); got != before {
			complete = got
			p.ok("rm", "a", "--source", "2")
		}
		if got := counts(p); got != before {
			t.Fatalf("killed after %v:\n%s\nbefore:\n%s", delay, got, before)
		}
	}
	if answers(p, "a") != was {
		t.Error("after all the kills the run answers something else")
	}
	p.ok(args...)
	if got := counts(p); got == before || complete != "" && complete != got {
		t.Errorf("added:\n%s\nbefore:\n%s\nby one that was killed:\n%s", got, before, complete)
	}
	t.Logf("%d of %d were killed in time", killed, len(delays))
	if killed == 0 {
		t.Errorf("none of %d was killed in time", len(delays))
	}
}
