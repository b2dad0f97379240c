package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/internal/exports"
	"prof/internal/testkit"
)

// TestEightRanks holds what is said of eight ranks of which rank 5 is late: as they were captured, four on each of two GPUs, and with a GPU each.
func TestEightRanks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	shared, apart := testkit.Path("eight"), filepath.Join(t.TempDir(), "apart")
	if err := os.CopyFS(apart, os.DirFS(shared)); err != nil {
		t.Fatal(err)
	}
	traces := filepath.Join("prof", "trace-1")
	if err := os.RemoveAll(filepath.Join(apart, traces)); err != nil {
		t.Fatal(err)
	}
	if err := exports.Apart(filepath.Join(apart, traces), filepath.Join(shared, traces)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		run, folder   string
		gpus          float64
		title, advice string
		note          string // of processes that share a GPU; "" for none
	}{
		{"shared", shared, 2, "Ranks wait for rank 5 in collectives", "find what makes rank 5 late", "2 GPUs are shared, each by up to 4 processes: the kernels of one take longer while those of the others run"},
		{"apart", apart, 8, "GPUs wait for GPU 5 in collectives", "get GPU 5 to the collectives in time", ""},
	} {
		p.ok("ingest", "--run", c.run, c.folder)
		var late, passes, use rowsOf
		p.decoded(&late, "query", "late-ranks", "--run", c.run, "--format", "json")
		if r := late.Rows[0]; r["range"] != "decode" || r["rank"] != "rank 5" || number(r["share_ratio"]) != 1 || number(r["slowest_count"]) != 2 || number(r["device"]) != map[string]float64{"shared": 1, "apart": 5}[c.run] {
			t.Errorf("%s: late: %v", c.run, r)
		}
		p.decoded(&passes, "query", "stragglers", "--run", c.run, "--format", "json")
		for _, r := range passes.Rows {
			if r["range"] == "decode" && r["is_warmup"] == false && (r["slowest"] != "rank 5" || number(r["last_count"]) != number(r["calls"])) {
				t.Errorf("%s: %v", c.run, r)
			}
		}
		p.decoded(&use, "query", "mfu", "--run", c.run, "--format", "json")
		for _, r := range use.Rows { // 989.4 TFLOP/s each
			if number(r["device_count"]) != c.gpus || number(r["peak_flop_per_s"]) != c.gpus*989.4e12 {
				t.Errorf("%s: MFU: %v", c.run, r)
			}
		}
		if x := p.findings(c.run)[0]; x.ID != "collective-wait" || x.Stage != "decode" || x.Title != c.title {
			t.Errorf("%s: %+v, not %s", c.run, x, c.title)
		}
		text := strings.Join(strings.Fields(p.ok("explain", c.run)), " ")
		if !strings.Contains(text, "try: "+c.advice) || !strings.Contains(text, "decode: rank 5 is slow") {
			t.Errorf("%s: explain: %s", c.run, text)
		}
		if said := strings.Contains(strings.Join(strings.Fields(p.ok("show", c.run)), " "), "GPUs are shared"); said != (c.note != "") || said && !strings.Contains(text, c.note) {
			t.Errorf("%s: processes that share a GPU: %v in show; explain: %s", c.run, said, text)
		}
	}
}
