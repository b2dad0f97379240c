package provenance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"prof/capture/machine"
	"prof/capture/machinetest"
	"prof/capture/nvml"
	"prof/schema/rundir"
)

func TestReadEnvironment(t *testing.T) {
	b := machinetest.New(t)
	for path, text := range map[string]string{
		"/etc/os-release": "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 24.04.3 LTS\"\n", "/proc/sys/kernel/osrelease": "6.18.44\n",
		"/proc/cpuinfo": "processor\t: 0\nmodel name\t: AMD EPYC 9\nprocessor\t: 1\nmodel name\t: AMD EPYC 9\n", "/proc/meminfo": "MemTotal:       1024 kB\nMemFree: 1 kB\n",
		"/sys/fs/cgroup/memory.max": "4096\n", "/proc/1/cgroup": "0::/kubepods/x\n",
	} {
		b.Files[path] = text
	}
	b.NVML.List[0].OtherProcesses = new(int64(3))
	b.NVML.More = []nvml.DeviceDetail{{Index: 0, ComputeMode: "default"}}
	environ := []string{"NCCL_DEBUG=INFO", "HF_TOKEN=hf_abcdefgh", "EDITOR=vi", "VLLM_URL=http://u:pw@h/"}
	tools := map[string]ToolInfo{"nsys": {Path: "/usr/bin/nsys", Version: "2025.3.1"}}
	env, warnings := Read(t.Context(), Options{Argv: []string{"python3", "run.py"}, Environ: environ, NVML: b.NVML, Tools: tools, Machine: b.Machine(t)})
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "GPU 0 is shared: 3 other processes use it") {
		t.Errorf("warnings %q", warnings)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	want := Environment{
		ReadAt: env.ReadAt, Host: host, OS: "Ubuntu 24.04.3 LTS", Kernel: "6.18.44", Arch: env.Arch, CPU: CPU{"AMD EPYC 9", new(int64(2)), env.CPU.Usable},
		Memory: Memory{new(int64(1 << 20)), new(int64(4096))}, Container: &Container{"kubernetes", "/proc/1/cgroup"}, DriverVersion: "580.1", DriverCUDA: "13.0",
		Devices: b.NVML.List, DeviceDetails: b.NVML.More, Tools: tools,
		Python: &machine.Python{Path: "/usr/bin/python3", FoundBy: "the workload's command", Version: "3.12.1", TorchCUDA: "13.0",
			Packages: map[string]string{"torch": "2.11.0+cu130", "numpy": "2.0"}},
		Variables: map[string]string{"NCCL_DEBUG": "INFO", "VLLM_URL": "http://***@h/"}, Unknown: map[string]string{},
	}
	if !reflect.DeepEqual(*env, want) {
		t.Errorf("got  %+v\nwant %+v", *env, want)
	}
	dir := t.TempDir()
	if err := env.Write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, rundir.EnvironmentName))
	if err != nil || strings.Contains(string(text), "hf_") || strings.Contains(string(text), "pw@") || strings.Contains(string(text), "EDITOR") {
		t.Errorf("%s, %v", text, err)
	}
	var back Environment
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Devices, env.Devices) || back.Variables["NCCL_DEBUG"] != "INFO" {
		t.Errorf("%+v, %v", back, err)
	}
}

// TestHomesInEnvironment holds that env.json has no name of a home, wherever one stands.
func TestHomesInEnvironment(t *testing.T) {
	t.Setenv("HOME", "/data/users2/ann")
	env := Environment{Python: &machine.Python{Path: "/home/ann/venv/bin/python3"}, Tools: map[string]ToolInfo{"nsys": {Path: "/data/users2/ann/nsys \"x\""}},
		Variables: map[string]string{"HF_HOME": "/home/ann/hf", "PYTHONPATH": "/opt/x:/home/ann/y", "CONDA_PREFIX": "/data/users2/ann", "VIRTUAL_ENV": "/data/users2/anna"}, Unknown: map[string]string{"git": "/home/ann is no <repository>"}}
	dir := t.TempDir()
	if err := env.Write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, rundir.EnvironmentName))
	if err != nil {
		t.Fatal(err)
	}
	var back Environment
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{back.Python.Path: "~/venv/bin/python3", back.Tools["nsys"].Path: `~/nsys "x"`, back.Variables["HF_HOME"]: "~/hf", back.Variables["PYTHONPATH"]: "/opt/x:~/y",
		back.Variables["CONDA_PREFIX"]: "~", back.Variables["VIRTUAL_ENV"]: "/data/users2/anna", back.Unknown["git"]: "~ is no <repository>"} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSharedDevices holds that others on a GPU are warned of where the workload may use it.
