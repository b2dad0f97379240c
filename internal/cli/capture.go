package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"prof/capture"
	"prof/capture/attach"
	"prof/capture/machine"
	"prof/capture/ncu"
	"prof/capture/plan"
	"prof/ingest"
	"prof/ingest/load"
	"prof/internal/mask"
	"prof/queries"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
	"prof/schema"
	"prof/schema/rundir"
	"prof/schema/terms"
)

// runsName is the folder of the runs' folders in a home.
const runsName = "runs"

// exitInterrupted is the exit code after Ctrl-C, as shells have it.
const exitInterrupted = 130

// exitStatus ends prof with a code of its own; what there is to say has been said.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func (p *program) captureCommand() *cli.Command {
	groups := captureGroups()
	return &cli.Command{
		Name:      "capture",
		Usage:     "run a workload under the profilers and store it as one run",
		ArgsUsage: "-- COMMAND...",
		Description: `Each tool makes a recording of its own, so that none disturbs another: prof's
tracer the timeline, Nsight Systems what only it has where it is asked for.
The workload's output passes through, and prof ends with its exit status.
Ctrl-C stops the workload and keeps what was captured; once more kills it.
Everything is in .prof/runs/NAME. docs/capture.md has recipes.

  prof capture -- python3 run.py --prompt 512
  prof capture --baseline --repeats 3 --auto-stages -- python3 generate.py
  prof capture --mode light --range decode_step -- ./server_bench
  prof capture --serving --ready URL --load 'COMMAND' -- vllm serve MODEL
  prof capture --attach llama --window 20s       # started by prof launch
  prof capture --tools ncu --ncu-kernels '^flash_' -- python3 run.py
  prof capture --suite suite.yaml        # several command lines
  prof capture --dry-run -- vllm serve MODEL

Defaults of these options can be set in .prof/config.yaml, in the form of
the config.yaml in a run's folder.`,
		CustomHelpTemplate: groupedHelp(groups, p.width()),
		Flags:              flagsOf(groups),
		Action:             p.capture,
		OnUsageError:       p.captureUsage,
	}
}

// captureError is an error after which something has been changed, whatever the user has pressed.
type captureError struct{ err error }

func (e *captureError) Error() string { return e.err.Error() }
func (e *captureError) Unwrap() error { return e.err }

// noDashes says how the workload's command is told from the options of a verb.
func noDashes(c *cli.Context) error {
	example := "prof capture -- python3 run.py"
	if c.Command.Name == "launch" {
		example = "prof launch -- vllm serve MODEL"
	}
	return usagef("write the command after --, as in: %s", example)
}

// captureUsage takes the workload's options, where nothing parts them from prof's, for what they are.
func (p *program) captureUsage(c *cli.Context, err error, sub bool) error {
	needsNone := func(a string) bool {
		return a == "--" || strings.HasPrefix(a, "--"+attachName) || strings.HasPrefix(a, "--"+suiteName)
	}
	if !slices.ContainsFunc(p.args, needsNone) {
		return noDashes(c)
	}
	return p.onUsageError(c, err, sub)
}

