// Package attach knows the processes that prof launch has started: prof's own tracer is loaded in them and off, and a capture that attaches to one
// turns it on for a window.
package attach

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"prof/capture/machine"
	"prof/capture/tracer"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// Folder is the folder of launched processes in a home.
const Folder = "launched"

// Names of the files in the folder of one.
const (
	factsName    = "launch.json"
	switchName   = "windows"
	watchedName  = "watched"
	recorderName = "recorder"
)

// Launched is a process that runs with the tracer loaded, as launch.json has it. Its children have the tracer too.
type Launched struct {
	Version       int       `json:"version"`
	Name          string    `json:"name"`
	PID           int       `json:"pid"`
	Started       string    `json:"started"` // when the kernel started it: with PID it names the process
	Argv          []string  `json:"argv"`    // secrets masked
	Dir           string    `json:"dir"`     // its working folder
	Environ       []string  `json:"environ"` // those variables of it that may be kept with a run
	At            time.Time `json:"at"`
	Tracer        string    `json:"tracer"` // path
	TracerVersion string    `json:"tracer_version"`

	folder string
}

// factsVersion is the version of launch.json.
const factsVersion = 1

// maxFacts bounds a launch.json, in bytes.
const maxFacts = 1 << 20

// Errors of Find and Take.
var (
	ErrNone  = errors.New("no process of prof launch is running")
	ErrTaken = errors.New("it is being recorded")
)

// Make makes the folder of a process that is about to run, below that of all of them, and notes what is known of it. Folders of processes that have
// ended go. A name that a running process has is an error.
func Make(all string, l Launched, p machine.Processes) (Launched, error) {
	if err := file.MakeDir(all); err != nil {
		return l, err
	}
	running, err := List(all, p)
	if err != nil {
		return l, err
	}
	if err := taken(running, l.Name); err != nil {
		return l, err
	}
	l = l.In(all)
	l.Version = factsVersion
	err = errors.Join(os.RemoveAll(l.folder), file.MakeNewDir(l.folder), file.MakeDir(l.Watched()))
	if err == nil {
		err = errors.Join(tracer.Set(l.Switch(), tracer.SwitchOff), rundir.WriteJSON(filepath.Join(l.folder, factsName), l))
	}
	return l, err
}

// In is a process whose folder is below that of all of them, where it need not exist.
func (l Launched) In(all string) Launched {
	l.folder = filepath.Join(all, l.Name)
	return l
}

// Check is an error where a running process has a name.
func Check(all, name string, p machine.Processes) error {
	running, err := List(all, p)
	return errors.Join(err, taken(running, name))
}

func taken(running []Launched, name string) error {
	if slices.ContainsFunc(running, func(r Launched) bool { return r.Name == name }) {
		return fmt.Errorf("%q is the name of a running process: choose another --name", name)
	}
	return nil
}

// Remove removes the folder of a process that could not be started.
func (l Launched) Remove() error { return os.RemoveAll(l.folder) }

// Switch is the path of the switch that its tracers read.
func (l Launched) Switch() string { return filepath.Join(l.folder, switchName) }

// Watched is the folder in which its tracers count launches.
func (l Launched) Watched() string { return filepath.Join(l.folder, watchedName) }

// Lives reports whether the process is there.
func (l Launched) Lives(p machine.Processes) bool {
	return l.Started != "" && p.StartedAt(l.PID) == l.Started
}

// List lists those that run, by their names, and removes the folders of others.
func List(all string, p machine.Processes) (out []Launched, err error) {
	entries, err := os.ReadDir(all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		l, readErr := read(filepath.Join(all, e.Name()))
		switch {
		case errors.Is(readErr, fs.ErrNotExist): // it is being made, or is none
		case readErr != nil:
			err = errors.Join(err, readErr)
		case l.Lives(p):
			out = append(out, l)
		default:
			err = errors.Join(err, os.RemoveAll(l.folder))
		}
	}
	return out, err
}

func read(folder string) (l Launched, err error) {
	path := filepath.Join(folder, factsName)
	text, err := file.Read(path, maxFacts)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("%s: %w", path, err)
	}
	if l.Version != factsVersion {
		return l, fmt.Errorf("%s: it has version %d, this prof reads %d", path, l.Version, factsVersion)
	}
	l.folder = folder
	return l, nil
}

// Find finds a running process by its name or the number of the process; "" is the only one.
func Find(all, which string, p machine.Processes) (Launched, error) {
	running, err := List(all, p)
	if err != nil {
		return Launched{}, err
	}
	var names []string
	for _, l := range running {
		if l.Name == which || strconv.Itoa(l.PID) == which {
			return l, nil
		}
		names = append(names, l.Name)
	}
	switch {
	case len(running) == 0:
		return Launched{}, fmt.Errorf("%w in %s: start it with prof launch -- CMD, or name its home with --home", ErrNone, filepath.Dir(all))
	case which != "":
		return Launched{}, fmt.Errorf("%w as %q; there are %s", ErrNone, which, strings.Join(names, ", "))
	case len(running) > 1:
		return Launched{}, fmt.Errorf("several processes of prof launch are running, name one: prof capture --attach NAME (%s)", strings.Join(names, ", "))
	}
	return running[0], nil
}

// Take has this process be the only one that records l, until release. Who took it before and is gone does not count, and what that left on is
// turned off.
func (l Launched) Take(p machine.Processes) (release func() error, err error) {
	if err := l.CheckFree(p); err != nil {
		return nil, err
	}
	path := filepath.Join(l.folder, recorderName)
	if err := file.Write(path, fmt.Appendf(nil, "%d %s\n", os.Getpid(), p.StartedAt(os.Getpid()))); err != nil {
		return nil, err
	}
	if err := tracer.Set(l.Switch(), tracer.SwitchOff); err != nil {
		return nil, err
	}
	return func() error {
		return errors.Join(tracer.Set(l.Switch(), tracer.SwitchOff), tracer.Forget(l.Watched()), os.Remove(path))
	}, nil
}

// CheckFree is an error that wraps ErrTaken where somebody records l.
func (l Launched) CheckFree(p machine.Processes) error {
	text, err := file.Read(filepath.Join(l.folder, recorderName), 256)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if pid, started, ok := strings.Cut(strings.TrimSpace(string(text)), " "); ok {
		if n, err := strconv.Atoi(pid); err == nil && started != "" && p.StartedAt(n) == started {
			return fmt.Errorf("%s: %w by prof, process %d: one recording at a time", mask.Text(l.Name), ErrTaken, n)
		}
	}
	return nil
}

// Env returns the variables by which CUDA loads the tracer into the process, which the switch turns on.
func (l Launched) Env(lib tracer.Library, base int64) []string {
	return lib.Env(tracer.Options{Dir: l.Watched(), GraphNodes: true, Base: base, Window: tracer.Window{Switch: l.Switch(), Each: true}})
}
