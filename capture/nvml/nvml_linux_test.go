//go:build linux && cgo

package nvml

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"prof/schema/rundir"
)

// fakeLibrary is NVML with made-up GPUs.
type fakeLibrary struct {
	gpus    []*fakeGPU
	lacks   map[string]bool
	closed  bool
	version nvml.Return
}

func (l *fakeLibrary) Shutdown() nvml.Return              { l.closed = true; return nvml.SUCCESS }
func (l *fakeLibrary) DeviceGetCount() (int, nvml.Return) { return len(l.gpus), nvml.SUCCESS }
func (l *fakeLibrary) SystemGetDriverVersion() (string, nvml.Return) {
	return "580.159.04", l.version
}
func (l *fakeLibrary) SystemGetCudaDriverVersion_v2() (int, nvml.Return) { return 13010, l.version }
func (l *fakeLibrary) has(symbol string) bool                            { return !l.lacks[symbol] }
func (l *fakeLibrary) device(i int) (nvmlGPU, nvml.Return) {
	if l.gpus[i] == nil {
		return nil, nvml.ERROR_GPU_IS_LOST
	}
	return l.gpus[i], nvml.SUCCESS
}

// fakeGPU answers as an H200 did; ret answers in place of SUCCESS, by function.
type fakeGPU struct {
	t     *testing.T
	uuid  string
	procs []uint32
	mig   int
	ret   map[string]nvml.Return
	lacks map[string]bool
}

func (g *fakeGPU) r(fn string) nvml.Return {
	if g.lacks[fn] {
		g.t.Errorf("%s was called, which the driver has not", fn)
	}
	return g.ret[fn] // SUCCESS is 0
}

func (g *fakeGPU) GetUUID() (string, nvml.Return) { return g.uuid, g.r("uuid") }
func (g *fakeGPU) GetName() (string, nvml.Return) { return "NVIDIA H200", g.r("name") }
func (g *fakeGPU) GetPciInfo() (p nvml.PciInfo, r nvml.Return) {
	for i, c := range "00000000:00:06.0" {
		set(&p.BusId[i], c)
	}
	return p, g.r("pci")
}

// set fills a C character, whose type differs by platform.
func set[T ~int8 | ~uint8](at *T, c rune) { *at = T(c) }

