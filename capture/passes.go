package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prof/capture/envvar"
	"prof/capture/machine"
	"prof/capture/ncu"
	"prof/capture/nsys"
	"prof/capture/plan"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// Timeline runs the passes that need nothing of the warehouse: without a tool, under nsys or prof's tracer, and under the PyTorch profiler. Where
// no tool is there, the workload is run once without, so that its time and provenance are kept. With a budget, Rest runs those of less worth.
func (s *Session) Timeline(ctx context.Context) error {
	first, _ := s.timeline()
	if err := s.run(ctx, first); err != nil {
		return err
	}
	return s.insteadOfNsys(ctx)
}

// Rest runs the passes that with a budget come after all others.
func (s *Session) Rest(ctx context.Context) error {
	_, rest := s.timeline()
	return s.run(ctx, rest)
}

func (s *Session) run(ctx context.Context, specs []passSpec) error {
	for _, spec := range specs {
		if err := s.record(ctx, spec); err != nil {
			return err
		}
	}
	return s.Settle()
}

// timeline lists the passes. Those without a tool take turns with those under one, and the side that comes first takes turns too (A B B A): what grows
// from recording to recording, as the heat of the machine does, then lengthens the second of a pair now on one side and now on the other, and the median of
// an even number of pairs loses it. With a budget, rest are those after that of ncu: under the PyTorch profiler, and repeats.
func (s *Session) timeline() (first, rest []passSpec) {
	switch {
	case s.setup.Attach != nil:
		return []passSpec{s.attached()}, nil
	case s.o.Serving.On:
		return []passSpec{s.served()}, nil
	}
	var torch, repeats, only []passSpec // only: for what only nsys has, beside the timeline of prof's tracer
	for n := range s.o.Repeats {
		var some []passSpec
		if s.o.Baseline {
			some = append(some, s.baseline(n+1))
		}
		switch {
		case n >= s.o.NsysRepeats():
		case len(s.o.Tools) == 0:
			only = append(only, s.nsys(n+1))
		default:
			some = append(some, s.nsys(n+1))
		}
		if s.o.UsesProf() {
			some = append(some, s.traced(n+1))
		}
		if isFirst := n%2 == 0; isFirst == (s.o.Budget > 0) { // with a budget, the first timeline is of more worth
			slices.Reverse(some)
		}
		if n == 0 {
			first = some
		} else {
			repeats = append(repeats, some...)
		}
	}
	if s.o.UsesTorch() {
		torch = append(torch, s.torch())
	}
	missing := func(spec passSpec) bool { return s.tools[spec.tool].missing != nil }
	if !slices.ContainsFunc(slices.Concat(first, only, torch), func(spec passSpec) bool { return !missing(spec) }) &&
		!(s.o.UsesNcu() && s.tools[rundir.ToolNcu].missing == nil && !s.WantsKernels()) { // else ncu runs the workload
		torch = append(torch, s.baseline(1))
	}
	if s.o.Budget > 0 {
		return append(first, only...), append(torch, repeats...)
	}
	return slices.Concat(first, repeats, only, torch), nil
}

func (s *Session) baseline(n int) passSpec {
	stem := fmt.Sprintf("baseline/pass-%d", n)
	return passSpec{tool: rundir.ToolNone, repeat: n, stem: stem, mark: markSpec{stages: s.o.AutoStages, times: stem + timesEnd}}
}

// nsys writes into a folder beside: its reports hold the environment of each process, and the run's folder must not.
func (s *Session) nsys(n int) passSpec {
	stem := fmt.Sprintf("nsys/report-%d", n)
	return passSpec{tool: rundir.ToolNsys, repeat: n, stem: stem,
		wrap: func(_, temp string, app []string) []string {
			return append([]string{s.tools[rundir.ToolNsys].path}, nsys.Args(s.o, filepath.Join(temp, filepath.Base(stem)), app)...)
		},
		mark: s.timelineMark(stem),
		keep: func(p *rundir.Pass, l *launcher) { s.keepNsys(p, stem, l) },
	}
}

