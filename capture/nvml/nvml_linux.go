//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"prof/schema/rundir"
)

// nvmlLibrary is what is used of NVML, nvmlGPU what is used of one of its devices.
type nvmlLibrary interface {
	Shutdown() nvml.Return
	DeviceGetCount() (int, nvml.Return)
	SystemGetDriverVersion() (string, nvml.Return)
	SystemGetCudaDriverVersion_v2() (int, nvml.Return)
	device(index int) (nvmlGPU, nvml.Return)
	has(symbol string) bool // whether the installed driver has a function: to call one that it has not ends the process
}

type nvmlGPU interface {
	GetUUID() (string, nvml.Return)
	GetName() (string, nvml.Return)
	GetPciInfo() (nvml.PciInfo, nvml.Return)
	GetMemoryInfo() (nvml.Memory, nvml.Return)
	GetMemoryInfo_v2() (nvml.Memory_v2, nvml.Return)
	GetEnforcedPowerLimit() (uint32, nvml.Return)
	GetPowerManagementDefaultLimit() (uint32, nvml.Return)
	GetMaxClockInfo(nvml.ClockType) (uint32, nvml.Return)
	GetClockInfo(nvml.ClockType) (uint32, nvml.Return)
	GetApplicationsClock(nvml.ClockType) (uint32, nvml.Return)
	GetEccMode() (nvml.EnableState, nvml.EnableState, nvml.Return)
	GetMigMode() (int, int, nvml.Return)
	GetMaxMigDeviceCount() (int, nvml.Return)
	GetMigDeviceHandleByIndex(int) (nvml.Device, nvml.Return)
	GetComputeRunningProcesses() ([]nvml.ProcessInfo, nvml.Return)
	GetUtilizationRates() (nvml.Utilization, nvml.Return)
	GetPowerUsage() (uint32, nvml.Return)
	GetTemperature(nvml.TemperatureSensors) (uint32, nvml.Return)
	GetCurrentClocksEventReasons() (uint64, nvml.Return)
	GetCurrentClocksThrottleReasons() (uint64, nvml.Return)
	GetCudaComputeCapability() (int, int, nvml.Return)
	GetPersistenceMode() (nvml.EnableState, nvml.Return)
	GetComputeMode() (nvml.ComputeMode, nvml.Return)
	GetCurrPcieLinkGeneration() (int, nvml.Return)
	GetCurrPcieLinkWidth() (int, nvml.Return)
}

type realLibrary struct{ nvml.Interface }

func (l realLibrary) device(i int) (nvmlGPU, nvml.Return) { return l.DeviceGetHandleByIndex(i) }
func (l realLibrary) has(symbol string) bool              { return l.Extensions().LookupSymbol(symbol) == nil }

// libraryPaths are tried in this order: by name as the loader finds it, then where container runtimes and WSL put it.
var libraryPaths = []string{"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"}

// Open opens the driver's library. The error says what is missing and what to do.
func Open() (Library, error) {
	var ret nvml.Return
	for _, path := range libraryPaths {
		l := nvml.New(nvml.WithLibraryPath(path))
		if ret = l.Init(); ret == nvml.SUCCESS {
			return newDriver(realLibrary{l}, InMachineNamespace(os.Readlink)), nil
		}
		if ret != nvml.ERROR_LIBRARY_NOT_FOUND {
			break
		}
	}
	return nil, openError(ret)
}

// openError returns an error with what to do about a driver that cannot be asked.
func openError(ret nvml.Return) error {
	err := check("nvmlInit", ret)
	switch ret {
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		return fmt.Errorf("%w (libnvidia-ml.so.1): install the NVIDIA driver; in a container, start it with --gpus all", ErrNotFound)
	case nvml.ERROR_DRIVER_NOT_LOADED:
		return fmt.Errorf("%w: the driver is installed but not loaded: run nvidia-smi as root, or modprobe nvidia", err)
	case nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		return fmt.Errorf("%w: the driver was updated but the old one is still loaded: restart the machine or the container", err)
	case nvml.ERROR_NO_PERMISSION:
		return fmt.Errorf("%w: this user may not open /dev/nvidiactl: add it to the group that owns it", err)
	}
	return err
}

