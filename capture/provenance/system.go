package provenance

import (
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"prof/capture/machine"
	"prof/capture/nvml"
	"prof/internal/file"
)

// Container says that this process runs in one, and by what that is seen.
type Container struct {
	Kind string `json:"kind"` // docker, podman, kubernetes, lxc, wsl or unknown
	Seen string `json:"seen"`
}

// readSystem fills in the machine. On systems without /proc most of it stays unknown.
func readSystem(m machine.Machine, env *Environment) {
	var err error
	if env.Host, err = os.Hostname(); err != nil {
		env.Unknown["host"] = err.Error()
	}
	env.CPU.Usable = runtime.GOMAXPROCS(0)
	read := func(field, path string, take func(text string) bool) {
		text, err := m.ReadFile(path)
		switch {
		case err != nil:
			env.Unknown[field] = file.Reason(err) + ": " + path
		case !take(string(text)):
			env.Unknown[field] = path + " does not say it"
		}
	}
	read("os", "/etc/os-release", func(text string) bool { env.OS = Member(text, "PRETTY_NAME", "="); return env.OS != "" })
	read("kernel", "/proc/sys/kernel/osrelease", func(text string) bool { env.Kernel = strings.TrimSpace(text); return env.Kernel != "" })
	read("cpu.count", "/proc/cpuinfo", func(text string) bool {
		if n := int64(len(processorLine.FindAllString(text, -1))); n > 0 {
			env.CPU.Count = &n
		}
		env.CPU.Model = Member(text, "model name", ":")
		return env.CPU.Count != nil
	})
	if env.CPU.Model == "" {
		env.Unknown["cpu.model"] = "/proc/cpuinfo does not say it"
	}
	read("memory.total_bytes", "/proc/meminfo", func(text string) bool {
		kb, err := strconv.ParseInt(strings.TrimSuffix(Member(text, "MemTotal", ":"), " kB"), 10, 64)
		if err == nil {
			bytes := kb << 10
			env.Memory.TotalBytes = &bytes
		}
		return err == nil
	})
	env.Memory.LimitBytes = memoryLimit(m, env.Memory.TotalBytes)
}

var processorLine = regexp.MustCompile(`(?m)^processor\s*:`)

// Member is the value of the first line "name SEPARATOR value", quotes removed; "" when there is none.
func Member(text, name, separator string) string {
	for line := range strings.Lines(text) {
		k, v, ok := strings.Cut(line, separator)
		if ok && strings.TrimSpace(k) == name {
			return strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return ""
}

// memoryLimit is that of the cgroup that a container sees as its root, version 2 or 1; nil when it sets none below the machine's
// memory.
func memoryLimit(m machine.Machine, total *int64) *int64 {
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := m.ReadFile(path)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is none
		if err == nil && (total == nil || n < *total) {
			return &n
		}
	}
	return nil
}

// cgroupKinds are what container runtimes leave in /proc/1/cgroup under cgroup version 1.
var cgroupKinds = []struct{ text, kind string }{{"kubepods", "kubernetes"}, {"docker", "docker"}, {"libpod", "podman"}, {"lxc", "lxc"}}

// ReadContainer looks for what container runtimes leave behind; nil when there is no sign of one.
func ReadContainer(m machine.Machine) *Container {
	if m.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return &Container{"kubernetes", "KUBERNETES_SERVICE_HOST"}
	}
	for _, f := range []struct{ path, kind string }{{"/.dockerenv", "docker"}, {"/run/.containerenv", "podman"}} {
		if _, err := m.ReadFile(f.path); err == nil {
			return &Container{f.kind, f.path}
		}
	}
	if text, err := m.ReadFile("/proc/1/cgroup"); err == nil {
		for _, c := range cgroupKinds {
			if strings.Contains(string(text), c.text) {
				return &Container{c.kind, "/proc/1/cgroup"}
			}
		}
	}
	if name, err := m.ReadLink("/proc/self/ns/pid"); err == nil && name != nvml.MachinePIDs {
		return &Container{"unknown", "/proc/self/ns/pid: " + name}
	}
	return nil
}
