// Package manifest reads what a capture of prof says of itself: run.json and, beside it, env.json and the NVML samples of its passes.
// What the tools captured is read by the formats of those files.
package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"prof/ingest/load"
	"prof/schema"
)

// Run is a run.json and the folder that it lies in.
type Run struct {
	Dir      string
	Manifest *schema.Manifest

	passes map[string]int // absolute path of an artifact, without what says how it is packed -> pass
}

// Sniff says whether a file is a run.json, by its lower-case name and its beginning.
func Sniff(name string, head []byte) bool {
	if name != schema.ManifestName {
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
		name, _ := key.(string)
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil { // the beginning ends in it
			break
		}
	}
	return seen["prof_version"] && seen["passes"]
}

// Read reads a run.json; name is its path for messages, whose folder the paths in it start from. Passes whose numbers do not tell
// them apart and paths that lead out of the folder are errors.
func Read(path, name string) (*Run, error) {
	m, err := schema.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: filepath.Dir(name), Manifest: m, passes: map[string]int{}}
	seen := map[int]bool{}
	for i, p := range m.Passes {
		if p.ID < 1 || seen[p.ID] {
			return nil, fmt.Errorf("%s: %w: passes[%d].pass is %d, want numbers from 1 on, each once", name, schema.ErrManifest, i, p.ID)
		}
		seen[p.ID] = true
		if p.Name == "" || p.Tool == "" || p.Status == "" {
			return nil, fmt.Errorf("%s: %w: passes[%d] has no name, tool or status", name, schema.ErrManifest, i)
		}
		for _, file := range append(slices.Clone(p.Artifacts), p.Samples) {
			if file != "" && !filepath.IsLocal(filepath.FromSlash(file)) {
				return nil, fmt.Errorf("%s: %w: passes[%d] names %q, which is not below its folder", name, schema.ErrManifest, i, file)
			}
		}
		for _, file := range p.Artifacts {
			r.passes[identity(r.path(file))] = p.ID
		}
	}
	return r, nil
}

// path is where a file of the folder lies.
func (r *Run) path(file string) string { return filepath.Join(r.Dir, filepath.FromSlash(file)) }

// PassOf gives the pass that a file came out of, wherever the folder is now and however the file is packed.
func (r *Run) PassOf(path string) (pass int, ok bool) {
	pass, ok = r.passes[identity(path)]
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
func (r *Run) Command() string { return load.MaskCommand(r.Manifest.Argv) }

// Faults say what of the capture went wrong; none where all of it is well.
func (r *Run) Faults() []string {
	m := r.Manifest
	if m.Status == schema.StatusOK {
		return nil
	}
	var out []string
	if m.Status == schema.StatusRunning {
		out = append(out, "prof was killed while it captured")
	}
	for _, p := range m.Passes {
		if p.Status == schema.StatusOK || p.Status == "" {
			continue
		}
		text := fmt.Sprintf("pass %s: %s", p.Name, strings.ReplaceAll(p.Status, "_", " "))
		if p.Reason != "" {
			text += ": " + load.Mask(p.Reason)
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		out = append(out, "the capture is "+m.Status)
		if m.Reason != "" {
			out[0] += ": " + load.Mask(m.Reason)
		}
	}
	return out
}