func (g *fakeGPU) GetMemoryInfo() (nvml.Memory, nvml.Return) {
	return nvml.Memory{Total: 150754820096, Used: 645922816}, g.r("memory")
}
func (g *fakeGPU) GetMemoryInfo_v2() (nvml.Memory_v2, nvml.Return) {
	return nvml.Memory_v2{Total: 150754820096, Used: 1024}, g.r(fnMemory2)
}
func (g *fakeGPU) GetEnforcedPowerLimit() (uint32, nvml.Return) { return 700000, g.r("limit") }
func (g *fakeGPU) GetPowerManagementDefaultLimit() (uint32, nvml.Return) {
	return 700000, g.r("default")
}
func (g *fakeGPU) GetMaxClockInfo(c nvml.ClockType) (uint32, nvml.Return) {
	return map[nvml.ClockType]uint32{nvml.CLOCK_SM: 1980, nvml.CLOCK_MEM: 3201}[c], g.r("max")
}
func (g *fakeGPU) GetClockInfo(c nvml.ClockType) (uint32, nvml.Return) {
	return map[nvml.ClockType]uint32{nvml.CLOCK_SM: 345, nvml.CLOCK_MEM: 3201}[c], g.r("clock")
}
func (g *fakeGPU) GetApplicationsClock(nvml.ClockType) (uint32, nvml.Return) {
	return 1980, g.r(fnApplicationsClock)
}
func (g *fakeGPU) GetEccMode() (now, next nvml.EnableState, r nvml.Return) {
	return nvml.FEATURE_ENABLED, nvml.FEATURE_DISABLED, g.r("ecc")
}
func (g *fakeGPU) GetMigMode() (now, next int, r nvml.Return) { return g.mig, 1 - g.mig, g.r(fnMIG) }
func (g *fakeGPU) GetMaxMigDeviceCount() (int, nvml.Return)   { return 2, nvml.SUCCESS }
func (g *fakeGPU) GetMigDeviceHandleByIndex(int) (nvml.Device, nvml.Return) {
	return nil, nvml.ERROR_NOT_FOUND
}
func (g *fakeGPU) GetComputeRunningProcesses() (out []nvml.ProcessInfo, r nvml.Return) {
	for _, p := range g.procs {
		out = append(out, nvml.ProcessInfo{Pid: p})
	}
	return out, g.r("processes")
}
func (g *fakeGPU) GetUtilizationRates() (nvml.Utilization, nvml.Return) {
	return nvml.Utilization{Gpu: 97, Memory: 45}, g.r("utilization")
}
func (g *fakeGPU) GetPowerUsage() (uint32, nvml.Return) { return 77380, g.r("power") }
func (g *fakeGPU) GetTemperature(nvml.TemperatureSensors) (uint32, nvml.Return) {
	return 36, g.r(fnTemperature)
}
func (g *fakeGPU) GetCurrentClocksEventReasons() (uint64, nvml.Return) { return 5, g.r(fnEventReasons) }
func (g *fakeGPU) GetCurrentClocksThrottleReasons() (uint64, nvml.Return) {
	return 6, g.r(fnThrottleReasons)
}
func (g *fakeGPU) GetCudaComputeCapability() (int, int, nvml.Return) { return 9, 0, nvml.SUCCESS }
func (g *fakeGPU) GetPersistenceMode() (nvml.EnableState, nvml.Return) {
	return nvml.FEATURE_ENABLED, nvml.SUCCESS
}
func (g *fakeGPU) GetComputeMode() (nvml.ComputeMode, nvml.Return) {
	return nvml.COMPUTEMODE_EXCLUSIVE_PROCESS, nvml.SUCCESS
}
func (g *fakeGPU) GetCurrPcieLinkGeneration() (int, nvml.Return) { return 5, nvml.SUCCESS }
func (g *fakeGPU) GetCurrPcieLinkWidth() (int, nvml.Return)      { return 16, nvml.SUCCESS }

func oneGPU(t *testing.T, lacks ...string) (*fakeLibrary, *fakeGPU) {
	g := &fakeGPU{t: t, uuid: "GPU-a", ret: map[string]nvml.Return{}, lacks: map[string]bool{}}
	for _, fn := range lacks {
		g.lacks[fn] = true
	}
	return &fakeLibrary{gpus: []*fakeGPU{g}, lacks: g.lacks}, g
}

