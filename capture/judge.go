package capture

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"prof/capture/machine"
	"prof/capture/plan"
	"prof/capture/serving"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// judge says how a pass ended: its status, and the reason where that is not ok.
func (s *Session) judge(spec passSpec, p *rundir.Pass, out outcome) {
	took := out.took.Nanoseconds()
	p.DurationNs = &took
	if spec.direct {
		out.ended = directEnd(out.tool, s.logged(spec))
	}
	if out.cut { // how it ended says nothing of it
		out.ended = nil
		s.talk(fmt.Sprintf("%s: the workload was ended, since all that was to be profiled is", p.Name))
	}
	if out.ended != nil {
		p.ExitCode, p.Signal = out.ended.ExitCode, out.ended.Signal
		if ns := out.ended.Ns; !spec.direct && !s.wasStopped(out) { // else it is the time that it was given
			p.WorkloadNs = &ns
		}
		if out.cause == "" && ended(out.ended) && !s.wasStopped(out) && s.exit == nil {
			code := exitOf(out.ended)
			s.exit = &code
		}
	}
	if len(p.Artifacts) > 0 {
		var n int64
		for _, a := range p.Artifacts {
			n += sizeOf(filepath.Join(s.dir, a))
		}
		p.ArtifactBytes = &n
	}
	if out.cut {
		out.ended = &event{ExitCode: new(int)}
	}
	p.Status, p.Reason = s.verdict(spec, p, out)
	if p.Status == rundir.StatusOK && out.tool != nil && !spec.direct && !ended(out.ended) {
		s.warn(fmt.Sprintf("%s: %s ended with %s although the workload succeeded%s", p.Name, spec.tool, toolEnd(out.tool), s.said(spec)))
	}
}

// exitOf is the exit code of a workload as a shell tells it.
func exitOf(e *event) int {
	if e.ExitCode != nil {
		return *e.ExitCode
	}
	return exitSignal + machine.SignalNumber(e.Signal)
}

func (s *Session) verdict(spec passSpec, p *rundir.Pass, out outcome) (status, reason string) {
	missing := spec.keep != nil && len(p.Artifacts) == 0
	lost := ""
	if missing {
		lost = "; it left no report"
	}
	switch {
	case out.refused != "":
		return rundir.StatusFailed, "the workload could not be started: " + out.refused
	case out.stalled != "":
		return out.cause, fmt.Sprintf("no progress for %s: %s (--stall)", s.o.Stall, out.stalled) + lost
	case out.spent:
		return out.cause, fmt.Sprintf("stopped because the time for the whole capture was used up (--budget %s)", plan.FormatDuration(s.o.Budget)) + lost
	case out.cause == rundir.StatusTimeout:
		return out.cause, fmt.Sprintf("stopped after %s (--timeout)", s.o.Timeout) + lost
	case out.cause == rundir.StatusTooLarge:
		return out.cause, fmt.Sprintf("stopped when the run had more than %.1f MB (--max-artifact-size); shorten the workload, capture a --range of it, or use --mode light", float64(s.o.MaxArtifactBytes)/1e6) + lost
	case out.cause == rundir.StatusInterrupted:
		return out.cause, "stopped by the user" + lost
	case out.cause != "":
		return rundir.StatusFailed, "run.json could not be written: is the disk full?"
	case out.served != nil:
		return s.servingVerdict(p, out)
	case out.pid == 0:
		return rundir.StatusFailed, fmt.Sprintf("%s ended with %s before it started the workload%s", toolName(spec.tool), toolEnd(out.tool), s.said(spec))
	case out.ended == nil && spec.direct && s.wasStopped(out) && !missing:
		return rundir.StatusOK, ""
	case out.ended == nil && spec.direct && missing && out.hung:
		return rundir.StatusNoReport, s.noReport(spec)
	case out.ended == nil && spec.direct:
		said := s.said(spec)
		if said == "" {
			said = s.blamed(p)
		}
		if said == "" {
			said = "; see the output above"
		}
		who := toolName(spec.tool)
		if spec.mark.ncu.IsRank() {
			who = "the workload"
		}
		return rundir.StatusFailed, fmt.Sprintf("%s ended with %s%s%s", who, toolEnd(out.tool), lost, said)
	case out.ended == nil:
		return rundir.StatusFailed, fmt.Sprintf("%s ended with %s before the workload did, and how that ended is unknown%s%s", toolName(spec.tool), toolEnd(out.tool), lost, s.said(spec))
	case missing && spec.tool == rundir.ToolNsys && wasKilled(out.tool) && !out.hung:
		return rundir.StatusFailed, fmt.Sprintf("nsys ended with %s and took the workload with it%s", toolEnd(out.tool), lost)
	case missing && ended(out.ended) && spec.tool == rundir.ToolTorch:
		return rundir.StatusFailed, workloadEnd(out.ended) + s.blamed(p) + lost
	case missing && out.hung:
		return rundir.StatusNoReport, s.noReport(spec)
	case p.Reason != "":
		return rundir.StatusNoReport, p.Reason
	case missing:
		return rundir.StatusNoReport, fmt.Sprintf("%s left no report%s", toolName(spec.tool), s.said(spec))
	case ended(out.ended) && !s.wasStopped(out):
		return rundir.StatusFailed, workloadEnd(out.ended) + s.blamed(p)
	}
	return rundir.StatusOK, ""
}

