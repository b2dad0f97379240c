package nsys

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"prof/ingest/load"
	"prof/ingest/nsys/table"
	"prof/ingest/rows"
	"prof/internal/mask"
)

// readMeta reads the versions, the capture's settings and its time.
func (l *loader) readMeta(ctx context.Context) error {
	export, err := l.pairs(ctx, "META_DATA_EXPORT")
	if err != nil {
		return err
	}
	for _, kv := range export {
		switch kv[0] {
		case "EXPORT_PRODUCT_VERSION":
			l.info.ToolVersion = kv[1]
		case "EXPORT_SCHEMA_VERSION":
			l.info.SchemaVersion = kv[1]
		}
	}
	capture, err := l.pairs(ctx, "META_DATA_CAPTURE")
	if err != nil {
		return err
	}
	var argv []string
	commands := 0 // each process of a recording may say its own
	for _, kv := range capture {
		if kv[0] == "PROCESS_0:COMMAND" {
			commands++
		}
		switch {
		case commands > 1 && strings.HasPrefix(kv[0], "PROCESS_0:"):
		case kv[0] == "PROFILING_SESSION_UUID":
			l.info.CaptureID = kv[1]
		case kv[0] == "PROCESS_0:COMMAND":
			argv = append([]string{kv[1]}, argv...)
		case strings.HasPrefix(kv[0], "PROCESS_0:ARGUMENT_"):
			argv = append(argv, kv[1])
		}
	}
	l.info.Command = mask.Command(argv)
	if err := l.readTimes(ctx); err != nil {
		return err
	}
	if l.info.CaptureID != "" && l.info.StartedAt != nil { // the windows of one session differ in nothing else that names them
		l.info.CaptureID = fmt.Sprint(l.info.CaptureID, " ", l.info.StartedAt.UnixMicro())
	}
	return nil
}

