package ingest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prof/ingest/manifest"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// capture is a folder that prof capture made, by its run.json. A capture that was killed leaves files that cannot be read, and the
// others are worth having.
type capture struct {
	dir    string
	run    *manifest.Run // nil until readCapture
	unread []unread      // files of the folder that were passed over
	warned int           // how many of these were said
}

// unread is a file that was passed over, and why.
type unread struct{ path, why string }

// unreadable is the error of a file in a capture's folder that is broken, and of which part is stored.
type unreadable struct {
	path string
	err  error
}

func (u *unreadable) Error() string { return u.err.Error() }
func (u *unreadable) Unwrap() error { return u.err }

// at returns the capture that a file or folder belongs to: c, or one of its own.
func (c *capture) at(path string) *capture {
	if c != nil && (path == c.dir || strings.HasPrefix(path, c.dir+string(filepath.Separator))) {
		return c
	}
	run := filepath.Join(path, rundir.ManifestName)
	if st, err := os.Stat(run); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	if f, ok, err := sniff(run, run); err == nil && ok && f.format.Name == runForm {
		return &capture{dir: path}
	}
	return nil
}

// Folders of a capture that hold none of what it captured.
const (
	baselineFolder = "baseline" // what the workload wrote when it ran without a tool: it is about none of the captures
	reportsFolder  = "reports"  // what prof report wrote
	modelFolder    = "model"    // a copy of the configuration that the workload's facts carry
)

// leaves reports whether a folder of the capture holds nothing to ingest, or a file is what a tool said of itself.
func (c *capture) leaves(path string) bool {
	if c == nil {
		return false
	}
	name := c.name(path)
	return name == baselineFolder || name == reportsFolder || name == modelFolder || name == rundir.KeptName || strings.HasSuffix(name, ".log")
}

// artifactEnds are names of files that a tool captured into, and what it means when no format knows them.
var artifactEnds = map[string]string{
	".sqlite": "it is not an SQLite database", ".nsys-rep": "it is not a Nsight Systems report", ".ncu-rep": "it is not a Nsight Compute report",
	".qdstrm": "nsys was stopped before it wrote a report; where nsys is installed, its QdstrmImporter converts the file",
}

// unknown notes a file of the folder that no format knows, where a tool captured into it. Others are what prof wrote beside.
func (c *capture) unknown(path string, err error) {
	why, known := artifactEnds[strings.ToLower(filepath.Ext(withoutPacking(path)))]
	switch st, statErr := os.Stat(path); {
	case err != nil:
		c.passOver(path, err)
	case !known:
	case statErr == nil && st.Size() == 0:
		c.passOver(path, errors.New("it is empty"))
	default:
		c.passOver(path, errors.New(why))
	}
}

// passOver notes why a file of the folder is not read.
func (c *capture) passOver(path string, err error) {
	why := strings.TrimPrefix(err.Error(), path+": ")
	c.unread = append(c.unread, unread{path, mask.Text(why)})
}

// name is a file's name below the folder.
func (c *capture) name(path string) string {
	if name, err := filepath.Rel(c.dir, path); err == nil {
		return filepath.ToSlash(name)
	}
	return path
}

// captures are those of the nodes of a job, in the order of their ranks, or one that is a run by itself; none without a run.json.
type captures []*capture

// dirs are their folders.
func (cs captures) dirs() (out []string) {
	for _, c := range cs {
		out = append(out, c.dir)
	}
	return out
}

// of returns the capture whose folder a file lies in; nil for others.
func (cs captures) of(f input) *capture {
	at := slices.IndexFunc(cs, func(c *capture) bool { return c == f.of || f.of == nil && isInside(f.path, c.dir) })
	if at < 0 {
		return nil
	}
	return cs[at]
}

