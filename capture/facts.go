package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prof/internal/file"
	"prof/schema/rundir"
)

// facts are what one process of the workload said of the passes that it ran: a file that prof's helper wrote.
type facts struct {
	path, text string
	fields     map[string]json.RawMessage
	process    process
}

// process is the process in the facts of a job, as ingest/workload reads it.
type process struct {
	PID      int64           `json:"pid"`
	Rank     *int64          `json:"rank,omitempty"`
	World    *int64          `json:"world_size,omitempty"`
	Parallel *int64          `json:"tensor_parallel,omitempty"`
	Runs     json.RawMessage `json:"runs"`
}

// maxFacts bounds what a process says of its passes, in bytes; the ingest reads no more.
const maxFacts = 64 << 20

// readFacts reads what the processes of a recording said: the one that has the path, and those with their process id in the name. Processes without passes
// are left out unless none has any.
func (s *Session) readFacts(path string) ([]facts, error) {
	stem, ext, _ := strings.Cut(filepath.Base(path), ".")
	others, err := filepath.Glob(filepath.Join(escaped(filepath.Dir(s.below(path))), escaped(stem)+"-*."+ext))
	if err != nil {
		return nil, err
	}
	var all []facts
	for _, path := range append([]string{s.below(path)}, others...) {
		text, err := file.Read(path, maxFacts)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f := facts{path: path, text: string(text)}
		if err := json.Unmarshal(text, &f.fields); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		if marks, ok := f.fields["marks"]; ok {
			if err := json.Unmarshal(marks, &f.process); err != nil {
				return nil, fmt.Errorf("%s: marks: %w", filepath.Base(path), err)
			}
		}
		f.process.Runs = f.fields["runs"]
		all = append(all, f)
	}
	if ran := slices.DeleteFunc(slices.Clone(all), func(f facts) bool { return !f.hasRuns() }); len(ran) > 0 {
		all = ran
	}
	return all, nil
}

func (f facts) hasRuns() bool { return len(f.process.Runs) > 0 && string(f.process.Runs) != "null" }

// worked is what the processes of a recording say of the work, in the order of their ranks, else in one that is the same whatever the processes
// are called: it is the same for repeats.
func worked(all []facts) string {
	var out []string
	for _, f := range all {
		rank := ""
		if f.process.Rank != nil {
			rank = fmt.Sprintf("%9d ", *f.process.Rank)
		}
		out = append(out, rank+string(f.fields["config"])+string(f.process.Runs))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// chooseFacts keeps what the workload did in the recordings with a timeline, which are repeats of the same. Where they differ, there are no facts:
// the tokens of one would be taken for those of another.
func (s *Session) chooseFacts() error {
	var all, last []facts
	var was, folder string
	differ := false
	for _, p := range s.manifest.Passes {
		var stem string
		switch p.Tool {
		case rundir.ToolNsys:
			stem = fmt.Sprintf("nsys/report-%d", p.Repeat)
		case rundir.ToolProf:
			stem = fmt.Sprintf("prof/trace-%d", p.Repeat)
		default:
			continue
		}
		if folder == "" {
			folder = filepath.Dir(stem)
		}
		found, err := s.readFacts(stem + ".facts.json")
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if len(found) == 0 {
			continue
		}
		now := worked(found)
		differ = differ || last != nil && now != was
		all, last, was = append(all, found...), found, now
	}
	if last == nil {
		return nil
	}
	to := filepath.Join(s.dir, folder, "workload.json")
	if differ {
		s.warn("the repeats did not all do the same work, so their tokens are treated as unknown; --prefill, --decode and --model set them for all repeats")
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := s.joined(all, last)
	if err != nil {
		return err
	}
	return file.Write(to, text)
}

// joinTorchFacts puts what the processes of the recording under the PyTorch profiler said into the one file that is read.
func (s *Session) joinTorchFacts(path string) error {
	all, err := s.readFacts(path)
	if err != nil || len(all) == 0 {
		return err
	}
	text, err := s.joined(all, all)
	if err != nil {
		return err
	}
	if err := file.Write(s.below(path), text); err != nil {
		return err
	}
	for _, f := range all {
		if f.path != s.below(path) {
			err = errors.Join(err, os.Remove(f.path))
		}
	}
	return err
}

// joined makes one file of the facts of all processes, last those of the last recording. A job's passes belong to their processes; where one process ran, its facts
// hold for it whatever the recording.
func (s *Session) joined(all, last []facts) ([]byte, error) {
	first := last[0]
	if isJob := first.process.World != nil && *first.process.World > 1; len(last) == 1 && !isJob || !first.hasRuns() {
		return []byte(first.text), nil
	}
	out := map[string]any{}
	for name, value := range first.fields {
		out[name] = value
	}
	delete(out, "runs")
	if slices.ContainsFunc(last, func(f facts) bool { return !bytes.Equal(f.fields["config"], first.fields["config"]) }) {
		s.warn("the processes of the workload ran models with different configurations, so none is stored: --model names one")
		delete(out, "config")
		delete(out, "model")
	}
	var list []process
	for _, f := range all {
		list = append(list, f.process)
	}
	out["processes"] = list
	text, err := json.Marshal(out)
	if err == nil && len(text) > maxFacts {
		err = fmt.Errorf("the facts of %d processes take more than %d MiB together", len(list), maxFacts>>20)
	}
	return append(text, '\n'), err
}