// check is nil for SUCCESS. A Return is an error, SUCCESS too, so none may be taken for one unchecked.
func check(what string, ret nvml.Return) error {
	if ret == nvml.SUCCESS {
		return nil
	}
	return fmt.Errorf("%s: %w", what, ret)
}

// untold reports whether a Return means that this GPU or driver does not tell such a thing, to this user.
func untold(ret nvml.Return) bool {
	return ret == nvml.ERROR_NOT_SUPPORTED || ret == nvml.ERROR_FUNCTION_NOT_FOUND || ret == nvml.ERROR_NO_PERMISSION
}

// driver is the NVML of this machine.
type driver struct {
	lib           nvmlLibrary
	sameNamespace bool
	before        map[int]map[int]bool // of each GPU the processes of the first call of Devices
	gpus          map[int]nvmlGPU
	has           map[string]bool // of the functions that drivers too old or too new lack
	processName   func(pid int) string
}

func newDriver(lib nvmlLibrary, sameNamespace bool) *driver {
	d := &driver{lib: lib, sameNamespace: sameNamespace, gpus: map[int]nvmlGPU{}, has: map[string]bool{}, processName: processName}
	for _, symbol := range []string{fnMIG, fnMemory2, fnEventReasons, fnThrottleReasons, fnTemperature, fnApplicationsClock} {
		d.has[symbol] = lib.has(symbol)
	}
	return d
}

// Functions that not every driver has: added in R450, R510 and R535, and deprecated in CUDA 13.0.
const (
	fnMIG               = "nvmlDeviceGetMigMode"
	fnMemory2           = "nvmlDeviceGetMemoryInfo_v2"
	fnEventReasons      = "nvmlDeviceGetCurrentClocksEventReasons"
	fnThrottleReasons   = "nvmlDeviceGetCurrentClocksThrottleReasons"
	fnTemperature       = "nvmlDeviceGetTemperature"
	fnApplicationsClock = "nvmlDeviceGetApplicationsClock"
)

func (d *driver) Close() { _ = d.lib.Shutdown() }

func (d *driver) Versions() (driver, cuda string) {
	if v, ret := d.lib.SystemGetDriverVersion(); ret == nvml.SUCCESS {
		driver = v
	}
	if v, ret := d.lib.SystemGetCudaDriverVersion_v2(); ret == nvml.SUCCESS {
		cuda = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	}
	return driver, cuda
}

// gpu returns a GPU's handle, which NVML keeps as long as it is open.
func (d *driver) gpu(index int) (nvmlGPU, error) {
	if g, ok := d.gpus[index]; ok {
		return g, nil
	}
	g, ret := d.lib.device(index)
	if err := check(fmt.Sprintf("GPU %d: nvmlDeviceGetHandleByIndex", index), ret); err != nil {
		return nil, err
	}
	d.gpus[index] = g
	return g, nil
}

// each calls do for every GPU that can be reached; errors of the others, and of do, are joined.
func (d *driver) each(do func(index int, g nvmlGPU) error) error {
	n, ret := d.lib.DeviceGetCount()
	err := check("nvmlDeviceGetCount", ret)
	for i := range n {
		g, failed := d.gpu(i)
		if failed == nil {
			failed = do(i, g)
		}
		err = errors.Join(err, failed)
	}
	return err
}

func (d *driver) Devices() (out []rundir.Device, err error) {
	first := d.before == nil
	if first {
		d.before = map[int]map[int]bool{}
	}
	err = d.each(func(i int, g nvmlGPU) error {
		r := reader{index: i}
		dev := rundir.Device{Index: i, UUID: ask(&r, "nvmlDeviceGetUUID", g.GetUUID), Name: ask(&r, "nvmlDeviceGetName", g.GetName)}
		dev.BusID = busID(ask(&r, "nvmlDeviceGetPciInfo", g.GetPciInfo))
		dev.MemoryBytes, _ = d.memory(&r, g)
		dev.PowerLimitW = watts(askPtr(&r, "nvmlDeviceGetEnforcedPowerLimit", g.GetEnforcedPowerLimit))
		dev.MaxSMClockHz = hertz(askPtr(&r, "nvmlDeviceGetMaxClockInfo", of(g.GetMaxClockInfo, nvml.CLOCK_SM)))
		dev.MaxMemoryClockHz = hertz(askPtr(&r, "nvmlDeviceGetMaxClockInfo", of(g.GetMaxClockInfo, nvml.CLOCK_MEM)))
		dev.ECC = enabled(askPtr(&r, "nvmlDeviceGetEccMode", firstOf(g.GetEccMode)))
		dev.MIG = isOne(askIf(d, &r, fnMIG, firstOf(g.GetMigMode)))
		if pids := askPtr(&r, "nvmlDeviceGetComputeRunningProcesses", g.GetComputeRunningProcesses); pids != nil {
			if first {
				d.before[i] = pidSet(*pids)
			}
			dev.OtherProcesses = d.others(pidsOf(*pids), nil, pidSet(*pids))
		}
		if dev.UUID == "" { // what tells GPUs apart, across runs too
			return errors.Join(r.err, fmt.Errorf("GPU %d has no UUID and is skipped", i))
		}
		out = append(out, dev)
		return r.err
	})
	return out, err
}

