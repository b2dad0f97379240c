// Package provenance records where a run was captured: the machine and its GPUs, the versions of programs, the commit; and in words what else
// its numbers rest on.
package provenance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"prof/capture/envvar"
	"prof/capture/machine"
	"prof/capture/nvml"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// Environment is env.json: the machine and the software that a run was captured with. What could not be found is absent, and Unknown
// says why. Variables are those of AllowedEnv alone.
type Environment struct {
	ReadAt        time.Time           `json:"read_at"`
	Host          string              `json:"host,omitempty"`
	OS            string              `json:"os,omitempty"` // of the distribution, e.g. Ubuntu 24.04.3 LTS
	Kernel        string              `json:"kernel,omitempty"`
	Arch          string              `json:"arch"`
	CPU           CPU                 `json:"cpu"`
	Memory        Memory              `json:"memory"`
	Container     *Container          `json:"container,omitempty"`
	DriverVersion string              `json:"driver_version,omitempty"`
	DriverCUDA    string              `json:"driver_cuda_version,omitempty"` // the newest that the driver supports
	Devices       []rundir.Device     `json:"devices,omitempty"`
	DeviceDetails []nvml.DeviceDetail `json:"device_details,omitempty"`
	Tools         map[string]ToolInfo `json:"tools,omitempty"`
	Python        *machine.Python     `json:"python,omitempty"`
	Variables     map[string]string   `json:"variables"`
	Unknown       map[string]string   `json:"unknown,omitempty"` // why a field above is not there, by its name
}

// CPU is what the workload's host code runs on.
type CPU struct {
	Model  string `json:"model,omitempty"`
	Count  *int64 `json:"count,omitempty"` // logical, of the machine
	Usable int    `json:"usable"`          // that this process may run on: its affinity and the container's quota
}

// Memory is the machine's, and what a container may use of it.
type Memory struct {
	TotalBytes *int64 `json:"total_bytes,omitempty"`
	LimitBytes *int64 `json:"limit_bytes,omitempty"` // of the container; absent without one
}

// ToolInfo is a profiler: where it is and what it says it is.
type ToolInfo struct {
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
}

// Options say of which workload the environment is read.
type Options struct {
	Argv    []string     // of the workload; its Python is asked for versions
	Dir     string       // its folder
	Environ []string     // its environment
	NVML    nvml.Library // nil without one
	NVMLErr error        // why there is none
	Tools   map[string]ToolInfo
	Machine machine.Machine // zero: this one
}

// Read reads what can be read. Whatever is missing is in Unknown, and what a user should know of it in the warnings.
func Read(ctx context.Context, o Options) (env *Environment, warnings []string) {
	m := o.Machine
	if o.Environ != nil {
		m.Environ = o.Environ
	}
	m = m.WithDefaults()
	env = &Environment{ReadAt: time.Now().UTC(), Arch: runtime.GOARCH, Tools: o.Tools, Unknown: map[string]string{}}
	env.Variables = map[string]string{}
	for _, v := range envvar.Allowed(m.Environ) {
		name, value, _ := strings.Cut(v, "=")
		env.Variables[name] = value
	}
	readSystem(m, env)
	env.Container = ReadContainer(m)
	warnings = env.readDevices(o.NVML, o.NVMLErr, m.Environ)
	py, err := m.ReadPython(ctx, o.Argv, o.Dir)
	if err != nil {
		env.Unknown["python"] = err.Error()
	}
	env.Python = py
	return env, warnings
}

// readDevices asks NVML. A GPU that fails is a warning: what it did will be missing from the run. So is one that others use, where the workload sees it.
func (env *Environment) readDevices(n nvml.Library, missing error, environ []string) (warnings []string) {
	if n == nil {
		reason := "NVML was not opened"
		if missing != nil {
			reason = missing.Error()
		}
		for _, field := range []string{"driver_version", "driver_cuda_version", "devices", "device_details"} {
			env.Unknown[field] = reason
		}
		return nil
	}
	env.DriverVersion, env.DriverCUDA = n.Versions()
	for field, value := range map[string]string{"driver_version": env.DriverVersion, "driver_cuda_version": env.DriverCUDA} {
		if value == "" {
			env.Unknown[field] = "NVML does not report it"
		}
	}
	var err error
	if env.Devices, err = n.Devices(); err != nil {
		warnings = append(warnings, "NVML does not report everything about the GPUs: "+err.Error())
		env.Unknown["devices"] = err.Error()
	}
	seen := env.Devices
	if index, known := nvml.VisibleDevices(env.Devices, environ); known && err == nil { // one that could not be read has a number too
		seen = slices.DeleteFunc(slices.Clone(seen), func(d rundir.Device) bool { return !slices.Contains(index, d.Index) })
	}
	if len(env.Devices) == 0 && err == nil {
		env.Unknown["devices"] = "NVML reports no GPU"
	}
	if d, ok := n.(nvml.Detailed); ok {
		if env.DeviceDetails, err = d.Details(); err != nil {
			env.Unknown["device_details"] = err.Error()
		}
	}
	for _, d := range seen {
		if d.OtherProcesses != nil && *d.OtherProcesses > 0 {
			warnings = append(warnings, fmt.Sprintf("GPU %d is shared: %s; times of this run are not the workload's alone", d.Index, othersUse(*d.OtherProcesses)))
		}
	}
	return warnings
}

func othersUse(n int64) string {
	if n == 1 {
		return "another process uses it"
	}
	return fmt.Sprintf("%d other processes use it", n)
}

// jsonText is a text in JSON.
var jsonText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// Write writes env.json into a run's folder, without the names of homes.
func (env *Environment) Write(dir string) error {
	text, err := json.MarshalIndent(env, "", "  ")
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "/" || home == "/root" { // nobody's name
		home = ""
	}
	text = jsonText.ReplaceAllFunc(text, func(quoted []byte) []byte {
		var said string
		if err := json.Unmarshal(quoted, &said); err != nil {
			return quoted
		}
		if kept := mask.Folder(mask.Stored(said), home, "~"); kept != said {
			quoted, _ = json.Marshal(kept) // a text always has a form in JSON
		}
		return quoted
	})
	return file.Write(filepath.Join(dir, rundir.EnvironmentName), append(text, '\n'))
}
