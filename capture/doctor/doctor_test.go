package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/capture/machine"
	"prof/capture/machinetest"
	"prof/capture/nvml"
	"prof/schema/rundir"
)

func examine(t *testing.T, b *machinetest.Bench) map[string]Check {
	t.Helper()
	m := b.Machine(t)
	m.NVML = func() (nvml.Library, error) { return b.NVML, b.NVMLErr }
	checks := Run(t.Context(), Options{Machine: m, Home: filepath.Join(b.Temp, "not", "yet", ".prof")})
	out := map[string]Check{}
	for _, c := range checks {
		if _, twice := out[c.ID]; twice || c.ID == "" || c.Title == "" || c.Detail == "" {
			t.Errorf("check %+v", c)
		}
		if (c.Status == OK) != (c.Advice == "") {
			t.Errorf("%s is %s with the advice %q", c.ID, c.Status, c.Advice)
		}
		out[c.ID] = c
	}
	if Healthy(checks) != !slices.ContainsFunc(checks, func(c Check) bool { return c.Status == Missing || c.Status == Failed }) {
		t.Errorf("healthy: %v of %+v", Healthy(checks), checks)
	}
	if left, err := os.ReadDir(b.Temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return out
}

func TestDoctorWell(t *testing.T) {
	checks := examine(t, machinetest.New(t))
	for id, detail := range map[string]string{
		"tracer": "built with the headers in /usr/local/cuda/include; it uses the CUPTI that the workload loads",
		"nsys":   "2025.3.1.90-253135822126v0, /usr/bin/nsys", "nsys_report": "a report of /usr/bin/true was made and exported", "ncu": "2025.3.1.0, /usr/bin/ncu",
		"ncu_run": "it ran /usr/bin/true", "driver": "driver 580.1, CUDA up to 13.0", "gpus": "0: NVIDIA H200 (GPU-a)", "mig": "no GPU is partitioned",
		"shared": "no other process uses them", "gpu_counters": "to every user (RmProfilingAdminOnly is 0)", "container": "none seen",
		"python": "3.12.1, /usr/bin/python3, torch 2.11.0+cu130", "perf_event_paranoid": "kernel.perf_event_paranoid is 2; prof does not need it",
	} {
		if c := checks[id]; c.Status != OK || c.Detail != detail {
			t.Errorf("%s: %s %q, want %q", id, c.Status, c.Detail, detail)
		}
	}
	for _, id := range []string{"disk_home", "disk_temp", "socket"} {
		if checks[id].Status != OK {
			t.Errorf("%+v", checks[id])
		}
	}
}

// TestDoctorIll breaks one thing at a time.
func TestDoctorIll(t *testing.T) {
	failing := func(stderr string) func(machine.Command) (machine.Output, error) {
		return func(machine.Command) (machine.Output, error) {
			return machine.Output{Stderr: []byte(stderr)}, errors.New("exit status 1")
		}
	}
	nothing := func(machine.Command) (machine.Output, error) { return machine.Output{}, nil }
	other := func(n *int64, mig bool) []rundir.Device {
		return []rundir.Device{{UUID: "GPU-a", OtherProcesses: n, MIG: &mig}}
	}
	for name, c := range map[string]struct {
		ill                        func(b *machinetest.Bench)
		id, status, detail, advice string
	}{
		"no nsys":     {func(b *machinetest.Bench) { delete(b.Path, "nsys") }, "nsys", Warning, "captures use prof's own tracer, which records no OS calls", "apt-get install nsight-systems-cli"},
		"no timeline": {func(b *machinetest.Bench) { delete(b.Path, "nsys"); b.Globs = nil }, "nsys", Missing, "neither on the PATH", "apt-get install nsight-systems-cli"},
		"no headers":  {func(b *machinetest.Bench) { b.Globs = nil }, "tracer", Warning, "no headers of CUPTI; captures use Nsight Systems instead, which slows decode down more and records no serving engine", "install the CUDA toolkit"},
		"neither":     {func(b *machinetest.Bench) { delete(b.Path, "nsys"); b.Globs = nil }, "tracer", Missing, "no headers of CUPTI; Nsight Systems cannot stand in for it here: captures have no timeline", "install the CUDA toolkit"},
		"nsys is ill": {func(b *machinetest.Bench) {
			b.Run["nsys profile"], b.Globs = failing("Operation not permitted\n"), nil
		}, "tracer", Missing, "no headers of CUPTI; Nsight Systems cannot stand in for it here: captures have no timeline", "install the CUDA toolkit"},
		"no ncu":         {func(b *machinetest.Bench) { delete(b.Path, "ncu") }, "ncu", Missing, "neither on the PATH", "apt-get install nsight-compute"},
		"wrong override": {func(b *machinetest.Bench) { b.Environ = append(b.Environ, "PROF_NSYS=/no") }, "nsys", Failed, "PROF_NSYS=/no cannot be run", "set PROF_NSYS"},
		"nsys is a stub": {func(b *machinetest.Bench) {
			b.Run["nsys --version"] = failing("Error: Nsight Systems hasn't been installed\n")
		}, "nsys", Failed,
			"exit status 1: Error: Nsight Systems hasn't been installed", "/usr/bin/nsys --version"},
		"nsys says nothing": {func(b *machinetest.Bench) { b.Run["nsys --version"] = nothing }, "nsys", Failed, "does not print a version: it wrote nothing", "install it"},
		"no libdw": {func(b *machinetest.Bench) {
			b.Run["nsys profile"] = func(c machine.Command) (machine.Output, error) {
				return machine.Output{Stderr: []byte("Importer error: libdw.so.1\n")}, os.WriteFile(filepath.Join(c.Dir, "probe.qdstrm"), []byte("x"), 0o600)
			}
		}, "nsys_report", Failed, "only a .qdstrm is left", "apt-get install libdw1"},
		"no report": {func(b *machinetest.Bench) { b.Run["nsys profile"] = failing("Operation not permitted\n") }, "nsys_report", Failed,
			"left no report: exit status 1: Operation not permitted", "nsys status -e"},
		"no export":  {func(b *machinetest.Bench) { b.Run["nsys export"] = nothing }, "nsys_report", Failed, "could not convert its own report to SQLite: it succeeded without any output", "install"},
		"ncu fails":  {func(b *machinetest.Bench) { b.Run["ncu true"] = failing("cannot inject\n") }, "ncu_run", Failed, "exit status 1: cannot inject", "/usr/bin/ncu /usr/bin/true"},
		"no driver":  {func(b *machinetest.Bench) { b.NVMLErr = nvml.ErrNotFound }, "driver", Missing, nvml.ErrNotFound.Error(), "--gpus all"},
		"driver ill": {func(b *machinetest.Bench) { b.NVMLErr = errors.New("mismatch") }, "driver", Failed, "mismatch", "nvidia-smi"},
		"no GPU":     {func(b *machinetest.Bench) { b.NVML.List = nil }, "gpus", Missing, "no GPU", "nvidia-smi -L"},
		"GPU lost":   {func(b *machinetest.Bench) { b.NVML.Failed = errors.New("GPU 1 is lost") }, "gpus", Failed, "0: NVIDIA H200 (GPU-a); GPU 1 is lost", "dmesg"},
		"MIG":        {func(b *machinetest.Bench) { b.NVML.List = other(nil, true) }, "mig", Warning, "partitioned: GPU 0", "nvidia-smi -i 0 -mig 0"},
		"shared":     {func(b *machinetest.Bench) { b.NVML.List = other(new(int64(2)), false) }, "shared", Warning, "GPU 0 by 2", "CUDA_VISIBLE_DEVICES"},
		"shared, not seen": {func(b *machinetest.Bench) {
			b.NVML.List, b.Environ = other(new(int64(2)), false), append(b.Environ, "CUDA_VISIBLE_DEVICES=-1")
		}, "shared", OK, "no other process uses them", ""},
		"hidden":      {func(b *machinetest.Bench) { b.NVML.List = other(nil, false) }, "shared", Unknown, "does not show all", "nvidia-smi on the host"},
		"no params":   {func(b *machinetest.Bench) { delete(b.Files, "/proc/driver/nvidia/params") }, "gpu_counters", Unknown, "file does not exist", "ERR_NVGPUCTRPERM"},
		"odd params":  {func(b *machinetest.Bench) { b.Files["/proc/driver/nvidia/params"] = "X: 1\n" }, "gpu_counters", Unknown, "does not say it", "ERR_NVGPUCTRPERM"},
		"admins only": {func(b *machinetest.Bench) { b.Files["/proc/driver/nvidia/params"] = "RmProfilingAdminOnly: 1\n" }, "gpu_counters", Failed, "which this process is not", "NVreg_RestrictProfilingToAdminUsers=0"},
		"admins only in docker": {func(b *machinetest.Bench) {
			b.Files["/proc/driver/nvidia/params"], b.Files["/.dockerenv"] = "RmProfilingAdminOnly: 1\n", ""
		}, "gpu_counters", Failed, "ERR_NVGPUCTRPERM", "--cap-add=SYS_ADMIN"},
		"root of a user namespace": {func(b *machinetest.Bench) {
			b.Files["/proc/driver/nvidia/params"] = "RmProfilingAdminOnly: 1\n"
			b.Files["/proc/self/status"], b.Files["/proc/self/uid_map"] = "CapEff:\t000001ffffffffff\n", "         0       1000          1\n"
		}, "gpu_counters", Failed, "which this process is not", counterLink},
		"no status": {func(b *machinetest.Bench) {
			b.Files["/proc/driver/nvidia/params"] = "RmProfilingAdminOnly: 1\n"
			delete(b.Files, "/proc/self/status")
		}, "gpu_counters", Unknown, "is unknown", "as root"},
		"full":       {func(b *machinetest.Bench) { b.Free = 3 << 29 }, "disk_home", Warning, "1.5 GiB are free", "prof prune"},
		"full /tmp":  {func(b *machinetest.Bench) { b.Free = 3 << 29 }, "disk_temp", Warning, "1.5 GiB are free", "TMPDIR"},
		"no statfs":  {func(b *machinetest.Bench) { b.FreeErr = errors.New("statfs") }, "disk_home", Unknown, "statfs", "df -h"},
		"no Python":  {func(b *machinetest.Bench) { delete(b.Path, "python3") }, "python", Warning, "nor the PATH has a Python", "activate"},
		"old Python": {func(b *machinetest.Bench) { b.Run["python3 -c"] = failing("its version 2.7 is older than 3.8\n") }, "python", Warning, "older than 3.8", "activate"},
		"mute":       {func(b *machinetest.Bench) { b.Run["python3 -c"] = nothing }, "python", Warning, "did not list its packages", "activate"},
		"no torch": {func(b *machinetest.Bench) {
			b.Run["python3 -c"] = func(machine.Command) (machine.Output, error) {
				return machine.Output{Stdout: []byte(machine.PythonMark + `{"version":"3.12","packages":{}}`)}, nil
			}
		}, "python", Warning, "without torch", "--torch"},
	} {
		t.Run(name, func(t *testing.T) {
			b := machinetest.New(t)
			c.ill(b)
			got := examine(t, b)[c.id]
			if got.Status != c.status || !strings.Contains(got.Detail, c.detail) || !strings.Contains(got.Advice, c.advice) {
				t.Errorf("%+v\nwant %s, %q, %q", got, c.status, c.detail, c.advice)
			}
		})
	}
}

// TestDoctorAdmin: an administrator may read counters that others may not.
func TestDoctorAdmin(t *testing.T) {
	b := machinetest.New(t)
	b.Files["/proc/driver/nvidia/params"] = "RmProfilingAdminOnly: 1\n"
	b.Files["/proc/self/status"], b.Files["/proc/self/uid_map"] = "CapEff:\t000001fffeffffff\n", "         0          0 4294967295\n"
	if c := examine(t, b)["gpu_counters"]; c.Status != OK {
		t.Errorf("%+v", c)
	}
}

// TestDoctorTemp: without a folder for temporary files neither sockets nor reports can be made.
func TestDoctorTemp(t *testing.T) {
	b := machinetest.New(t)
	m := b.Machine(t)
	for name, dir := range map[string]string{"missing": filepath.Join(b.Temp, "no"), "long": filepath.Join(b.Temp, strings.Repeat("x", 120))} {
		if name == "long" {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		m.TempDir = dir
		c := doctor{m: m}.socket()
		if c.Status != Failed || !strings.Contains(c.Advice, "TMPDIR=/tmp") {
			t.Errorf("%s: %+v", name, c)
		}
	}
	m.TempDir = filepath.Join(b.Temp, "no")
	if c := (doctor{m: m}).nsysReport(t.Context(), "/usr/bin/nsys"); c.Status != Unknown || c.Advice == "" {
		t.Errorf("%+v", c)
	}
}

func TestDoctorContainer(t *testing.T) {
	b := machinetest.New(t)
	b.Files["/.dockerenv"], b.PidNS = "", "pid:[4026532000]"
	b.Files["/proc/self/status"] = "CapEff:\t00000000a80425fb\nSeccomp:\t2\n"
	c := examine(t, b)["container"]
	for _, want := range []string{"docker (/.dockerenv)", "with a seccomp filter", "without CAP_SYS_ADMIN", "its own pid namespace"} {
		if !strings.Contains(c.Detail, want) {
			t.Errorf("%q lacks %q", c.Detail, want)
		}
	}
}

// TestFindTool: what is named goes before the PATH, that before the newest of the well-known places.
func TestFindTool(t *testing.T) {
	b := machinetest.New(t)
	b.Globs = []string{
		"/opt/nvidia/nsight-systems/2024.6.2/bin/nsys", "/opt/nvidia/nsight-systems/2025.10.1/bin/nsys", "/opt/nvidia/nsight-systems/2025.3.1/bin/nsys",
		"/usr/local/cuda-13.0/bin/nsys", "/usr/local/cuda/bin/nsys", "/usr/local/cuda/bin/ncu",
	}
	find := func(name, want string) {
		t.Helper()
		if got, err := b.Machine(t).FindTool(name); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	find("nsys", "/usr/bin/nsys")
	delete(b.Path, "nsys")
	delete(b.Path, "ncu")
	find("nsys", "/opt/nvidia/nsight-systems/2025.10.1/bin/nsys")
	find("ncu", "/usr/local/cuda/bin/ncu")
	if c := examine(t, b)["nsys"]; c.Status != OK || !strings.Contains(c.Detail, "export PATH=/opt/nvidia/nsight-systems/2025.10.1/bin:$PATH") {
		t.Errorf("off the PATH: %+v", c)
	}
	b.Globs = []string{"/opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/nsys"}
	find("nsys", b.Globs[0])
	if _, err := b.Machine(t).FindTool("ncu"); !errors.Is(err, machine.ErrNoTool) {
		t.Errorf("no ncu: %v", err)
	}
	b.Environ, b.Path["/my/nsys"] = []string{"PROF_NSYS=/my/nsys"}, "/my/nsys"
	find("nsys", "/my/nsys")
}
