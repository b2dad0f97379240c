package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// Bounds of a file of times: the helper keeps 150,000 executions, of some 50 bytes and 8 values, and as many rows of memory of 11.
const (
	maxTimes  = 64 << 20
	maxRows   = 200_000
	maxValues = 20 * maxRows
)

// maxNesting bounds the ranges around one.
const maxNesting = 1000

// stageTimes is a file of the helper's times of stages, one process each.
type stageTimes struct {
	PID        int32            `json:"pid"`
	Rank       *int32           `json:"rank"`
	LeftOut    int64            `json:"left_out"` // executions behind those that are listed
	Fault      string           `json:"fault"`    // why nothing is listed
	Paths      [][]string       `json:"paths"`
	Inputs     []string         `json:"inputs"` // ids that executions worked on
	Executions []stageExecution `json:"executions"`
	Memory     []stageMemory    `json:"memory"`
}

// stageMemory is one row of memory: the place of its execution, the GPU as PyTorch counts, and in bytes what the allocator has given out before and after,
// the peak of that before and after, and the same of what it has reserved.
type stageMemory []int64

// check checks that a row is as the helper writes it.
func (m stageMemory) check(executions int) error {
	if len(m) != 10 {
		return fmt.Errorf(" has %d values, want 10", len(m))
	}
	for i, v := range m {
		if v < 0 || v > math.MaxInt64/2 || i == 1 && v > math.MaxInt32 {
			return fmt.Errorf("[%d] is %d", i, v)
		}
	}
	if m[0] >= int64(executions) {
		return fmt.Errorf("[0] is %d of %d executions", m[0], executions)
	}
	return nil
}

// stageExecution is one row of executions: path, cpu and gpu in nanoseconds, sequences, tokens, 1 for warm-up, and where it is known the input.
type stageExecution [7]*int64

// check checks that a row is as the helper writes it.
func (e stageExecution) check(paths, inputs int) error {
	for i, v := range e {
		if v == nil && (i < 2 || i == 5) {
			return fmt.Errorf("[%d] is null", i)
		}
		if v != nil && (*v < 0 || *v > math.MaxInt64/2) {
			return fmt.Errorf("[%d] is %d", i, *v)
		}
	}
	if *e[0] >= int64(paths) {
		return fmt.Errorf("[0] is %d of %d paths", *e[0], paths)
	}
	if e[6] != nil && *e[6] >= int64(inputs) {
		return fmt.Errorf("[6] is %d of %d inputs", *e[6], inputs)
	}
	return nil
}

// nothing is a value that is only counted: a list of such takes no memory.
type nothing struct{}

// UnmarshalJSON passes over the value.
func (*nothing) UnmarshalJSON([]byte) error { return nil }

// readTimes reads and checks a file of times.
func readTimes(path string) (*stageTimes, error) {
	text, err := file.Read(path, maxTimes)
	if err != nil {
		return nil, err
	}
	if err := file.FewValues(text, maxValues); err != nil {
		return nil, err
	}
	var rows struct{ Executions, Memory []nothing }
	if err := json.Unmarshal(text, &rows); err == nil && max(len(rows.Executions), len(rows.Memory)) > maxRows {
		return nil, fmt.Errorf("it has more than %d executions", maxRows)
	}
	var t stageTimes
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("it is not a file of stage times: %w", err)
	}
	if t.PID <= 0 {
		return nil, fmt.Errorf("it is not a file of stage times: pid is %d", t.PID)
	}
	for i, p := range t.Paths {
		if len(p) == 0 || len(p) > maxNesting {
			return nil, fmt.Errorf("paths[%d] has %d names, want 1 to %d", i, len(p), maxNesting)
		}
	}
	for i, e := range t.Executions {
		if err := e.check(len(t.Paths), len(t.Inputs)); err != nil {
			return nil, fmt.Errorf("executions[%d]%w", i, err)
		}
	}
	for i, m := range t.Memory {
		if err := m.check(len(t.Executions)); err != nil {
			return nil, fmt.Errorf("memory[%d]%w", i, err)
		}
	}
	return &t, nil
}

// times stores the times of stages of each pass. A file that cannot be read becomes a warning: the others, and the timelines, are good
// without it.
func (s *storing) times() error {
	for _, p := range s.r.Manifest.Passes {
		seen := map[int32]bool{}
		for _, name := range p.StageTimes {
			t, err := readTimes(s.r.path(name))
			if err == nil && seen[t.PID] {
				err = fmt.Errorf("process %d has another file", t.PID)
			}
			if err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					err = errors.New("there is no such file")
				}
				s.warn("%s: %v; its times of stages of recording %s are not stored", name, err, p.Name)
				s.part = append(s.part, part{name, nil, nil, err.Error()})
				continue
			}
			seen[t.PID] = true
			if err := s.storeTimes(p, name, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *storing) storeTimes(p rundir.Pass, name string, t *stageTimes) error {
	paths := make([]string, len(t.Paths))
	for i, names := range t.Paths {
		var id int32
		for _, n := range names {
			id = s.t.Run.Paths.Add(id, "", load.Normalise(load.RangeName(mask.Stored(n))))
		}
		paths[i] = load.RangeName(s.t.Run.Paths.String(id))
	}
	n := int64(len(t.Executions))
	var reason any
	switch {
	case t.Fault != "":
		s.warn("%s: the stages of recording %s are not timed, because the helper stopped: %s", name, p.Name, t.Fault)
		reason = t.Fault
	case t.LeftOut > 0:
		s.warn("%s: of %d executions of stages in recording %s the first %d are timed", name, n+t.LeftOut, p.Name, n)
		reason = "the first executions only"
	}
	s.part = append(s.part, part{name, n + t.LeftOut, n, reason})
	err := s.append("execution_memory", func(add rows.Add) error {
		for _, m := range t.Memory {
			row := []any{int32(p.ID), t.PID, m[0] + 1, int32(m[1])}
			for _, v := range m[2:] {
				row = append(row, v)
			}
			if err := add(row...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.append("stage_execution", func(add rows.Add) error {
		var rank any
		if t.Rank != nil {
			rank = *t.Rank
		}
		for i, e := range t.Executions {
			var input any
			if e[6] != nil {
				input = t.Inputs[*e[6]]
			}
			if err := add(int32(p.ID), t.PID, rank, int64(i+1), paths[*e[0]], *e[5] != 0, whole(e[3]), whole(e[4]), *e[1], whole(e[2]), input); err != nil {
				return err
			}
		}
		return nil
	})
}
