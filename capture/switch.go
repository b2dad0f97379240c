package capture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"prof/capture/plan"
	"prof/capture/tracer"
	"prof/schema/rundir"
)

// switchExt ends the name of the file that turns the tracer of a paused capture on and off. It is there while the workload runs.
const switchExt = ".switch"

// ErrNotPaused is wrapped by the error that no capture, or not that one, waits to be switched.
var ErrNotPaused = errors.New("no capture with --paused is running")

// window returns when a traced pass is traced.
func (s *Session) window(stem string) tracer.Window {
	w := tracer.Window{After: s.o.After, Instances: s.o.Window, ProfilerAPI: s.o.ProfilerAPI, Delay: s.o.Delay, Duration: s.o.Duration}
	if s.o.Range != "" {
		r, _ := plan.ParseRange(s.o.Range) // Validate has refused others
		w.Range, w.Domain = r.Name, r.Domain
	}
	if s.o.Paused {
		w.Switch = s.below(stem + switchExt)
	}
	return w
}

// removeSwitch ends the time in which a pass can be switched.
func (s *Session) removeSwitch(stem string) error {
	if !s.o.Paused {
		return nil
	}
	err := os.Remove(s.below(stem + switchExt))
	if errors.Is(err, os.ErrNotExist) { // the workload never began
		return nil
	}
	return err
}

// Switch turns the recording of a capture with --paused on or off, within half a second. run is the name of its run; "" is the only one that is
// paused. The error wraps ErrNotPaused where there is none.
func Switch(runs, run string, on bool) (name string, err error) {
	folders := []string{"*"}
	if run != "" {
		folders = []string{plan.FolderName(run), plan.FolderName(run) + plan.NodePart + "*"} // the nodes of a job may share a file system
	}
	var found, names []string
	for _, folder := range folders {
		some, err := filepath.Glob(filepath.Join(runs, folder, "prof", "*"+switchExt))
		if err != nil {
			return "", err
		}
		found = append(found, some...)
	}
	for _, path := range found {
		names = append(names, filepath.Base(filepath.Dir(filepath.Dir(path))))
	}
	switch {
	case len(found) == 0 && run != "":
		return "", fmt.Errorf("%w as run %s", ErrNotPaused, run)
	case len(found) == 0:
		return "", fmt.Errorf("%w: start one with prof capture --mode light --paused -- CMD", ErrNotPaused)
	case len(found) > 1 && run == "":
		return "", fmt.Errorf("several captures are paused: name one with --run (%s)", strings.Join(names, ", "))
	}
	line := tracer.SwitchOff
	if on {
		line = tracer.SwitchOn
	}
	for _, path := range found {
		if err := tracer.Set(path, line); err != nil {
			return "", err
		}
	}
	m, err := rundir.ReadManifest(filepath.Join(filepath.Dir(filepath.Dir(found[0])), rundir.ManifestName))
	if err != nil {
		return "", err
	}
	return m.Run, nil
}
