package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"prof/internal/file"
)

// Header is what a trace says outside its events.
type Header struct {
	HasEvents bool // it has a member traceEvents
	// BaseTime is the moment, in nanoseconds from 1970, from which the events' times count; 0 when they count from 1970.
	BaseTime  int64
	TraceID   string
	TraceName string
	Devices   []DeviceProperties
	Job       *Distributed
	Odd       []string // members with numbers out of range, which are left out
	Notes     []string // what a reader of another profiler's file has to say of it
	Facts     []Fact   // further members that describe the capture, in the order of the file
	Said      []Said   // warnings and errors of the profiler
}

// Fact is one member of the header with its value as text.
type Fact struct{ Name, Value string }

// Said is a message of the profiler.
type Said struct{ Severity, Text string }

// Messages of a trace that are kept, and bytes of each: a profiler may repeat one without end.
const (
	MostSaid     = 100
	MostSaidSize = 2000
)

// severities are the members in which Kineto writes what it logged, but for what is only information.
var severities = map[string]string{"WARNING": "warning", "ERROR": "error"}

// Say notes a message of the profiler.
func (h *Header) Say(severity, text string) {
	if len(h.Said) < MostSaid {
		h.Said = append(h.Said, Said{severity, text[:min(len(text), MostSaidSize)]})
	}
}

// DeviceProperties describes a GPU as Kineto's DeviceProperties.cpp writes it. Pointers are nil where the trace says nothing.
type DeviceProperties struct {
	ID                     *int32 `json:"id"`
	Name                   string `json:"name"`
	MemoryBytes            *int64 `json:"totalGlobalMem"`
	Major                  *int64 `json:"computeMajor"`
	Minor                  *int64 `json:"computeMinor"`
	OldMajor               *int64 `json:"major"`
	OldMinor               *int64 `json:"minor"`
	SMs                    *int64 `json:"numSms"`
	OldSMs                 *int64 `json:"multiProcessorCount"`
	MaxThreadsPerSM        *int64 `json:"maxThreadsPerMultiprocessor"`
	OldMaxThreadsPerSM     *int64 `json:"maxThreadsPerMultiProcessor"`
	WarpSize               *int64 `json:"warpSize"`
	SharedMemoryPerSMBytes *int64 `json:"sharedMemPerMultiprocessor"`

	// What Kineto does not write, and XLA does.
	ClockHz, MemoryBytesPerS *int64 `json:"-"`
}

// Distributed is the place of the process in a job of several.
type Distributed struct {
	Backend     string `json:"backend"`
	Rank        *int64 `json:"rank"`
	WorldSize   *int64 `json:"world_size"`
	NCCLVersion string `json:"nccl_version"`
}

// described are the members that become facts. Others, such as names of users and jobs, are left out.
var described = map[string]bool{"schemaVersion": true, "record_shapes": true, "profile_memory": true, "with_stack": true, "with_flops": true,
	"with_modules": true, "cuda_runtime_version": true, "cuda_driver_version": true, "cupti_version": true, "hip_runtime_version": true,
	"hip_driver_version": true, "roctracer_version": true}

// set takes one member. It gives what is wrong with it, or "".
func (h *Header) set(name string, raw []byte) string {
	var err error
	switch name {
	case "baseTimeNanoseconds":
		v, ok := int64(0), false
		if isNumber(raw) {
			v, ok = scaled(raw, 0)
		}
		if !ok {
			return "baseTimeNanoseconds must be a whole number"
		}
		h.BaseTime = v
	case "trace_id":
		err = decode(raw, &h.TraceID)
	case "traceName":
		err = decode(raw, &h.TraceName)
	case "deviceProperties", "computeProperties": // the latter until PyTorch 1.8
		err = h.inRange(name, raw, &h.Devices)
	case "distributedInfo":
		err = h.inRange(name, raw, &h.Job)
	default:
		if severity := severities[name]; severity != "" {
			var list []string
			if decode(raw, &list) == nil { // else it is another program's
				for _, text := range list {
					h.Say(severity, text)
				}
			}
		}
		if described[name] {
			var v any
			if err = decode(raw, &v); err == nil {
				h.Facts = append(h.Facts, Fact{name, factText(raw, v)})
			}
		}
	}
	if err != nil {
		return name + ": " + err.Error()
	}
	return ""
}

// decode decodes a member.
func decode(raw []byte, into any) error {
	if err := file.FewValues(raw, file.MostValues); err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// mostBytes is more memory than a machine has.
const mostBytes = 1 << 56

// inRange decodes a member without its numbers that are whole ones of more than 32 bits but for sizes, or of more than any machine has.
func (h *Header) inRange(name string, raw []byte, into any) error {
	if err := file.FewValues(raw, file.MostValues); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	objects, isList := v.([]any)
	if !isList {
		objects = []any{v}
	}
	odd := len(h.Odd)
	for _, o := range objects {
		members, _ := o.(map[string]any)
		for key, value := range members {
			n, isNumber := value.(json.Number)
			if !isNumber {
				continue
			}
			most := int64(math.MaxInt32)
			if strings.Contains(strings.ToLower(key), "mem") {
				most = mostBytes
			}
			if whole, err := n.Int64(); err != nil || whole < 0 || whole > most {
				h.Odd = append(h.Odd, name+"."+key)
				delete(members, key)
			}
		}
	}
	if len(h.Odd) == odd {
		return json.Unmarshal(raw, into)
	}
	kept, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(kept, into)
}

func factText(raw []byte, v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if _, ok := v.(float64); ok {
		return string(raw)
	}
	return fmt.Sprint(v)
}
