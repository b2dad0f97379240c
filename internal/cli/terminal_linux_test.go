package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// mountTmpfs mounts a small file system, where that is allowed.
func mountTmpfs(t *testing.T, dir, size string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no right to mount a small file system here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

func remount(t *testing.T, dir string, flags uintptr, data string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, data); err != nil {
		t.Fatal(err)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	home := p.path("small/.prof")
	mountTmpfs(t, p.path("small"), "10m")
	fill(t, home)
	p.env = []string{"PROF_HOME=" + home}
	before := state(p)
	gz := exported(t, llama)
	plain := write(t, p.path("plain.sqlite"), unpacked(t, llama))
	for _, path := range []string{gz, plain} { // one runs out while it is unpacked, the other while rows are stored
		p.wantLike(1, "", `prof: the disk of \Q`+home+`\E is full, or a limit of this user is reached; free some space and ingest again \(nothing was stored\): [^\n]+\n`, "ingest", "--run", "b", path)
		if after := state(p); after != before {
			t.Errorf("the warehouse changed:\n%s\n%s", before, after)
		}
	}
	remount(t, p.path("small"), 0, "size=200m")
	p.ok("ingest", "--run", "b", exported(t, node))
	if got := p.sql("SELECT name FROM run ORDER BY name"); got != "name\na\nb\n" {
		t.Errorf("with more space: %q", got)
	}
	// No room even for an empty warehouse: none is made.
	tiny := p.path("tiny")
	mountTmpfs(t, tiny, "64k")
	p.env = []string{"PROF_HOME=" + tiny + "/.prof"}
	r := p.run("ingest", plain)
	if r.code != 1 || r.out != "" || strings.Count(r.err, "\n") > 2 || !strings.Contains(strings.ToLower(r.err), "no space left on device") {
		t.Errorf("%+v", r)
	}
	remount(t, tiny, 0, "size=200m")
	p.ok("ingest", "--run", "b", write(t, p.path("env.json"), []byte(`{"gpu": "NVIDIA H200", "cuda": "13.0"}`)))
}

func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	home := p.path("ro/.prof")
	mountTmpfs(t, p.path("ro"), "64m")
	fill(t, home)
	remount(t, p.path("ro"), syscall.MS_RDONLY, "size=64m")
	p.env = []string{"PROF_HOME=" + home}
	before := state(p)
	denied := result{1, "", "prof: " + home + "/warehouse.duckdb: no permission to open it: check the rights of the folder, or name another home with --home: permission denied\n"}
	for _, args := range [][]string{{"ingest", exported(t, node)}, {"tag", "a", "k=v"}, {"rm", "a"}} {
		p.want(denied, args...)
	}
	if got := p.ok("query", "top-kernels", "--run", "a", "-f", "csv"); strings.Count(got, "\n") < 3 {
		t.Errorf("top-kernels: %q", got)
	}
	if after := state(p); after != before {
		t.Errorf("the warehouse changed:\n%s\n%s", before, after)
	}
	other := p.path("ro/other")
	p.want(result{1, "", "prof: make the home " + other + ": mkdir " + other + ": read-only file system\n"}, "--home", other, "ingest", exported(t, node))
}

