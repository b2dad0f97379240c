package render

import (
	"io"
	"slices"
	"strings"

	"prof/queries/judge"
)

const configHead = "# How the run was captured, as far as its sources tell. A run that prof capture made has the whole of it in its own folder.\n"

// ReportConfig writes config.yaml: mode, tools and repeats of prof capture, and the options of the tools by the facts of their captures.
func ReportConfig(w io.Writer, r *judge.Report) error {
	o := &object{}
	made, err := answers(r, "captures", "mode", "status")
	if err != nil {
		return err
	}
	if len(made) > 0 {
		o.put("mode", made[0].value("mode"))
	}
	tools, err := repeatsByTool(r)
	if err != nil {
		return err
	}
	if len(tools.members) > 0 {
		names := []any{}
		for _, m := range tools.members {
			if m.key != "baseline" {
				names = append(names, m.key)
			}
		}
		o.put("tools", names).put("repeats", tools)
	}
	captures, err := capturesOf(r)
	if err != nil {
		return err
	}
	list := []any{}
	for _, c := range captures {
		of := (&object{}).put("source_id", c.source.value("source_id")).put("kind", c.source.value("kind"))
		if v := c.source.value("tool_version"); v != nil {
			of.put("tool_version", v)
		}
		list = append(list, of.put("options", c.options))
	}
	return writeYAML(w, configHead, o.put("captures", list))
}

// repeatsByTool counts the passes of each tool that prof capture ran, in their order; those without a tool are the baseline.
func repeatsByTool(r *judge.Report) (*object, error) {
	rows, err := answers(r, "capture-passes", "tool", "status")
	o := &object{}
	for _, row := range rows {
		tool := row.text("tool")
		if tool == "none" {
			tool = "baseline"
		}
		if row.text("status") == "not_run" {
			continue
		}
		at := slices.IndexFunc(o.members, func(m member) bool { return m.key == tool })
		if at < 0 {
			at = len(o.members)
			o.put(tool, 0)
		}
		o.members[at].value = o.members[at].value.(int) + 1
	}
	return o, err
}

// torchOptions are the options of the PyTorch profiler that its traces tell; other facts of a trace are of the machine.
var torchOptions = []string{"torch.record_shapes", "torch.profile_memory", "torch.with_stack", "torch.with_flops", "torch.with_modules"}

// captureOptions are the options that a source was captured with, by their names.
type captureOptions struct {
	source  answered
	options *object
}

// capturesOf gives the sources that tell of their options.
func capturesOf(r *judge.Report) ([]captureOptions, error) {
	facts, err := answers(r, "facts", "source_id", "key", "value")
	if err != nil {
		return nil, err
	}
	sources, err := answers(r, "sources", "source_id", "kind", "tool_version")
	if err != nil {
		return nil, err
	}
	var out []captureOptions
	for _, s := range sources {
		options := &object{}
		for _, f := range facts {
			key := f.text("key")
			name, isCapture := strings.CutPrefix(key, "capture.")
			if f.int("source_id") != s.int("source_id") || !isCapture && !slices.Contains(torchOptions, key) || key == "capture.id" {
				continue
			}
			options.put(strings.TrimPrefix(name, "torch."), f.value("value"))
		}
		if len(options.members) > 0 {
			out = append(out, captureOptions{s, options})
		}
	}
	return out, nil
}

// noConfig says why there is no config.yaml.
func noConfig(r *judge.Report) string {
	if f := r.Frame("captures"); f != nil && len(f.Rows) > 0 {
		return ""
	}
	if captures, err := capturesOf(r); err != nil || len(captures) > 0 {
		return "" // an error is told when the file is written
	}
	return "no source tells the options that it was captured with"
}
