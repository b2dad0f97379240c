package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/capture"
	"prof/capture/attach"
	"prof/capture/ncu"
	"prof/capture/plan"
	"prof/capture/tracer"
	"prof/internal/mask"
	"prof/render/typeset"
	"prof/schema"
	"prof/schema/rundir"
)

// dryRunName is the option that prints what a capture or launch would do.
const dryRunName = "dry-run"

// dryRun is what is printed in place of what is done: command lines as a shell reads them, all else as comments.
type dryRun struct {
	out     bytes.Buffer
	width   int
	refused bool // on this machine it would not be done
}

// say writes a comment; lead stands before its first line.
func (d *dryRun) say(lead, format string, args ...any) {
	text := typeset.Whole(fmt.Sprintf(format, args...))
	room := d.width - len("# "+lead)
	for _, word := range strings.Fields(text) { // a path or URL stays in one piece
		room = max(room, typeset.Width(word))
	}
	for i, line := range typeset.Wrap(text, room) {
		if i > 0 {
			lead = strings.Repeat(" ", len(lead))
		}
		d.out.WriteString("# " + lead + line + "\n")
	}
}

// refuse says why it would not be done on this machine; what is only not there is missing, as it may be meant for another machine.
func (d *dryRun) refuse(err error) {
	if errors.Is(err, capture.ErrNoWorkload) {
		d.say("", "missing here: %s", strings.TrimPrefix(err.Error(), capture.ErrNoWorkload.Error()+": "))
		return
	}
	d.refused = true
	d.say("", "refused on this machine: %v", err)
}

// start writes the command line of a program, and before it what its environment gets besides and what names stand for in both.
func (d *dryRun) start(env, argv []string) {
	var shown []string
	for _, v := range env {
		shown = append(shown, "#   "+typeset.Whole(mask.Command([]string{v}))+"\n")
	}
	command, list := typeset.Whole(mask.Command(argv))+"\n", strings.Join(shown, "")
	if len(env) > 0 {
		d.say("", "added to the workload's environment:")
	}
	d.out.WriteString(list)
	for _, s := range []struct{ name, says string }{
		{capture.TracerStandIn, "stands for the tracer, which cannot be built here"},
		{capture.TempStandIn, "stands for a folder that the recording makes and removes"},
	} {
		if strings.Contains(list+command, s.name) {
			d.say("", "%s %s", s.name, s.says)
		}
	}
	d.out.WriteString(command)
}

// lacks says that the script of a command line is not there.
func (d *dryRun) lacks(argv []string, dir string) {
	if script := capture.MissingScript(argv, dir); filepath.IsAbs(script) {
		d.say("", "there is no %s here", script)
	} else if script != "" {
		d.say("", "there is no %s in %s here", script, dir)
	}
}

// writeTo prints it; where it was refused, that is an error.
func (d *dryRun) writeTo(w io.Writer) error {
	if _, err := w.Write(d.out.Bytes()); err != nil || !d.refused {
		return err
	}
	return exitStatus(exitFailed)
}

// captureDryRun prints the command line of each recording, and what is to be known of it as comments: also what is missing on this machine, for a
// capture may be meant for another one. refused is why this one would not begin it, or nil.
func (p *program) captureDryRun(c *cli.Context, home schema.Home, o plan.Options, setup capture.Setup, refused error) error {
	planned, err := capture.DryRun(c.Context, o, setup)
	if err != nil {
		return err
	}
	d := &dryRun{width: p.width()}
	if c.IsSet(suiteName) {
		d.say("", "run %s", setup.Run)
		d.out.WriteString("\n")
	}
	if refused != nil {
		d.refuse(refused)
	}
	if setup.Attach == nil {
		d.lacks(setup.Argv, setup.Dir)
	}
	if d.out.Len() > 0 && !bytes.HasSuffix(d.out.Bytes(), []byte("\n\n")) {
		d.out.WriteString("\n")
	}
	for i, r := range planned {
		if i > 0 {
			d.out.WriteString("\n")
		}
		p.planned(c, d, home, o, setup, r)
	}
	if c.IsSet(suiteName) {
		d.out.WriteString("\n")
	}
	return d.writeTo(p.out)
}

// planned prints a recording.
func (p *program) planned(c *cli.Context, d *dryRun, home schema.Home, o plan.Options, setup capture.Setup, r capture.Planned) {
	d.say("", "%s of %d: %s", r.Name, r.Of, plannedUnder(r.Tool))
	if why := notChosen(c); r.Chosen && why != "" {
		d.say("", "cannot run: %s", why)
		return
	}
	if r.Missing != "" {
		d.say("", "missing here: %s", r.Missing)
	}
	if r.Refused != "" {
		d.refuse(errors.New(r.Refused))
	}
	if r.Chosen {
		d.say("", "--kernel-id follows, with the launches that ncu-plan chooses from the timeline (--ncu-top %d, --ncu-launches %d)", o.Ncu.Top, o.Ncu.Launches)
		d.say("", "it takes as long as the workload up to the last of them, %s more for each launch before, and about %s for each that is profiled", ncu.SlowLaunch, ncu.OneProfiled)
	}
	if r.IfBudget {
		d.say("", "only if --budget leaves time for it")
	}
	if o.Serving.On {
		program := ""
		if setup.Attach != nil {
			program = fmt.Sprintf("%s, process %d, and its children: %s", setup.Attach.Name, setup.Attach.PID, mask.Command(setup.Attach.Argv))
		}
		p.serves(c, d, home, o, setup, r, program)
	} else {
		d.start(r.Env, r.Argv)
	}
}