// terminal is the two ends of a pseudo-terminal of the given width.
func terminal(t *testing.T, columns uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	ioctl := func(req uintptr, arg unsafe.Pointer) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), req, uintptr(arg)); errno != 0 {
			t.Skipf("no pseudo-terminals here: %v", errno)
		}
	}
	var unlock, number int32
	ioctl(syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	ioctl(syscall.TIOCGPTN, unsafe.Pointer(&number))
	size := [4]uint16{50, columns}
	ioctl(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	return master, slave
}

// onTerminal runs prof with stdout and stderr on a terminal and gives all that it drew.
func onTerminal(p *place, columns uint16, args ...string) string {
	p.t.Helper()
	master, slave := terminal(p.t.(*testing.T), columns)
	drawn := make(chan string, 1)
	go func() {
		var b bytes.Buffer
		_, err := io.Copy(&b, master)
		if err != nil && !errors.Is(err, syscall.EIO) { // EIO: the other end is closed
			fmt.Fprint(&b, err)
		}
		drawn <- b.String()
	}()
	code := p.runOn(strings.NewReader(""), slave, slave, args...)
	slave.Close()
	out := <-drawn
	if code != 0 {
		p.t.Errorf("prof %q: exit %d: %q", args, code, out)
	}
	return strings.ReplaceAll(out, "\r\n", "\n")
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	args := []string{"query", "top-kernels", "--run", "a"}
	p.env = []string{"COLUMNS=300"}
	plain := p.ok(args...)
	p.env = nil
	wide := p.ok(append(args, "--wide")...)
	if strings.Contains(plain, "\x1b") {
		t.Errorf("escapes in a pipe: %q", plain)
	}
	if got := onTerminal(p, 300, args...); !strings.Contains(got, "\x1b[") {
		t.Errorf("no color on a terminal: %q", got)
	}
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		p.env = []string{env}
		if got := onTerminal(p, 300, args...); got != plain {
			t.Errorf("%s:\n%q\nwant\n%q", env, got, plain)
		}
		for _, line := range strings.Split(onTerminal(p, 100, args...), "\n") {
			if len([]rune(line)) > 100 {
				t.Errorf("%s: %d wide on a terminal of 100: %q", env, len([]rune(line)), line)
			}
		}
		if got := onTerminal(p, 100, append(args, "--wide")...); got != wide {
			t.Errorf("%s: --wide on a terminal of 100:\n%q\nwant\n%q", env, got, wide)
		}
	}
	p.env = []string{"COLUMNS=100"}
	for _, line := range strings.Split(p.ok(args...), "\n") {
		if len([]rune(line)) > 100 {
			t.Errorf("COLUMNS=100: %d wide: %q", len([]rune(line)), line)
		}
	}
}

// TestTerminalOthers holds that no escape in a text reaches a terminal, be it one of prof's own colours; prof's own do.
func TestTerminalOthers(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	p.env = []string{"TERM=xterm"}
	const hostile = `SELECT chr(27) || '[31mred' || chr(27) || '[0m' || chr(27) || '[1m' AS x`
	for _, form := range []string{"csv", "json", "table", "md"} {
		drawn := onTerminal(p, 200, "sql", "--format", form, hostile)
		if strings.Contains(drawn, "\x1b[31m") || strings.Count(drawn, "red") != 1 || form == "csv" && drawn != "x\n\\x1b[31mred\\x1b[0m\\x1b[1m\n" {
			t.Errorf("%s: %q", form, drawn)
		}
		if form == "table" && !strings.Contains(drawn, "\x1b[1m") {
			t.Errorf("no colour: %q", drawn)
		}
	}
}

// TestShowOnTerminals holds that the screen fits terminals, and is coloured there.
func TestShowOnTerminals(t *testing.T) {
	t.Parallel()
	p := reading(t, various)
	code := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, columns := range []uint16{80, 100, 200} {
		drawn := onTerminal(p, columns, "show", "nccl")
		if !strings.Contains(drawn, "\x1b[1m") {
			t.Errorf("no colour in %d columns", columns)
		}
		for _, line := range strings.Split(code.ReplaceAllString(drawn, ""), "\n") {
			if n := len([]rune(line)); n > int(columns) {
				t.Errorf("%d wide in %d columns: %q", n, columns, line)
			}
		}
	}
	if !strings.Contains(p.ok("show", "nccl"), "gpus         2 x NVIDIA H200\n") || !strings.Contains(p.ok("show", "nccl"), "over 2 GPUs") {
		t.Errorf("of two GPUs:\n%s", p.ok("show", "nccl"))
	}
}

// TestSpins holds that nothing of the progress that a terminal is shown stays there. That pipes are shown none shows wherever tests compare all of stderr.
func TestSpins(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	drawn := onTerminal(p, 200, "ingest", "--run", "b", "--with-osrt", "--warmup", "0", exported(t, node))
	at := strings.LastIndex(drawn, "\r\x1b[K")
	if at >= 0 && (strings.ContainsAny(drawn[at:], "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") || !strings.Contains(drawn, "deriving facts")) {
		t.Errorf("an ingest drew %q", drawn)
	}
	// TestShowCold shows what this says of a capture.
	if got := p.sql("SELECT warmup_count FROM workload"); got != "warmup_count\n0\n" {
		t.Errorf("--warmup 0 is stored as %q", got)
	}
}

