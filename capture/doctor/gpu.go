package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prof/capture/nvml"
	"prof/capture/provenance"
	"prof/internal/file"
	"prof/schema/rundir"
)

// gpus checks the driver and the GPUs it has.
func (d doctor) gpus(context.Context) []Check {
	driver := Check{ID: "driver", Title: "NVIDIA driver and NVML"}
	n, err := d.m.NVML()
	if err != nil {
		driver.Status, driver.Detail = Failed, err.Error()
		driver.Advice = "run nvidia-smi to see what is wrong with the driver"
		if errors.Is(err, nvml.ErrNotFound) {
			driver.Status = Missing
			driver.Advice = "on a GPU machine, install the driver (apt-get install nvidia-driver-580-server, or from https://www.nvidia.com/drivers); in a container, start it with docker run --gpus all; without a GPU, prof still records times and provenance, and analyses captures from other machines"
		}
		return []Check{driver}
	}
	defer n.Close()
	version, cuda := n.Versions()
	driver.Status, driver.Detail = OK, fmt.Sprintf("driver %s, CUDA up to %s", orUnknown(version), orUnknown(cuda))
	devices, err := n.Devices()
	gpus := Check{ID: "gpus", Title: "GPUs", Status: OK}
	var names []string
	for _, dev := range devices {
		names = append(names, fmt.Sprintf("%d: %s (%s)", dev.Index, orUnknown(dev.Name), dev.UUID))
	}
	gpus.Detail = strings.Join(names, "; ")
	switch {
	case err != nil:
		gpus.Status, gpus.Detail = Failed, strings.TrimPrefix(gpus.Detail+"; "+err.Error(), "; ")
		gpus.Advice = "run nvidia-smi, and dmesg | grep NVRM, to see what is wrong with the GPU"
	case len(devices) == 0:
		gpus.Status, gpus.Detail = Missing, "the driver gives this process no GPU"
		gpus.Advice = "run nvidia-smi -L; in a container, start it with docker run --gpus all (NVIDIA_VISIBLE_DEVICES names the GPUs)"
	}
	checks := []Check{driver, gpus}
	if len(devices) > 0 {
		checks = append(checks, migCheck(devices), sharedCheck(d.seen(devices, err)))
	}
	return checks
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func migCheck(devices []rundir.Device) Check {
	c := Check{ID: "mig", Title: "MIG", Status: OK, Detail: "no GPU is partitioned"}
	var divided []string
	for _, d := range devices {
		if d.MIG != nil && *d.MIG {
			divided = append(divided, strconv.Itoa(d.Index))
		}
	}
	if len(divided) > 0 {
		c.Status, c.Detail = Warning, "partitioned: GPU "+strings.Join(divided, ", ")+"; NVML reports no utilisation for instances, and peaks are those of the whole GPU"
		c.Advice = "choose an instance with CUDA_VISIBLE_DEVICES=MIG-... (nvidia-smi -L lists them), or turn MIG off: nvidia-smi -i " + divided[0] + " -mig 0"
	}
	return c
}

// seen returns the GPUs that a workload would see; all of them where that cannot be told, as where err says that a GPU could not be read: it has a number too.
func (d doctor) seen(devices []rundir.Device, err error) []rundir.Device {
	index, known := nvml.VisibleDevices(devices, d.m.Environ)
	if !known || err != nil {
		return devices
	}
	return slices.DeleteFunc(slices.Clone(devices), func(d rundir.Device) bool { return !slices.Contains(index, d.Index) })
}

func sharedCheck(devices []rundir.Device) Check {
	c := Check{ID: "shared", Title: "GPUs are free", Status: OK, Detail: "no other process uses them"}
	var shared []string
	unknown := false
	for _, d := range devices {
		switch {
		case d.OtherProcesses == nil:
			unknown = true
		case *d.OtherProcesses > 0:
			shared = append(shared, fmt.Sprintf("GPU %d by %d", d.Index, *d.OtherProcesses))
		}
	}
	switch {
	case len(shared) > 0:
		c.Status, c.Detail = Warning, "other processes use them: "+strings.Join(shared, ", ")
		c.Advice = "end them (nvidia-smi lists them), or choose a free GPU with CUDA_VISIBLE_DEVICES: times on a shared GPU are not the workload's alone"
	case unknown:
		c.Status, c.Detail = Unknown, "in a container the driver does not show all other processes"
		c.Advice = "run nvidia-smi on the host to see whether others use the GPU"
	}
	return c
}

// Bit of CAP_SYS_ADMIN, in Linux' capability.h.
const capSysAdmin = 21

// counters checks whether ncu may read the GPU's performance counters.
func (d doctor) counters(context.Context) []Check {
	c := Check{ID: "gpu_counters", Title: "GPU performance counters are permitted"}
	text, err := d.m.ReadFile("/proc/driver/nvidia/params")
	if err != nil {
		c.Status, c.Detail = Unknown, "the driver does not say who may read them: "+file.Reason(err)+": /proc/driver/nvidia/params"
		c.Advice = "on a GPU machine, run ncu on a CUDA program: it fails with ERR_NVGPUCTRPERM if they are not permitted"
		return []Check{c}
	}
	switch only := provenance.Member(string(text), "RmProfilingAdminOnly", ":"); {
	case only == "0":
		c.Status, c.Detail = OK, "to every user (RmProfilingAdminOnly is 0)"
	case only != "1":
		c.Status, c.Detail = Unknown, "/proc/driver/nvidia/params does not say it"
		c.Advice = "run ncu on a CUDA program: it fails with ERR_NVGPUCTRPERM if they are not permitted"
	default:
		d.adminOnly(&c)
	}
	return []Check{c}
}

const counterLink = "https://developer.nvidia.com/ERR_NVGPUCTRPERM"

// adminOnly judges a driver that lets only administrators read the counters: those with CAP_SYS_ADMIN, and in the machine's own user
// namespace, not in one where an ordinary user has all capabilities.
func (d doctor) adminOnly(c *Check) {
	admin, err := d.sysAdmin()
	switch {
	case err != nil:
		c.Status, c.Detail = Unknown, "only to administrators, and whether this process is one is unknown: "+err.Error()
		c.Advice = "run prof as root, or see " + counterLink
		return
	case admin:
		c.Status, c.Detail = OK, "only to administrators (RmProfilingAdminOnly is 1), which this process is"
		return
	}
	c.Status, c.Detail = Failed, "only to administrators (RmProfilingAdminOnly is 1), which this process is not: ncu fails with ERR_NVGPUCTRPERM"
	c.Advice = "run prof as root (sudo -E), or let every user read them: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiling.conf, sudo update-initramfs -u, then restart; see " + counterLink
	if provenance.ReadContainer(d.m) != nil {
		c.Advice = "start the container with docker run --cap-add=SYS_ADMIN (Kubernetes: securityContext.capabilities.add: [SYS_ADMIN]), or set NVreg_RestrictProfilingToAdminUsers=0 on the host; see " + counterLink
	}
}

func (d doctor) sysAdmin() (bool, error) {
	text, err := d.m.ReadFile("/proc/self/status")
	if err != nil {
		return false, err
	}
	caps, err := strconv.ParseUint(provenance.Member(string(text), "CapEff", ":"), 16, 64)
	if err != nil {
		return false, fmt.Errorf("CapEff of /proc/self/status: %w", err)
	}
	if caps&(1<<capSysAdmin) == 0 {
		return false, nil
	}
	users, err := d.m.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false, err
	}
	whole := strings.Fields(string(users))
	return len(whole) == 3 && whole[0] == "0" && whole[1] == "0" && whole[2] == "4294967295", nil
}
