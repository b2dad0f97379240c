// Package nvml asks the driver what GPUs there are and how they are, and samples them while a workload runs.
package nvml

import (
	"errors"
	"slices"
	"strings"

	"prof/capture/envvar"
	"prof/schema/rundir"
)

// Library tells of the GPUs of this machine and what they do. A method may be called by one goroutine at a time.
type Library interface {
	// Devices tells of each GPU. Those that could be read come with the error of the others. The first call must be made while the
	// workload is not running: what computes on a GPU then is not the workload's.
	Devices() ([]rundir.Device, error)
	// Sample tells what a GPU does now; index is rundir.Device's. own reports whether a process is the workload's. What the GPU does
	// not support is nil and no error; what could not be read is nil and part of the error.
	Sample(index int, own func(pid int) bool) (Sample, error)
	// Versions returns those of the driver and of the CUDA that it supports, "" for one that is not known.
	Versions() (driver, cuda string)
	Close()
}

// Sample is what NVML tells of a GPU at one time; the fields are rundir.SampleColumns. What it does not tell is nil.
type Sample struct {
	SMRatio         *float64 // of NVML's last period (1/6 s to 1 s, by product), in which a kernel ran
	MemoryRatio     *float64 // of that period, in which device memory was read or written
	MemoryUsedBytes *int64
	SMClockHz       *int64
	MemoryClockHz   *int64
	PowerW          *float64 // of the last second's mean on most GPUs since Ampere
	TemperatureC    *float64
	ThrottleMask    *int64
	OtherProcesses  *int64 // as otherProcesses tells
}

// DeviceDetail is what NVML tells of a GPU beside rundir.Device: how it was set and what it did before the first pass.
type DeviceDetail struct {
	Index               int       `json:"device"`
	ComputeCapability   string    `json:"compute_capability,omitempty"`
	Persistence         *bool     `json:"persistence,omitempty"`
	ComputeMode         string    `json:"compute_mode,omitempty"`
	SMClockHz           *int64    `json:"sm_clock_hz,omitempty"`
	MemoryClockHz       *int64    `json:"memory_clock_hz,omitempty"`
	ApplicationClockHz  *int64    `json:"application_sm_clock_hz,omitempty"`
	DefaultPowerLimitW  *float64  `json:"default_power_limit_w,omitempty"`
	TemperatureC        *float64  `json:"temperature_c,omitempty"`
	MemoryUsedBytes     *int64    `json:"memory_used_bytes,omitempty"`
	ThrottleMask        *int64    `json:"throttle_mask,omitempty"`
	PCIeGeneration      *int64    `json:"pcie_generation,omitempty"`
	PCIeWidth           *int64    `json:"pcie_width,omitempty"`
	MIGDevices          []string  `json:"mig_devices,omitempty"` // UUIDs
	Processes           []Process `json:"processes,omitempty"`   // that compute on it
	ProcessesNamespaced bool      `json:"processes_namespaced,omitempty"`
}

// Process is one that computes on a GPU. Its command line is not kept: it may be someone else's.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name,omitempty"` // of the program, without folder and arguments
}

// Detailed is an NVML that tells more of each GPU than a run's manifest holds.
type Detailed interface {
	Details() ([]DeviceDetail, error)
}

// Errors that OpenNVML's wrap.
var (
	ErrNotFound = errors.New("NVML, the driver's library, is missing")
)

// otherProcesses counts the processes of a GPU that are not the workload's, as far as that can be known. pids are those that NVML
// lists, before those that it listed before the workload was first started.
//
// Where this process is in the machine's own pid namespace (sameNamespace), NVML lists every process under the pid that own knows:
// the count is exact. In a container NVML hides processes of others, or lists them under the host's pids, by driver and runtime. There
// only a process that was listed before the workload was started is surely another's. Their number, where there are any, is what at
// least is there; none of them is no sign that there is none, so it is nil and not 0.
func otherProcesses(pids []int, own func(pid int) bool, before map[int]bool, sameNamespace bool) *int64 {
	var count int64
	seen := map[int]bool{}
	for _, pid := range pids {
		if seen[pid] { // in several MIG instances
			continue
		}
		seen[pid] = true
		switch {
		case sameNamespace && own != nil && own(pid), !sameNamespace && !before[pid]:
		default:
			count++
		}
	}
	if !sameNamespace && count == 0 {
		return nil
	}
	return &count
}

