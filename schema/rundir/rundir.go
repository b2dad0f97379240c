// Package rundir is what a run's folder says of itself: run.json, which a capture writes and an ingest reads, and the names of the files
// beside it. It knows no warehouse.
package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"prof/internal/file"
)

// Names of the files of a run's folder that say what was run. What the tools captured lies in one folder a tool beside them.
const (
	ManifestName    = "run.json"
	EnvironmentName = "env.json"
	ConfigName      = "config.yaml"
	InputsName      = "inputs.yaml"
	KeptName        = "kept" // the folder of files that the workload wrote
	AssumptionsName = "assumptions.md"

	WorkloadInputsName = "inputs.json" // what the workload is told to work on
)

// ManifestVersion is the version of run.json that this prof writes. It reads this and earlier ones.
const ManifestVersion = 1

// Manifest is run.json: what a capture ran and what became of each pass. It is written anew, whole, whenever something changes, so
// that a capture that was killed leaves one that tells how far it came.
type Manifest struct {
	Version     int        `json:"version"`
	Run         string     `json:"run"` // name of the run
	ProfVersion string     `json:"prof_version"`
	Mode        string     `json:"mode"`                  // light, deep or custom
	Argv        []string   `json:"argv"`                  // of the workload, secrets masked
	WorkloadKey string     `json:"workload_key"`          // hash of argv and folder
	OptionsKey  string     `json:"options_key,omitempty"` // hash of the options and inputs
	Folder      string     `json:"folder"`                // working folder, secrets masked
	Host        string     `json:"host,omitempty"`
	Node        *Node      `json:"node,omitempty"` // nil for a capture that is a run by itself
	Git         *Git       `json:"git,omitempty"`
	StartedAt   time.Time  `json:"started_at"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	Status      string     `json:"status"` // as capture.status
	Reason      string     `json:"reason,omitempty"`
	Passes      []Pass     `json:"passes"`
	Inputs      []Input    `json:"inputs,omitempty"`
	Kept        []Kept     `json:"kept,omitempty"`
	Devices     []Device   `json:"devices,omitempty"`
	Warnings    []string   `json:"warnings,omitempty"`
}

// Node says which node of a job a capture is of. Captures of one job become one run.
type Node struct {
	Rank  int    `json:"rank"`            // 0, 1, ... among the nodes
	Count int    `json:"count,omitempty"` // nodes of the job; 0 when unknown
	Job   string `json:"job"`             // hash of what identifies the job: the same on all of its nodes
	JobBy string `json:"job_by"`          // what that is: run, or run and --job or a variable of the environment
}

// NodeStride parts the numbers of nodes: what has the number n on node k, a GPU or a recording, has k * NodeStride + n in the run.
const NodeStride = 1000

// Farthest bounds the times, in nanoseconds from the start of a capture, and the amounts that a capture can hold: 833 days, 64 PiB. What lies
// beyond is a fault of the capture, and would overflow sums.
const Farthest = int64(1) << 56

// Offset is added to the numbers of GPUs and recordings of a node; 0 for a capture that is a run by itself.
func (n *Node) Offset() int {
	if n == nil {
		return 0
	}
	return n.Rank * NodeStride
}

// Git is the state of the repository that the workload was run in.
type Git struct {
	Commit string `json:"commit"`
	Branch string `json:"branch,omitempty"`
	Dirty  bool   `json:"dirty"`
}

// Statuses of a pass and of a whole capture.
const (
	StatusOK          = "ok"
	StatusPartial     = "partial"     // of a capture: a pass failed or was stopped
	StatusFailed      = "failed"      // the workload or the tool failed
	StatusTimeout     = "timeout"     // it was stopped after --timeout
	StatusTooLarge    = "too_large"   // it was stopped at --max-artifact-size
	StatusInterrupted = "interrupted" // the user stopped it
	StatusNoReport    = "no_report"   // the tool left no report that can be read
	StatusNotRun      = "not_run"     // the tool is missing, or an earlier pass was interrupted
	StatusRunning     = "running"     // it is at work, or prof was killed
)

// Tools of a pass.
const (
	ToolNone  = "none" // the workload alone
	ToolNsys  = "nsys"
	ToolProf  = "prof" // prof's own tracer
	ToolNcu   = "ncu"
	ToolTorch = "torch"
)

// Pass is one run of the workload under one tool.
type Pass struct {
	ID            int       `json:"pass"`
	Name          string    `json:"name"` // tool and number, e.g. nsys-2
	Tool          string    `json:"tool"`
	Mode          string    `json:"mode"`   // as capture_pass.mode
	Repeat        int       `json:"repeat"` // 1, 2, ... among those of the tool
	Argv          []string  `json:"argv"`   // what was run, secrets masked
	ToolVersion   string    `json:"tool_version,omitempty"`
	StartedAt     time.Time `json:"started_at"`
	DurationNs    *int64    `json:"duration_ns,omitempty"` // of the tool, its report written
	WorkloadNs    *int64    `json:"workload_ns,omitempty"` // of the workload's process
	ExitCode      *int      `json:"exit_code,omitempty"`   // of the workload
	Signal        string    `json:"signal,omitempty"`      // that ended it
	Status        string    `json:"status"`
	Reason        string    `json:"reason,omitempty"`
	Artifacts     []string  `json:"artifacts,omitempty"` // captured files and folders of traces, below the run's folder
	ArtifactBytes *int64    `json:"artifact_bytes,omitempty"`
	WorkloadLog   string    `json:"workload_log,omitempty"` // what the workload wrote, bounded and masked, below the run's folder
	Samples       string    `json:"samples,omitempty"`      // NVML samples (CSV), below the run's folder
	Marked        bool      `json:"marked,omitempty"`       // prof's helper marked stages
	StageTimes    []string  `json:"stage_times,omitempty"`  // files with the helper's times of stages, below the run's folder
	ClockControl  string    `json:"clock_control,omitempty"`
	Serving       *Serving  `json:"serving,omitempty"` // nil: the workload is no engine that was recorded under load
}

// Serving is how a serving engine was recorded under load.
type Serving struct {
	ReadyNs      *int64   `json:"ready_ns,omitempty"`       // from its start until it served; nil where that was not asked
	WaitedNs     int64    `json:"waited_ns"`                // under load before the window
	IsSteady     bool     `json:"is_steady"`                // launches were steady when the window began
	LaunchesPerS *float64 `json:"launches_per_s,omitempty"` // of kernels and graphs in all processes, just before the window; nil where it is unknown
	ProcessCount int      `json:"process_count"`            // processes that launched GPU work before the window
	WindowNs     int64    `json:"window_ns"`                // how long was recorded
	FromNs       int64    `json:"from_ns,omitempty"`        // begin of that, by CLOCK_MONOTONIC; 0 where nothing was recorded
	ToNs         int64    `json:"to_ns,omitempty"`          // end of it
	Load         string   `json:"load,omitempty"`           // command line of the load generator, secrets masked
	IsLoadCut    bool     `json:"is_load_cut,omitempty"`    // prof ended the load generator
	Results      []string `json:"results,omitempty"`        // its results, below the run's folder
}

// Input is a file that the user named as input of the workload, by itself or in a manifest of inputs. Only those of a manifest have an id;
// what the manifest does not say is nil.
type Input struct {
	ID     string            `json:"id,omitempty"` // unique in the run
	Path   string            `json:"path"`
	Size   *int64            `json:"size_bytes,omitempty"`
	SHA256 string            `json:"sha256,omitempty"`
	Width  *int64            `json:"width,omitempty"` // pixels, as the next
	Height *int64            `json:"height,omitempty"`
	Pages  *int64            `json:"pages,omitempty"`
	Tokens *int64            `json:"tokens,omitempty"`
	Tags   map[string]string `json:"tags,omitempty"`
	Reason string            `json:"reason,omitempty"` // why it could not be read
}

// Kept is a file that the workload wrote and the user named to be kept. Its copy has the same path below KeptName.
type Kept struct {
	Path   string `json:"path"` // below the working folder, with slashes
	Pass   int    `json:"pass"` // that wrote it last
	Size   *int64 `json:"size_bytes,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Reason string `json:"reason,omitempty"` // why there is no copy
}

