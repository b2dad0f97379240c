// Package machinetest has a machine for tests on which everything works, and of which a test breaks one thing.
package capture

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/capture/tracer"
	"prof/schema/rundir"
)

// bench is a machine on which everything works; a test breaks one thing of it.
type bench struct {
	path    map[string]string // programs, by name and by path
	files   map[string]string
	globs   []string // programs off the PATH
	pidNS   string
	environ []string
	free    int64
	freeErr error
	nvml    *bareGPUs
	nvmlErr error
	temp    string
	run     map[string]func(c Command) (Output, error) // by the program's base name and first argument
}

const nsysVersion = "NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0\n"

func newBench(t *testing.T) *bench {
	said := func(text string) func(Command) (Output, error) {
		return func(Command) (Output, error) { return Output{Stdout: []byte(text)}, nil }
	}
	leave := func(flag, suffix string) func(Command) (Output, error) {
		return func(c Command) (Output, error) {
			at := slices.Index(c.Argv, flag)
			return Output{}, os.WriteFile(c.Argv[at+1]+suffix, []byte("x"), 0o600)
		}
	}
	return &bench{
		path:  map[string]string{"nsys": "/usr/bin/nsys", "ncu": "/usr/bin/ncu", "python3": "/usr/bin/python3", "true": "/usr/bin/true"},
		files: map[string]string{"/proc/driver/nvidia/params": "RmMsg: \"\"\nRmProfilingAdminOnly: 0\n", "/proc/self/status": "CapEff:\t0000000000000000\nSeccomp:\t0\n", "/proc/sys/kernel/perf_event_paranoid": "2\n"},
		globs: []string{"/usr/local/cuda"}, pidNS: machinePIDs, environ: []string{"PATH=/usr/bin", "HF_TOKEN=hf_abcdefgh"}, free: 100 << 30, temp: t.TempDir(),
		nvml: &bareGPUs{devices: []rundir.Device{{Index: 0, UUID: "GPU-a", Name: "NVIDIA H200", OtherProcesses: new(int64(0)), MIG: new(false)}}},
		run: map[string]func(c Command) (Output, error){
			"nsys --version": said(nsysVersion),
			"ncu --version":  said("NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 1) (public-release)\n"),
			"nsys profile":   leave("--output", ".nsys-rep"),
			"nsys export":    leave("--output", ""),
			"ncu true":       said("==WARNING== No kernels were profiled.\n"),
			"python3 -c":     said("noise\n" + pythonMark + `{"version": "3.12.1", "packages": {"torch": "2.11.0+cu130", "numpy": "2.0"}, "torch_cuda": "13.0"}` + "\n"),
		},
	}
}

func (b *bench) machine(t *testing.T) Machine {
	return Machine{
		LookPath: func(name string) (string, error) {
			if p, ok := b.path[name]; ok {
				return p, nil
			}
			if slices.Contains(b.globs, name) {
				return name, nil
			}
			return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
		},
		Glob: func(pattern string) (out []string, err error) {
			for _, p := range b.globs {
				if ok, err := filepath.Match(pattern, p); err != nil {
					return nil, err
				} else if ok {
					out = append(out, p)
				}
			}
			return out, nil
		},
		ReadFile: func(path string) ([]byte, error) {
			if text, ok := b.files[path]; ok {
				return []byte(text), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		},
		ReadLink: func(string) (string, error) { return b.pidNS, nil },
		Free:     func(string) (int64, error) { return b.free, b.freeErr },
		Environ:  b.environ, TempDir: b.temp,
		Build: func(_ context.Context, p tracer.Places) (tracer.Library, error) {
			if len(p.Includes) == 0 {
				return tracer.Library{}, tracer.ErrNoHeaders
			}
			return tracer.Library{Include: p.Includes[0]}, nil
		},
		Run: func(_ context.Context, c Command) (Output, error) {
			if strings.Contains(strings.Join(c.Env, " "), "TOKEN") {
				t.Errorf("%v gets a secret: %q", c.Argv, c.Env)
			}
			what := filepath.Base(c.Argv[0]) + " " + filepath.Base(c.Argv[1])
			run, ok := b.run[what]
			if !ok {
				t.Errorf("%q was run", c.Argv)
				return Output{}, errors.New("no such command")
			}
			return run(c)
		},
	}
}

// bareGPUs says what GPUs there are, and samples none.
type bareGPUs struct {
	devices []rundir.Device
	failed  error // of Devices
	details []DeviceDetail
}

func (g *bareGPUs) Devices() ([]rundir.Device, error)              { return g.devices, g.failed }
func (g *bareGPUs) Sample(int, func(pid int) bool) (Sample, error) { return Sample{}, nil }
func (g *bareGPUs) Versions() (driver, cuda string)                { return "580.1", "13.0" }
func (g *bareGPUs) Close()                                         {}
func (g *bareGPUs) Details() ([]DeviceDetail, error)               { return g.details, nil }