func TestDriverDevices(t *testing.T) {
	lib, g := oneGPU(t)
	g.procs = []uint32{7, 7, 9}
	n := newDriver(lib, true)
	got, err := n.Devices()
	want := []rundir.Device{{Index: 0, UUID: "GPU-a", Name: "NVIDIA H200", BusID: "00000000:00:06.0", MemoryBytes: new(int64(150754820096)),
		PowerLimitW: new(700.0), MaxSMClockHz: new(int64(1980e6)), MaxMemoryClockHz: new(int64(3201e6)), ECC: new(true), MIG: new(false), OtherProcesses: new(int64(2))}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if v, cuda := n.Versions(); v != "580.159.04" || cuda != "13.1" {
		t.Errorf("driver %q, CUDA %q", v, cuda)
	}
	lib.version = nvml.ERROR_UNKNOWN
	if v, cuda := n.Versions(); v != "" || cuda != "" {
		t.Errorf("driver %q, CUDA %q", v, cuda)
	}
	if n.Close(); !lib.closed {
		t.Error("it was not closed")
	}
}

func TestDriverSample(t *testing.T) {
	lib, g := oneGPU(t)
	n := newDriver(lib, true)
	g.procs = []uint32{7, 9}
	got, err := n.Sample(0, func(pid int) bool { return pid == 7 })
	want := Sample{new(0.97), new(0.45), new(int64(1024)), new(int64(345e6)), new(int64(3201e6)), new(77.38), new(36.0), new(int64(5)), new(int64(1))}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestDriverUntold: what a GPU does not support, or lets this user not read, is nil and no error; what fails is nil and one.
func TestDriverUntold(t *testing.T) {
	lib, g := oneGPU(t)
	for i, fn := range []string{"utilization", fnMemory2, "clock", "power", fnTemperature, fnEventReasons, "processes", "name", "pci", "limit", "max", "ecc", fnMIG} {
		g.ret[fn] = []nvml.Return{nvml.ERROR_NOT_SUPPORTED, nvml.ERROR_NO_PERMISSION, nvml.ERROR_FUNCTION_NOT_FOUND}[i%3]
	}
	n := newDriver(lib, true)
	if got, err := n.Sample(0, nil); err != nil || got != (Sample{}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := n.Devices(); err != nil || !reflect.DeepEqual(got, []rundir.Device{{UUID: "GPU-a"}}) {
		t.Errorf("%+v, %v", got, err)
	}
	g.ret = map[string]nvml.Return{"power": nvml.ERROR_GPU_IS_LOST}
	got, err := n.Sample(0, nil)
	if !errors.Is(err, nvml.ERROR_GPU_IS_LOST) || !strings.Contains(err.Error(), "GPU 0: nvmlDeviceGetPowerUsage") || got.PowerW != nil || got.SMRatio == nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestOldDriver: functions that the driver has not are not called, which would end the process.
func TestOldDriver(t *testing.T) {
	lib, _ := oneGPU(t, fnMIG, fnMemory2, fnEventReasons, fnApplicationsClock)
	n := newDriver(lib, true)
	got, err := n.Sample(0, nil)
	if err != nil || *got.ThrottleMask != 6 || *got.MemoryUsedBytes != 645922816 {
		t.Errorf("%+v, %v", got, err)
	}
	devices, err := n.Devices()
	if err != nil || devices[0].MIG != nil {
		t.Errorf("%+v, %v", devices, err)
	}
	if details, err := n.Details(); err != nil || details[0].ApplicationClockHz != nil {
		t.Errorf("%+v, %v", details, err)
	}
	lib, _ = oneGPU(t, fnThrottleReasons, fnEventReasons, fnTemperature)
	if got, err := newDriver(lib, true).Sample(0, nil); err != nil || got.ThrottleMask != nil || got.TemperatureC != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLostGPU: one that cannot be reached does not hide the others; one without a UUID cannot be told from others.
func TestLostGPU(t *testing.T) {
	lib, first := oneGPU(t)
	second := &fakeGPU{t: t, uuid: "GPU-c", ret: map[string]nvml.Return{}}
	lib.gpus = []*fakeGPU{nil, second, first}
	first.ret["uuid"] = nvml.ERROR_UNKNOWN
	got, err := newDriver(lib, true).Devices()
	if len(got) != 1 || got[0].Index != 1 || got[0].UUID != "GPU-c" || !errors.Is(err, nvml.ERROR_GPU_IS_LOST) || !strings.Contains(err.Error(), "GPU 2 has no UUID") {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := newDriver(lib, true).Sample(0, nil); !errors.Is(err, nvml.ERROR_GPU_IS_LOST) {
		t.Error(err)
	}
}

// TestContainerProcesses: in a container only who was there before the workload is counted.
func TestContainerProcesses(t *testing.T) {
	lib, g := oneGPU(t)
	n := newDriver(lib, false)
	if d, err := n.Devices(); err != nil || d[0].OtherProcesses != nil {
		t.Errorf("nobody listed: %+v, %v", d, err)
	}
	n = newDriver(lib, false)
	g.procs = []uint32{500}
	if d, err := n.Devices(); err != nil || d[0].OtherProcesses == nil || *d[0].OtherProcesses != 1 {
		t.Errorf("one before: %+v, %v", d, err)
	}
	g.procs = []uint32{500, 501}
	if s, err := n.Sample(0, func(int) bool { return false }); err != nil || s.OtherProcesses == nil || *s.OtherProcesses != 1 {
		t.Errorf("it and the workload under the host's pid: %+v, %v", s, err)
	}
	if _, err := n.Devices(); err != nil { // once the workload has run it no longer tells who is another
		t.Error(err)
	}
	g.procs = []uint32{501}
	if s, err := n.Sample(0, func(int) bool { return false }); err != nil || s.OtherProcesses != nil {
		t.Errorf("the workload alone: %+v, %v", s, err)
	}
}

// TestMPSServer: the server of MPS is no process that shares a GPU, its clients are.
func TestMPSServer(t *testing.T) {
	lib, g := oneGPU(t)
	n := newDriver(lib, true)
	n.processName = func(pid int) string { return map[int]string{793: "nvidia-cuda-mps", 810: "python", 900: "python"}[pid] }
	own := func(pid int) bool { return pid == 810 }
	for _, c := range []struct {
		procs        []uint32
		before, then int64
	}{{[]uint32{793}, 0, 0}, {[]uint32{793, 810}, 1, 0}, {[]uint32{793, 810, 900}, 2, 1}} {
		g.procs = c.procs
		d, err := n.Devices()
		s, err2 := n.Sample(0, own)
		if err != nil || err2 != nil || *d[0].OtherProcesses != c.before || *s.OtherProcesses != c.then {
			t.Errorf("%v: %+v, %+v, %v, %v", c.procs, d, s, err, err2)
		}
	}
}

func TestDriverDetails(t *testing.T) {
	lib, g := oneGPU(t)
	g.procs, g.mig = []uint32{9, 9, 7}, 1
	n := newDriver(lib, true)
	n.processName = func(pid int) string { return map[int]string{7: "python3"}[pid] }
	got, err := n.Details()
	want := []DeviceDetail{{Index: 0, ComputeCapability: "9.0", Persistence: new(true), ComputeMode: "exclusive_process", SMClockHz: new(int64(345e6)),
		MemoryClockHz: new(int64(3201e6)), ApplicationClockHz: new(int64(1980e6)), DefaultPowerLimitW: new(700.0), TemperatureC: new(36.0),
		MemoryUsedBytes: new(int64(1024)), ThrottleMask: new(int64(5)), PCIeGeneration: new(int64(5)), PCIeWidth: new(int64(16)),
		Processes: []Process{{7, "python3"}, {9, ""}}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCheck(t *testing.T) {
	if err := check("x", nvml.SUCCESS); err != nil {
		t.Errorf("SUCCESS is the error %v", err)
	}
	if err := check("x", nvml.ERROR_TIMEOUT); !errors.Is(err, nvml.ERROR_TIMEOUT) {
		t.Error(err)
	}
	for ret, advice := range map[nvml.Return]string{
		nvml.ERROR_LIBRARY_NOT_FOUND: "install the NVIDIA driver", nvml.ERROR_DRIVER_NOT_LOADED: "modprobe nvidia",
		nvml.ERROR_LIB_RM_VERSION_MISMATCH: "restart", nvml.ERROR_NO_PERMISSION: "/dev/nvidiactl", nvml.ERROR_UNKNOWN: "nvmlInit",
	} {
		if err := openError(ret); err == nil || !strings.Contains(err.Error(), advice) {
			t.Errorf("%v: %v", ret, err)
		}
	}
	if !errors.Is(openError(nvml.ERROR_LIBRARY_NOT_FOUND), ErrNotFound) {
		t.Error("a missing library is not told from a failing one")
	}
}

// TestThrottleBits compares the bits with NVML's header.
func TestThrottleBits(t *testing.T) {
	all := int64(0)
	for _, r := range ThrottleReasons {
		all |= r.Bit
	}
	if all != nvml.ClocksEventReasonAll {
		t.Errorf("%#x, NVML has %#x", all, nvml.ClocksEventReasonAll)
	}
	for bit, want := range map[int64]int64{
		throttleIdle: nvml.ClocksEventReasonGpuIdle, throttleApplication: nvml.ClocksEventReasonApplicationsClocksSetting, throttleSWPower: nvml.ClocksEventReasonSwPowerCap,
		throttleHW: nvml.ClocksThrottleReasonHwSlowdown, throttleSyncBoost: nvml.ClocksEventReasonSyncBoost, throttleSWThermal: nvml.ClocksEventReasonSwThermalSlowdown,
		throttleHWThermal: nvml.ClocksThrottleReasonHwThermalSlowdown, throttleHWPowerBrake: nvml.ClocksThrottleReasonHwPowerBrakeSlowdown,
		throttleDisplayClocks: nvml.ClocksEventReasonDisplayClockSetting,
	} {
		if bit != want {
			t.Errorf("%#x, NVML has %#x", bit, want)
		}
	}
}
