// Package load is what the readers of all formats share: what a run's sources have in common, what a reader says of its source, names, ids and paths.
package load

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"prof/ingest/rows"
)

// Options are the choices of an ingest that a format must know.
type Options struct {
	WithOSRT bool      // store calls into the operating system's libraries
	APIRows  bool      // store a row for each API call, short ones too
	Assume   bool      // go on where a model's configuration says something about its shape that is not read
	Threads  int       // goroutines a format may use beside DuckDB's; at least 1
	Image    ImageSize // of the pictures that models see; zero: what a workload says, if it does
	// Progress is told about long steps: what, rows done and rows expected (-1 unknown). It may be nil and must be fast.
	Progress func(what string, done, total int64)
	// TempDir is an existing folder for temporary files.
	TempDir         string
	RecordsInMemory int // bytes of a source's records that are kept in memory; 0 for the usual
}

// ImageSize is the size of a picture in pixels; zero where it is not known.
type ImageSize struct{ Width, Height int64 }

// MaxSide bounds the sides of a picture, in pixels.
const MaxSide = 1 << 16

func (s ImageSize) String() string {
	return fmt.Sprintf("%d x %d", s.Width, s.Height)
}

// ErrNothingWhole is wrapped by the error for a file that was cut off before anything in it is whole.
var ErrNothingWhole = errors.New("it is cut off, and nothing before that is whole (was it copied completely?)")

// SourceInfo is what a source says of itself as a whole.
type SourceInfo struct {
	ToolVersion   string
	SchemaVersion string
	Command       string     // the profiled command line, secrets masked
	Host          string     // the machine it was captured on
	SHA256        string     // of the file's unpacked content, where the format reads all of it; else ""
	CaptureID     string     // names the capture: several exports of one report share it
	Rank          *int64     // place in a job of several processes; nil when not said
	StartedAt     *time.Time // wall clock at time 0
	DurationNs    *int64     // length of the capture
	Rows          int64      // rows stored
	Status        string     // "partial" or "failed"; "" when all is well
	Reason        string     // why it is not
	Warnings      []string
}

// Target is what a reader is given of the run: where the rows of its source go, and what the run's sources share.
type Target struct {
	rows.Sink
	RunID    string // the first value of every whole row
	SourceID int
	Options  Options
	Run      *Run
	Room     *Room // for what the reader keeps of the source, which closes it
}

// Run is what the sources of one run share: ids that are unique within the run and names that are stored once. Readers know an id as
// its number in the run, 1, 2, ...; Target adds the run's base to it as it stores a row.
type Run struct {
	RangeID   int32 // last range_id given
	ContextID int32 // last range_context_id given
	Paths     Paths
	Kernels   Names   // with their short names
	Symbols   Symbols // of the kernels
	APIs      Numbers
	Metrics   Names            // with their units
	OpID      int32            // last op_id given
	ModelID   int32            // last model_id given
	LaunchID  int32            // last launch_id given
	Models    map[string]int32 // models that facts of workloads carried, by what is stored of them
	Operators Numbers
	Inputs    Numbers // of operators, by their content
	Stacks    Paths   // of Python functions

	shapes   Shared[Shape] // of kernels
	profiled map[ProfiledKey]*Profiled
	seen     map[string]bool
}

// CheckIDs refuses a run with more of something than most, the ids that there are.
func (r *Run) CheckIDs(most int) error {
	for _, c := range []struct {
		what string
		n    int
	}{{"ranges", int(r.RangeID)}, {"sets of open ranges", int(r.ContextID)}, {"paths of ranges", len(r.Paths.All())}, {"kernel names", len(r.Kernels.numbers.All())},
		{"launch shapes", len(r.shapes.All())}, {"API names", len(r.APIs.All())}, {"metrics", len(r.Metrics.numbers.All())}, {"operators", int(r.OpID)}, {"operator names", len(r.Operators.All())},
		{"inputs of operators", len(r.Inputs.All())}, {"Python stacks", len(r.Stacks.All())}, {"profiled launches", int(r.LaunchID)}, {"models", int(r.ModelID)}} {
		if c.n > most {
			return fmt.Errorf("the run has %d %s, more than the limit of %d: ingest fewer captures as one run", c.n, c.what, most)
		}
	}
	return nil
}

// NameHash identifies a name in every run and warehouse: the first 8 bytes of its SHA-256, big-endian.
func NameHash(name string) int64 {
	h := sha256.Sum256([]byte(name))
	return int64(binary.BigEndian.Uint64(h[:8]))
}

// InputKey identifies inputs of operators in Run.Inputs.
func InputKey(shapes, types, strides, concrete string) string {
	return strconv.FormatInt(NameHash(strings.Join([]string{shapes, types, strides, concrete}, "\n")), 16)
}

// Names numbers names, each with a text beside it. It is safe for concurrent use.
type Names struct {
	numbers Numbers
	mu      sync.Mutex
	beside  map[int32]string
}

// Add returns the number of a name and keeps the text first given with it; nil is one that is not known.
func (n *Names) Add(name string, beside *string) int32 {
	id := n.numbers.Add(name)
	if beside == nil {
		return id
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.beside[id]; !ok {
		if n.beside == nil {
			n.beside = map[int32]string{}
		}
		n.beside[id] = *beside
	}
	return id
}

// Each visits the names in the order of their numbers.
func (n *Names) Each(f func(id int32, name string, beside *string) error) error {
	for i, name := range n.numbers.All() {
		if n.numbers.gone[i] {
			continue
		}
		var beside *string
		if text, ok := n.beside[int32(i+1)]; ok {
			beside = &text
		}
		if err := f(int32(i+1), name, beside); err != nil {
			return err
		}
	}
	return nil
}

// Numbers numbers the names that a run's rows refer to: 1, 2, ... within the run. It is safe for concurrent use.
type Numbers struct {
	mu    sync.RWMutex
	ids   map[string]int32
	names []string
	gone  map[int]bool // places in names of none, see Restore
}

// Add returns the number of a name.
func (n *Numbers) Add(name string) int32 {
	n.mu.RLock()
	id, ok := n.ids[name]
	n.mu.RUnlock()
	if ok {
		return id
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, ok = n.ids[name]; ok {
		return id
	}
	if n.ids == nil {
		n.ids = map[string]int32{}
	}
	n.names = append(n.names, name)
	id = int32(len(n.names))
	n.ids[name] = id
	return id
}

// All returns the names; the number of a name is its place plus 1.
func (n *Numbers) All() []string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.names
}