func (l *loader) readTimes(ctx context.Context) error {
	if name := l.table("TARGET_INFO_SESSION_START_TIME"); name != "" {
		err := eachBatch(ctx, l.export, name, want("utcEpochNs?"), func(b *table.Batch) error {
			if l.info.StartedAt == nil && !b.Cols[0].Null(0) { // each process of a recording says the same
				at := time.Unix(0, b.Cols[0].Ints[0]).UTC()
				if !load.IsWallClock(at) {
					l.odd.Add("start of the capture", b.Cols[0].Ints[0])
					return nil
				}
				l.info.StartedAt = &at
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if name := l.table("ANALYSIS_DETAILS"); name != "" {
		return eachBatch(ctx, l.export, name, want("duration?"), func(b *table.Batch) error {
			if !b.Cols[0].Null(0) {
				if d := b.Cols[0].Ints[0]; d >= 0 && d < farthest {
					l.info.DurationNs = &d
				} else {
					l.odd.Add("length of the capture", d)
				}
			}
			return nil
		})
	}
	return nil
}

// pairs reads a table of names and values.
func (l *loader) pairs(ctx context.Context, base string) ([][2]string, error) {
	name := l.table(base)
	if name == "" {
		return nil, nil
	}
	var out [][2]string
	err := eachBatch(ctx, l.export, name, want("name:text value?:text"), func(b *table.Batch) error {
		for i := range b.N {
			out = append(out, [2]string{b.Cols[0].Texts[i], b.Cols[1].Texts[i]})
		}
		return nil
	})
	return out, err
}

// captureFacts are the settings of a capture that are kept, by name. Everything else stays out, above all the environment
// that the export repeats in several tables.
var captureFacts = map[string]string{
	"CAPTURE_EVENT_TYPE":                       "capture.trace",
	"DEVICE_DISPLAY_NAME":                      "capture.device",
	"PROCESS_0:WORKING_DIR":                    "capture.working_dir",
	"PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE":  "capture.cuda_graph_trace",
	"CUDA_GRAPH_TRACE_OPTIONS:MODE":            "capture.cuda_graph_trace",
	"PROCESS_0:COLLECT_GPU_MEMORY_USAGE":       "capture.gpu_memory_usage",
	"COLLECT_GPU_MEMORY_USAGE":                 "capture.gpu_memory_usage",
	"RUN_DURATION_MS":                          "capture.run_duration_ms",
	"START_DELAY_MS":                           "capture.start_delay_ms",
	"START_TRIGGER":                            "capture.start_trigger",
	"STOP_TRIGGER":                             "capture.stop_trigger",
	"NVTX_OPTIONS:NVTX_DOMAIN_FILTER_STRING":   "capture.nvtx_domain_filter",
	"PROFILING_SESSION_UUID":                   "capture.id",
	"SAMPLE_ALL_TASKS":                         "capture.sample_all_tasks",
	"INCLUDE_CHILDREN":                         "capture.include_children",
	"OS_RUNTIME_OPTIONS:DURATION_THRESHOLD_NS": "capture.osrt_threshold_ns",
	"OS_RUNTIME_OPTIONS:COLLECT_BACKTRACES":    "capture.osrt_backtraces",
}

// systemFacts are the properties of the machine that are kept.
var systemFacts = map[string]string{
	"CpuCores": "cpu.cores", "CpuDescription": "cpu.description", "CpuArchitecture": "cpu.architecture", "CpuSpeedMhz": "cpu.speed_mhz",
	"NvDriverVersion": "driver.version", "CudaDriverVersion": "driver.cuda_version", "OsDescription": "os.description",
	"KernelVersion": "os.kernel", "Hostname": "host.name", "LinuxParanoidLevel": "os.paranoid_level",
}

// storeFacts stores the settings and properties worth keeping.
func (l *loader) storeFacts(ctx context.Context) error {
	facts := map[string][]string{}
	add := func(key, value string) {
		if value != "" && !slices.Contains(facts[key], value) {
			facts[key] = append(facts[key], value)
		}
	}
	capture, err := l.pairs(ctx, "META_DATA_CAPTURE")
	if err != nil {
		return err
	}
	for _, kv := range capture {
		if key, ok := captureFacts[kv[0]]; ok {
			add(key, kv[1])
		}
	}
	system, err := l.pairs(ctx, "TARGET_INFO_SYSTEM_ENV")
	if err != nil {
		return err
	}
	for _, kv := range system {
		if key, ok := systemFacts[kv[0]]; ok && kv[1] != "" {
			add(key, kv[1])
			if key == "host.name" {
				l.info.Host = kv[1]
			}
		}
	}
	_, err = l.target.Append(ctx, "source_fact", func(add rows.Add) error {
		for _, key := range slices.Sorted(maps.Keys(facts)) {
			if err := add(l.target.RunID, l.sourceID(), key, strings.Join(facts[key], ",")); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

var severities = map[int64]string{1: "info", 2: "warning", 3: "error", 4: "info"}

// countText takes the tab that nsys puts before its numbers out.
var countText = regexp.MustCompile(`\s+`)

// storeDiagnostics stores the capture's own messages and the warnings of this reading.
func (l *loader) storeDiagnostics(ctx context.Context) error {
	_, err := l.target.Append(ctx, "diagnostic", func(add rows.Add) error {
		if name := l.table("DIAGNOSTIC_EVENT"); name != "" {
			err := eachBatch(ctx, l.export, name, want("timestamp? severity? text?:text globalPid?"), func(b *table.Batch) error {
				for i := range b.N {
					severity, ok := severities[b.Cols[1].Ints[i]]
					if !ok {
						severity = "info"
					}
					var pid any
					if g := b.Cols[3].Ints[i]; !b.Cols[3].Null(i) && g > 0 {
						pid = pidOf(g)
					}
					text := strings.TrimSpace(countText.ReplaceAllString(b.Cols[2].Texts[i], " "))
					if err := add(l.target.RunID, l.sourceID(), "capture", severity, l.moment(&b.Cols[0], i), pid, text); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		l.info.Warnings = append(l.info.Warnings, l.odd.Warnings()...)
		for _, w := range l.info.Warnings {
			if err := add(l.target.RunID, l.sourceID(), "ingest", "warning", nil, nil, w); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// knownUnused are tables that are left out on purpose, with the reason; enumerations and tables of the exporter's own go unsaid.
var knownUnused = map[string]string{
	"OSRT_CALLCHAINS":               "call stacks are not stored",
	"CUDA_CALLCHAINS":               "stacks of functions in C are not stored",
	"SAMPLING_CALLCHAINS":           "CPU samples are not stored",
	"COMPOSITE_EVENTS":              "CPU samples are not stored",
	"SCHED_EVENTS":                  "CPU scheduling is not stored",
	"ProcessStreams":                "the output of the program is not stored",
	"CUPTI_ACTIVITY_KIND_OVERHEAD":  "CUPTI overhead is not stored",
	"CUDA_GPU_MEMORY_POOL_EVENTS":   "memory pools are not stored yet",
	"CUDA_UM_CPU_PAGE_FAULT_EVENTS": "page faults of unified memory are not stored yet",
	"CUDA_UM_GPU_PAGE_FAULT_EVENTS": "page faults of unified memory are not stored yet",
	"CUDA_GRAPH_EVENTS":             "graph creation is not stored yet",
	"NVTX_PAYLOAD_SCHEMAS":          "payloads of NVTX events are not stored",
	"NVTX_PAYLOAD_SCHEMA_ENTRIES":   "payloads of NVTX events are not stored",
	"NVTX_PAYLOAD_ENUMS":            "payloads of NVTX events are not stored",
	"NVTX_PAYLOAD_ENUM_ENTRIES":     "payloads of NVTX events are not stored",
	"GENERIC_EVENTS":                "events of other tracers are not stored",
	"TARGET_INFO_SYSTEM_ENV":        "only selected facts; never the environment",
	"META_DATA_CAPTURE":             "only selected facts; never the environment",
	"StringIds":                     "only strings that stored rows refer to",
}

// storeParts stores what became of each table, those nothing was taken from included.
func (l *loader) storeParts(ctx context.Context) error {
	_, err := l.target.Append(ctx, "source_part", func(add rows.Add) error {
		seen := map[string]bool{}
		for _, p := range l.parts {
			seen[p.table] = true
			var read, stored, reason any
			if p.read >= 0 {
				read, stored = p.read, p.stored
			}
			if p.reason != "" {
				reason = p.reason
			}
			if err := add(l.target.RunID, l.sourceID(), p.table, read, stored, reason); err != nil {
				return err
			}
		}
		for _, name := range l.export.Tables() {
			reason, known := knownUnused[name]
			if seen[name] || !known && (l.touched[name] || strings.HasPrefix(name, "ENUM_") || strings.HasPrefix(name, "ANALYSIS_")) {
				continue
			}
			if !known {
				reason = "this version of prof does not know the table"
			}
			if err := add(l.target.RunID, l.sourceID(), name, nil, nil, reason); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	return nil
}
