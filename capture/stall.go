package capture

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"time"

	"prof/capture/ncu"
	"prof/internal/file"
	"prof/schema/rundir"
)

// stall watches the progress of ncu by its log, which grows with each launch that it profiles and with each quarter of one.
//
// The clock runs while a launch is being profiled, and from the first profiled launch until as many as were chosen are. Before the
// first one, while models are loaded, there is patience for a multiple of what the workload takes by itself; after the last one, while the
// workload goes on by itself, only --timeout counts. CPU time is no progress, since ranks that wait for each other spin.
type stall struct {
	log    string
	limit  time.Duration
	chosen int           // launches that are surely profiled; 0: not known
	alone  time.Duration // what the workload took in another recording; 0: not known

	begun time.Time // when ncu's log was first there
	size  int64
	since time.Time // when the log last grew
}

// profiling begins a launch in ncu's log; the number of passes ends it.
var profiling = regexp.MustCompile(`(?m)^==PROF== Profiling "(.*?)"(.*)$`)

var profiled = regexp.MustCompile(`\d pass(es)?\s*$`)

// look returns where ncu has stopped, once it has made no progress for the limit; "" before.
func (s *stall) look(now time.Time) string {
	st, err := os.Stat(s.log)
	if err != nil { // ncu has not begun
		return ""
	}
	if s.begun.IsZero() {
		s.begun = now
	}
	if st.Size() != s.size || s.since.IsZero() {
		s.size, s.since = st.Size(), now
		return ""
	}
	if now.Sub(s.since) < s.limit {
		return ""
	}
	text, err := file.Read(s.log, maxStallLog)
	if err != nil { // too long to have stalled at its first launches, or gone: --timeout is left
		return ""
	}
	return s.place(text, now.Sub(s.begun))
}

// patience is how many times as long as by itself a workload may take under ncu to come to its first chosen launch. Every launch is slower
// under ncu, those too that it does not profile: a launch-bound pass took 4 to 6 times as long on an H100.
const patience = 10

// maxStallLog bounds the log that is looked at, in bytes: some 100 a launch.
const maxStallLog = 64 << 20

// place returns between which launches a log ends after some time; "" where nothing more need come.
func (s *stall) place(log []byte, took time.Duration) string {
	lines := profiling.FindAllSubmatch(log, -1)
	if len(lines) == 0 {
		if s.chosen == 0 || s.alone == 0 || took < patience*s.alone {
			return ""
		}
		return fmt.Sprintf("ncu had profiled none of %d launches after %s, %d times what the workload takes by itself; ranks may be waiting for each other", s.chosen, took.Round(time.Second), patience)
	}
	last := lines[len(lines)-1]
	if !profiled.Match(bytes.TrimSpace(last[2])) {
		return fmt.Sprintf("ncu was profiling launch %d, of %s; a kernel that waits for other ranks or kernels cannot be replayed", len(lines), last[1])
	}
	if len(lines) < s.chosen {
		return fmt.Sprintf("ncu had profiled %d of at least %d launches", len(lines), s.chosen)
	}
	return ""
}

// alone is what the workload took at most in a recording that ended well; 0 where there is none.
func (s *Session) alone() (most time.Duration) {
	for _, p := range s.manifest.Passes {
		if p.Status == rundir.StatusOK && p.WorkloadNs != nil {
			most = max(most, time.Duration(*p.WorkloadNs))
		}
	}
	return most
}

// chosen counts the launches that ncu surely profiles in the pass; 0 when that is not known.
func (s *Session) chosen(target ncu.Target) int {
	if s.o.Ncu.Kernels != "" {
		return s.o.Ncu.LaunchCount
	}
	return max(len(target.Launches), ncu.Count(s.o, target))
}

// enough tells when ncu has profiled all that it is to, and ends what is left of the workload then. ncu ends the process that launched, but not
// the script that started it, nor the other ranks of its job, which would wait for it.
type enough struct {
	log    string
	count  int       // launches
	isRank bool      // ncu is itself a process of the workload: it must have written its report before that is ended
	since  time.Time // when all were profiled
}

// profiledIn counts the launches whose profiling has ended in a log of ncu, and reports whether ncu has written its report.
func profiledIn(path string) (count int, reported bool) {
	text, err := file.Read(path, maxStallLog)
	if err != nil { // it is not there yet
		return 0, false
	}
	for _, line := range profiling.FindAllSubmatch(text, -1) {
		if profiled.Match(bytes.TrimSpace(line[2])) {
			count++
		}
	}
	return count, bytes.Contains(text, []byte("\n==PROF== Report: "))
}

// killing is the time that ncu has for ending the workload itself.
const killing = 2 * time.Second

// isDue reports whether the rest of the workload is to be ended.
func (e *enough) isDue(now time.Time) bool {
	count, reported := profiledIn(e.log)
	switch {
	case count < e.count:
		return false
	case e.isRank:
		return reported
	case e.since.IsZero():
		e.since = now
	}
	return now.Sub(e.since) >= killing
}