// TestPrune: what prune packs can be stored anew. Runs tagged keep, captures made with --no-ingest, those of a run that was removed, and reports that
// could not be read stay whatever the limit; on a terminal nothing is done without --yes.
func TestPrune(t *testing.T) {
	t.Parallel()
	b := newBench(t).storing()
	b.nsys.How = "vary"
	for _, args := range [][]string{{"--run", "kept", "--tag", "keep=yes", "--tools", "ncu", "--ncu-kernels", "saxpy"}, {"--run", "r", "--mode", "light"}, {"--run", "unstored", "--mode", "light", "--no-ingest"}} {
		if r := b.prof(append(append([]string{"capture"}, args...), "--", "work")...); r.code != 0 {
			t.Fatalf("%q: exit %d: %s", args, r.code, r.err)
		}
	}
	before, stored := listing(t, b.path(".prof/runs")), counts(b.place)
	onTerminal := func(args ...string) string {
		master, slave := terminal(t, 100)
		b.output = slave
		r := b.prof(append([]string{"prune", "--keep", "0"}, args...)...)
		b.output = nil
		slave.Close()
		drawn, err := io.ReadAll(master)
		if r.code != 0 || !errors.Is(err, syscall.EIO) {
			t.Errorf("%q: exit %d, %v", args, r.code, err)
		}
		return string(drawn) + r.err
	}
	const said = `kept: kept: it is protected\n(kept: r/nsys/report-2.qdstrm: the warehouse does not have it\n)?kept: unstored: the warehouse does not have it\n`
	const packed, deleted = `compress r/nsys/report-1.sqlite \([0-9.]+ MB\): [^\n]*\n`, `delete r/nsys/report-1.sqlite.zst \([0-9.]+ MB\): [^\n]*\n`
	b.wantLike(0, packed, said+`dry run: 1 file, .* nothing was changed; --yes applies it\n`, "prune", "--keep", "0", "--dry-run")
	if drawn := onTerminal(); !strings.Contains(drawn, "compress r/nsys/report-1.sqlite") || !strings.Contains(drawn, "nothing was changed; --yes applies it") {
		t.Errorf("on a terminal:\n%s", drawn)
	}
	if after := listing(t, b.path(".prof/runs")); !slices.Equal(after, before) {
		t.Fatalf("a dry run changed files:\n%q\n%q", after, before)
	}
	b.wantLike(0, packed, said+`compressed 1 and deleted 0 files; .*\n`, "prune", "--keep", "0")
	if got := b.ok("ingest", "--replace", b.path(".prof/runs/r")); got != "r\n" || counts(b.place) != stored {
		t.Errorf("stored anew as %q:\n%s\nwant\n%s", got, counts(b.place), stored)
	}
	before = append(before, strings.TrimPrefix(write(t, b.path(".prof/runs/r/nsys/report-2.qdstrm"), []byte("recorded")), b.path(".prof/runs")+"/"))
	b.wantLike(0, deleted, said+`.*compressed 0 and deleted 1 files; .*\n`, "prune", "--keep", "0", "--max-total", "1B")
	b.wantLike(2, "", "prof: --dry-run and --yes exclude each other\n", "prune", "--dry-run", "--yes")
	b.wantLike(1, "", `prof: --not-stored nosuch: there is no such capture in .*\n`, "prune", "--not-stored", "nosuch")
	if drawn := onTerminal("--max-total", "1B", "--yes", "--not-stored", "unstored"); !strings.Contains(drawn, "deleted 1 files") {
		t.Errorf("a run that was named:\n%s", drawn)
	}
	slices.Sort(before)
	want := slices.DeleteFunc(before, func(path string) bool { return strings.HasSuffix(path, ".sqlite") })
	if after := slices.Sorted(slices.Values(listing(t, b.path(".prof/runs")))); !slices.Equal(after, want) {
		t.Errorf("the runs hold %q, want %q", after, want)
	}
}

// TestPlotTerminal holds that a terminal gets no SVG.
func TestPlotTerminal(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	_, slave := terminal(t, 80)
	defer slave.Close()
	var errs bytes.Buffer
	if code := p.runOn(strings.NewReader(""), slave, &errs, "plot", "timeline", "a"); code != 2 || !strings.Contains(errs.String(), "name the picture with --out FILE.svg") {
		t.Errorf("code %d, %s", code, errs.String())
	}
}
