package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/urfave/cli/v2"

	"prof/capture"
	"prof/capture/capturetest"
	"prof/capture/ncu"
	"prof/capture/plan"
	"prof/capture/tracer"
	"prof/ingest"
	"prof/internal/exports"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
	"prof/schema/rundir"
)

// bench is a place whose captures run in this process, on a machine with stand-ins for nsys, ncu and python3 and a workload called work. They
// are kept on a shelf, unless that is nil.
type bench struct {
	*place
	temp    string // folder for temporary files
	machine *capturetest.Machine
	nsys    capturetest.Nsys
	ncu     capturetest.Ncu
	work    capturetest.Program // nil: it ends at once
	folder  string              // the working folder
	input   *os.File            // stdin of prof; nil: none
	output  *os.File            // stdout of prof; nil: a file, which the result has
	shelf   *shelf
	stop    *stopper
	asked   func(captureJob) error // called in place of a capture; nil: captures are made
}

func newBench(t testing.TB) *bench {
	t.Helper()
	p, temp := newPlace(t), t.TempDir()
	b := &bench{place: p, temp: temp, machine: capturetest.New(temp), shelf: &shelf{}, folder: p.dir}
	b.nsys.SQLite, b.ncu.Report = standIns(t)
	b.stop = &stopper{exit: func(code int) { t.Errorf("prof was ended with %d", code) }}
	b.stop.ctx, b.stop.cancel = p.t.Context(), func() {}
	b.machine.Install("nsys", func(p *capturetest.Process) int { return b.nsys.Run(p) })
	b.machine.Install("ncu", func(p *capturetest.Process) int { return b.ncu.Run(p) })
	b.machine.Install("python3", capturetest.Python)
	b.machine.Install("true", func(*capturetest.Process) int { return 0 })
	b.machine.Install("work", func(p *capturetest.Process) int {
		if b.work == nil {
			return 0
		}
		return b.work(p)
	})
	return b
}

// standIns are the reports that the stand-ins for nsys and ncu give: those of the program kernels, unpacked once.
func standIns(t testing.TB) (nsys, ncu string) {
	t.Helper()
	dir := filepath.Join(filepath.Dir(built), "stand-ins")
	nsys, ncu = filepath.Join(dir, "kernels.sqlite"), filepath.Join(dir, "kernels.ncu-rep")
	standInsOnce.Do(func() {
		write(t, nsys, unpacked(t, kernels))
		tables, err := exports.ReadFile(nsys)
		if err == nil {
			tables = slices.DeleteFunc(tables, func(x *exports.Table) bool { return x.Name == "META_DATA_CAPTURE" }) // else it is the same capture
			err = exports.WriteTraces(filepath.Join(dir, "traces"), exports.Traced(tables))
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, ncu, unpacked(t, "../ncu/"+ncuReport))
	})
	return nsys, ncu
}

var standInsOnce sync.Once

// tracing has prof's tracer built on the machine: where that is loaded, the workload leaves the traces of the program kernels.
func (b *bench) tracing() *bench {
	b.t.Helper()
	traces := filepath.Join(filepath.Dir(b.nsys.SQLite), "traces")
	b.machine.Build = func(context.Context, tracer.Places) (tracer.Library, error) {
		return tracer.Library{Path: "/lib/tracer.so"}, nil
	}
	b.machine.Install("work", func(p *capturetest.Process) int {
		if to := p.Getenv("PROF_TRACE_DIR"); to != "" {
			if err := os.CopyFS(to, os.DirFS(traces)); err != nil {
				b.t.Error(err)
			}
		}
		if b.work == nil {
			return 0
		}
		return b.work(p)
	})
	return b
}

// storing has captures stored, in a warehouse that is there already.
func (b *bench) storing() *bench {
	b.t.Helper()
	b.shelf = nil
	testkit.CopyHome(b.t, b.path(".prof"))
	return b
}

