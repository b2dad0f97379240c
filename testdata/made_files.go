package testdata

import (
	"bytes"
	"fmt"
	"time"
)

// Workload is what a workload of made passes says of itself: tokens of each prompt, and tokens that each pass decodes, one a step.
func (t Trace) Workload(prompt, made int) []byte {
	var out bytes.Buffer
	out.WriteString(`{"model": "made", "runs": [`)
	for pass := range t.Passes {
		if pass > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, `{"prefill_len": %d, "new_tokens": %d}`, prompt, made)
	}
	out.WriteString("]}\n")
	return out.Bytes()
}

const (
	gpuName   = "NVIDIA H200"
	fullClock = 1_980_000_000 // Hz, of its SMs
)

// Files are the files of a folder that prof capture would leave of the trace, by their path in it: what it ran, the trace, what the
// workload says and samples of the GPU, at the trace's clock, every half millisecond.
func (t Trace) Files(prompt, made int) map[string][]byte {
	trace, lasts := t.made()
	var samples bytes.Buffer
	samples.WriteString("time_unix_ns,device_id,sm_ratio,memory_ratio,memory_used_bytes,sm_clock_hz,memory_clock_hz,power_w,temperature_c,throttle_mask,other_process_count\n")
	for at := int64(0); at <= lasts; at += 500_000 {
		clock := fullClock
		if t.Clock != 0 {
			clock = int(fullClock * t.Clock)
		}
		fmt.Fprintf(&samples, "%d,0,0.9,0.5,1073741824,%d,3201000000,400,50,0,0\n", traceStart+at, clock)
	}
	argv, start := []string{"python3", "run.py"}, time.Unix(0, traceStart).UTC()
	pass := map[string]any{"pass": 1, "name": "torch-1", "tool": "torch", "mode": "deep", "repeat": 1, "argv": argv, "started_at": start, "duration_ns": 2 * lasts,
		"workload_ns": lasts, "exit_code": 0, "status": "ok", "artifacts": []string{"torch/trace.json"}, "samples": "torch/samples.csv"}
	run := map[string]any{"version": 1, "run": "made", "prof_version": "made-up", "mode": "deep", "argv": argv, "workload_key": "6d61646520757020", "folder": "/home/user/run",
		"host": "box", "started_at": start, "ended_at": start.Add(time.Duration(2 * lasts)), "status": "ok", "passes": []any{pass},
		"devices": []any{map[string]any{"device": 0, "uuid": "GPU-e835296f-5e8e-aa0b-5f6c-4bf5e7a2ea39", "name": gpuName, "max_sm_clock_hz": fullClock}}}
	return map[string][]byte{"run.json": encoded(run), "torch/trace.json": trace, "torch/workload.json": t.Workload(prompt, made), "torch/samples.csv": samples.Bytes()}
}
