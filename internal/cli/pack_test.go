package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestPack: runs go to another home in one file, by import and by ingest, and files that are damaged or of no run change nothing.
func TestPack(t *testing.T) {
	t.Parallel()
	from, to := reading(t, capturedRuns), newPlace(t)
	both := from.path("both.prof.zst")
	from.wantLike(0, "", `wrote 2 runs, \d{3} rows and the reports, to .*both\.prof\.zst\n`, "pack", "w", "repeats", "--out", both)
	if again := from.ok("pack", "repeats", "w", "w", "--out", "-"); again != string(read(t, both)) {
		t.Error("packed again, the bytes differ")
	}
	from.wantLike(0, "", `run repeats \(newest\)\nwrote run repeats, \d{3} rows and the report, to repeats\.prof\.zst\n`, "pack")
	if _, err := os.Stat(from.path("repeats.prof.zst")); err != nil {
		t.Error(err)
	}
	text := zstdOf(t, both)
	for _, want := range []string{"reports/w/report.html", "reports/repeats/report.md", "reports/repeats/env.json", from.ok("report", "repeats", "--out", "-"), from.ok("report", "w", "--out", "-", "--file", "report.html")} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("it has no %.60q", want)
		}
	}
	if exe, err := exec.LookPath("tar"); err != nil || exec.Command("zstd", "--version").Run() != nil {
		t.Log("tar or zstd is not installed: that they open the file goes unchecked")
	} else if out, err := exec.Command(exe, "--zstd", "-tf", both).CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "prof.json\nreports/repeats/assumptions.md\n") {
		t.Errorf("tar: %v: %s", err, out)
	}

	// What is refused makes no home.
	cut := write(t, to.path("cut.prof.zst"), read(t, both)[:len(read(t, both))-100])
	redacted := to.path("redacted.prof.zst")
	from.ok("pack", "w", "--redact", "--out", redacted)
	spoilt := read(t, both)
	spoilt[len(spoilt)/2] ^= 0x55
	bad := write(t, to.path("bad.prof.zst"), spoilt)
	plain := write(t, to.path("plain"), []byte("text"))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"import", cut}, 1, cut + ": runs/.*, byte \\d+ of the unpacked tar: the file is cut short.*"},
		{[]string{"ingest", cut}, 1, cut + ": runs/.*, byte \\d+ of the unpacked tar: the file is cut short.*"},
		{[]string{"import", bad}, 1, bad + ": .*, byte \\d+ of the unpacked tar: .*"},
		{[]string{"import", redacted}, 1, redacted + ": it was packed with --redact, and has reports and no run; tar --zstd -xf opens it"},
		{[]string{"ingest", redacted}, 1, redacted + ": it was packed with --redact, and has reports and no run; tar --zstd -xf opens it"},
		{[]string{"import", plain}, 1, plain + ": not a file of `prof pack`"},
		{[]string{"import", to.path("none")}, 1, ".*none has no runs: a file of `prof pack RUN`, or a folder of `prof export RUN --to parquet --out DIR`, is expected"},
		{[]string{"ingest", both, plain}, 2, both + " is a packed file: ingest it by itself"},
		{[]string{"ingest", both, "--tag", "k=v"}, 2, both + " is a packed file, whose runs are stored as they are: it takes no --tag"},
		{[]string{"ingest", both, "--dry-run"}, 2, both + " is a packed file, whose runs are stored as they are: it takes no --dry-run"},
		{[]string{"ingest", both, "--run", "@b"}, 2, ".*names that begin with @.*"},
	} {
		to.wantLike(c.code, "", "prof: "+c.want+"\n", c.args...)
	}
	if _, err := os.Stat(to.path(".prof")); err == nil {
		t.Error("a home was made for nothing")
	}
	for _, c := range []struct{ want, args string }{
		{"--keep-tag applies to --redact", "pack w --keep-tag k"},
		{"several runs: name the file with --out FILE.prof.zst", "pack w repeats"},
		{"two runs are given, w and --run repeats; pack takes one", "pack w --run repeats"},
	} {
		from.want(result{2, "", "prof: " + c.want + "\n"}, strings.Fields(c.args)...)
	}

	to.want(result{0, "b\n", "imported run b\n"}, "ingest", "--run", "b", from.path("repeats.prof.zst"))
	to.want(result{0, "", "run b is in the warehouse already\nimported run w\n"}, "import", both)
	to.want(result{0, "b\nw\n", "run b is in the warehouse already\nrun w is in the warehouse already\n"}, "ingest", both)
	for run, now := range map[string]string{"repeats": "b", "w": "w"} {
		for _, query := range []string{"top-kernels", "sources"} {
			want := from.ok("query", query, run, "--format", "csv")
			if got := to.ok("query", query, now, "--format", "csv"); got != want {
				t.Errorf("%s of %s:\n%s\nwant\n%s", query, now, got, want)
			}
		}
	}
	write(t, to.path("folder/a.prof.zst"), read(t, both))
	write(t, to.path("folder/k.sqlite"), unpacked(t, kernels))
	if got := to.ok("ingest", "--dry-run", "--wide", "folder"); !strings.Contains(got, "folder/a.prof.zst: it is a file of prof pack, which is ingested by itself: prof ingest FILE\n") {
		t.Errorf("in a folder: %s", got)
	}
	if got := listing(t, to.dir); strings.Contains(strings.Join(got, " "), ".prof~") {
		t.Errorf("left: %q", got)
	}
}

// zstdOf returns the unpacked bytes of a file.
func zstdOf(t *testing.T, path string) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
