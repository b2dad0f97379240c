package diagnosis

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// folder is what prof capture leaves of one pass: the export, what was run, and what was sampled of the GPUs meanwhile.
type folder struct {
	export  file
	run     []byte
	samples [][]string
}

// Folder puts an export into the folder of a capture: the first pass of its run.json, and the samples of that.
func Folder(c *Capture, runJSON, samples []byte) (*Capture, error) {
	var run map[string]json.RawMessage
	var passes []json.RawMessage
	if err := json.Unmarshal(runJSON, &run); err != nil {
		return nil, fmt.Errorf("run.json: %w", err)
	}
	if err := json.Unmarshal(run["passes"], &passes); err != nil {
		return nil, fmt.Errorf("passes of run.json: %w", err)
	}
	run["passes"] = slices.Concat([]byte("["), passes[0], []byte("]"))
	text, err := json.Marshal(run)
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(samples)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("samples: %w", err)
	}
	return &Capture{Events: c.Events, file: &folder{c.file, text, lines}}, nil
}

func (f *folder) column(name string) int { return slices.Index(f.samples[0], name) }

func (f *folder) clone() file {
	x := &folder{f.export.clone(), f.run, nil}
	for _, line := range f.samples {
		x.samples = append(x.samples, slices.Clone(line))
	}
	return x
}

func (f *folder) write(dir, id string, events []*Event) ([]string, error) {
	if err := os.MkdirAll(filepath.Join(dir, "nsys"), 0o755); err != nil {
		return nil, err
	}
	if _, err := f.export.write(filepath.Join(dir, "nsys"), id, events); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(f.samples); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "nsys", "report-1.samples.csv"), text.Bytes(), 0o644); err != nil {
		return nil, err
	}
	return []string{dir}, os.WriteFile(filepath.Join(dir, "run.json"), f.run, 0o644)
}