func (p *program) capture(c *cli.Context) error {
	if c.IsSet(suiteName) {
		return p.captureSuite(c)
	}
	if c.Bool("fresh") {
		return usagef("--fresh is for --suite FILE")
	}
	if c.Bool(attachName) {
		return p.captureAttached(c)
	}
	if !slices.Contains(p.args, "--") {
		return noDashes(c)
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	if err := p.checkPush(c, home); err != nil {
		return err
	}
	o, err := p.captureOptions(c, home, nil)
	if err != nil {
		return err
	}
	argv := c.Args().Slice()
	in, err := p.captureIngest(c, o, argv)
	if err != nil {
		return err
	}
	if in.Name, err = p.keeper().freeName(c, home, in.Name); err != nil {
		return err
	}
	job := captureJob{options: o, argv: argv, in: in, isNamed: c.IsSet("run")}
	if p.world.asked != nil {
		return p.world.asked(job)
	}
	_, err = p.captureOne(c, home, job)
	return err
}

// captureJob is one capture: what to run, how, and how to store it.
type captureJob struct {
	options plan.Options
	argv    []string
	in      ingest.Options
	isNamed bool             // the user chose the name: no other will do
	attach  *attach.Launched // the process that is recorded; nil: argv is started
}

// captureOne captures one run and stores it. The result is nil where nothing could be captured; the error chooses the exit code.
func (p *program) captureOne(c *cli.Context, home schema.Home, job captureJob) (*capture.Result, error) {
	in := job.in
	setup, err := p.captureSetup(home, job)
	if err != nil {
		return nil, err
	}
	if setup.Node, err = p.nodeOf(c); err != nil {
		return nil, err
	}
	var absent error
	if setup.Attach == nil {
		absent = capture.CheckWorkload(p.world.machine, setup.Argv, setup.Dir)
	}
	if c.Bool(dryRunName) && len(setup.Argv) > 0 {
		if job.isNamed {
			absent = errors.Join(absent, capture.CheckRun(setup))
		}
		return nil, p.captureDryRun(c, home, job.options, setup, absent)
	}
	if absent != nil {
		return nil, absent
	}
	if err := home.Make(); err != nil {
		return nil, err
	}
	interrupts := make(chan os.Signal, 4)
	// Nobody may read what prof says any more; the capture goes on.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	setup.Interrupts = interrupts
	s, err := capture.New(c.Context, job.options, setup)
	for n := 2; errors.Is(err, capture.ErrRunExists) && !job.isNamed; n++ { // another of this second
		setup.Run = fmt.Sprintf("%s-%d", in.Name, n)
		s, err = capture.New(c.Context, job.options, setup)
	}
	if err != nil {
		return nil, err
	}
	in.Name = setup.Run
	stored, err := p.captureAll(c, s, home, in, interrupts)
	res, finish := s.Finish()
	if err = errors.Join(err, finish); err != nil {
		return res, &captureError{fmt.Errorf("%w; the capture so far is in %s", err, s.Dir())}
	}
	return res, p.captured(c, home, in, s.Options(), res, stored)
}

// notChosen is why ncu's pass is not run where the timeline is not stored; "" where it is.
func notChosen(c *cli.Context) string {
	switch {
	case c.IsSet(nodeRankName):
		return "the kernels for ncu are chosen from the stored timeline, and a node of a job is stored with the others: name kernels with --ncu-kernels"
	case c.Bool("no-ingest"):
		return "the kernels for ncu are chosen from the stored timeline: omit --no-ingest, or name kernels with --ncu-kernels"
	}
	return ""
}

// captureAll runs the passes, which Ctrl-C stops, but not what keeps their capture. The run is stored before ncu's pass, which is told by
// it what to profile.
func (p *program) captureAll(c *cli.Context, s *capture.Session, home schema.Home, in ingest.Options, interrupts chan os.Signal) (stored bool, err error) {
	before := factTimes(in)
	done := p.stop.capturing(interrupts)
	err = s.Timeline(c.Context)
	done()
	if err != nil {
		return false, err
	}
	stored, isFresh, err := p.cheaper(c, s, home, in, interrupts)
	if err != nil {
		return stored, err
	}
	plan, reason := ncu.Target{}, ""
	switch {
	case !s.WantsKernels() || s.Stopped():
	case notChosen(c) != "":
		reason = notChosen(c)
	default:
		facts, _ := written(in)
		if !isFresh {
			if err := p.keeper().store(c, home, s.Dir(), facts, stored); err != nil {
				reason = "cannot choose kernels for ncu: the timeline could not be stored: " + oneLine(err)
				break
			}
		}
		stored = true
		if plan, err = p.keeper().plan(c, home, in.Name, s); err != nil {
			reason = "cannot choose kernels for ncu: " + oneLine(err)
		}
	}
	if err := c.Context.Err(); err != nil {
		return stored, err
	}
	defer p.stop.capturing(interrupts)()
	// A workload that is ended early may leave half a file of facts in the place of a whole one.
	after := factTimes(in)
	plan.ToEnd = len(after) > 0 && !s.Options().UsesTimeline() || !maps.Equal(before, after) || len(after) < len(in.Models)+len(in.Workloads)
	if err := s.Kernels(c.Context, plan, reason); err != nil {
		return stored, err
	}
	return stored, s.Rest(c.Context)
}

// cheaper stores the timeline where nsys made it, and has prof's own tracer record one more where the recordings without a profiler show that a stage takes
// much longer under nsys. isFresh reports whether what is stored is all that there is.
func (p *program) cheaper(c *cli.Context, s *capture.Session, home schema.Home, in ingest.Options, interrupts chan os.Signal) (stored, isFresh bool, err error) {
	if !s.SlowedByNsys() || c.Bool("no-ingest") || c.IsSet(nodeRankName) || c.Context.Err() != nil {
		return false, false, nil
	}
	facts, _ := written(in)
	if err := p.keeper().store(c, home, s.Dir(), facts, false); err != nil {
		return false, false, nil // it is tried again, and said then
	}
	why, err := p.keeper().slowed(c, home, in.Name)
	if err != nil {
		p.warn("how much nsys slowed the workload is unknown: " + oneLine(err))
	}
	if why == "" {
		return true, true, nil
	}
	defer p.stop.capturing(interrupts)()
	return true, false, s.Cheaper(c.Context, why)
}

// slowed says of the stage that nsys slowed most, where that is by much, how much; "" where none is.
func (p *program) slowed(c *cli.Context, home schema.Home, run string) (why string, err error) {
	w, err := p.openHome(c, home, false)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	f, err := runNamed(c.Context, w, "overhead", run)
	if err != nil {
		return "", err
	}
	costs, err := judge.OverheadRows.Of(f)
	if err != nil {
		return "", err
	}
	most := terms.MuchOverhead
	for _, r := range costs {
		if r.Tool == rundir.ToolNsys && r.Stage != "" && r.OverheadRatio != nil && *r.OverheadRatio > most {
			most, why = *r.OverheadRatio, fmt.Sprintf("%s takes %.0f %% longer under Nsight Systems than alone", r.Stage, 100**r.OverheadRatio)
		}
	}
	return why, nil
}

// captured stores the run, says how it went, and chooses the exit code.
func (p *program) captured(c *cli.Context, home schema.Home, in ingest.Options, o plan.Options, res *capture.Result, stored bool) error {
	failed := len(res.Failed) > 0
	in, missing := written(in)
	for _, path := range missing {
		p.warn(path + ": there is no such file or folder: no recording of the workload has written it; without it, facts are missing from the run")
	}
	if c.IsSet(nodeRankName) {
		fmt.Fprintf(p.err, "captured in %s; when the folders of all nodes are on one machine, store them as one run: %s\n", res.Dir, nodesCommand(c, in, res.Dir))
	} else if c.Bool("no-ingest") || p.stop.byTerm() {
		fmt.Fprintf(p.err, "captured in %s; to store it: %s\n", res.Dir, ingestCommand(c, in, false, res.Dir))
	} else if err := p.keeper().store(c, home, res.Dir, in, stored); err != nil {
		fmt.Fprintf(p.err, "prof: the capture is in %s but was not stored: %s; to try again: %s\n", res.Dir, oneLine(err), ingestCommand(c, in, stored, res.Dir))
		failed = true
	} else if err := p.keeper().captureSummary(c, home, in.Name, o); err != nil {
		return err
	} else {
		fmt.Fprintf(p.err, "next: %s\n", mask.Command(append(profWords(c), "show", in.Name)))
		if c.Bool("push") {
			if err := p.pushCaptured(c, home, in.Name); err != nil {
				fmt.Fprintf(p.err, "prof: the run is stored but was not pushed: %s; to try again: %s\n", oneLine(err), mask.Command(append(profWords(c), "push", in.Name)))
				failed = true
			}
		}
	}
	switch {
	case p.stop.byTerm():
		return exitStatus(exitSignal + int(syscall.SIGTERM))
	case res.Stopped:
		return exitStatus(exitInterrupted)
	case res.Exit != nil:
		return exitStatus(*res.Exit)
	case failed:
		return exitStatus(exitFailed)
	}
	return nil
}

// checkPush refuses --push where the run could not be pushed, before the workload runs.
func (p *program) checkPush(c *cli.Context, home schema.Home) error {
	switch {
	case !c.Bool("push"):
		return nil
	case c.Bool("no-ingest"), c.IsSet(nodeRankName):
		return usagef("--push pushes what is stored: omit --no-ingest and --node-rank")
	case home.Lake != nil:
		return usagef("the warehouse is a lake already (%s), into which the run goes: omit --push", home.Lake)
	case p.getenv(lakeVariable) == "":
		return usagef("--push needs the lake's address in %s", lakeVariable)
	}
	_, err := p.otherLake(p.getenv(lakeVariable))
	return err
}

// pushCaptured pushes a run that was captured and stored.
func (p *program) pushCaptured(c *cli.Context, home schema.Home, name string) (err error) {
	to, err := p.otherLake(p.getenv(lakeVariable))
	if err != nil {
		return err
	}
	w, err := p.openHome(c, home, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	run, err := w.Resolve(c.Context, name)
	if err != nil {
		return err
	}
	return p.pushRuns(c, w, to, []schema.Run{run})
}

// nodeRankName is the option that makes a capture one of several, which are ingested together.
const nodeRankName = "node-rank"

// nodeOf reads which node of a job this is; nil where the capture is a run by itself.
func (p *program) nodeOf(c *cli.Context) (*rundir.Node, error) {
	if !c.IsSet(nodeRankName) {
		if c.IsSet("nodes") || c.IsSet("job") {
			return nil, usagef("--nodes and --job need --node-rank")
		}
		return nil, nil
	}
	n, err := plan.NewNode(c.Int(nodeRankName), c.Int("nodes"), c.String("run"), c.String("job"), p.env)
	if err != nil {
		return nil, &usageError{err}
	}
	return n, nil
}

// nodesCommand stores the folders of all nodes, as far as they are known and few, as one run.
func nodesCommand(c *cli.Context, in ingest.Options, dir string) string {
	n := c.Int("nodes")
	if n < 1 || n > 64 {
		return ingestCommand(c, in, false, dir) + " ... (with the folders of the other nodes)"
	}
	var dirs []string
	for k := range n {
		dirs = append(dirs, strings.TrimSuffix(dir, strconv.Itoa(c.Int(nodeRankName)))+strconv.Itoa(k))
	}
	return ingestCommand(c, in, false, dirs...)
}

// ingestCommand stores a run's folders as capture would have.
func ingestCommand(c *cli.Context, in ingest.Options, again bool, dirs ...string) string {
	args := append(profWords(c), "ingest")
	if again {
		args = append(args, "--replace", "--run", in.Name)
	}
	for _, t := range in.Tags {
		args = append(args, "--tag", t[0]+"="+t[1])
	}
	for _, m := range in.Models {
		args = append(args, "--model", m)
	}
	for _, w := range in.Workloads {
		args = append(args, "--workload", w)
	}
	if in.Load.Assume {
		args = append(args, "--assume")
	}
	if c.IsSet(imageSizeName) {
		args = append(args, "--"+imageSizeName, c.String(imageSizeName))
	}
	for _, name := range []string{"prefill", "decode", "batch", "images", "crops", "warmup"} {
		if c.IsSet(name) && !(name == "warmup" && c.Bool("auto-stages") && c.Int64(name) > 0) {
			args = append(args, "--"+name, fmt.Sprint(c.Int64(name)))
		}
	}
	return mask.Command(append(args, dirs...))
}

// profWords begin a command line of prof that uses the same home.
func profWords(c *cli.Context) []string {
	if home := c.String("home"); home != "" {
		return []string{"prof", "--home", home}
	}
	return []string{"prof"}
}

// storeOptions are what the command line says of how the run is to be stored.
func (p *program) storeOptions(c *cli.Context, o plan.Options) (ingest.Options, error) {
	in := ingest.Options{Name: c.String("run"), ProfVersion: version(), Models: p.paths(c.StringSlice("model")), Workloads: p.paths(c.StringSlice("workload")),
		Load: load.Options{Assume: c.Bool("assume"), Threads: runtime.GOMAXPROCS(0)}}
	if c.IsSet("run") && in.Name == "" {
		return in, usagef("--run needs a name")
	}
	var err error
	if in.Load.Image, err = imageSize(c); err != nil {
		return in, err
	}
	if in.Tags, err = tagsOf(c); err != nil {
		return in, err
	}
	if in.Pass, err = passOf(c); err != nil {
		return in, err
	}
	if o.AutoStages && in.Pass != nil && o.Warmup > 0 {
		in.Pass.Warmup = nil // the helper marks it
		if !slices.ContainsFunc([]string{"prefill", "decode", "batch", "images", "crops"}, c.IsSet) {
			in.Pass = nil
		}
	}
	return in, nil
}

// captureIngest returns how the run is to be stored, before minutes are spent on it.
func (p *program) captureIngest(c *cli.Context, o plan.Options, argv []string) (ingest.Options, error) {
	in, err := p.storeOptions(c, o)
	if err != nil {
		return in, err
	}
	if in.Warn = p.warn; in.Name == "" {
		in.Name = time.Now().UTC().Format("20060102-150405") + "-" + plan.FolderName(capture.WorkloadName(argv))
	}
	now, later := written(in)
	for _, path := range later {
		fmt.Fprintf(p.err, "prof: %s is not there yet: it is read when the workload has written it\n", path)
	}
	return in, errors.Join(ingest.Check(nil, now), plan.CheckManifest(o)) // a mistake in a name must not cost a capture
}

// written leaves those files of facts out of in that the workload has not written, and lists them.
func written(in ingest.Options) (now ingest.Options, missing []string) {
	now = in
	for _, paths := range []*[]string{&now.Models, &now.Workloads} {
		*paths = slices.DeleteFunc(slices.Clone(*paths), func(path string) bool {
			_, err := os.Stat(path)
			if errors.Is(err, fs.ErrNotExist) {
				missing = append(missing, path)
				return true
			}
			return false
		})
	}
	return now, missing
}

// factTimes returns when each file of facts was written; those that are not there are left out.
func factTimes(in ingest.Options) map[string]time.Time {
	out := map[string]time.Time{}
	for _, path := range slices.Concat(in.Models, in.Workloads) {
		if st, err := os.Stat(path); err == nil {
			out[path] = st.ModTime()
		}
	}
	return out
}

// freeName refuses a name that a run has.
func (p *program) freeName(c *cli.Context, home schema.Home, name string) (string, error) {
	if !home.Exists() {
		return name, nil
	}
	w, err := p.openHome(c, home, false)
	if err != nil {
		return "", err
	}
	runs, err := w.Runs(c.Context)
	if err = errors.Join(err, w.Close()); err != nil {
		return "", err
	}
	if slices.ContainsFunc(runs, func(r schema.Run) bool { return r.Name == name }) {
		return "", fmt.Errorf("%w: %q; choose another --run, or `prof rm %s` first", schema.ErrNameTaken, name, name)
	}
	return name, nil
}

// store ingests a run's folder, in place of what was stored of it before.
func (p *program) store(c *cli.Context, home schema.Home, dir string, in ingest.Options, again bool) (err error) {
	w, err := p.openHome(c, home, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	in.Now, in.Replace = time.Now(), again
	if again {
		in.Tags = nil // they are kept
	}
	spin := p.spin("storing the capture")
	in.Load.Progress = spin.rows
	res, err := ingest.Run(c.Context, w, []string{dir}, in)
	spin.end()
	if err == nil && !res.Made {
		err = fmt.Errorf("%s: everything in it is stored already", dir)
		if len(res.Repeated) > 0 {
			err = fmt.Errorf("%s: its captures are already in run %s", dir, res.Repeated[0].Run)
		}
	}
	return err
}

// plan asks the warehouse which launches ncu should profile: early ones if a child of the workload's own process ran them.
func (p *program) plan(c *cli.Context, home schema.Home, run string, s *capture.Session) (out ncu.Target, err error) {
	q, err := queries.Find("ncu-plan")
	if err != nil {
		return out, err
	}
	w, err := p.openHome(c, home, false)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	o := s.Options()
	args := queries.Args{"run": run, "top": fmt.Sprint(o.Ncu.Top), "per_kernel": fmt.Sprint(o.Ncu.Launches)}
	var f *frame.Frame
	ask := func() (rows []planRow, err error) {
		if f, err = queries.Run(c.Context, w, q, args); err != nil {
			return nil, err
		}
		return planRows.Of(f)
	}
	all, err := ask()
	if err != nil {
		return out, err
	}
	pid, several := oneRank(all)
	if several {
		args["process"] = fmt.Sprint(pid)
	} else if !s.BeginsRanks() && slices.ContainsFunc(all, func(r planRow) bool { return !s.Started(r.PID) }) {
		args["early"] = "true"
		p.warn("a child of the command runs the kernels: there Nsight Compute takes 0.1 s for each launch of a chosen kernel until it has profiled the last one; it is faster if you capture the command of that child")
	}
	// Launches are counted, and skipped, where one process alone runs under Nsight Compute, of which all is known.
	isCounted := o.FromStart() && o.TracesGraphNodes() && (several || !slices.ContainsFunc(all, func(r planRow) bool { return r.ProcessCount > 1 }))
	if !isCounted {
		args["from_start"] = "true"
	}
	rows := all
	if len(args) > 3 {
		if rows, err = ask(); err != nil {
			return out, err
		}
	}
	for _, n := range f.Notes {
		p.warn(n)
	}
	if several {
		p.warn(severalRanks(&out, rows, pid, len(all)-len(rows)))
	}
	text, err := fit(&out, rows, isCounted, func() time.Duration { return s.Over(ncu.Takes(o, out)) }, func(top int) ([]planRow, error) {
		args["top"] = fmt.Sprint(top)
		return ask()
	})
	if err == nil && len(out.Launches) == 0 && out.Barred {
		if ncu.AsksGraphs(o) {
			return out, errors.New("all kernels to profile are in CUDA graphs that have conditional nodes, which Nsight Compute profiles as wholes: omit --graph-profiling in --ncu-arg")
		}
		out.Graphs = true
		p.warn("all kernels to profile are in CUDA graphs that have conditional nodes: Nsight Compute profiles graphs as wholes")
	}
	if text != "" {
		if takes := ncu.Takes(o, out); takes > 0 {
			text += fmt.Sprintf("; the last is at %s of the workload: about %s in all", short(int64(out.At)), takes.Round(time.Second))
		}
		fmt.Fprintln(p.err, "prof: "+text)
	}
	return out, err
}

// fit aims at the launches of a plan, or of one of fewer kernels, which ask gives, where that would take over the time that there is. It returns what is
// profiled, in words; "" for nothing.
func fit(out *ncu.Target, rows []planRow, isCounted bool, over func() time.Duration, ask func(top int) ([]planRow, error)) (string, error) {
	wanted := kernelsOf(rows)
	for top := wanted; ; {
		if err := aim(out, rows, isCounted); err != nil {
			return "", err
		}
		more := over()
		if more <= 0 || top <= 1 {
			break
		}
		matched := int64(len(out.Launches))
		for _, l := range out.Launches {
			matched = max(matched, l.Match)
		}
		each := ncu.OneProfiled * time.Duration(matched) / time.Duration(top) // a kernel takes those that are matched for it
		top = max(1, top-int((more+each-1)/each))
		var err error
		if rows, err = ask(top); err != nil {
			return "", err
		}
	}
	n := kernelsOf(rows)
	if n == 0 {
		return "", nil
	}
	text := fmt.Sprintf("Nsight Compute profiles %s of %s, chosen from the timeline", typeset.Plural(int64(len(out.Launches)), "launch", "launches"), typeset.CountOf(int64(n), "kernel"))
	if n < wanted {
		text += fmt.Sprintf(", without %s that --budget has no time for", typeset.CountOf(int64(wanted-n), "kernel"))
	}
	return text, nil
}

// kernelsOf counts the kernels of a plan that are profiled by themselves.
func kernelsOf(rows []planRow) int {
	kernels := map[string]bool{}
	for _, r := range rows {
		if r.Invocation != nil {
			kernels[r.Symbol] = true
		}
	}
	return len(kernels)
}

// aim has a target profile the launches of a plan.
func aim(out *ncu.Target, rows []planRow, isCounted bool) error {
	out.Launches, out.At, out.Before, out.Barred = nil, 0, 0, false
	isTimed := true
	for _, r := range rows {
		if r.Symbol == "" {
			return fmt.Errorf("ncu-plan gave a row without a symbol: %v", r)
		}
		if r.Invocation == nil || r.Match == nil || r.SkipCount == nil {
			out.Barred = true
			continue
		}
		l := ncu.Launch{Symbol: r.Symbol, Invocation: *r.Invocation}
		if isCounted {
			l.Match = *r.Match
		}
		out.Launches = append(out.Launches, l)
		out.Skip, out.Before = *r.SkipCount, max(out.Before, r.BeforeCount) // the same is skipped before all launches of a process
		if isTimed = isTimed && r.RecordingNs != nil; isTimed {
			out.At = max(out.At, time.Duration(*r.RecordingNs))
		}
	}
	if !isTimed {
		out.At = 0
	}
	return nil
}

// severalRanks aims at the one rank of a job whose process the plan names, and says which that is. others are the launches that only other ranks run.
func severalRanks(out *ncu.Target, rows []planRow, pid int64, others int) string {
	out.Device, out.Rank = oneNumber(rows, func(r planRow) *int64 { return r.Device }), oneNumber(rows, func(r planRow) *int64 { return r.RankID })
	text := "the job has several ranks: Nsight Compute profiles only "
	switch {
	case out.Rank != nil:
		text += fmt.Sprintf("rank %d", *out.Rank)
	case out.Device != nil:
		if nth := oneNumber(rows, func(r planRow) *int64 { return r.GPUNth }); nth != nil {
			out.Local = new(*nth - 1)
		}
		text += fmt.Sprintf("the rank on GPU %d", *out.Device)
	default:
		text += fmt.Sprintf("the launches of one rank, process %d", pid)
	}
	text += ", which needs Python and a launcher that sets RANK and LOCAL_RANK; the others run without it"
	if others > 0 {
		text += fmt.Sprintf("; launches of kernels that other ranks alone run are not profiled: %d", others)
	}
	return text
}

// oneRank returns the process that most launches of a plan ran in; several is false where a job has one process or one GPU, whose kernels
// wait for no other rank.
func oneRank(list []planRow) (pid int64, several bool) {
	count := map[int64]int{}
	for _, r := range list {
		several = several || r.ProcessCount > 1 && r.DeviceCount > 1
		count[r.PID]++
	}
	if len(count) == 0 {
		return 0, false
	}
	first := slices.Sorted(maps.Keys(count))
	return slices.MaxFunc(first, func(a, b int64) int { return cmp.Or(cmp.Compare(count[a], count[b]), cmp.Compare(b, a)) }), several
}

// oneNumber returns the one number that all rows have; nil where there are several, or none.
func oneNumber(rows []planRow, of func(planRow) *int64) *int64 {
	var out *int64
	for _, r := range rows {
		n := of(r)
		if n == nil || out != nil && *out != *n {
			return nil
		}
		out = n
	}
	return out
}

// world is what captures meet outside of prof. Where it is zero it is the real one.
type world struct {
	machine machine.Machine // but for its environment
	self    string          // path of prof, which profilers start in the workload's place
	files   [3]*os.File     // stdin, stdout and stderr of workloads
	keeper  keeper
	asked   func(captureJob) error // called in place of a capture
}

// keeper keeps what was captured, and answers what captures ask of earlier ones: the warehouse of a home.
type keeper interface {
	freeName(c *cli.Context, home schema.Home, name string) (string, error)
	store(c *cli.Context, home schema.Home, dir string, in ingest.Options, again bool) error
	slowed(c *cli.Context, home schema.Home, run string) (why string, err error)
	plan(c *cli.Context, home schema.Home, run string, s *capture.Session) (ncu.Target, error)
	captureSummary(c *cli.Context, home schema.Home, run string, o plan.Options) error
	suiteRuns(c *cli.Context, home schema.Home, suite string) ([]queries.SuiteRun, error)
	suiteSummary(c *cli.Context, home schema.Home, suite string) error
}

func (p *program) keeper() keeper {
	if p.world.keeper != nil {
		return p.world.keeper
	}
	return p
}

// captureSetup is what a session needs of this process.
func (p *program) captureSetup(home schema.Home, job captureJob) (capture.Setup, error) {
	dir, err := p.workDir()
	if err != nil {
		return capture.Setup{}, err
	}
	self := p.world.self
	if self == "" {
		if self, err = os.Executable(); err != nil {
			return capture.Setup{}, err
		}
	}
	files := []*os.File{cmp.Or(p.world.files[0], os.Stdin), cmp.Or(p.world.files[1], os.Stdout), cmp.Or(p.world.files[2], os.Stderr)}
	loadDir := dir
	if job.attach != nil {
		dir = job.attach.Dir
	}
	return capture.Setup{Attach: job.attach, LoadDir: loadDir, Runs: filepath.Join(home.Dir, runsName), Run: job.in.Name, Argv: job.argv, Environ: p.env, Dir: dir, Self: self,
		ProfVersion: version(), Files: files, IsResult: ingest.IsBenchmark, Machine: p.world.machine, Talk: func(m string) { fmt.Fprintln(p.err, "prof: "+m) }}, nil
}

// captureSummary tells on stderr, for stdout is the workload's, how each pass went, and what profiling cost.
func (p *program) captureSummary(c *cli.Context, home schema.Home, run string, o plan.Options) (err error) {
	w, err := p.openHome(c, home, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	passes, err := rowsNamed(c.Context, w, passRows, run)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.err, "\nrun %s\n", run)
	for _, r := range passes {
		line := fmt.Sprintf("  %-11s %-12s", r.Pass, r.Status)
		if r.WorkloadNs != nil {
			line += fmt.Sprintf("workload %s, ", short(*r.WorkloadNs))
		}
		if r.DurationNs != nil {
			line += "total " + short(*r.DurationNs)
		}
		fmt.Fprintln(p.err, line)
		if r.Reason != "" {
			fmt.Fprintln(p.err, "              "+r.Reason)
		}
	}
	cost, err := runNamed(c.Context, w, "overhead", run)
	if err != nil {
		return err
	}
	costs, err := judge.OverheadRows.Of(cost)
	if err != nil {
		return err
	}
	for _, line := range judge.OverheadLines(costs) {
		fmt.Fprintln(p.err, "  "+line)
	}
	if o.Baseline {
		for _, n := range cost.Notes {
			fmt.Fprintln(p.err, "  note: "+n)
		}
	}
	return nil
}

// short is a time as a person says it.
func short(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
