package torch

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"prof/ingest/attribute"
	"prof/ingest/load"
	"prof/ingest/torch/trace"
)

// firstTextPID is the number of the first process whose id is a text: above what Linux gives.
const firstTextPID = 1 << 30

// textPID numbers a process whose id is a text, as merged traces have them. Kineto's own tracks have texts too, but no event that is stored.
func (c *collector) textPID(e *trace.Event) error {
	if !e.NoPID || len(e.PIDText) == 0 {
		return nil
	}
	pid, ok := c.textPIDs[string(e.PIDText)]
	if !ok {
		if len(c.textPIDs) == maxThreads {
			return fmt.Errorf("it has more than %d processes", maxThreads)
		}
		if c.textPIDs == nil {
			c.textPIDs = map[string]int64{}
		}
		pid = firstTextPID + int64(len(c.textPIDs))
		c.textPIDs[string(e.PIDText)] = pid
		c.processNames[pid] = string(e.PIDText)
		c.parts.add(pid, e.PIDText)
	}
	e.PID, e.NoPID = pid, false
	return nil
}

// textDevice returns the device of work whose process is a text and that does not name it otherwise: the last number of the text.
func textDevice(text []byte) (int32, bool) {
	s := strings.TrimRight(string(text), ")] ")
	from := len(s)
	for from > 0 && s[from-1]-'0' <= 9 {
		from--
	}
	n, err := strconv.ParseInt(s[from:], 10, 32)
	return int32(n), err == nil && n < load.MaxDevices
}

// copies are the directions that MTIA names, in the words of Kineto's names of copies.
var copies = map[string]string{"HOST_TO_DEVICE": "Memcpy HtoD", "DEVICE_TO_HOST": "Memcpy DtoH", "DEVICE_TO_DEVICE": "Memcpy DtoD", "HOST_TO_HOST": "Memcpy HtoH"}

// common puts an event of another maker's device into the terms in which CUDA's are, as a kernel, a copy or a synchronisation.
func (c *collector) common(e *trace.Event) {
	switch e.Category {
	case trace.MTIAWork:
		c.made(mtia)
		size, sized := e.Int(trace.Size)
		switch name := string(e.Name); {
		case name == "event_wait" || name == "event_record":
			e.Category = trace.Sync
		case name == "dma_request":
			e.Category = trace.Memcpy
			if text := copies[string(e.Direction)]; text != "" {
				e.Name = []byte(text)
			}
			if sized {
				e.SetInt(trace.Bytes, size)
			}
		default:
			e.Category = trace.Kernel
		}
	case trace.NPUWork:
		c.made(ascend)
		if id, ok := e.Int(trace.ConnectionID); ok {
			e.SetInt(trace.Correlation, id)
		}
		task := strings.ToUpper(string(e.TaskType))
		switch {
		case strings.Contains(task, "WAIT"), strings.Contains(task, "RECORD"), strings.Contains(task, "NOTIFY"):
			e.Category = trace.Sync
		case strings.Contains(task, "MEMCPY"), strings.Contains(task, "SDMA"):
			e.Category, e.Name = trace.Memcpy, []byte(task)
			if size, ok := e.Int(trace.Size); ok {
				e.SetInt(trace.Bytes, size)
			}
		default:
			e.Category = trace.Kernel
		}
	case trace.Runtime, trace.Driver:
		if id, ok := e.Int(trace.ConnectionID); ok {
			c.made(ascend)
			e.SetInt(trace.Correlation, id)
		}
		if bytes.HasPrefix(e.Name, []byte("hip")) && !c.makers[amd] { // ROCm has CUDA's categories
			c.made(amd)
		}
		if string(e.Label) == c.lastRuntime {
			return
		}
		c.lastRuntime = string(e.Label)
		for prefix, maker := range runtimes {
			if strings.HasPrefix(c.lastRuntime, prefix) {
				c.made(maker)
			}
		}
	}
}

// Makers of devices other than NVIDIA, as the names of their devices begin.
const (
	amd    = "AMD"
	intel  = "Intel"
	mtia   = "MTIA"
	gaudi  = "Gaudi"
	ascend = "Ascend"
)

// runtimes are what categories of API calls begin with.
var runtimes = map[string]string{"hip": amd, "xpu_": intel, "mtia_": mtia, "hpu_": gaudi}

// mtiaCall is the kind of a call of MTIA's runtime. Most of its names are stages of the program around the calls, whose time is the CPU's own: these
// are left out, as calls that only ask are.
func mtiaCall(name string) attribute.CallKind {
	switch {
	case strings.HasPrefix(name, "runFunction"):
		return attribute.LaunchCall
	case strings.HasPrefix(name, "enqueueCommand memcpy"):
		return attribute.CopyCall
	case strings.HasPrefix(name, "synchronize"):
		return attribute.WaitCall
	}
	return attribute.QueryCall
}

func (c *collector) made(by string) {
	if c.makers == nil {
		c.makers = map[string]bool{}
	}
	c.makers[by] = true
}

// maker is whose devices did the work, "" where NVIDIA's did or several makers' are in one trace.
func (c *collector) maker() string {
	if len(c.makers) != 1 {
		return ""
	}
	for name := range c.makers {
		return name
	}
	return ""
}

// deviceName is a device's name with its maker's before it, where another trace of that maker's has none.
func (c *collector) deviceName(name string) string {
	maker := c.maker()
	switch {
	case maker == "" || strings.HasPrefix(name, maker):
		return name
	case name == "":
		return maker + " device"
	}
	return maker + " " + name
}

// labelled takes the label of a process of an Ascend device, which has the device's number.
func (c *collector) labelled(e *trace.Event) {
	number, ok := strings.CutPrefix(string(e.Labels), "NPU ")
	n, err := strconv.ParseInt(number, 10, 32)
	if !ok || err != nil || n < 0 || n >= load.MaxDevices || e.NoPID || len(c.npuNumber) >= maxThreads {
		return
	}
	if c.npuNumber == nil {
		c.npuNumber = map[int64]int32{}
	}
	c.npuNumber[e.PID] = int32(n)
}

// device returns where work ran that names its device only as its process.
func (c *collector) device(e *trace.Event) (n int32, has uint32, err error) {
	switch {
	case len(e.TaskType) > 0:
		return c.npus.Of(e.PID), hasNPU, nil
	case len(e.PIDText) > 0 && e.PID >= firstTextPID:
		if n, ok := textDevice(e.PIDText); ok {
			return n, hasDevice, nil
		}
		return 0, 0, fmt.Errorf("%w (device)", errOdd)
	case int64(int32(e.PID)) != e.PID:
		return math.MinInt32, 0, nil // none, unless the event says another
	}
	return int32(e.PID), 0, nil
}

// numberNPUs turns the processes of Ascend devices into the devices' numbers. Where no label says one, it is the process's where that can
// be one, else -1.
func (c *collector) numberNPUs() {
	number := func(place int32) int32 {
		pid := c.npus.List[place]
		if n, ok := c.npuNumber[pid]; ok {
			return n
		}
		if pid >= 0 && pid < load.MaxDevices {
			return int32(pid)
		}
		return -1
	}
	for i := range c.configs.List {
		if k := &c.configs.List[i]; k.has&hasNPU != 0 {
			k.device = number(k.device)
		}
	}
	for i := range c.waits {
		if w := &c.waits[i]; w.has&hasNPU != 0 {
			w.device = number(w.device)
		}
	}
}