// keepNsys exports nsys' reports, so that they can be read where there is no nsys, clears the exports of the environment, and finds
// what nsys left in place of a report.
func (s *Session) keepNsys(p *rundir.Pass, stem string, l *launcher) {
	reports, err := nsys.Reports(filepath.Join(l.temp(), filepath.Base(stem)))
	if err != nil || len(reports) == 0 {
		s.keepRecording(p, stem, l.temp())
		return
	}
	if err := s.chooseFacts(); err != nil {
		s.warn(fmt.Sprintf("%s: the workload's facts about its passes are unknown: %v", p.Name, err))
	}
	for _, r := range reports {
		out := strings.TrimSuffix(r, ".nsys-rep") + ".sqlite"
		s.talk(p.Name + ": exporting the report")
		text, err := s.export(r, out)
		if err == nil {
			_, err = nsys.Scrub(out, l.mark)
		}
		if err != nil {
			p.Reason = strings.TrimSuffix(fmt.Sprintf("its report could not be exported: %v: %s", err, text), ": ")
		} else if err := s.keepFile(p, stem, out); err != nil {
			p.Reason = fmt.Sprintf("its export could not be moved to the run's folder (%v); it stays in %s", errors.Join(err, l.keep()), l.temp())
			continue
		}
		if err == nil {
			s.noteBlind(p, s.below(p.Artifacts[len(p.Artifacts)-1]))
		}
		if err == nil && !s.o.Nsys.KeepReport {
			continue
		}
		if err := s.keepFile(p, stem, r); err != nil {
			s.warn(fmt.Sprintf("%s: nsys' report could not be moved to the run's folder (%v); it stays in %s", p.Name, errors.Join(err, l.keep()), l.temp()))
			continue
		}
		s.warn(fmt.Sprintf("%s: %s has the whole environment of the workload, because nsys stores it: do not share the file", p.Name, filepath.Base(r)))
	}
}

// keepFile moves a file into the folder of a stem, as an artifact of a pass.
func (s *Session) keepFile(p *rundir.Pass, stem, path string) error {
	name := filepath.ToSlash(filepath.Join(filepath.Dir(stem), filepath.Base(path)))
	if err := move(path, s.below(name)); err != nil {
		return err
	}
	p.Artifacts = append(p.Artifacts, name)
	return nil
}

// export has nsys write a report as SQLite, with the payloads of ranges where this nsys can.
func (s *Session) export(report, out string) (text string, err error) {
	text, err = s.exportWith(nsys.ExportArgs(report, out, true), out)
	if err != nil && strings.Contains(text, "include-json") {
		return s.exportWith(nsys.ExportArgs(report, out, false), out)
	}
	return text, err
}

// exportWith runs nsys' export. Ctrl-C stops the capture and lets the export end; once more ends the export.
func (s *Session) exportWith(args []string, out string) (text string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.o.ReportTimeout)
	defer cancel()
	var said machine.Output
	done := make(chan error, 1)
	go func() {
		var err error
		said, err = s.m.Run(ctx, machine.Command{Argv: append([]string{s.tools[rundir.ToolNsys].path}, args...), Env: envvar.ForTool(s.setup.Environ), Chatty: true})
		done <- err
	}()
	for waiting := true; waiting; {
		select {
		case err = <-done:
			waiting = false
		case <-s.setup.Interrupts:
			if s.stopped {
				cancel()
			}
			s.stopped = true
			s.talk("the report is being exported (Ctrl-C again skips it)")
		}
	}
	if _, missing := os.Stat(out); err == nil && missing != nil {
		err = errors.New("nsys export wrote no file")
	}
	lines := strings.FieldsFunc(string(said.Stdout)+"\n"+string(said.Stderr), func(r rune) bool { return r == '\n' || r == '\r' })
	return mask.Text(strings.Join(lines[max(0, len(lines)-2):], " | ")), err
}

// beginsWith checks that a file is of the kind that a tool should have written, by its first bytes.
func beginsWith(path, magic string) error {
	f, err := file.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != magic {
		return fmt.Errorf("%s is not a report", filepath.Base(path))
	}
	return nil
}

