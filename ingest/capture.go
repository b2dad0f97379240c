package ingest

import (
	"errors"
	"fmt"
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

// at gives the capture that a file or folder belongs to: c, or one of its own.
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

// leaves says whether a folder of the capture holds nothing to ingest, or a file is what a tool said of itself.
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

// readCapture reads the run.json among the inputs, and leaves out what belongs to none of its captures.
func (in *inputs) readCapture(broken map[string]error) error {
	at := slices.IndexFunc(in.list, func(f input) bool { return f.format.Name == runForm })
	if at < 0 {
		return nil
	}
	f := &in.list[at]
	for _, other := range in.list[at+1:] {
		if other.format.Name == runForm {
			return fmt.Errorf("%s and %s: %w: ingest their folders one by one", f.path, other.path, ErrSeveral)
		}
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
	in.capture, f.of.run = f.of, run
	for path, err := range broken {
		in.capture.passOver(path, err)
	}
	slices.SortFunc(in.capture.unread, func(a, b unread) int { return strings.Compare(a.path, b.path) })
	in.leaveProfiled()
	in.leaveStopped()
	return nil
}

// leaveStopped leaves out timelines of passes that did not end well where other repeats did: a pass of a stage that was cut, or counted
// from the wrong end, would stand beside whole ones.
func (in *inputs) leaveStopped() {
	passes := map[int]rundir.Pass{}
	whole := false
	for _, p := range in.capture.run.Manifest.Passes {
		passes[p.ID] = p
		whole = whole || isTimed(p) && p.Status == rundir.StatusOK
	}
	if !whole {
		return
	}
	in.list = slices.DeleteFunc(in.list, func(f input) bool {
		id, ok := in.capture.run.PassOf(f.path)
		p := passes[id]
		if !ok || !isTimed(p) || p.Status == rundir.StatusOK {
			return false
		}
		in.capture.passOver(f.path, fmt.Errorf("its recording failed (%s), and another repeat succeeded", strings.ReplaceAll(p.Status, "_", " ")))
		return true
	})
}

// isTimed says whether times of stages are taken from a pass.
func isTimed(p rundir.Pass) bool { return p.Tool == rundir.ToolNsys || p.Tool == rundir.ToolProf }

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