func TestSharedDevices(t *testing.T) {
	shared := func(name string, others ...int64) (out []rundir.Device) {
		for i, n := range others {
			out = append(out, rundir.Device{Index: i, UUID: fmt.Sprintf("GPU-%c%d", 'a'+i, i), Name: strings.ReplaceAll(name, "N", fmt.Sprint(i)), OtherProcesses: new(n)})
		}
		return out
	}
	const of0, of1 = "GPU 0 is shared: another process uses it; ", "GPU 1 is shared: 2 other processes use it; "
	for _, c := range []struct {
		devices []rundir.Device
		environ string
		failed  error
		want    []string
	}{
		{shared("H200", 0, 2), "", nil, []string{of1}},
		{shared("H200", 0, 2), "CUDA_VISIBLE_DEVICES=0", nil, nil},
		{shared("H200", 0, 2), "CUDA_VISIBLE_DEVICES=1", nil, []string{of1}},
		{shared("H200", 1, 2), "CUDA_VISIBLE_DEVICES=1,0", nil, []string{of0, of1}},
		{shared("H200", 1, 2), "CUDA_VISIBLE_DEVICES=GPU-b", nil, []string{of1}},
		{shared("H200", 1, 2), "CUDA_VISIBLE_DEVICES=", nil, nil},
		{shared("H200", 1, 2), "CUDA_VISIBLE_DEVICES=-1", nil, nil},
		{shared("H200", 1, 2), "CUDA_VISIBLE_DEVICES=MIG-c7c5", nil, []string{of0, of1}},
		{shared("H200", 1, 2), "CUDA_VISIBLE_DEVICES=MIG-GPU-a0/1/0", nil, []string{of0}},
		{shared("model N", 0, 2), "CUDA_VISIBLE_DEVICES=0", nil, []string{of1}}, // the fastest is CUDA's first, and that may be either
		{shared("model N", 0, 2), "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0", nil, nil},
		{shared("H200", 0, 2), "CUDA_VISIBLE_DEVICES=0", errors.New("GPU 2 is lost"), []string{"NVML does not report everything about the GPUs: GPU 2 is lost", of1}},
	} {
		b := machinetest.New(t)
		b.NVML.List, b.NVML.Failed = c.devices, c.failed
		_, warnings := Read(t.Context(), Options{Environ: append(strings.Fields(c.environ), "PATH=/usr/bin"), NVML: b.NVML, Machine: b.Machine(t)})
		if !slices.EqualFunc(warnings, c.want, strings.HasPrefix) {
			t.Errorf("%q: %q, want %q", c.environ, warnings, c.want)
		}
	}
}

// TestUnknownEnvironment: what is not there has a reason, and no value.
func TestUnknownEnvironment(t *testing.T) {
	b := machinetest.New(t)
	b.Files, b.Path, b.PidNS = map[string]string{}, map[string]string{}, nvml.MachinePIDs
	env, warnings := Read(t.Context(), Options{NVMLErr: errors.New("no driver"), Machine: b.Machine(t)})
	if len(warnings) != 0 {
		t.Errorf("warnings %q", warnings)
	}
	for field, reason := range map[string]string{
		"os": "file does not exist: /etc/os-release", "kernel": "osrelease", "cpu.model": "does not say", "cpu.count": "/proc/cpuinfo",
		"memory.total_bytes": "/proc/meminfo", "devices": "no driver", "driver_version": "no driver", "python": "neither the workload's command nor the PATH",
	} {
		if !strings.Contains(env.Unknown[field], reason) {
			t.Errorf("%s: %q, want %q", field, env.Unknown[field], reason)
		}
	}
	if env.OS+env.Kernel+env.CPU.Model+env.DriverVersion != "" || env.CPU.Count != nil || env.Memory != (Memory{}) || env.Python != nil || env.Container != nil {
		t.Errorf("%+v", env)
	}
	b.NVML.List, b.NVML.Failed = nil, errors.New("GPU 0 is lost")
	env, warnings = Read(t.Context(), Options{NVML: b.NVML, Machine: b.Machine(t)})
	if len(warnings) != 1 || !strings.Contains(warnings[0], "GPU 0 is lost") || env.Unknown["devices"] != "GPU 0 is lost" {
		t.Errorf("%q, %q", warnings, env.Unknown)
	}
}

func TestContainerKinds(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		environ []string
		pidNS   string
		want    string
	}{
		"none":       {nil, nil, nvml.MachinePIDs, ""},
		"docker":     {map[string]string{"/.dockerenv": ""}, nil, nvml.MachinePIDs, "docker"},
		"podman":     {map[string]string{"/run/.containerenv": ""}, nil, nvml.MachinePIDs, "podman"},
		"lxc":        {map[string]string{"/proc/1/cgroup": "1:name=systemd:/lxc/x\n"}, nil, nvml.MachinePIDs, "lxc"},
		"kubernetes": {map[string]string{"/.dockerenv": ""}, []string{"KUBERNETES_SERVICE_HOST=10.0.0.1"}, nvml.MachinePIDs, "kubernetes"},
		"other":      {map[string]string{"/proc/1/cgroup": "0::/init.scope\n"}, nil, "pid:[4026532000]", "unknown"},
	} {
		b := machinetest.New(t)
		b.Files, b.Environ, b.PidNS = c.files, append([]string{"PATH=/bin"}, c.environ...), c.pidNS
		got := ReadContainer(b.Machine(t))
		if (got == nil) != (c.want == "") || got != nil && (got.Kind != c.want || got.Seen == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