// keepRecording keeps what nsys recorded and made no report of.
func (s *Session) keepRecording(p *rundir.Pass, stem, temp string) {
	found, err := filepath.Glob(filepath.Join(temp, "*.qdstrm"))
	if err != nil || len(found) == 0 {
		return
	}
	to := filepath.Join(s.dir, stem+".qdstrm")
	if err := move(found[0], to); err != nil {
		s.warn(fmt.Sprintf("%s: nsys' recording could not be kept: %v", p.Name, err))
		return
	}
	p.Reason = fmt.Sprintf("nsys recorded but made no report: its importer failed, most often because libdw is missing (see `prof doctor`); its recording is kept as %s.qdstrm, which has the whole environment of the workload", stem)
}

// move moves a file, across file systems too: what is at its new place is whole.
func move(from, to string) error {
	if os.Rename(from, to) == nil {
		return nil
	}
	in, err := file.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return file.Replace(to, func(out io.Writer) error {
		_, err := io.Copy(out, in)
		return err
	})
}

func (s *Session) torch() passSpec {
	return passSpec{tool: rundir.ToolTorch, repeat: 1, stem: "torch/trace-1",
		mark: markSpec{stages: s.o.AutoStages, facts: "torch/trace-1.workload.json", times: s.timesOf("torch/trace-1"), waits: true, trace: "torch/trace-1.json.gz"},
		keep: func(p *rundir.Pass, _ *launcher) {
			if err := s.joinTorchFacts("torch/trace-1.workload.json"); err != nil {
				s.warn(fmt.Sprintf("%s: the workload's facts about its passes are unknown: %v", p.Name, err))
			}
			found, err := fs.Glob(os.DirFS(s.below("torch")), "trace-1*.json.gz") // one of each rank, or process
			for _, name := range found {
				if st, statErr := os.Stat(s.below("torch/" + name)); statErr == nil && st.Mode().IsRegular() && st.Size() > 0 {
					p.Artifacts = append(p.Artifacts, "torch/"+name)
				}
			}
			if err != nil || len(p.Artifacts) == 0 {
				p.Reason = "the PyTorch profiler left no trace; if the workload is Python with PyTorch, messages of prof_mark in its output say why"
			}
		},
	}
}

// WantsKernels reports whether ncu is to profile kernels that the timeline must name.
func (s *Session) WantsKernels() bool {
	return s.o.UsesNcu() && s.o.Ncu.Kernels == "" && s.o.UsesTimeline()
}

// Kernels runs the pass of ncu, on the plan where WantsKernels. Where it has none then, reason says why: "" when the
// timeline holds no kernels.
func (s *Session) Kernels(ctx context.Context, target ncu.Target, reason string) error {
	if !s.o.UsesNcu() {
		return nil
	}
	if name := ncu.MatchesWaiting(s.o.Ncu.Kernels); s.o.Ncu.Kernels != "" && name != "" && s.o.Ncu.Replay == plan.ReplayKernel && len(s.manifest.Devices) > 1 {
		s.warn(fmt.Sprintf("--ncu-kernels matches kernels that wait for other ranks, such as %s: in a job of several ranks replaying one never ends, and --stall then ends the recording", name))
	}
	spec := s.ncu(target, 1)
	switch {
	case s.tools[rundir.ToolNcu].missing != nil || s.Stopped() || !s.WantsKernels() || len(target.Launches) > 0 || target.Graphs:
		if err := s.record(ctx, spec); err != nil {
			return err
		}
		return s.wholeGraphs(ctx, spec, target)
	case reason != "":
		s.skip(spec, reason)
		return s.save()
	}
	reason = "the timeline has no kernels to profile"
	if !s.hasTimeline() {
		reason = noTimeline
	}
	s.skipQuietly(spec, reason)
	s.talk(s.last().Name + ": " + s.last().Reason)
	return s.save()
}

// refusedNodes is what ncu says of kernels of graphs with conditional nodes, which it leaves out.
const refusedNodes = "Kernel nodes of a graph which can have conditional nodes are not supported"

