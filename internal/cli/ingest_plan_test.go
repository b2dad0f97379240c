package cli

import (
	"strings"
	"testing"
)

// TestDryRunStoresNothing holds what --dry-run says with and without a warehouse, and that it leaves both as they are.
func TestDryRunStoresNothing(t *testing.T) {
	t.Parallel()
	empty, filled := newPlace(t), newFilled(t)
	plain := write(t, empty.path("plain.sqlite"), unpacked(t, kernels))
	dry := func(p *place, args ...string) string {
		t.Helper()
		r := p.run(append([]string{"ingest", "--dry-run", "-f", "csv"}, args...)...)
		if r.code != 0 || !strings.Contains(r.err, "nothing was stored") {
			t.Fatalf("%+v", r)
		}
		return r.out
	}
	got := dry(empty, plain)
	for _, want := range []string{"no warehouse yet\n", ",CUPTI_ACTIVITY_KIND_KERNEL,16,\n", "file,form,size_bytes,growth_bytes,part,row_count,remark\n" + plain + ",sqlite,"} {
		if !strings.Contains(got, want) {
			t.Errorf("without a warehouse %q is not in\n%s", want, got)
		}
	}
	if exists(empty.path(".prof")) {
		t.Error("a home was made")
	}
	before := state(filled)
	if got := dry(filled, plain, exported(t, kernels), exported(t, node)); !strings.Contains(got, "run a has this capture; content not checked\n") ||
		!strings.Contains(got, "run a has a file of this size; content not checked; rows not counted in gzip\n") || !strings.Contains(got, "content not checked; no run has a file of this size; rows") {
		t.Errorf("with a warehouse:\n%s", got)
	}
	if state(filled) != before {
		t.Error("the warehouse changed")
	}
	if r := empty.run("ingest", "--dry-run", empty.path("none")); r.code != 1 || !strings.Contains(r.err, "there is no such file") {
		t.Errorf("of a file that is not there: %+v", r)
	}
}
