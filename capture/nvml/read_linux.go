//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// reader gathers what went wrong while one GPU was asked.
type reader struct {
	index int
	err   error
}

// askPtr calls one of NVML's functions; nil when it failed, or does not tell such a thing.
func askPtr[T any](r *reader, what string, get func() (T, nvml.Return)) *T {
	v, ret := get()
	if ret == nvml.SUCCESS {
		return &v
	}
	if !untold(ret) {
		r.err = errors.Join(r.err, check(fmt.Sprintf("GPU %d: %s", r.index, what), ret))
	}
	return nil
}

// askIf is askPtr for a function that the driver may lack.
func askIf[T any](d *driver, r *reader, fn string, get func() (T, nvml.Return)) *T {
	if !d.has[fn] {
		return nil
	}
	return askPtr(r, fn, get)
}

// ask is askPtr for what has a zero value that says that it is not known.
func ask[T any](r *reader, what string, get func() (T, nvml.Return)) (v T) {
	if p := askPtr(r, what, get); p != nil {
		v = *p
	}
	return v
}

// of binds the argument of a function, firstOf takes the first of two results: the current state, where the other is what is to come.
func of[A, T any](get func(A) (T, nvml.Return), a A) func() (T, nvml.Return) {
	return func() (T, nvml.Return) { return get(a) }
}

func firstOf[T any](get func() (T, T, nvml.Return)) func() (T, nvml.Return) {
	return func() (T, nvml.Return) {
		now, _, ret := get()
		return now, ret
	}
}

// NVML's units to base units. What is nil stays nil.

func hertz(mhz *uint32) *int64 {
	if mhz == nil {
		return nil
	}
	v := int64(*mhz) * 1e6
	return &v
}

func watts(milli *uint32) *float64 {
	if milli == nil {
		return nil
	}
	v := float64(*milli) / 1e3
	return &v
}

func percent(p uint32) *float64 {
	v := float64(p) / 100
	return &v
}

func number(n *uint32) *float64 {
	if n == nil {
		return nil
	}
	v := float64(*n)
	return &v
}

// whole is nil for what a signed number does not hold too: NVML has all bits set for what is not available.
func whole(n *uint64) *int64 {
	if n == nil || *n > math.MaxInt64 {
		return nil
	}
	v := int64(*n)
	return &v
}

func count(n *int) *int64 {
	if n == nil {
		return nil
	}
	v := int64(*n)
	return &v
}

func enabled(s *nvml.EnableState) *bool {
	if s == nil {
		return nil
	}
	v := *s == nvml.FEATURE_ENABLED
	return &v
}

func isOne(n *int) *bool {
	if n == nil {
		return nil
	}
	v := *n == nvml.DEVICE_MIG_ENABLE
	return &v
}

// busID is the PCI address as NVML writes it, domain:bus:device.function.
func busID(p nvml.PciInfo) string {
	text := p.BusId[:]
	if end := slices.Index(text, 0); end >= 0 {
		text = text[:end]
	}
	var b strings.Builder
	for _, c := range text {
		b.WriteByte(byte(c))
	}
	return b.String()
}

var computeModes = map[nvml.ComputeMode]string{
	nvml.COMPUTEMODE_DEFAULT: "default", nvml.COMPUTEMODE_PROHIBITED: "prohibited", nvml.COMPUTEMODE_EXCLUSIVE_PROCESS: "exclusive_process",
	nvml.COMPUTEMODE_EXCLUSIVE_THREAD: "exclusive_thread",
}

// Details returns how each GPU is set and what it does.
func (d *driver) Details() (out []DeviceDetail, err error) {
	err = d.each(func(i int, g nvmlGPU) error {
		r := reader{index: i}
		detail := DeviceDetail{Index: i, ProcessesNamespaced: !d.sameNamespace}
		if major, minor, ret := g.GetCudaComputeCapability(); ret == nvml.SUCCESS {
			detail.ComputeCapability = fmt.Sprintf("%d.%d", major, minor)
		}
		detail.Persistence = enabled(askPtr(&r, "nvmlDeviceGetPersistenceMode", g.GetPersistenceMode))
		if m := askPtr(&r, "nvmlDeviceGetComputeMode", g.GetComputeMode); m != nil {
			detail.ComputeMode = computeModes[*m]
		}
		detail.SMClockHz = hertz(askPtr(&r, "nvmlDeviceGetClockInfo", of(g.GetClockInfo, nvml.CLOCK_SM)))
		detail.MemoryClockHz = hertz(askPtr(&r, "nvmlDeviceGetClockInfo", of(g.GetClockInfo, nvml.CLOCK_MEM)))
		detail.ApplicationClockHz = hertz(askIf(d, &r, fnApplicationsClock, of(g.GetApplicationsClock, nvml.CLOCK_SM)))
		detail.DefaultPowerLimitW = watts(askPtr(&r, "nvmlDeviceGetPowerManagementDefaultLimit", g.GetPowerManagementDefaultLimit))
		detail.TemperatureC = number(askIf(d, &r, fnTemperature, of(g.GetTemperature, nvml.TEMPERATURE_GPU)))
		_, detail.MemoryUsedBytes = d.memory(&r, g)
		detail.ThrottleMask = d.reasons(&r, g)
		detail.PCIeGeneration = count(askPtr(&r, "nvmlDeviceGetCurrPcieLinkGeneration", g.GetCurrPcieLinkGeneration))
		detail.PCIeWidth = count(askPtr(&r, "nvmlDeviceGetCurrPcieLinkWidth", g.GetCurrPcieLinkWidth))
		detail.MIGDevices = d.migDevices(&r, g)
		for _, pid := range slices.Compact(pidsOf(ask(&r, "nvmlDeviceGetComputeRunningProcesses", g.GetComputeRunningProcesses))) {
			p := Process{PID: pid}
			if d.sameNamespace { // else the pid may be another process's here
				p.Name = d.processName(pid)
			}
			detail.Processes = append(detail.Processes, p)
		}
		out = append(out, detail)
		return r.err
	})
	return out, err
}

// migDevices returns the UUIDs of the instances that a GPU is divided into.
func (d *driver) migDevices(r *reader, g nvmlGPU) (uuids []string) {
	if on := isOne(askIf(d, r, fnMIG, firstOf(g.GetMigMode))); on == nil || !*on {
		return nil
	}
	for i := range ask(r, "nvmlDeviceGetMaxMigDeviceCount", g.GetMaxMigDeviceCount) {
		m, ret := g.GetMigDeviceHandleByIndex(i)
		if ret != nvml.SUCCESS { // numbers that no instance has
			continue
		}
		if uuid := ask(r, "nvmlDeviceGetUUID", m.GetUUID); uuid != "" {
			uuids = append(uuids, uuid)
		}
	}
	return uuids
}

// processName is the name of a process's program, cut at 15 characters as the kernel keeps it; "" when it has ended.
func processName(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