// isInside reports whether a file lies in a folder, whatever paths name the two.
func isInside(path, dir string) bool {
	for _, p := range []*string{&path, &dir} {
		if abs, err := filepath.Abs(*p); err == nil {
			*p = abs
		}
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	return strings.HasPrefix(path, dir+string(filepath.Separator))
}

// node returns which node of a job the capture is of; nil where it is a run by itself.
func (c *capture) node() *rundir.Node {
	if c == nil {
		return nil
	}
	return c.run.Manifest.Node
}

// readCaptures reads each run.json among the inputs, and leaves out what belongs to none of their recordings.
func (in *inputs) readCaptures(broken map[string]error) error {
	for i := range in.list {
		f := &in.list[i]
		if f.format.Name != runForm {
			continue
		}
		if f.packed != plainFile {
			return fmt.Errorf("%s: unpack it first, next to the files that it describes", f.path)
		}
		run, err := manifest.Read(f.path, f.path)
		if err != nil {
			return err
		}
		if f.of == nil { // named by itself
			f.of = &capture{dir: filepath.Dir(f.path)}
		}
		f.of.run = run
		in.captures = append(in.captures, f.of)
	}
	slices.SortStableFunc(in.captures, func(a, b *capture) int { return a.node().Offset() - b.node().Offset() })
	if err := in.captures.areOneJob(); err != nil {
		return err
	}
	for _, c := range in.captures {
		for path, err := range broken {
			if len(in.captures) == 1 || c.at(path) == c {
				c.passOver(path, err)
			}
		}
		slices.SortFunc(c.unread, func(a, b unread) int { return strings.Compare(a.path, b.path) })
	}
	in.leaveAlone()
	in.leaveProfiled()
	in.leaveStopped()
	return nil
}

// areOneJob refuses captures that are not of different nodes of one job.
func (cs captures) areOneJob() error {
	for i, c := range cs {
		if i == 0 {
			continue
		}
		first, before := cs[0], cs[i-1]
		switch n, of := c.node(), first.node(); {
		case n == nil || of == nil:
			return fmt.Errorf("%s and %s: %w: ingest their folders one by one (captures with --node-rank and the same --run become one run)", first.dir, c.dir, ErrSeveral)
		case n.Job != of.Job:
			return fmt.Errorf("%s and %s: %w: they are of different jobs (run %s, identified by %s; run %s, identified by %s)", first.dir, c.dir, ErrSeveral,
				first.run.Manifest.Run, of.JobBy, c.run.Manifest.Run, n.JobBy)
		case n.Rank == before.node().Rank:
			return fmt.Errorf("%s and %s: %w: both are node %d of the job", before.dir, c.dir, ErrSeveral, n.Rank)
		}
	}
	return nil
}

// recording is the same for the passes of all nodes that ran at once.
type recording struct {
	tool   string
	repeat int
}

func recordingOf(p rundir.Pass) recording { return recording{p.Tool, p.Repeat} }

// leaveStopped leaves out timelines of recordings that did not end well on all nodes where other repeats did: a pass of a stage that was cut, or
// counted from the wrong end, would stand beside whole ones.
func (in *inputs) leaveStopped() {
	ended := map[recording]string{} // status; the first that is not ok
	for _, c := range in.captures {
		for _, p := range c.run.Manifest.Passes {
			if r := recordingOf(p); isTimed(p) && (ended[r] == "" || ended[r] == rundir.StatusOK) {
				ended[r] = p.Status
			}
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(ended)), rundir.StatusOK) {
		return
	}
	in.list = slices.DeleteFunc(in.list, func(f input) bool {
		c := in.captures.of(f)
		if c == nil {
			return false
		}
		p, ok := c.passOf(f.path)
		status := ended[recordingOf(p)]
		if !ok || !isTimed(p) || status == rundir.StatusOK {
			return false
		}
		c.passOver(f.path, fmt.Errorf("its recording failed (%s), and another repeat succeeded", strings.ReplaceAll(status, "_", " ")))
		return true
	})
}

// passOf returns the pass that a file came out of.
func (c *capture) passOf(path string) (rundir.Pass, bool) {
	id, _ := c.run.PassOf(path)
	at := slices.IndexFunc(c.run.Manifest.Passes, func(p rundir.Pass) bool { return p.ID == id })
	if at < 0 {
		return rundir.Pass{}, false
	}
	return c.run.Manifest.Passes[at], true
}

// isTimed reports whether times of stages are taken from a pass.
func isTimed(p rundir.Pass) bool { return p.Tool == rundir.ToolNsys || p.Tool == rundir.ToolProf }

// leaveAlone leaves out what a workload wrote as its times without a profiler while prof captured it: prof knows what ran under which.
func (in *inputs) leaveAlone() {
	in.list = slices.DeleteFunc(in.list, func(f input) bool { return f.format.Name == aloneForm && f.of != nil })
}

// leaveProfiled leaves out what the workload said under Nsight Compute where there is a timeline: that is not of the pass which Nsight
// Compute slowed down.
func (in *inputs) leaveProfiled() {
	if !slices.ContainsFunc(in.list, func(f input) bool {
		return slices.Contains([]string{rundir.ToolNsys, rundir.ToolProf, rundir.ToolTorch}, f.format.Kind)
	}) {
		return
	}
	in.list = slices.DeleteFunc(in.list, func(f input) bool {
		return f.format.Name == workloadForm && f.of != nil && strings.HasPrefix(f.of.name(f.path), rundir.ToolNcu+"/")
	})
}
