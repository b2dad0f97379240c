package cli

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"prof/internal/sample"
)

// limited runs a command under a limit of the shell. -f limits the blocks of a file, of 512 bytes or of 1 KiB as the shell has it: beyond that it is as if
// the disk were full.
func (p *place) limited(limit string, args ...string) result {
	p.t.Helper()
	if testing.CoverMode() != "" {
		p.t.Skip("there is no room for what the process covered either, as it says on stderr")
	}
	cmd := p.command(args...)
	shell := exec.Command("sh", append([]string{"-c", `ulimit ` + limit + `; exec "$@"`, "sh", built}, p.homed(args)...)...)
	shell.Dir, shell.Env = cmd.Dir, cmd.Env
	return finish(p.t, shell, shell.Run)
}

// TestOutputsSurvive: where a file cannot be written whole, the one of before stays, and nothing is left aside.
func TestOutputsSurvive(t *testing.T) {
	t.Parallel()
	p := reading(t, filled)
	for _, args := range sample.Of([][]string{
		{"report", "a", "--out", "out"}, {"model", exported(t, "../model/deepseek-ocr.config.json"), "--out", "out"}, {"diff", "a", "a", "--out", "out/diff.md"},
		{"check", "a", "--baseline", "a", "--rule", "stage.prefill.gpu_span_ns <= +5%", "--out", "out/check.md"}, {"trend", "--out", "out/trend.html", "--workload", "a"},
	}, 2) {
		p.run(args...)
		before := contentsOf(t, p.path("out"))
		if len(before) == 0 {
			t.Fatalf("%q wrote nothing", args)
		}
		r := p.limited("-f 0", args...)
		if r.code == 0 || strings.Count(r.err, "file too large") != 1 || strings.Contains(r.err, "out/.") {
			t.Errorf("%q without room: %+v", args, r)
		}
		if after := contentsOf(t, p.path("out")); !slices.Equal(after, before) {
			t.Errorf("%q without room left %q, before %q", args, after, before)
		}
	}
}

// TestAddressSpace: where a batch system limits the address space, prof does its work in it, or says what it needs before it begins.
func TestAddressSpace(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.env = append(p.env, "GOMAXPROCS=64", "SLURM_CPUS_ON_NODE=64")
	if r := p.limited("-v 3600000", "runs"); r.code != exitFailed || r.out != "" || !strings.HasPrefix(r.err, "prof: the address space is limited to 3.43 GiB (ulimit -v): prof reserves up to 3.50 GiB") {
		t.Errorf("in too little: %+v", r)
	}
	if r := p.limited("-v 3700000", "ingest", "--run", "a", exported(t, kernels)); r.code != exitOK {
		t.Errorf("in little: %+v", r)
	}
}

// contentsOf lists the files below a folder with their sizes, and says which of them are empty.
func contentsOf(t *testing.T, dir string) (out []string) {
	t.Helper()
	for _, name := range listing(t, dir) {
		out = append(out, fmt.Sprintf("%s %d", name, len(read(t, filepath.Join(dir, name)))))
	}
	return out
}

