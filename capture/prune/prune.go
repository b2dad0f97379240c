// Package prune finds what of the folders of older runs can be compressed or deleted, and does it.
package prune

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"prof/schema/rundir"
)

// DefaultKeep is how many runs of a workload keep what was captured as it is.
const DefaultKeep = 5

// What is done to a file.
const (
	Compress = "compress" // packed by zstd into a file of the same name and .zst
	Drop     = "delete"   // removed
)

// runningFor is how long a run that is not marked as ended is taken to be at work still.
const runningFor = 24 * time.Hour

// Options say what is kept.
type Options struct {
	Keep      int               // newest runs of each group whose captured files stay as they are; 0: none
	MaxTotal  int64             // bytes that all runs together may take; 0: any
	Groups    map[string]string // groups of runs by name, as values of a tag; a run that is not there is grouped by its workload
	Protected []string          // names of runs that are left alone
	// Stored reports whether the warehouse has what a file holds that a run captured, by when the run began and the file's path below its
	// folder. What it does not have is left alone. Nil: it has nothing.
	Stored func(started time.Time, path string) bool
	// NotStored are names of runs whose files are treated as stored, whether they are or not.
	NotStored []string
}

// Action is what is to be done to one file.
type Action struct {
	Run    string `json:"run"`
	Path   string `json:"path"` // below the folder of runs, with slashes
	Bytes  int64  `json:"bytes"`
	Action string `json:"action"` // PruneCompress or PruneDrop
	Reason string `json:"reason"`
}

// PruneSkip is a folder or a file that is left alone, and why.
type PruneSkip struct {
	Folder string `json:"folder"` // below the folder of runs, or a file there
	Reason string `json:"reason"`
}

// Plan is what is to be done, in that order: Apply does it and nothing else.
type Plan struct {
	Dir        string      `json:"dir"` // folder of the runs
	Actions    []Action    `json:"actions"`
	Skipped    []PruneSkip `json:"skipped"`
	TotalBytes int64       `json:"total_bytes"` // of all files in folders below Dir, before
	// OverBytes is by how much the runs exceed MaxTotal when all is done: what is kept and protected is not dropped for it.
	OverBytes int64 `json:"over_bytes"`
}

// pruneRun is a run's folder.
type pruneRun struct {
	folder, name     string
	workload, status string // as its run.json has them
	started          time.Time
	group            string
	leave            string // why it is left alone; "" when it is not
	files            []pruneFile
}

// pruneFile is a captured file of a run.
type pruneFile struct {
	run   *pruneRun
	path  string // below the folder of runs
	bytes int64
}

// Find plans what is to be done in a folder of runs. Of each group the last runs keep what was captured as it is; what older ones
// captured is compressed, and where all runs together exceed MaxTotal, dropped, oldest first. Files that say what was run (JSON,
// YAML, Markdown, logs) stay, and what the warehouse does not have. Folders whose run.json cannot be read, and runs that may be at work, are left alone. Symbolic links are
// neither followed nor changed. Only where MaxTotal is exceeded are files read: to know how small they become.
func Find(dir string, now time.Time, o Options) (*Plan, error) {
	if o.Keep < 0 || o.MaxTotal < 0 {
		return nil, errors.New("the number of runs and bytes to keep cannot be negative")
	}
	p := &Plan{Dir: dir, Actions: []Action{}, Skipped: []PruneSkip{}}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look through the runs: %w", err)
	}
	defer root.Close()
	runs, err := p.readRuns(root, now, o)
	if err != nil {
		return nil, fmt.Errorf("look through the runs: %w", err)
	}
	older := olderFiles(runs, o.Keep)
	keep, err := p.fit(root, older, o.MaxTotal)
	if err != nil {
		return nil, fmt.Errorf("measure the files of runs: %w", err)
	}
	for i, f := range older {
		switch {
		case i < keep:
			p.add(f, Drop, fmt.Sprintf("oldest files beyond %d bytes over all runs", o.MaxTotal))
		case compressible(f.path):
			p.add(f, Compress, fmt.Sprintf("beyond the latest %d runs of its group", o.Keep))
		}
	}
	return p, nil
}

func (p *Plan) add(f pruneFile, action, reason string) {
	p.Actions = append(p.Actions, Action{Run: f.run.name, Path: f.path, Bytes: f.bytes, Action: action, Reason: reason})
}

func (p *Plan) skip(folder, reason string) {
	p.Skipped = append(p.Skipped, PruneSkip{folder, reason})
}

