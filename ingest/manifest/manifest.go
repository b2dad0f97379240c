// Package manifest reads what a capture of prof says of itself: run.json and, beside it, env.json and the NVML samples of its passes.
// What the tools captured is read by the formats of those files.
package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"prof/internal/mask"
	"prof/internal/suggest"
	"prof/schema/rundir"
)

// Run is a run.json and the folder that it lies in.
type Run struct {
	Dir      string
	Manifest *rundir.Manifest

	passes map[string]int // absolute path of an artifact, without what says how it is packed -> pass
}

// Sniff reports whether a file is a run.json, by its lower-case name and its beginning. Where a long argv stands between prof_version and
// the passes, what prof writes before it is enough.
func Sniff(name string, head []byte) bool {
	if name != rundir.ManifestName {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(head))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return false
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			break
		}
		field, _ := key.(string)
		seen[field] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil { // the beginning ends in it
			break
		}
	}
	return seen["prof_version"] && (seen["passes"] || seen["version"] && seen["run"] && seen["argv"])
}

// Read reads a run.json; name is its path for messages, whose folder the paths in it start from. What is not as prof writes it, so that
// passes could not be told apart or the warehouse could not hold it, is an error that wraps rundir.ErrManifest and names the place.
func Read(path, name string) (*Run, error) {
	m, err := rundir.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: filepath.Dir(name), Manifest: m, passes: map[string]int{}}
	err = checkTime("started_at", m.StartedAt)
	if err == nil && m.EndedAt != nil {
		err = checkTime("ended_at", *m.EndedAt)
	}
	if err == nil {
		err = r.takeNode()
	}
	if err == nil {
		err = r.takePasses()
	}
	if err == nil {
		err = r.checkKept()
	}
	if err == nil {
		err = checkDevices(m.Devices)
	}
	if err == nil {
		err = checkInputs(m.Inputs)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, rundir.ErrManifest, err)
	}
	return r, nil
}

// path is where a file of the folder lies.
func (r *Run) path(file string) string { return filepath.Join(r.Dir, filepath.FromSlash(file)) }

// PassOf returns the pass that a file came out of, wherever the folder is now and however the file is packed.
func (r *Run) PassOf(path string) (pass int, ok bool) {
	if pass, ok = r.passes[identity(path)]; !ok {
		pass, ok = r.passes[identity(filepath.Dir(path))] // it may name a folder of files
	}
	return pass, ok
}

// identity is one name for all paths of a file, there or not.
func identity(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return strings.TrimSuffix(strings.TrimSuffix(path, ".zst"), ".gz")
}

// Command is the workload's command line, secrets masked.
func (r *Run) Command() string { return mask.Command(r.Manifest.Argv) }

// Faults say what of the capture went wrong; none where all of it is well.
func (r *Run) Faults() []string {
	m := r.Manifest
	if m.Status == rundir.StatusOK {
		return nil
	}
	var out []string
	if m.Status == rundir.StatusRunning {
		out = append(out, "prof was killed during the capture")
	}
	names := map[string][]string{}
	for _, p := range m.Passes {
		if p.Status != rundir.StatusOK {
			names[p.Status] = append(names[p.Status], p.Name)
		}
	}
	for _, p := range m.Passes { // in their order, those of a status together
		of := names[p.Status]
		if len(of) == 0 || of[0] != p.Name {
			continue
		}
		word := "recording"
		if len(of) > 1 {
			word = "recordings"
		}
		text := fmt.Sprintf("%s %s: %s", word, suggest.List(of, 4), strings.ReplaceAll(p.Status, "_", " "))
		if p.Reason != "" && len(of) == 1 && p.Status != rundir.StatusNotRun {
			text += ": " + mask.Text(p.Reason)
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		out = append(out, "the capture is "+m.Status)
		if m.Reason != "" {
			out[0] += ": " + mask.Text(m.Reason)
		}
	}
	return out
}
