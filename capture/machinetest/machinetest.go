// Package machinetest has a machine for tests on which everything works, and of which a test breaks one thing.
package machinetest

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

	"prof/capture/machine"
	"prof/capture/nvml"
	"prof/capture/tracer"
	"prof/schema/rundir"
)

// Bench is a machine on which everything works; a test breaks one thing of it.
type Bench struct {
	Path    map[string]string // programs, by name and by path
	Files   map[string]string
	Globs   []string // programs off the PATH
	PidNS   string
	Environ []string
	Free    int64
	FreeErr error
	NVML    *GPUs
	NVMLErr error
	Temp    string
	Run     map[string]func(c machine.Command) (machine.Output, error) // by the program's base name and first argument
}

const nsysVersion = "NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0\n"

func New(t *testing.T) *Bench {
	said := func(text string) func(machine.Command) (machine.Output, error) {
		return func(machine.Command) (machine.Output, error) { return machine.Output{Stdout: []byte(text)}, nil }
	}
	leave := func(flag, suffix string) func(machine.Command) (machine.Output, error) {
		return func(c machine.Command) (machine.Output, error) {
			at := slices.Index(c.Argv, flag)
			return machine.Output{}, os.WriteFile(c.Argv[at+1]+suffix, []byte("x"), 0o600)
		}
	}
	return &Bench{
		Path:  map[string]string{"nsys": "/usr/bin/nsys", "ncu": "/usr/bin/ncu", "python3": "/usr/bin/python3", "true": "/usr/bin/true"},
		Files: map[string]string{"/proc/driver/nvidia/params": "RmMsg: \"\"\nRmProfilingAdminOnly: 0\n", "/proc/self/status": "CapEff:\t0000000000000000\nSeccomp:\t0\n", "/proc/sys/kernel/perf_event_paranoid": "2\n"},
		Globs: []string{"/usr/local/cuda"}, PidNS: nvml.MachinePIDs, Environ: []string{"PATH=/usr/bin", "HF_TOKEN=hf_abcdefgh"}, Free: 100 << 30, Temp: t.TempDir(),
		NVML: &GPUs{List: []rundir.Device{{Index: 0, UUID: "GPU-a", Name: "NVIDIA H200", OtherProcesses: new(int64(0)), MIG: new(false)}}},
		Run: map[string]func(c machine.Command) (machine.Output, error){
			"nsys --version": said(nsysVersion),
			"ncu --version":  said("NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 1) (public-release)\n"),
			"nsys profile":   leave("--output", ".nsys-rep"),
			"nsys export":    leave("--output", ""),
			"ncu true":       said("==WARNING== No kernels were profiled.\n"),
			"python3 -c":     said("noise\n" + machine.PythonMark + `{"version": "3.12.1", "packages": {"torch": "2.11.0+cu130", "numpy": "2.0"}, "torch_cuda": "13.0"}` + "\n"),
		},
	}
}

func (b *Bench) Machine(t *testing.T) machine.Machine {
	return machine.Machine{
		LookPath: func(name string) (string, error) {
			if p, ok := b.Path[name]; ok {
				return p, nil
			}
			if slices.Contains(b.Globs, name) {
				return name, nil
			}
			return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
		},
		Glob: func(pattern string) (out []string, err error) {
			for _, p := range b.Globs {
				if ok, err := filepath.Match(pattern, p); err != nil {
					return nil, err
				} else if ok {
					out = append(out, p)
				}
			}
			return out, nil
		},
		ReadFile: func(path string) ([]byte, error) {
			if text, ok := b.Files[path]; ok {
				return []byte(text), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		},
		ReadLink: func(string) (string, error) { return b.PidNS, nil },
		Free:     func(string) (int64, error) { return b.Free, b.FreeErr },
		Environ:  b.Environ, TempDir: b.Temp,
		Build: func(_ context.Context, p tracer.Places) (tracer.Library, error) {
			if len(p.Includes) == 0 {
				return tracer.Library{}, tracer.ErrNoHeaders
			}
			return tracer.Library{Include: p.Includes[0]}, nil
		},
		Run: func(_ context.Context, c machine.Command) (machine.Output, error) {
			if strings.Contains(strings.Join(c.Env, " "), "TOKEN") {
				t.Errorf("%v gets a secret: %q", c.Argv, c.Env)
			}
			what := filepath.Base(c.Argv[0]) + " " + filepath.Base(c.Argv[1])
			run, ok := b.Run[what]
			if !ok {
				t.Errorf("%q was run", c.Argv)
				return machine.Output{}, errors.New("no such command")
			}
			return run(c)
		},
	}
}

// GPUs says what GPUs there are, and samples none.
type GPUs struct {
	List   []rundir.Device
	Failed error // of Devices
	More   []nvml.DeviceDetail
}

func (g *GPUs) Devices() ([]rundir.Device, error)                   { return g.List, g.Failed }
func (g *GPUs) Sample(int, func(pid int) bool) (nvml.Sample, error) { return nvml.Sample{}, nil }
func (g *GPUs) Versions() (driver, cuda string)                     { return "580.1", "13.0" }
func (g *GPUs) Close()                                              {}
func (g *GPUs) Details() ([]nvml.DeviceDetail, error)               { return g.More, nil }
