package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Files that the workload writes are kept as the last recording left them, with size and hash, and nothing else is.
func TestCaptureKeep(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	write(t, p.path("secret"), []byte("not in the folder"))
	if err := errors.Join(os.Mkdir(p.path("work"), 0o755), os.MkdirAll(p.path("work/out/deep"), 0o755)); err != nil {
		t.Fatal(err)
	}
	write(t, p.path("work/out/old.json"), []byte("old"))
	write(t, p.path("work/out/changed.json"), []byte("old"))
	write(t, p.path("work/work.sh"), []byte(`n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n
printf "pass $n" >out/changed.json
printf "pass $n" >out/deep/"a b.json"
if [ $n = 1 ]; then printf first >out/first.json; fi
printf no >out/deep/no.txt
mkfifo out/pipe.json; ln -s ../../secret out/leads-out.json; ln -s changed.json out/link.json; head -c 3000000 /dev/zero >out/large.json
:
`))
	cmd := p.command("--home", p.path(".prof"), "capture", "--run", "r", "--baseline", "--mode", "light", "--max-artifact-size", "4MB", "--keep", "./out/**/*.json", "--keep", "**/nothing.*", "--", "sh", "work.sh")
	cmd.Dir = p.path("work")
	got := finish(t, cmd, cmd.Run)
	if got.code != 0 || !strings.Contains(got.err, "warning: --keep **/nothing.*: no recording wrote such a file") || !strings.Contains(got.err, "files of --keep that were not kept: 2, the first is out/leads-out.json: ") {
		t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
	}
	const sum = "[0-9a-f]{64}"
	want := `path,pass,size_bytes,sha256,reason\nout/changed.json,nsys-1,6,` + sum + `,\nout/deep/a b.json,nsys-1,6,` + sum + `,\nout/first.json,baseline-1,5,a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e,\n` +
		`out/large.json,baseline-1,3000000,` + sum + `,\nout/leads-out.json,baseline-1,,,[^\n]+\nout/link.json,nsys-1,6,` + sum + `,\nout/pipe.json,baseline-1,,,it is not a regular file\n`
	if got := p.sql("SELECT path, pass, size_bytes, sha256, reason FROM kept_files('r')"); !whole(want).MatchString(got) {
		t.Errorf("kept:\n%s", got)
	}
	kept := p.path(".prof/runs/r/kept/")
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
	if shown := p.ok("show", "--facts", "r"); !strings.Contains(shown, "kept         5 files (3.0 MB), 2 not kept; prof query kept-files") {
		t.Errorf("show:\n%s", shown)
	}
	// Another warehouse knows them too, and prune treats them as captured files.
	p.ok("--home", p.path("other"), "ingest", ".prof/runs/r")
	if got := p.ok("--home", p.path("other"), "query", "kept-files", "--run", "r", "--top", "2", "--format", "csv"); strings.Count(got, "\n") != 3 {
		t.Errorf("in another warehouse:\n%s", got)
	}
	p.ok("prune", "--keep", "0", "--yes")
	if !exists(filepath.Join(kept, "out/large.json.zst")) || exists(filepath.Join(kept, "out/large.json")) {
		t.Errorf("prune left %q", listing(t, kept))
	}
}

// What does not fit is not kept, and an earlier copy stays; what lies in prof's own folder is none of the workload's.
func TestCaptureKeepBounds(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	write(t, p.path("work.sh"), []byte("n=$(($(cat n 2>/dev/null || echo 0) + 2000000)); echo $n >n; head -c $n /dev/zero >grows\n"))
	got := p.run("capture", "--run", "r", "--mode", "light", "--no-ingest", "--repeats", "2", "--max-artifact-size", "5MB", "--keep", "**", "--", "sh", "work.sh")
	if got.code != 0 || !strings.Contains(got.err, "nsys-2: files of --keep that were not kept: 1, the first is grows: there is no room for it (--max-artifact-size)\n") {
		t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
	}
	if kept := listing(t, p.path(".prof/runs/r/kept")); fmt.Sprint(kept) != "[grows n]" || len(read(t, p.path(".prof/runs/r/kept/grows"))) != 2000000 || string(read(t, p.path(".prof/runs/r/kept/n"))) != "4000000\n" {
		t.Errorf("kept: %q", kept)
	}
	for _, pattern := range []string{"/etc/*", "../*", "a/../../b", "[", ""} {
		p.wantLike(2, "", `prof: .*--keep is ".*": it must be a pattern of files below the working folder, such as 'out/\*\*/\*.json'\n`, "capture", "--keep", pattern, "--", "true")
	}
	if err := syscall.Mkfifo(p.path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := p.run("capture", "--run", "s", "--mode", "light", "--no-ingest", "--keep", "pipe", "--keep", "pipe/*", "--", "true"); got.code != 0 || strings.Contains(got.err, "not kept") {
		t.Errorf("a pipe that was there before: exit %d, stderr:\n%s", got.code, got.err)
	}
}
