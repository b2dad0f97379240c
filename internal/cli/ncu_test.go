package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// ncuFile is a file of testdata/ncu.
func ncuFile(t *testing.T, name string) string { return exported(t, "../ncu/"+name) }

// page returns the bytes of a page of testdata/ncu.
func page(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(ncuFile(t, "pages/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestProfile follows a user from the two captures of a run to what bounds the kernels.
func TestProfile(t *testing.T) {
	t.Parallel()
	p := newStored(t, various[:1])
	p.wantLike(0, `.*tiled_matmul[^\n]*,memory,l1,[^\n]*,l1tex__data_pipe_lsu_wavefronts\.avg[^\n]*\n[^\n]*transpose_naive[^\n]*,memory,l2,[^\n]*,lts__xbar2lts_cycles_active\.avg.*`, `run both \(newest\)\nnote: 4 of 4 profiled launches matched to the timeline; their kernels take 44\.8 % of its kernel time\n`,
		"query", "bottlenecks", "-f", "csv")
	if got := p.ok("query", "top-kernels", "--with-ncu", "-f", "csv"); !whole(`rank,[^\n]*share_ratio,bound,limiter,roof_ratio,profiled_ratio,occupancy_ratio,profiled_count,role,family\n1,"tiled_matmul[^\n]*,memory,l1,0\.8[^\n]*\n2,"saxpy[^\n]*,,,,,,,[^\n]*\n.*`).MatchString(got) {
		t.Errorf("--with-ncu: %s", got)
	}
	if got := p.ok("query", "top-kernels", "-f", "csv"); strings.Contains(got, "limiter") {
		t.Errorf("without: %s", got)
	}
	p.wantLike(0, `.*note +4 kernel launches profiled by Nsight Compute\n.*`, "", "show", "--facts", "both")
	p.want(result{2, "", "prof: query bottlenecks: invalid argument: --roof is a share: 0.6 for 60 %\n"}, "query", "bottlenecks", "--run", "both", "--roof", "60")
	p.want(result{2, "", "prof: invalid argument: --roof \"abc\" is not a number\n"}, "query", "bottlenecks", "--run", "both", "--roof", "abc")
	p.wantLike(0, `[^\n]*\n`, `note: nothing has --launch 9; the run has the profiled launches 0 to 3\n`, "query", "kernel-metrics", "--run", "both", "--launch", "9", "-f", "csv")
	p.wantLike(0, `[^\n]*\n`, `note: nothing has --metric nosuch\*; .*`, "query", "kernel-metrics", "--run", "both", "--metric", "nosuch*", "-f", "csv")
	p.wantLike(0, `[^\n]*\n`, `note: no operations were measured: profile with ncu --set roofline or full\n`, "query", "roofline", "--run", "both", "-f", "csv")
	p.wantLike(0, `[^\n]*\n`, `note: no range or graph was profiled as a whole: .*`, "query", "region-metrics", "--run", "both", "-f", "csv")
	p.ok("rm", "both")
	for _, table := range []string{"ncu_launch", "ncu_metric", "ncu_metric_name", "ncu_range", "ncu_rule", "ncu_rule_metric", "ncu_section", "kernel_spelling"} {
		if got := p.sql("SELECT count(*) FROM " + table); got != "count_star()\n0\n" {
			t.Errorf("after rm, %s holds %s", table, got)
		}
	}
}

// TestPages holds how pages, logs and reports lie side by side in folders.
func TestPages(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{"kernels.raw-base.csv", "kernels.raw.csv", "kernels.details.csv"} {
		for _, folder := range []string{"as-named/ncu", "plain/"} { // ncu.raw.csv and raw.csv
			end := strings.TrimPrefix(name, "kernels")
			if folder == "plain/" {
				end = end[1:]
			}
			write(t, p.path(folder+end), page(t, name))
		}
	}
	for _, folder := range []string{"as-named", "plain"} {
		p.wantLike(0, folder+"\n", `.*rows from 3 source.*`, "ingest", "--run", folder, folder)
		got := p.ok("query", "kernel-metrics", "--run", folder, "--metric", "gpu__time_duration.sum", "-f", "csv")
		if strings.Count(got, "\n") != 3 || !strings.Contains(got, ",gpu__time_duration.sum,276512,ns,") {
			t.Errorf("%s: the most precise page does not come first: %s", folder, got)
		}
		if folder == "as-named" {
			p.ok("rm", folder)
		}
	}
	// A report is read in place of pages of it, and another name of the same capture is noticed.
	write(t, p.path("r/kernels.ncu-rep"), unpacked(t, "../ncu/kernels-prefill.ncu-rep.gz"))
	write(t, p.path("r/kernels.raw-base.csv"), unpacked(t, "../ncu/kernels-prefill.raw-base.csv.gz"))
	p.wantLike(0, "r\n", `warning: skipped, because the report next to them is of the same capture: r/kernels.raw-base.csv\n.*rows from 1 source.*`, "ingest", "--run", "r", "r")
	write(t, p.path("s/a.csv"), unpacked(t, "../ncu/kernels-prefill.raw-base.csv.gz"))
	write(t, p.path("s/b.ncu-rep"), append(unpacked(t, "../ncu/kernels-prefill.ncu-rep.gz"), 0))
	p.wantLike(0, "s\n", `.*if they are the same capture, it counts twice: s/a.csv, s/b.ncu-rep\n.*`, "ingest", "--run", "s", "s")
	p.want(result{0, "r\n", ncuFile(t, "kernels-prefill.ncu-rep.gz") + " is already in the warehouse, as run r; nothing to do, and no run again was made (to store it with other options or another name, first prof rm r)\n"},
		"ingest", "--run", "again", ncuFile(t, "kernels-prefill.ncu-rep.gz"))
}

// TestOddProfiles holds what becomes of captures that failed, were cut off or are none.
func TestOddProfiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.wantLike(0, "f\n", `warning: \S+failed-nvtx.log: the capture failed: No kernels were profiled\.\n.*`, "ingest", "--run", "f", ncuFile(t, "pages/failed-nvtx.log"))
	if got := p.ok("query", "sources", "--run", "f", "-f", "csv"); !strings.Contains(got, ",failed,No kernels were profiled.") {
		t.Errorf("sources: %s", got)
	}
	p.wantLike(0, `[^\n]*\n`, `note: the run has no kernels profiled by Nsight Compute; .*\nnote: .* is failed: No kernels were profiled\.\n`, "query", "bottlenecks", "--run", "f", "-f", "csv")
	whole := unpacked(t, "../ncu/kernels-prefill.ncu-rep.gz")
	write(t, p.path("cut.ncu-rep"), whole[:len(whole)/2])
	p.wantLike(0, "c\n", `warning: cut.ncu-rep: the report is cut off: its last \d+ bytes are part of a result; the 1 results before that are stored\n.*`, "ingest", "--run", "c", "cut.ncu-rep")
	p.wantLike(0, `[^\n]*\n[^\n]*\n`, `.*note: cut.ncu-rep is partial: the report is cut off.*`, "query", "bottlenecks", "--run", "c", "-f", "csv")
	p.wantLike(1, "", `prof: \S+report.log: it has no results: .* ingest that report\n`, "ingest", ncuFile(t, "pages/report.log"))
	p.wantLike(1, "", `prof: .*summary page.*without --print-summary\n`, "ingest", ncuFile(t, "pages/summary.csv"))
	write(t, p.path("text.log"), []byte("==PROF== Connected to process 1 (/a)\n  k() (1, 1, 1)x(1, 1, 1)\n    Section: GPU Speed Of Light Throughput\n    Metric Name Metric Unit\n"))
	p.wantLike(1, "", `prof: text.log: it has no results that prof reads: ncu printed tables for people; use --csv, or write a report with -o\n`, "ingest", "text.log")
	write(t, p.path("junk.ncu-rep"), bytes.Repeat([]byte("NVR\x00\xff"), 100))
	p.wantLike(1, "", `prof: junk.ncu-rep: byte \d+: the report is damaged: .*\n`, "ingest", "junk.ncu-rep")
}