func (d *driver) Sample(index int, own func(pid int) bool) (s Sample, err error) {
	g, err := d.gpu(index)
	if err != nil {
		return s, err
	}
	r := reader{index: index}
	if u := askPtr(&r, "nvmlDeviceGetUtilizationRates", g.GetUtilizationRates); u != nil {
		s.SMRatio, s.MemoryRatio = percent(u.Gpu), percent(u.Memory)
	}
	_, s.MemoryUsedBytes = d.memory(&r, g)
	s.SMClockHz = hertz(askPtr(&r, "nvmlDeviceGetClockInfo", of(g.GetClockInfo, nvml.CLOCK_SM)))
	s.MemoryClockHz = hertz(askPtr(&r, "nvmlDeviceGetClockInfo", of(g.GetClockInfo, nvml.CLOCK_MEM)))
	s.PowerW = watts(askPtr(&r, "nvmlDeviceGetPowerUsage", g.GetPowerUsage))
	s.TemperatureC = number(askIf(d, &r, fnTemperature, of(g.GetTemperature, nvml.TEMPERATURE_GPU)))
	s.ThrottleMask = d.reasons(&r, g)
	if pids := askPtr(&r, "nvmlDeviceGetComputeRunningProcesses", g.GetComputeRunningProcesses); pids != nil {
		s.OtherProcesses = d.others(pidsOf(*pids), own, d.before[index])
	}
	return s, r.err
}

// mpsServer is the server of NVIDIA's Multi-Process Service, as processName cuts it. It holds a context on each GPU and has no work of its own:
// NVML lists its clients beside it (driver 580.159).
const mpsServer = "nvidia-cuda-mps"

// others is otherProcesses without the server of MPS, where processes can be told by their pids.
func (d *driver) others(pids []int, own func(pid int) bool, before map[int]bool) *int64 {
	if d.sameNamespace {
		pids = slices.DeleteFunc(pids, func(pid int) bool { return (own == nil || !own(pid)) && d.processName(pid) == mpsServer })
	}
	return otherProcesses(pids, own, before, d.sameNamespace)
}

// reasons asks for the throttle mask by the name that the installed driver has for it.
func (d *driver) reasons(r *reader, g nvmlGPU) *int64 {
	if d.has[fnEventReasons] {
		return whole(askIf(d, r, fnEventReasons, g.GetCurrentClocksEventReasons))
	}
	return whole(askIf(d, r, fnThrottleReasons, g.GetCurrentClocksThrottleReasons))
}

// memory returns a GPU's memory and what of it is in use: by processes where the driver tells that apart from what it reserves for
// itself.
func (d *driver) memory(r *reader, g nvmlGPU) (total, used *int64) {
	if d.has[fnMemory2] {
		m := askIf(d, r, fnMemory2, g.GetMemoryInfo_v2)
		if m == nil {
			return nil, nil
		}
		return whole(&m.Total), whole(&m.Used)
	}
	m := askPtr(r, "nvmlDeviceGetMemoryInfo", g.GetMemoryInfo)
	if m == nil {
		return nil, nil
	}
	return whole(&m.Total), whole(&m.Used)
}

func pidsOf(list []nvml.ProcessInfo) (pids []int) {
	for _, p := range list {
		pids = append(pids, int(p.Pid))
	}
	slices.Sort(pids)
	return pids
}

func pidSet(list []nvml.ProcessInfo) map[int]bool {
	set := map[int]bool{}
	for _, p := range list {
		set[int(p.Pid)] = true
	}
	return set
}
