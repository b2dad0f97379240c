package cli

import (
	"os"
	"path/filepath"
	"testing"

	"prof/internal/testkit"
)

// TestDoctorFiles holds that files are looked at without being stored: each capture for itself, with 1 where one is not whole.
func TestDoctorFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	whole, lost, burst := testkit.Path("lost/steps-full.trace.json.gz"), testkit.Path("lost/tp4-rank0-only.sqlite.gz"), testkit.Path("lost/burst.trace.json.gz")
	p.wantLike(0, `whole: all launches have their GPU work.*\n`, "", "doctor", whole)
	p.wantLike(1, `not whole: 18 of 24 launches in decode have no GPU work in the capture \(processes 102, 103, 104\)\n.*of 6 of its 24 passes.*250 pieces of GPU work in decode ran after work.*`, "", "doctor", lost, burst)
	p.wantLike(1, `(?s)\{.*"kind":"launches-without-work".*`, "", "doctor", "--json", lost)
	p.wantLike(2, "", `prof: --lake takes no files.*`, "doctor", "--lake", lost)
	if _, err := os.Stat(filepath.Join(p.path(""), ".prof")); err == nil {
		t.Error("a home was made")
	}
}