// prof runs a verb, with the working folder and the environment of the place.
func (b *bench) prof(args ...string) result {
	b.t.Helper()
	b.settle()
	files := [3]*os.File{b.input, b.output}
	for i, name := range []string{os.DevNull, "stdout", "stderr"} {
		if files[i] != nil {
			continue
		}
		path := name
		if i > 0 {
			path = filepath.Join(b.temp, name)
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|os.O_TRUNC, 0o600)
		if err != nil {
			b.t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	args = append([]string{"prof", "--home", b.path(".prof")}, args...)
	p := newProgram(args, files[0], files[1], files[2])
	p.stop, p.dir, p.env = b.stop, b.folder, append([]string{"PATH=/bin", "HOME=" + b.dir, "XDG_CACHE_HOME=" + b.cache}, b.env...)
	p.world = world{machine: b.machine.Capture(p.env), self: capturetest.Self, files: files, asked: b.asked}
	if b.shelf != nil {
		p.world.keeper = b.shelf
	}
	code := p.run(b.t.Context())
	for _, w := range p.read {
		w.Close()
	}
	r := result{code: code, err: string(read(b.t, files[2].Name()))}
	if b.output == nil {
		r.out = string(read(b.t, files[1].Name()))
	}
	return r
}

// manifest is what a capture left in run.json.
func (b *bench) manifest(run string) *rundir.Manifest {
	b.t.Helper()
	m, err := rundir.ReadManifest(b.path(".prof/runs/" + run + "/run.json"))
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// passes are those of run.json, as place.passes has those of the warehouse.
func (b *bench) passes(run string) string {
	b.t.Helper()
	var text strings.Builder
	out := csv.NewWriter(&text)
	for _, p := range b.manifest(run).Passes {
		ended := "-"
		switch {
		case p.ExitCode != nil:
			ended = strconv.Itoa(*p.ExitCode)
		case p.Signal != "":
			ended = p.Signal
		}
		out.Write([]string{p.Name, p.Status, ended, p.Reason})
	}
	out.Flush()
	return text.String()
}

// wantPasses compares the passes of a run with a regular expression.
func (b *bench) wantPasses(run, want string) {
	b.t.Helper()
	if got := b.passes(run); !whole(want).MatchString(got) {
		b.t.Errorf("passes of %s:\n%s\nwant\n%s", run, got, want)
	}
}

// wantLike is place.wantLike of capture.
func (b *bench) wantLike(code int, out, errs string, args ...string) {
	b.t.Helper()
	if got := b.prof(args...); got.code != code || !whole(out).MatchString(got.out) || !whole(errs).MatchString(got.err) {
		b.t.Errorf("prof %q:\ngot  %d %q %q\nwant %d %q %q", args, got.code, got.out, got.err, code, out, errs)
	}
}

// artifacts are what the recordings of a run left.
func (b *bench) artifacts(run string) string {
	b.t.Helper()
	var all []string
	for _, p := range b.manifest(run).Passes {
		for _, a := range p.Artifacts {
			if !exists(b.path(".prof/runs/" + run + "/" + a)) {
				b.t.Errorf("%s of run %s is not there", a, run)
			}
			all = append(all, a)
		}
	}
	return strings.Join(all, " ")
}

// interrupt is Ctrl-C.
func (b *bench) interrupt() { b.stop.hear(syscall.SIGINT) }

// shelf is a warehouse that notes what it was given, and keeps nothing.
type shelf struct {
	stored []string       // runs, with "again" behind one that was stored before
	last   ingest.Options // of what was stored
	suites []queries.SuiteRun
	fails  func(again bool) error // to store; nil: it does not
	slow   string                 // how nsys slowed a stage by much; "" for none
}

func (s *shelf) freeName(_ *cli.Context, _ schema.Home, name string) (string, error) {
	if slices.Contains(s.stored, name) {
		return "", fmt.Errorf("%w: %q", schema.ErrNameTaken, name)
	}
	return name, nil
}

func (s *shelf) store(_ *cli.Context, _ schema.Home, dir string, in ingest.Options, again bool) error {
	if s.fails != nil {
		if err := s.fails(again); err != nil {
			return err
		}
	}
	m, err := rundir.ReadManifest(filepath.Join(dir, rundir.ManifestName))
	if err != nil {
		return err
	}
	run := queries.SuiteRun{Run: in.Name, Status: m.Status, WorkloadKey: m.WorkloadKey, OptionsKey: m.OptionsKey}
	for _, t := range in.Tags {
		if t[0] == "entry" {
			run.Entry = t[1]
		}
	}
	if again {
		in.Name += " again"
	}
	s.last = in
	s.stored, s.suites = append(s.stored, in.Name), append([]queries.SuiteRun{run}, s.suites...)
	return nil
}

func (s *shelf) slowed(*cli.Context, schema.Home, string) (string, error) { return s.slow, nil }

func (s *shelf) plan(_ *cli.Context, _ schema.Home, _ string, c *capture.Session) (ncu.Target, error) {
	m, err := rundir.ReadManifest(filepath.Join(c.Dir(), rundir.ManifestName))
	if err != nil || !slices.ContainsFunc(m.Passes, func(p rundir.Pass) bool {
		return slices.ContainsFunc(p.Artifacts, func(a string) bool { return strings.HasPrefix(a, "prof/") || strings.HasSuffix(a, ".sqlite") })
	}) {
		return ncu.Target{}, err
	}
	return ncu.Target{Launches: []ncu.Launch{{Symbol: "saxpy", Match: 1}}}, nil
}

func (s *shelf) captureSummary(*cli.Context, schema.Home, string, plan.Options) error { return nil }

func (s *shelf) suiteRuns(*cli.Context, schema.Home, string) ([]queries.SuiteRun, error) {
	return s.suites, nil
}

func (s *shelf) suiteSummary(*cli.Context, schema.Home, string) error { return nil }

// exits is a workload that says something on both streams and ends so.
func exits(code int) capturetest.Program {
	return func(p *capturetest.Process) int {
		fmt.Fprintln(p.Stdout, "to stdout")
		fmt.Fprintln(p.Stderr, "to stderr")
		return code
	}
}

// sleeps is a workload that ends only by a signal.
func sleeps(p *capturetest.Process) int {
	exits(0)(p)
	return p.Hang()
}