// serves prints the recording of a serving engine, each step in the order in which it comes. program is what is attached to, in words; "" where the engine
// is started.
func (p *program) serves(c *cli.Context, d *dryRun, home schema.Home, o plan.Options, setup capture.Setup, r capture.Planned, program string) {
	v, n, short := o.Serving, 0, plan.FormatDuration
	step := func(format string, args ...any) {
		n++
		d.say(fmt.Sprintf("%d. ", n), format, args...)
	}
	if program == "" {
		step("start the engine with the tracer loaded and off, in all its processes")
		d.start(r.Env, r.Argv)
	} else {
		step("attach to %s", program)
	}
	if v.Ready != "" {
		step("wait until %s answers with a status of 2xx (at most %s, --ready-timeout)", mask.Text(v.Ready), short(v.ReadyTimeout))
	}
	if v.Load != "" {
		step("start the load, in %s", setup.LoadDir)
		d.start(nil, []string{"sh", "-c", mask.Text(v.Load)})
	}
	from := ""
	if v.Load == "" {
		from = "; requests come from elsewhere, without --load"
	}
	if v.SteadyTimeout > 0 {
		step("wait until launches are steady: at least %s under load (--warm), at most %s (--steady-timeout)%s", short(v.Warm), short(v.SteadyTimeout), from)
	}
	step("record %s (--window) in every process that uses a GPU", short(v.Window))
	if v.Load != "" && v.LoadTimeout > 0 {
		step("wait until the load ends by itself and has written its result (at most %s, --load-timeout)", short(v.LoadTimeout))
	} else if v.Load != "" {
		step("end the load (--load-timeout 0)")
	}
	result := ""
	if v.Load != "" {
		result = ", with the load's result (JSON below " + setup.LoadDir + " that prof reads)"
		if len(v.LoadResult) > 0 {
			result = ", with the load's result (" + mask.Text(strings.Join(v.LoadResult, ", ")) + ")"
		}
	}
	if program == "" {
		step("end the engine: by SIGINT, %s later by SIGTERM, and %[1]s later by SIGKILL (--grace)", short(o.Grace))
	} else {
		step("turn the tracer off; the program goes on")
	}
	folder := filepath.Join(setup.Runs, plan.NodeFolder(setup.Run, setup.Node))
	if c.Bool("no-ingest") || c.IsSet(nodeRankName) {
		step("leave the recording in %s%s; prof ingest stores it", folder, result)
		return
	}
	step("store it as the run %s in %s%s; its files stay in %s", setup.Run, cmp.Or(home.Dir, "the warehouse"), result, folder)
}

// plannedUnder returns what a recording runs the workload under.
func plannedUnder(tool string) string {
	switch tool {
	case rundir.ToolNone:
		return "without a profiler"
	case rundir.ToolNsys:
		return "under Nsight Systems"
	case rundir.ToolNcu:
		return "under Nsight Compute"
	case rundir.ToolTorch:
		return "under the PyTorch profiler"
	}
	return "under prof's own tracer"
}

// attachDryRun prints what a capture would do that attaches to a program that does not run here, as none is why.
func (p *program) attachDryRun(c *cli.Context, home schema.Home, o plan.Options, name string, none error) error {
	in, err := p.captureIngest(c, o, []string{cmp.Or(name, "launched")})
	if err != nil {
		return err
	}
	dir, err := p.workDir()
	if err != nil {
		return err
	}
	node, err := p.nodeOf(c)
	if err != nil {
		return err
	}
	d := &dryRun{width: p.width()}
	given := p.world.machine
	given.Environ = p.env
	switch others, err := attach.List(launchedIn(home), given.WithDefaults()); {
	case err != nil:
		return err
	case len(others) > 0: // the name is wrong
		d.refuse(none)
	default:
		d.say("", "missing here: %v", none)
	}
	if _, err := given.WithDefaults().BuildTracer(c.Context, nil, dir); err != nil {
		d.say("", "missing here: %s, without which prof launch starts nothing", err)
	}
	d.out.WriteString("\n")
	d.say("", "prof-1 of 1: %s", plannedUnder(rundir.ToolProf))
	p.serves(c, d, home, o, capture.Setup{Runs: filepath.Join(home.Dir, runsName), Run: in.Name, Node: node, LoadDir: dir}, capture.Planned{}, cmp.Or(name, "the one program of prof launch")+" and its children")
	return d.writeTo(p.out)
}

// launchDryRun prints what prof launch would start. lib is the tracer, which missing says cannot be built, now its time 0; refused are why nothing would be started.
func (p *program) launchDryRun(c *cli.Context, home schema.Home, l attach.Launched, argv []string, lib tracer.Library, now int64, missing error, refused ...error) error {
	d := &dryRun{width: p.width()}
	for _, err := range refused {
		if err != nil {
			d.refuse(err)
		}
	}
	if missing != nil {
		d.say("", "missing here: prof's own tracer cannot be built: %v", missing)
		lib = capture.UnbuiltTracer()
	}
	d.lacks(argv, l.Dir)
	if d.out.Len() > 0 {
		d.out.WriteString("\n")
	}
	d.say("", "%s: started with prof's own tracer loaded and off, in all its processes", l.Name)
	d.start(mask.Argv(l.In(launchedIn(home)).Env(lib, now)), mask.Argv(argv))
	d.say("", "then, from another terminal and as often as wanted: %s", mask.Command(attachCommand(c, l.Name)))
	return d.writeTo(p.out)
}
