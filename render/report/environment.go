package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"prof/queries/judge"
	"prof/render/typeset"
)

// environment makes env.json: what the sources tell of the machine and its software.
type environment struct {
	r       *judge.Report
	facts   []answered
	missing *typeset.Object
	differ  *typeset.Object
}

// ReportEnvironment writes env.json: gpu, cuda, torch and transformers first, as the original has them, then the machine, the tools, the
// code, and every fact of every source. What no source tells is null with a reason under missing; where sources tell different things, the
// first is taken and all stand under differing. The facts are those of the warehouse, whose ingest masks secrets.
func ReportEnvironment(w io.Writer, r *judge.Report) error {
	facts, err := answers(r, "facts", "source_id", "key", "value")
	if err != nil {
		return err
	}
	e := &environment{r: r, facts: facts, missing: &typeset.Object{}, differ: &typeset.Object{}}
	out := &typeset.Object{}
	for _, block := range []func(*typeset.Object) error{e.software, e.identity, e.machine, e.devices, e.capture, e.sources, e.allFacts} {
		if err := block(out); err != nil {
			return err
		}
	}
	return typeset.WriteIndented(w, out.Put("differing", e.differ).Put("missing", e.missing))
}

// fact gives the value of the first of some keys that a source tells; nil when none does. Versions of CUDA are as people write them.
func (e *environment) fact(member string, keys ...string) any {
	var found any
	var all []any
	differs := false
	for _, key := range keys {
		for _, f := range e.facts {
			if f.Text("key") != key {
				continue
			}
			value := f.Text("value")
			if strings.Contains(key, "cuda") {
				value = versionOf(value)
			}
			if found == nil {
				found = value
			}
			differs = differs || value != found
			all = append(all, (&typeset.Object{}).Put("source_id", f.value("source_id")).Put("key", key).Put("value", value))
		}
	}
	if differs {
		e.differ.Put(member, all)
	}
	return found
}

func (e *environment) need(o *typeset.Object, path, key string, value any, why string) {
	o.Put(key, value)
	if value == nil {
		e.missing.Put(path+key, why)
	}
}

// software are the original's four keys.
func (e *environment) software(out *typeset.Object) error {
	all, err := gpuNames(e.r)
	if err != nil {
		return err
	}
	gpu, unnamed := gpuOf(all)
	e.need(out, "", "gpu", gpu, unnamed)
	cuda, why := e.cuda()
	e.need(out, "", "cuda", cuda, why)
	const noPython = "no source tells it: timelines do not, prof capture does where it finds the Python that runs the workload"
	e.need(out, "", "torch", e.fact("torch", "env.python.packages.torch"), noPython)
	e.need(out, "", "transformers", e.fact("transformers", "env.python.packages.transformers"), noPython)
	return nil
}

// cuda is the version of the CUDA runtime that the workload used, or that its PyTorch was built with. That of the driver, which is the
// newest that it supports, is another.
func (e *environment) cuda() (version any, why string) {
	if v, ok := e.fact("cuda", "torch.cuda_runtime_version").(string); ok {
		return v, ""
	}
	if v := e.fact("cuda", "env.python.torch_cuda"); v != nil {
		return v, ""
	}
	if v, ok := e.fact("hip", "torch.hip_runtime_version").(string); ok {
		return nil, "the workload ran on HIP, runtime version " + v
	}
	return nil, "no source tells the version of the CUDA runtime; driver_cuda is the newest that the driver supports"
}

// versionOf writes a version that CUDA gives as a number, 13010 for 13.1; other texts stay as they are.
func versionOf(text string) string {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1000 {
		return text
	}
	return fmt.Sprintf("%d.%d", n/1000, n%1000/10)
}

// runObject says what a run is; lack is told the reasons for what is not known.
func runObject(r *judge.Report, lack func(key, why string)) (*typeset.Object, error) {
	o := &typeset.Object{}
	rows, err := answers(r, "run-details", "run", "run_id", "created_at", "started_at", "host", "command", "prof_version", "tags")
	if err != nil {
		return o, err
	}
	if len(rows) == 0 {
		for _, key := range []string{"id", "name"} {
			o.Put(key, nil)
			lack(key, whyNone(r, "run-details"))
		}
		return o, nil
	}
	row := rows[0]
	need := func(key string, value any) {
		if o.Put(key, value); value == nil {
			lack(key, "no source tells it")
		}
	}
	need("id", row.value("run_id"))
	need("name", row.value("run"))
	need("captured_at", utc(row.value("started_at")))
	need("ingested_at", utc(row.value("created_at")))
	need("command", row.value("command"))
	need("host", row.value("host"))
	o.Put("prof_version", row.value("prof_version")).Put("tags", row.value("tags"))
	return o, nil
}

// identity puts the run's members beside the others, under the names that the original's plans have for them.
func (e *environment) identity(out *typeset.Object) error {
	reasons := map[string]string{}
	o, err := runObject(e.r, func(key, why string) { reasons[key] = why })
	if err != nil {
		return err
	}
	for _, m := range o.Members {
		key := m.Key
		switch key {
		case "id":
			key = "run_id"
		case "name":
			key = "run"
		case "captured_at":
			key = "created_at" // of the capture, as a run of the original was created with its capture
		}
		if out.Put(key, m.Value); reasons[m.Key] != "" {
			e.missing.Put(key, reasons[m.Key])
		}
	}
	return nil
}

// machine puts the driver, the system and the processor.
func (e *environment) machine(out *typeset.Object) error {
	const no = "no source tells it"
	e.need(out, "", "driver", e.fact("driver", "driver.version", "env.driver_version"), no)
	e.need(out, "", "driver_cuda", e.fact("driver_cuda", "driver.cuda_version", "torch.cuda_driver_version", "env.driver_cuda_version"), no)
	e.need(out, "", "os", e.fact("os", "env.os", "os.description"), no)
	e.need(out, "", "kernel", e.fact("kernel", "env.kernel", "os.kernel"), no)
	cpu := &typeset.Object{}
	e.need(cpu, "cpu.", "model", e.fact("cpu.model", "env.cpu.model", "cpu.description"), no)
	count := e.fact("cpu.count", "env.cpu.count", "cpu.cores")
	if text, is := count.(string); is {
		if n, err := strconv.Atoi(text); err == nil {
			count = n
		}
	}
	e.need(cpu, "cpu.", "count", count, no)
	e.need(cpu, "cpu.", "architecture", e.fact("cpu.architecture", "env.arch", "cpu.architecture"), no)
	out.Put("cpu", cpu)
	e.need(out, "", "python", e.fact("python", "env.python.version"), no)
	return nil
}
