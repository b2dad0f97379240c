package caveat

import "strings"

// ToolLoss is why a tool lost data, and what to do instead.
type ToolLoss struct {
	What      string // what is lost; with a verb for a number of records in front of it where Counts
	Counts    string // what is counted, in the singular; "" where the message gives no number
	Remedy    string // what to do
	Tools     string // --tools of a capture that has it; "" for the same tool
	Versions  string // where it was met
	Reference string // where the message is known from
}

// ToolLosses are by the causes of the step _tool_loss. Only messages whose source can be named are in it.
var ToolLosses = map[string]ToolLoss{
	"nsys-import-strings": {
		What:   "the importer of Nsight Systems failed on unknown names and left out GPU records, some or all",
		Remedy: "capture with prof's own tracer (--tools prof), or with another version of Nsight Systems", Tools: "prof",
		Versions:  "2025.3.1 with JAX 0.11.2 (all GPU records lost), 2023.3.1 with a newer CUDA (records of some GPUs left)",
		Reference: `"Cannot find string for an exterior index" of Nsight Systems in DIAGNOSTIC_EVENT, testdata/odd/jax-no-kernels; with "Cannot find bucket for a bucket index" in public notes on 2023.3.1`,
	},
	"nsys-import": {
		What:   "the importer of Nsight Systems failed on some events and left out records",
		Remedy: "capture with prof's own tracer (--tools prof), or with another version of Nsight Systems", Tools: "prof",
		Versions:  "2024.1.1 with CUDA 12.3, and later ones",
		Reference: `"Wrong event order has been detected when adding events to the collection": vllm-project/vllm issue 20178, NVIDIA/JAX-Toolbox pull request 545; ProcessEventsError (4005) is how DIAGNOSTIC_EVENT files any such failure`,
	},
	"nsys-rows-missing": {
		What: "that Nsight Systems counted are not in the export", Counts: "row",
		Remedy:    "export the report again, with all tables",
		Versions:  "2025.3: to the row",
		Reference: `"Number of CUDA events collected: N": equal to the rows of RUNTIME, KERNEL, MEMCPY and MEMSET in all captures of testdata that have it`,
	},
	"nsys-rows-added": {
		What: "more are in the export than Nsight Systems counted: some may be there twice", Counts: "row",
		Remedy:    "export the report again",
		Versions:  "2025.3: to the row",
		Reference: `as nsys-rows-missing`,
	},
	"cupti-dropped": {
		What: "were dropped by CUPTI", Counts: "record",
		Remedy:    "trace a shorter window: --range, --after and --window",
		Versions:  "any",
		Reference: "cuptiActivityGetNumDroppedRecords, as prof's tracer asks it",
	},
	"trace-cut": {
		What:      "the last block of a trace is cut off: records up to the end of the process are missing",
		Remedy:    "let the process end by itself, or end the window before it is killed",
		Versions:  "any",
		Reference: "prof's own reader",
	},
	"kineto-buffer": {
		What:      "the PyTorch profiler reached its limit of GPU buffers and stopped collecting GPU records before the end",
		Remedy:    "profile fewer steps, or raise ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB in the file that KINETO_CONFIG names",
		Versions:  "any; from a limit of 128 MB on",
		Reference: `"Exceeded max GPU buffer count (N >= M) - terminating tracing": pytorch/kineto libkineto/src/CuptiActivityApi.cpp, pull request 1362; RocprofLogger.cpp and RoctracerLogger.cpp for AMD`,
	},
	"kineto-dropped": {
		What: "were dropped by CUPTI under the PyTorch profiler", Counts: "record",
		Remedy:    "profile fewer steps",
		Versions:  "any",
		Reference: `"Dropped N activity records": pytorch/kineto libkineto/src/CuptiActivityApi.cpp`,
	},
	"xla-dropped": {
		What: "were dropped by XLA's profiler", Counts: "event",
		Remedy:    "profile fewer steps, or raise gpu_max_activity_api_events and gpu_max_callback_api_events in ProfileOptions.advanced_configuration",
		Versions:  "any; from 2,097,152 events on",
		Reference: `"Detected GPU events dropped on HOST": openxla/xla xla/backends/profiler/gpu/cupti_collector.cc, in the warnings of the XSpace`,
	},
}

// ToolLost is that a tool lost data.
type ToolLost struct {
	Cause string `col:"detail"` // one of ToolLosses
	Items int64  `col:"item_count"`
}

// ToolLostOf reads a caveat as such.
func ToolLostOf(c C) (l ToolLost, is bool) { return as[ToolLost](c), c.Kind == "tool-lost-data" }

// What returns what was lost, without the remedy.
func (c ToolLost) What() string {
	l, known := ToolLosses[c.Cause]
	switch {
	case !known:
		return "the profiler says that it lost data (" + c.Cause + ")"
	case l.Counts == "":
		return l.What
	case c.Items == 0:
		return l.Counts + "s " + l.What
	case c.Items == 1:
		return "1 " + l.Counts + " " + strings.NewReplacer("were ", "was ", "are not", "is not", "more are", "more is").Replace(l.What)
	}
	return count(c.Items, l.Counts) + " " + l.What
}

func (c ToolLost) sentence() string {
	text := c.What()
	if l := ToolLosses[c.Cause]; l.Remedy != "" {
		text += ": " + l.Remedy
	}
	return text
}
