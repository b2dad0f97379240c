package provenance

import (
	"fmt"
	"strings"

	"prof/capture/nvml"
	"prof/schema/rundir"
)

// deviceAssumptions tell how the GPUs were set and who else used them.
func deviceAssumptions(m *rundir.Manifest, env *Environment) (lines []string) {
	if len(m.Devices) == 0 {
		reason := env.Unknown["devices"]
		if reason == "" {
			reason = "NVML reports no GPU"
		}
		return []string{"GPUs are unknown: " + reason + "."}
	}
	sampled := false
	for _, p := range m.Passes {
		sampled = sampled || p.Samples != ""
	}
	lines = append(lines, "prof does not lock clocks: they follow load, temperature and power.")
	if sampled {
		lines = append(lines, "In NVML samples, sm_ratio is the share of time in which any kernel ran, not how full the GPU was; power is a mean over up to a second.")
	} else {
		lines = append(lines, "GPUs were not sampled: whether they throttled or were shared during the recordings is unknown.")
	}
	for _, d := range m.Devices {
		lines = append(lines, deviceLines(d)...)
	}
	for _, d := range env.DeviceDetails {
		lines = append(lines, detailLines(d, m.Devices)...)
	}
	return lines
}

func deviceLines(d rundir.Device) (lines []string) {
	gpu := fmt.Sprintf("GPU %d", d.Index)
	switch {
	case d.OtherProcesses == nil:
		lines = append(lines, gpu+": whether other processes used it is unknown; in a container the driver does not show them all.")
	case *d.OtherProcesses > 0:
		lines = append(lines, fmt.Sprintf("%s: shared with at least %d other process(es) before the first recording; times are not the workload's alone.", gpu, *d.OtherProcesses))
	}
	if d.MIG != nil && *d.MIG {
		lines = append(lines, gpu+": partitioned with MIG: the workload had a part of it, whose peaks are not known; give --peak and --bandwidth to mfu and mbu.")
	}
	if d.ECC != nil {
		state := "off"
		if *d.ECC {
			state = "on"
		}
		lines = append(lines, gpu+": ECC was "+state+".")
	}
	return lines
}

func detailLines(d nvml.DeviceDetail, devices []rundir.Device) (lines []string) {
	gpu := fmt.Sprintf("GPU %d", d.Index)
	if d.ThrottleMask != nil {
		if names := nvml.ThrottleNames(*d.ThrottleMask); len(names) > 0 {
			lines = append(lines, gpu+": already throttled before the first recording: "+strings.Join(names, ", ")+".")
		}
	}
	if d.Persistence != nil && !*d.Persistence {
		lines = append(lines, gpu+": persistence mode was off; the first CUDA call of a recording may wait for the driver to initialise the GPU.")
	}
	for _, dev := range devices {
		if dev.Index == d.Index && dev.PowerLimitW != nil && d.DefaultPowerLimitW != nil && !near(*dev.PowerLimitW, *d.DefaultPowerLimitW) {
			lines = append(lines, fmt.Sprintf("%s: its power limit was %g W, not the default of %g W.", gpu, *dev.PowerLimitW, *d.DefaultPowerLimitW))
		}
	}
	return lines
}