// Device is a GPU as NVML tells of it. What NVML does not tell is nil or "".
type Device struct {
	Index            int      `json:"device"` // NVML's number
	UUID             string   `json:"uuid"`
	Name             string   `json:"name,omitempty"`
	BusID            string   `json:"bus_id,omitempty"`
	MemoryBytes      *int64   `json:"memory_bytes,omitempty"`
	PowerLimitW      *float64 `json:"power_limit_w,omitempty"`
	MaxSMClockHz     *int64   `json:"max_sm_clock_hz,omitempty"`
	MaxMemoryClockHz *int64   `json:"max_memory_clock_hz,omitempty"`
	ECC              *bool    `json:"ecc,omitempty"`
	MIG              *bool    `json:"mig,omitempty"`
	OtherProcesses   *int64   `json:"other_process_count,omitempty"` // before the first pass
}

// SampleColumns are the columns of a file of NVML samples, a header and comma-separated values; what NVML did not tell is empty.
// time_unix_ns is UTC, the others are as in device_sample.
var SampleColumns = []string{"time_unix_ns", "device_id", "sm_ratio", "memory_ratio", "memory_used_bytes", "sm_clock_hz", "memory_clock_hz",
	"power_w", "temperature_c", "throttle_mask", "other_process_count"}

// ErrManifest is wrapped by errors about a run.json that cannot be read as one.
var ErrManifest = errors.New("not a run.json of prof")