// noReport returns why a tool that was killed has left nothing.
func (s *Session) noReport(spec passSpec) string {
	return fmt.Sprintf("%s had not written a report %s after the workload ended and was killed", spec.tool, s.o.ReportTimeout)
}

// wasStopped reports whether the workload was to be stopped (--duration), and has run for that long; of a serving engine, whether it was ended when it
// was recorded.
func (s *Session) wasStopped(out outcome) bool {
	if out.served != nil {
		return out.served.Cut != serving.ErrEnded && out.served.Err == nil
	}
	return s.o.Duration > 0 && out.took >= s.o.Delay+s.o.Duration
}

// workloadEnd returns how a workload ended that did not end with 0.
func workloadEnd(e *event) string {
	if e.Signal != "" {
		return "the workload was ended by " + e.Signal
	}
	return fmt.Sprintf("the workload ended with exit status %d", *e.ExitCode)
}

// wasKilled reports whether a process was ended by a signal.
func wasKilled(err error) bool {
	var exit *machine.Exit
	return errors.As(err, &exit) && exit.Signal != 0
}

// toolName is a tool as a message names it.
func toolName(tool string) string {
	switch tool {
	case rundir.ToolNone:
		return "prof's launcher"
	case rundir.ToolTorch:
		return "the PyTorch profiler"
	case rundir.ToolProf:
		return "prof's tracer"
	}
	return tool
}

func toolEnd(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// said quotes what a tool said last in its log, errors before other lines; "" when it said nothing.
func (s *Session) said(spec passSpec) string {
	lines := s.logged(spec)
	for _, l := range lines {
		if advice := adviceFor(l); advice != "" {
			return ": " + l + " (" + advice + ")"
		}
	}
	if wrong := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !looksWrong(l) }); len(wrong) > 0 {
		lines = wrong
	}
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines[max(0, len(lines)-3):], " | ")
}

// logged returns the last lines of a pass' logs.
func (s *Session) logged(spec passSpec) []string {
	return append(lastLines(s.log(spec)), lastLines(filepath.Join(s.dir, spec.stem+toolLog))...)
}

// exceptionLine is how Python ends with an exception; lines of its text may follow.
var exceptionLine = regexp.MustCompile(`^(\w+\.)*\w*(Error|Exception|Interrupt|Exit)(: .*)?$`)

// maxBlamed is how much of a line a reason quotes, in bytes.
const maxBlamed = 300

// blamed quotes the line of a workload's log that says what it failed of; "" when none does.
func (s *Session) blamed(p *rundir.Pass) string {
	if p.WorkloadLog == "" {
		return ""
	}
	return s.blamedIn(p.WorkloadLog)
}

// blamedIn is the same for a log of the run's folder.
func (s *Session) blamedIn(log string) string {
	lines := lastLines(s.below(log))
	for _, says := range []func(string) bool{exceptionLine.MatchString, looksWrong} {
		for _, line := range slices.Backward(lines) {
			if !says(line) {
				continue
			}
			if len(line) > maxBlamed {
				line = strings.ToValidUTF8(line[:maxBlamed], "") + "..."
			}
			return ": " + line
		}
	}
	return ""
}

func looksWrong(line string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc([]string{"error", "fail", "cannot", "unable", "unrecognized", "no kernels", "denied", "not found", "out of memory", "exception"}, func(w string) bool { return strings.Contains(line, w) })
}

// adviceFor returns what to do about what a tool says, where that is known.
func adviceFor(line string) string {
	switch {
	case strings.Contains(line, "ERR_NVGPUCTRPERM"):
		return "this user may not read GPU counters: see `prof doctor`"
	case strings.Contains(line, "libdw"), strings.Contains(line, "Importer error"), strings.Contains(line, "QdstrmImporter"):
		return "nsys cannot make reports here: see `prof doctor`"
	case strings.Contains(line, "InterprocessLockFailed"):
		return "another ncu is using the GPU, or /tmp/nsight-compute-lock belongs to another user"
	}
	return ""
}

// toolLog is the end of the name of a log that a tool writes itself.
const toolLog = ".messages.log"

// logTail is how much of a log's end is looked at.
const logTail = 64 << 10

// lastLines returns the last lines of a log, secrets masked, progress bars left out.
func lastLines(path string) []string {
	f, err := file.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil
	}
	text := make([]byte, min(st.Size(), logTail))
	if _, err := f.ReadAt(text, st.Size()-int64(len(text))); err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(strings.ToValidUTF8(string(text), "�")) {
		line = strings.TrimSpace(line[strings.LastIndexByte(strings.TrimRight(line, "\r\n"), '\r')+1:])
		if line != "" && len(line) < 2000 {
			out = append(out, mask.Text(line))
		}
	}
	return out[max(0, len(out)-40):]
}