// MachinePIDs is the pid namespace that Linux starts in (PROC_PID_INIT_INO of its proc_ns.h). A process that has another one is in a
// container.
const MachinePIDs = "pid:[4026531836]"

// InMachineNamespace reports whether this process sees pids as the driver does. Where that cannot be told it is taken not to.
func InMachineNamespace(readLink func(string) (string, error)) bool {
	name, err := readLink("/proc/self/ns/pid")
	return err == nil && name == MachinePIDs
}

// VisibleDevices returns the numbers of the GPUs that an environment leaves to a CUDA program (CUDA_VISIBLE_DEVICES). known is false
// where that cannot be told from NVML's numbers; the workload may then use any, and all are returned.
func VisibleDevices(devices []rundir.Device, environ []string) (index []int, known bool) {
	list, set := envvar.Lookup(environ, "CUDA_VISIBLE_DEVICES")
	for _, d := range devices {
		index = append(index, d.Index)
	}
	if !set {
		return index, true
	}
	all := index
	index = []int{}
	order, _ := envvar.Lookup(environ, "CUDA_DEVICE_ORDER")
	sameOrder := order == "PCI_BUS_ID" || sameName(devices)
	for _, item := range strings.Split(list, ",") {
		i, found := findDevice(devices, strings.TrimSpace(item), sameOrder)
		switch {
		case found == deviceUnknown:
			return all, false
		case found == deviceNone || slices.Contains(index, i): // CUDA ends the list there, and takes none where one is named twice
			return index, true
		}
		index = append(index, i)
	}
	return index, true
}

// sameName reports whether all GPUs are alike. CUDA numbers the fastest first unless CUDA_DEVICE_ORDER says otherwise, NVML by bus; alike
// ones they number the same.
func sameName(devices []rundir.Device) bool {
	for _, d := range devices {
		if d.Name == "" || d.Name != devices[0].Name {
			return false
		}
	}
	return true
}

type deviceMatch int

const (
	deviceNone deviceMatch = iota
	deviceFound
	deviceUnknown
)

// findDevice finds the GPU of one item of CUDA_VISIBLE_DEVICES: a number, or the beginning of a UUID.
func findDevice(devices []rundir.Device, item string, sameOrder bool) (int, deviceMatch) {
	if gpu, isOld := strings.CutPrefix(item, "MIG-GPU-"); isOld { // MIG-GPU-UUID/INSTANCE/COMPUTE INSTANCE, of drivers before 470
		uuid, _, _ := strings.Cut(gpu, "/")
		item = "GPU-" + uuid
	}
	switch {
	case strings.HasPrefix(item, "MIG"):
		return 0, deviceUnknown // its GPU is not in its name
	case strings.HasPrefix(item, "GPU"):
		match := deviceNone
		var index int
		for _, d := range devices {
			if strings.HasPrefix(d.UUID, item) {
				if match == deviceFound { // ambiguous, which CUDA takes for none
					return 0, deviceNone
				}
				index, match = d.Index, deviceFound
			}
		}
		return index, match
	}
	n, ok := decimal(item)
	if !ok || n >= len(devices) {
		return 0, deviceNone
	}
	if !sameOrder {
		return 0, deviceUnknown
	}
	return devices[n].Index, deviceFound
}

// decimal reads a number of at most four digits, without sign.
func decimal(s string) (n int, ok bool) {
	for _, r := range s {
		if r < '0' || r > '9' {
			return 0, false
		}
		n = n*10 + int(r-'0')
	}
	return n, s != "" && len(s) <= 4
}

// OnlyDevices is an NVML that tells of some of the GPUs only: those that the workload may use.
func OnlyDevices(n Library, index []int) Library { return onlyDevices{n, index} }

type onlyDevices struct {
	Library
	index []int
}

func (o onlyDevices) Devices() ([]rundir.Device, error) {
	all, err := o.Library.Devices()
	return slices.DeleteFunc(slices.Clone(all), func(d rundir.Device) bool { return !slices.Contains(o.index, d.Index) }), err
}