// Write replaces the run.json of a run's folder, all of it or nothing.
func (m *Manifest) Write(dir string) error {
	return WriteJSON(filepath.Join(dir, ManifestName), m)
}

// WriteJSON replaces a file by a value as JSON, indented, signs of HTML as they are.
func WriteJSON(path string, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return err
	}
	return file.Write(path, b.Bytes())
}

// MaxManifest bounds a run.json: passes are few, inputs may be some ten thousand.
const MaxManifest = 64 << 20

// maxPasses bounds the recordings of a capture.
const maxPasses = 10_000

// few checks that a run.json holds no more than one can, before it is decoded.
func few(text []byte) error {
	if err := file.FewValues(text, file.MostValues); err != nil {
		return err
	}
	var has struct{ Passes []json.RawMessage }
	if err := json.Unmarshal(file.PastMark(text), &has); err == nil && len(has.Passes) > maxPasses {
		return fmt.Errorf("it has more than %d passes", maxPasses)
	}
	return nil
}

// ReadManifest reads a run.json. One of a newer prof, and a file that is none, are errors.
func ReadManifest(path string) (*Manifest, error) {
	text, err := file.Read(path, MaxManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such file: %w", path, err)
	case errors.Is(err, file.ErrTooLarge):
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	case err != nil:
		return nil, err
	}
	if err := few(text); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrManifest, err)
	}
	var m Manifest
	if err := json.Unmarshal(file.PastMark(text), &m); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrManifest, err)
	}
	switch {
	case m.Version < 1 || m.Run == "" || m.StartedAt.IsZero():
		return nil, fmt.Errorf("%s: %w: it has no version, run or started_at", path, ErrManifest)
	case m.Version > ManifestVersion:
		return nil, fmt.Errorf("%s: it was written by a newer prof (version %d of the file, this prof reads %d): update prof", path, m.Version, ManifestVersion)
	}
	return &m, nil
}
