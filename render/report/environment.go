package report

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"prof/render/typeset"
)

// environment makes env.json: what the sources tell of the machine and its software.
type environment struct {
	document
	facts  []factRow
	differ *typeset.Object
}

// writeEnvironment writes env.json: gpu, cuda, torch and transformers first, as the original has them, then the machine, the tools, the
// code, and every fact of every source. What no source tells is null with a reason under missing; where sources tell different things, the
// first is taken and all stand under differing. The facts are those of the warehouse, whose ingest masks secrets.
func writeEnvironment(out *bytes.Buffer, r *reader) {
	e := &environment{newDocument(r), read(r, factRows), new(typeset.Object)}
	e.software()
	e.identity()
	e.machine()
	e.devices()
	answer(e.document, "captures", captureCells)
	answer(e.document, "passes", recordingCells)
	answer(e.document, "sources", sourceCells)
	e.list("facts", e.factsBySource(), e.whyNone("facts"))
	r.keep(typeset.WriteIndented(out, e.out.Put("differing", e.differ).Put("missing", e.missing)))
}

// fact returns the value of the first of some keys that a source tells; nil when none does. Versions of CUDA are as people write them.
func (e *environment) fact(member string, keys ...string) any {
	var found any
	var all []any
	differs := false
	for _, key := range keys {
		for _, f := range e.facts {
			if f.Key != key {
				continue
			}
			value := f.Value
			if strings.Contains(key, "cuda") {
				value = versionOf(value)
			}
			if found == nil {
				found = value
			}
			differs = differs || value != found
			all = append(all, new(typeset.Object).Put("source_id", f.SourceID).Put("key", key).Put("value", value))
		}
	}
	if differs {
		e.differ.Put(member, all)
	}
	return found
}

// software are the original's four keys.
func (e *environment) software() {
	const noPython = "no source has it: timelines do not, prof capture does where it finds the Python that runs the workload, and with --auto-stages"
	gpu, unnamed := gpuOf(e.gpuNames())
	if gpu == nil {
		gpu = e.fact("gpu", "reported.environment.gpu")
	}
	e.need(e.out, "", "gpu", gpu, unnamed)
	cuda, why := e.cuda()
	e.need(e.out, "", "cuda", cuda, why)
	e.need(e.out, "", "torch", e.fact("torch", "workload.torch", "env.python.packages.torch", "reported.environment.torch"), noPython)
	e.need(e.out, "", "transformers", e.fact("transformers", "workload.transformers", "env.python.packages.transformers", "reported.environment.transformers"), noPython)
}

// cuda is the version of the CUDA runtime that the workload used, or that its PyTorch was built with. That of the driver, which is the
// newest that it supports, is another.
func (e *environment) cuda() (version any, why string) {
	if v, ok := e.fact("cuda", "torch.cuda_runtime_version").(string); ok {
		return v, ""
	}
	if v := e.fact("cuda", "workload.torch_cuda", "env.python.torch_cuda", "reported.environment.cuda"); v != nil {
		return v, ""
	}
	if v, ok := e.fact("hip", "torch.hip_runtime_version").(string); ok {
		return nil, "the workload ran on HIP, runtime version " + v
	}
	return nil, "no source has the version of the CUDA runtime; driver_cuda is the newest that the driver supports"
}

// versionOf writes a version that CUDA gives as a number, 13010 for 13.1; other texts stay as they are.
func versionOf(text string) string {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1000 {
		return text
	}
	return fmt.Sprintf("%d.%d", n/1000, n%1000/10)
}

// runObject says what a run is; lack takes the reasons for what is not known.
func (r *reader) runObject(lack func(key, why string)) *typeset.Object {
	o := new(typeset.Object)
	rows := read(r, runRows)
	if len(rows) == 0 {
		for _, key := range []string{"id", "name"} {
			o.Put(key, nil)
			lack(key, r.whyNone("run-details"))
		}
		return o
	}
	row := rows[0]
	need := func(key, value string) {
		if o.PutText(key, value); value == "" {
			lack(key, "no source has it")
		}
	}
	need("id", row.RunID)
	need("name", row.Run)
	need("captured_at", utc(row.StartedAt))
	need("ingested_at", utc(row.CreatedAt))
	need("command", row.Command)
	need("host", row.Host)
	return o.PutText("prof_version", row.Version).PutText("tags", row.Tags)
}

// utc writes a time of the warehouse as RFC 3339; "" where it is not known.
func utc(s string) string {
	if s == "" {
		return ""
	}
	return strings.Replace(s, " ", "T", 1) + "Z"
}

// identity puts the run's members beside the others, under the names that the original's plans have for them.
func (e *environment) identity() {
	names := map[string]string{"id": "run_id", "name": "run", "captured_at": "created_at"} // of the capture: a run of the original was created with its capture
	reasons := map[string]string{}
	for _, m := range e.runObject(func(key, why string) { reasons[key] = why }).Members {
		key := cmp.Or(names[m.Key], m.Key)
		if e.out.Put(key, m.Value); reasons[m.Key] != "" {
			e.missing.Put(key, reasons[m.Key])
		}
	}
}

// machine puts the driver, the system and the processor.
func (e *environment) machine() {
	const no = "no source has it"
	e.need(e.out, "", "driver", e.fact("driver", "driver.version", "env.driver_version"), no)
	e.need(e.out, "", "driver_cuda", e.fact("driver_cuda", "driver.cuda_version", "torch.cuda_driver_version", "env.driver_cuda_version"), no)
	e.need(e.out, "", "os", e.fact("os", "env.os", "os.description"), no)
	e.need(e.out, "", "kernel", e.fact("kernel", "env.kernel", "os.kernel"), no)
	cpu := new(typeset.Object)
	e.need(cpu, "cpu.", "model", e.fact("cpu.model", "env.cpu.model", "cpu.description"), no)
	count := e.fact("cpu.count", "env.cpu.count", "cpu.cores")
	if text, is := count.(string); is {
		if n, err := strconv.Atoi(text); err == nil {
			count = n
		}
	}
	e.need(cpu, "cpu.", "count", count, no)
	e.need(cpu, "cpu.", "architecture", e.fact("cpu.architecture", "env.arch", "cpu.architecture"), no)
	e.out.Put("cpu", cpu)
	e.need(e.out, "", "python", e.fact("python", "workload.python", "env.python.version"), no)
}

// devices puts the GPUs, those that NVML told of in prof's capture among the facts.
func (e *environment) devices() {
	capability := ""
	for _, row := range read(e.reader, deviceRows) {
		capability = cmp.Or(capability, row.Capability)
	}
	e.need(e.out, "", "compute_capability", typeset.Optional(capability), "no source has it")
	said := []string{}
	for _, g := range e.gpuNames() {
		if text := g.saying(); text != "" {
			said = append(said, text)
		}
	}
	if len(said) > 0 {
		e.out.Put("gpu_names", said)
	}
	answer(e.document, "devices", deviceCells)
}

// factsBySource returns every fact of each source.
func (e *environment) factsBySource() []any {
	list := []any{}
	var of *typeset.Object
	last := int64(0)
	for _, f := range e.facts {
		if of == nil || f.SourceID != last {
			last, of = f.SourceID, new(typeset.Object)
			list = append(list, new(typeset.Object).Put("source_id", last).Put("values", of))
		}
		of.PutText(f.Key, f.Value)
	}
	return list
}