// wholeGraphs profiles graphs as wholes where ncu said in the recording before that it cannot profile their kernels.
func (s *Session) wholeGraphs(ctx context.Context, before passSpec, target ncu.Target) error {
	if target.Graphs || ncu.AsksGraphs(s.o) || s.o.Ncu.Replay != plan.ReplayKernel || s.Stopped() || !target.Barred && !s.saidIn(before, refusedNodes) {
		return nil
	}
	s.warn("Nsight Compute cannot profile kernels of CUDA graphs that have conditional nodes: a recording more profiles graphs as wholes")
	if p := s.last(); p.Status == rundir.StatusNoReport && len(p.Artifacts) == 0 { // there were no other kernels
		s.failed = slices.DeleteFunc(s.failed, func(why string) bool { return strings.HasPrefix(why, p.Name+": ") })
		p.Status, p.Reason = rundir.StatusNotRun, "all kernels to profile are in CUDA graphs that have conditional nodes: they are profiled as wholes"
	}
	return s.record(ctx, s.ncu(ncu.Target{Graphs: true, Device: target.Device, Rank: target.Rank, Local: target.Local}, 2))
}

// maxNcuLog bounds the log of ncu in which is looked, in bytes.
const maxNcuLog = 4 << 20

// saidIn reports whether ncu said something in a recording.
func (s *Session) saidIn(spec passSpec, text string) bool {
	said, err := file.Read(s.below(spec.stem)+toolLog, maxNcuLog)
	return err == nil && bytes.Contains(said, []byte(text))
}

// noTimeline is why ncu's pass is not run without one.
const noTimeline = "there is no timeline to choose kernels from"

// hasTimeline reports whether a pass under nsys or prof's tracer left one.
func (s *Session) hasTimeline() bool {
	return slices.ContainsFunc(s.manifest.Passes, func(p rundir.Pass) bool {
		return (p.Tool == rundir.ToolNsys || p.Tool == rundir.ToolProf) && len(p.Artifacts) > 0
	})
}

func (s *Session) ncu(target ncu.Target, n int) passSpec {
	stem := fmt.Sprintf("ncu/report-%d", n)
	rank := ncu.Rank(s.o, target, s.setup.Argv, s.setup.Environ)
	if rank.IsRank() {
		target.Device = nil // the rank's own process numbers the GPUs that its launcher leaves it
		rank.Command = s.ncuArgv(target, s.below(stem), nil)
	}
	enough := 0
	if ncu.Kills(s.o, target) {
		enough = ncu.Count(s.o, target)
	}
	return passSpec{tool: rundir.ToolNcu, repeat: n, stem: stem, direct: true, enough: enough, takes: ncu.Takes(s.o, target),
		wrap: func(out, _ string, app []string) []string {
			if rank.IsRank() {
				return app
			}
			return s.ncuArgv(target, out, app)
		},
		mark: markSpec{stages: s.o.AutoStages, ncu: rank},
		idle: func(out string) *stall {
			if s.o.Stall == 0 || s.o.Ncu.Replay != plan.ReplayKernel {
				return nil
			}
			return &stall{log: out + toolLog, limit: s.o.Stall, chosen: s.chosen(target), alone: s.alone()}
		},
		keep: func(p *rundir.Pass, _ *launcher) {
			p.ClockControl = s.o.Ncu.ClockControl
			err := beginsWith(s.below(stem+".ncu-rep"), "NVR\x00")
			if !errors.Is(err, fs.ErrNotExist) {
				p.Artifacts = append(p.Artifacts, stem+".ncu-rep")
			}
			if err != nil && len(p.Artifacts) > 0 {
				p.Reason = "its report cannot be read: " + err.Error()
			}
			if _, err := os.Stat(s.below(stem) + toolLog); rank.IsRank() && errors.Is(err, fs.ErrNotExist) {
				p.Reason = rank.Name() + " did not start under Nsight Compute: that takes Python and a launcher that sets RANK and LOCAL_RANK; --ncu-kernels REGEX --ncu-rank all profiles every process, and locks up where these wait for each other"
			}
		},
	}
}

// ncuArgv is the command line of ncu around an application; nil leaves that out.
func (s *Session) ncuArgv(target ncu.Target, out string, app []string) []string {
	return append([]string{s.tools[rundir.ToolNcu].path}, ncu.Args(s.o, target, out, out+toolLog, app)...)
}