// readRuns reads the runs below root, notes which are left alone, adds up their bytes, and plans the end of files that an interrupted
// prune left.
func (p *Plan) readRuns(root *os.Root, now time.Time, o Options) ([]*pruneRun, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var runs []*pruneRun
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			p.skip(e.Name(), "it is a symbolic link")
			continue
		}
		if !e.IsDir() {
			continue
		}
		files, unfinished, total, err := walkRun(root, e.Name(), now)
		if err != nil {
			return nil, err
		}
		p.TotalBytes += total
		run, err := readRun(root, e.Name())
		if err != nil {
			p.skip(e.Name(), err.Error())
			continue
		}
		run.leave = leaveAlone(run, now, o)
		run.group = groupOf(run, o.Groups)
		p.keepStored(run, files, o)
		if run.leave != "" {
			p.skip(e.Name(), run.leave)
		} else {
			for _, f := range unfinished {
				p.add(pruneFile{run, f.path, f.bytes}, Drop, "an interrupted prune left it")
			}
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// keepStored gives a run the captured files that may go: those that the warehouse has.
func (p *Plan) keepStored(run *pruneRun, files []sizedFile, o Options) {
	var missing []string
	for _, f := range files {
		if slices.Contains(o.NotStored, run.name) || o.Stored != nil && o.Stored(run.started, strings.TrimPrefix(f.path, run.folder+"/")) {
			run.files = append(run.files, pruneFile{run, f.path, f.bytes})
		} else {
			missing = append(missing, f.path)
		}
	}
	switch {
	case run.leave != "" || len(missing) == 0:
	case len(run.files) == 0:
		run.leave = notStored
	default:
		for _, path := range missing {
			p.skip(path, notStored)
		}
	}
}

// notStored is why files are left alone that were not ingested, as after --no-ingest, a kill or an error.
const notStored = "the warehouse does not have it"

func readRun(root *os.Root, folder string) (*pruneRun, error) {
	path := folder + "/" + rundir.ManifestName
	st, err := root.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("it has no %s", rundir.ManifestName)
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("its %s is not a regular file", rundir.ManifestName)
	}
	m, err := rundir.ReadManifest(root.Name() + "/" + path)
	if err != nil {
		return nil, err
	}
	return &pruneRun{folder: folder, name: m.Run, workload: m.WorkloadKey, status: m.Status, started: m.StartedAt}, nil
}

// leaveAlone returns why a run is left alone, or "".
func leaveAlone(r *pruneRun, now time.Time, o Options) string {
	switch {
	case slices.Contains(o.Protected, r.name):
		return "it is protected"
	case r.status == rundir.StatusRunning && now.Sub(r.started) < runningFor:
		return "it may still be running: it began less than a day ago and has not ended"
	}
	return ""
}

// groupOf returns the group of a run: the one that was given, else its workload, else itself alone.
func groupOf(r *pruneRun, groups map[string]string) string {
	switch g := groups[r.name]; {
	case g != "":
		return "given " + g
	case r.workload != "":
		return "workload " + r.workload
	}
	return "run " + r.name
}

// olderFiles returns the files of runs that may be changed and are not among the newest of their group, oldest first. Runs that are left
// alone count among the newest.
func olderFiles(runs []*pruneRun, keep int) []pruneFile {
	slices.SortStableFunc(runs, func(a, b *pruneRun) int { return cmp.Or(a.started.Compare(b.started), cmp.Compare(a.folder, b.folder)) })
	newer := map[string]int{}
	var older []pruneFile
	for _, r := range slices.Backward(runs) {
		newer[r.group]++
		if newer[r.group] > keep && r.leave == "" {
			for _, f := range slices.Backward(r.files) {
				older = append(older, f)
			}
		}
	}
	slices.Reverse(older)
	return older
}

// fit returns how many of the files, of which the oldest is first, must go so that all runs together take no more than limit.
func (p *Plan) fit(root *os.Root, older []pruneFile, limit int64) (int, error) {
	total := p.TotalBytes
	for _, a := range p.Actions {
		total -= a.Bytes
	}
	if limit == 0 || total <= limit {
		return 0, nil
	}
	for _, f := range older {
		total -= f.bytes
	}
	for i, f := range slices.Backward(older) {
		bytes := f.bytes
		if compressible(f.path) {
			var err error
			if bytes, err = compressedSize(root, f.path); err != nil {
				return 0, err
			}
		}
		if total+bytes > limit {
			p.OverBytes = max(0, total-limit)
			return i + 1, nil
		}
		total += bytes
	}
	p.OverBytes = max(0, total-limit)
	return 0, nil
}