// TestOutputsElsewhere: an output is not written through a symbolic link, and one to a pipe or to /dev/stdout works as it is.
func TestOutputsElsewhere(t *testing.T) {
	t.Parallel()
	p := reading(t, filled)
	precious := write(t, p.path("precious"), []byte("precious"))
	for _, err := range []error{os.MkdirAll(p.path("there"), 0o755), os.Symlink("there", p.path("folder")), os.Symlink(precious, p.path("there/report.md")), os.Symlink(precious, p.path("diff.md")), syscall.Mkfifo(p.path("pipe.md"), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p.wantLike(1, ".*", `prof: folder is a symbolic link: name the file or folder that it leads to\n`, "report", "a", "--out", "folder")
	p.wantLike(1, ".*", `.*prof: there/report.md is a symbolic link: [^\n]*\n`, "report", "a", "--out", "there", "--file", "report.md")
	p.wantLike(1, ".*", `.*prof: diff.md is a symbolic link: [^\n]*\n`, "diff", "a", "a", "--out", "diff.md")
	if got := string(read(t, precious)); got != "precious" {
		t.Errorf("the file behind a link holds %q", got)
	}
	p.ok("diff", "a", "a", "--out", "file.md")
	want := string(read(t, p.path("file.md")))
	if got := p.process("diff", "a", "a", "--format", "md", "--out", "/dev/stdout"); got != (result{0, want + "/dev/stdout\n", ""}) {
		t.Errorf("/dev/stdout gave %+v, want %q", got, want)
	}
	said := make(chan string)
	go func() {
		text, err := os.ReadFile(p.path("pipe.md"))
		said <- fmt.Sprint(string(text), err)
	}()
	p.ok("diff", "a", "a", "--out", "pipe.md")
	if got := <-said; got != want+"<nil>" {
		t.Errorf("a pipe gave %q, want %q", got, want)
	}
}

// TestChangesWithoutRoom: a change for which there is no room is not made, and one line says so.
func TestChangesWithoutRoom(t *testing.T) {
	t.Parallel()
	type change struct {
		blocks int
		args   []string
	}
	var changes []change
	for _, args := range [][]string{{"tag", "a", "x=y"}, {"baseline", "set", "m", "a"}, {"rm", "a"}} {
		for _, blocks := range []int{0, 80, 400} {
			changes = append(changes, change{blocks, args})
		}
	}
	const want = `prof: nothing was changed, for nothing can be stored in \S+/.prof: file too large; free some space and try again\n`
	p := newFilled(t)
	before := state(p)
	for _, c := range sample.Of(changes, 2) {
		if r := p.limited(fmt.Sprintf("-f %d", c.blocks), c.args...); r.code != 1 || r.out != "" || !whole(want).MatchString(r.err) {
			t.Errorf("%q with %d blocks: %+v", c.args, c.blocks, r)
		}
		if after := state(p); after != before {
			t.Fatalf("%q with %d blocks: the warehouse holds\n%s\nbefore\n%s", c.args, c.blocks, after, before)
		}
	}
}

// TestRights: a home that prof makes is its user's alone, or with --shared also the group's, whatever the umask; the files of a capture too.
func TestRights(t *testing.T) {
	t.Parallel()
	const private, shared = 0o700 | fs.ModeDir, 0o770 | fs.ModeDir | fs.ModeSetgid
	small := write(t, filepath.Join(t.TempDir(), "small.sqlite"), unpacked(t, "../foreign/minimal.sqlite.gz"))
	for name, c := range map[string]struct {
		umask        string
		args         []string
		folder, file fs.FileMode
	}{
		"private": {"000", nil, private, 0o600},
		"shared":  {"022", []string{"--shared"}, shared, 0o660},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "NSYS_FAKE_REPORT="+small)
			if err := os.RemoveAll(p.path(".prof")); err != nil {
				t.Fatal(err)
			}
			shell := func(args ...string) {
				t.Helper()
				cmd := p.command(args...)
				cmd.Args = append([]string{"sh", "-c", "umask " + c.umask + `; exec "$0" "$@"`, built}, args...)
				cmd.Path = "/bin/sh"
				if r := finish(t, cmd, cmd.Run); r.code != 0 {
					t.Fatalf("%q: %+v", args, r)
				}
			}
			shell(append(append([]string{"capture"}, c.args...), "--run", "r", "--tools", "nsys,ncu", "--ncu-kernels", ".", "--auto-stages", "--", "sh", "-c", "echo {} >.prof/runs/r/nsys/report-1.facts.json")...)
			if name == "shared" || *sample.Whole {
				shell("report", "r")
			}
			for _, name := range append(listing(t, p.path(".prof")), "") {
				st, err := os.Lstat(p.path(".prof/" + name))
				if err != nil {
					t.Fatal(err)
				}
				if want := map[bool]fs.FileMode{true: c.folder, false: c.file}[st.IsDir()]; st.Mode() != want {
					t.Errorf("umask %s: .prof/%s is %v, want %v", c.umask, name, st.Mode(), want)
				}
			}
		})
	}
	p := newFilled(t)
	p.wantLike(2, "", `prof: --shared is for a home that is made now, and \S+ is there; to share it: chmod .*\n`, "ingest", "--shared", exported(t, node))
}
