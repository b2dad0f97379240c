package report

import (
	"prof/queries/judge"
	"prof/render/typeset"
)

// rowObjects gives rows of an answer as objects with the columns in their order, NULL left out.
func rowObjects(r *judge.Report, key string, columns ...string) ([]any, error) {
	rows, err := answers(r, key, columns...)
	out := []any{}
	for _, row := range rows {
		o := &typeset.Object{}
		for _, c := range columns {
			if v := row.value(c); v != nil {
				o.Put(c, v)
			}
		}
		out = append(out, o)
	}
	return out, err
}

// list puts rows of an answer; none have a reason.
func (e *environment) list(out *typeset.Object, name, key string, columns ...string) error {
	rows, err := rowObjects(e.r, key, columns...)
	if err != nil {
		return err
	}
	out.Put(name, rows)
	if len(rows) == 0 {
		e.missing.Put(name, whyNone(e.r, key))
	}
	return nil
}

// devices puts the GPUs, those that NVML told of in prof's capture among the facts.
func (e *environment) devices(out *typeset.Object) error {
	rows, err := answers(e.r, "devices", "compute_capability")
	if err != nil {
		return err
	}
	var capability any
	for _, row := range rows {
		if capability == nil {
			capability = row.value("compute_capability")
		}
	}
	e.need(out, "", "compute_capability", capability, "no source tells it")
	all, err := gpuNames(e.r)
	if err != nil {
		return err
	}
	said := []any{}
	for _, g := range all {
		if text := g.saying(); text != "" {
			said = append(said, text)
		}
	}
	if len(said) > 0 {
		out.Put("gpu_names", said)
	}
	return e.list(out, "devices", "devices", "source_id", "device", "name", "kernel_count", "compute_capability", "sm_count", "clock_hz", "memory_bytes", "memory_bytes_per_s", "l2_bytes", "uuid", "bus_id")
}

// capture puts how prof capture made the run: mode, code and passes.
func (e *environment) capture(out *typeset.Object) error {
	err := e.list(out, "captures", "captures", "mode", "status", "reason", "git_commit", "git_branch", "is_git_dirty", "started_at", "duration_ns", "folder", "workload_key", "source_id")
	if err != nil {
		return err
	}
	return e.list(out, "passes", "capture-passes", "pass", "tool", "mode", "repeat", "status", "reason", "tool_version", "clock_control", "started_at", "workload_ns", "duration_ns", "exit_code", "signal")
}

// sources puts the files of the run and the versions of the tools that wrote them.
func (e *environment) sources(out *typeset.Object) error {
	return e.list(out, "sources", "sources", "source_id", "kind", "form", "path", "rank_id", "tool_version", "schema_version", "size_bytes", "sha256", "status", "reason")
}

// allFacts puts every fact of each source.
func (e *environment) allFacts(out *typeset.Object) error {
	list := []any{}
	var of *typeset.Object
	var last any
	for _, f := range e.facts {
		if id := f.value("source_id"); of == nil || id != last {
			last, of = id, &typeset.Object{}
			list = append(list, (&typeset.Object{}).Put("source_id", id).Put("values", of))
		}
		of.Put(f.Text("key"), f.value("value"))
	}
	out.Put("facts", list)
	if len(list) == 0 {
		e.missing.Put("facts", whyNone(e.r, "facts"))
	}
	return nil
}
