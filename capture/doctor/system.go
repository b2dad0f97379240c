package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prof/capture/nvml"
	"prof/capture/provenance"
	"prof/internal/scratch"
)

// system checks what captures need of the machine beside profilers and GPUs.
func (d doctor) system(context.Context) []Check {
	return []Check{
		d.disk("disk_home", "Space for runs", d.o.Home, "prof prune frees some; --home DIR or PROF_HOME moves runs elsewhere"),
		d.disk("disk_temp", "Space for recordings", d.m.TempDir, "set TMPDIR to a folder with more space: profilers write there first"),
		d.socket(), d.paranoid(), d.container(),
	}
}

// lowSpace is about two captures of the largest size that is kept by default.
const lowSpace = 5 << 30

func (d doctor) disk(id, title, dir, advice string) (c Check) {
	c = Check{ID: id, Title: title}
	at, err := d.nearest(dir)
	var free int64
	if err == nil {
		free, err = d.m.Free(at)
	}
	switch {
	case err != nil:
		c.Status, c.Detail, c.Advice = Unknown, err.Error(), "df -h "+shellWord(dir)+" shows the free space; "+advice
	case free < lowSpace:
		c.Status, c.Detail, c.Advice = Warning, fmt.Sprintf("%.1f GiB are free in %s, less than %d", float64(free)/(1<<30), at, lowSpace>>30), advice
	default:
		c.Status, c.Detail = OK, fmt.Sprintf("%.1f GiB are free in %s", float64(free)/(1<<30), at)
	}
	return c
}

// nearest is a folder, or the nearest above it that exists: a home is made on first use.
func (d doctor) nearest(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(dir)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir, err
		}
		dir = filepath.Dir(dir)
	}
}

// socket checks what a capture talks to the workload's launcher through.
func (d doctor) socket() (c Check) {
	c = Check{ID: "socket", Title: "Sockets in the temporary folder"}
	c.Status, c.Advice = Failed, "set TMPDIR to a writable folder on a local disk with a short name: TMPDIR=/tmp prof capture ..."
	dir, err := scratch.Make(d.m.TempDir)
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	defer dir.Remove()
	l, err := net.Listen("unix", filepath.Join(dir.Path, "launch"))
	if err != nil {
		c.Detail = err.Error() + " (a socket's path has at most 107 characters)"
		return c
	}
	l.Close()
	c.Status, c.Detail, c.Advice = OK, "works in "+d.m.TempDir, ""
	return c
}

// paranoid checks how far Linux lets profilers sample CPUs, which prof has none do.
func (d doctor) paranoid() Check {
	c := Check{ID: "perf_event_paranoid", Title: "CPU sampling (not used by prof)", Status: OK}
	text, err := d.m.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		c.Detail = "this kernel does not say whether it is permitted; prof does not need it"
		return c
	}
	level := strings.TrimSpace(string(text))
	c.Detail = "kernel.perf_event_paranoid is " + level + "; prof does not need it"
	if len(level) == 1 && level > "2" {
		c.Detail += "; --nsys-arg --sample=process-tree would need sudo sysctl kernel.perf_event_paranoid=2"
	}
	return c
}

// container checks what of a container's settings bears on profilers. Whether they lack something, the other checks say.
func (d doctor) container() Check {
	c := Check{ID: "container", Title: "Container", Status: OK, Detail: "none seen"}
	in := provenance.ReadContainer(d.m)
	if in == nil {
		return c
	}
	c.Detail = in.Kind + " (" + in.Seen + ")"
	if text, err := d.m.ReadFile("/proc/self/status"); err == nil {
		seccomp := provenance.Member(string(text), "Seccomp", ":")
		c.Detail += map[string]string{"0": ", no seccomp filter", "2": ", with a seccomp filter"}[seccomp]
	}
	if admin, err := d.sysAdmin(); err == nil && admin {
		c.Detail += ", with CAP_SYS_ADMIN"
	} else if err == nil {
		c.Detail += ", without CAP_SYS_ADMIN, which ncu needs if the driver restricts counters to administrators"
	}
	if !nvml.InMachineNamespace(d.m.ReadLink) {
		c.Detail += ", with its own pid namespace: which processes share a GPU is uncertain"
	}
	return c
}

// python checks what a workload in Python would find; profilers do not need it.
func (d doctor) python(ctx context.Context) []Check {
	c := Check{ID: "python", Title: "Python and PyTorch"}
	py, err := d.m.ReadPython(ctx, nil, d.o.Dir)
	if err != nil {
		c.Status, c.Detail = Warning, err.Error()
		c.Advice = "activate the workload's environment (source .venv/bin/activate); other workloads than Python need nothing"
		return []Check{c}
	}
	c.Status, c.Detail = OK, py.Version+", "+py.Path
	for _, name := range slices.Sorted(maps.Keys(py.Packages)) {
		if slices.Contains([]string{"torch", "transformers", "vllm", "sglang", "tensorrt_llm", "triton", "flash_attn"}, name) {
			c.Detail += ", " + name + " " + py.Packages[name]
		}
	}
	if py.Packages["torch"] == "" {
		c.Status, c.Detail = Warning, c.Detail+", without torch"
		c.Advice = "activate the environment that the workload runs in (source .venv/bin/activate): --torch and --auto-stages need torch in it"
	}
	return []Check{c}
}
