package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"prof/capture/capturetest"
)

// Files that the workload writes are kept as the last recording left them, with size and hash, and nothing else is.
func TestCaptureKeep(t *testing.T) {
	t.Parallel()
	b := newBench(t).storing()
	b.folder = b.path("work")
	leaves(t, b.dir, map[string]string{"secret": "not in the folder", "work/out/deep/": "", "work/out/old.json": "old", "work/out/changed.json": "old"})
	n := 0
	b.work = func(p *capturetest.Process) int {
		n++
		text := fmt.Sprintf("pass %d", n)
		leaves(t, p.Dir, map[string]string{"out/changed.json": text, "out/deep/a b.json": text, "out/deep/no.txt": "no", "out/large.json": strings.Repeat("\x00", 3000000)})
		if n > 1 {
			return 0
		}
		leaves(t, p.Dir, map[string]string{"out/first.json": "first"})
		if err := errors.Join(syscall.Mkfifo(b.path("work/out/pipe.json"), 0o600), os.Symlink("../../secret", b.path("work/out/leads-out.json")), os.Symlink("changed.json", b.path("work/out/link.json"))); err != nil {
			t.Error(err)
		}
		return 0
	}
	got := b.prof("capture", "--run", "r", "--baseline", "--mode", "light", "--max-artifact-size", "4MB", "--keep", "./out/**/*.json", "--keep", "**/nothing.*", "--", "work")
	if got.code != 0 || !strings.Contains(got.err, "warning: --keep **/nothing.*: no recording wrote such a file") || !strings.Contains(got.err, "files of --keep that were not kept: 2, the first is out/leads-out.json: ") {
		t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
	}
	const sum = "[0-9a-f]{64}"
	want := `path,pass,size_bytes,sha256,reason\nout/changed.json,nsys-1,6,` + sum + `,\nout/deep/a b.json,nsys-1,6,` + sum + `,\nout/first.json,baseline-1,5,a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e,\n` +
		`out/large.json,baseline-1,3000000,` + sum + `,\nout/leads-out.json,baseline-1,,,[^\n]+\nout/link.json,nsys-1,6,` + sum + `,\nout/pipe.json,baseline-1,,,it is not a regular file\n`
	if got := b.sql("SELECT path, pass, size_bytes, sha256, reason FROM kept_files('r')"); !whole(want).MatchString(got) {
		t.Errorf("kept:\n%s", got)
	}
	kept := b.path(".prof/runs/r/kept/")
	for name, text := range map[string]string{"out/changed.json": "pass 2", "out/deep/a b.json": "pass 2", "out/first.json": "first", "out/link.json": "pass 2"} {
		if got := string(read(t, filepath.Join(kept, name))); got != text {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{"out/old.json", "out/deep/no.txt", "out/leads-out.json", "out/pipe.json"} {
		if exists(filepath.Join(kept, name)) {
			t.Errorf("%s is kept", name)
		}
	}
	if st, err := os.Lstat(filepath.Join(kept, "out/link.json")); err != nil || !st.Mode().IsRegular() {
		t.Errorf("the copy of a link: %v %v", st, err)
	}
	if shown := b.ok("show", "--facts", "r"); !strings.Contains(shown, "kept         5 files (3.0 MB), 2 not kept; prof query kept-files") {
		t.Errorf("show:\n%s", shown)
	}
	b.ok("prune", "--keep", "0", "--yes") // to which they are captured files
	if !exists(filepath.Join(kept, "out/large.json.zst")) || exists(filepath.Join(kept, "out/large.json")) {
		t.Errorf("prune left %q", listing(t, kept))
	}
}

// What does not fit is not kept, and an earlier copy stays; what lies in prof's own folder is none of the workload's.
func TestCaptureKeepBounds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	size := 0
	b.work = func(p *capturetest.Process) int {
		size += 2000000
		leaves(t, p.Dir, map[string]string{"n": fmt.Sprintln(size), "grows": strings.Repeat("\x00", size)})
		return 0
	}
	got := b.prof("capture", "--run", "r", "--mode", "light", "--no-ingest", "--repeats", "2", "--max-artifact-size", "5MB", "--keep", "**", "--", "work")
	if got.code != 0 || !strings.Contains(got.err, "nsys-2: files of --keep that were not kept: 1, the first is grows: there is no room for it (--max-artifact-size)\n") {
		t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
	}
	if kept := listing(t, b.path(".prof/runs/r/kept")); fmt.Sprint(kept) != "[grows n]" || len(read(t, b.path(".prof/runs/r/kept/grows"))) != 2000000 || string(read(t, b.path(".prof/runs/r/kept/n"))) != "4000000\n" {
		t.Errorf("kept: %q", kept)
	}
	for _, pattern := range []string{"/etc/*", "../*", "a/../../b", "[", ""} {
		b.wantLike(2, "", `prof: .*--keep is ".*": it must be a pattern of files below the working folder, such as 'out/\*\*/\*.json'\n`, "capture", "--keep", pattern, "--", "work")
	}
	if err := syscall.Mkfifo(b.path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := b.prof("capture", "--run", "s", "--mode", "light", "--no-ingest", "--keep", "pipe", "--keep", "pipe/*", "--", "true"); got.code != 0 || strings.Contains(got.err, "not kept") {
		t.Errorf("a pipe that was there before: exit %d, stderr:\n%s", got.code, got.err)
	}
}
