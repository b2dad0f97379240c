package report

import (
	"io"
	"slices"
	"strings"

	"prof/queries/judge"
	"prof/render/typeset"
)

const configHead = "# How the run was captured, as far as its sources tell. A run that prof capture made has the whole of it in its own folder.\n"

// ReportConfig writes config.yaml: mode, tools and repeats of prof capture, and the options of the tools by the facts of their captures.
func ReportConfig(w io.Writer, r *judge.Report) error {
	o := &typeset.Object{}
	made, err := answers(r, "captures", "mode", "status")
	if err != nil {
		return err
	}
	if len(made) > 0 {
		o.Put("mode", made[0].value("mode"))
	}
	tools, err := repeatsByTool(r)
	if err != nil {
		return err
	}
	if len(tools.Members) > 0 {
		names := []any{}
		for _, m := range tools.Members {
			if m.Key != "baseline" {
				names = append(names, m.Key)
			}
		}
		o.Put("tools", names).Put("repeats", tools)
	}
	captures, err := capturesOf(r)
	if err != nil {
		return err
	}
	list := []any{}
	for _, c := range captures {
		of := (&typeset.Object{}).Put("source_id", c.source.value("source_id")).Put("kind", c.source.value("kind"))
		if v := c.source.value("tool_version"); v != nil {
			of.Put("tool_version", v)
		}
		list = append(list, of.Put("options", c.options))
	}
	return writeYAML(w, configHead, o.Put("captures", list))
}

// repeatsByTool counts the passes of each tool that prof capture ran, in their order; those without a tool are the baseline.
func repeatsByTool(r *judge.Report) (*typeset.Object, error) {
	rows, err := answers(r, "capture-passes", "tool", "status")
	o := &typeset.Object{}
	for _, row := range rows {
		tool := row.Text("tool")
		if tool == "none" {
			tool = "baseline"
		}
		if row.Text("status") == "not_run" {
			continue
		}
		at := slices.IndexFunc(o.Members, func(m typeset.Member) bool { return m.Key == tool })
		if at < 0 {
			at = len(o.Members)
			o.Put(tool, 0)
		}
		o.Members[at].Value = o.Members[at].Value.(int) + 1
	}
	return o, err
}

// torchOptions are the options of the PyTorch profiler that its traces tell; other facts of a trace are of the machine.
var torchOptions = []string{"torch.record_shapes", "torch.profile_memory", "torch.with_stack", "torch.with_flops", "torch.with_modules"}

// captureOptions are the options that a source was captured with, by their names.
type captureOptions struct {
	source  answered
	options *typeset.Object
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
		options := &typeset.Object{}
		for _, f := range facts {
			key := f.Text("key")
			name, isCapture := strings.CutPrefix(key, "capture.")
			if f.Count("source_id") != s.Count("source_id") || !isCapture && !slices.Contains(torchOptions, key) || key == "capture.id" {
				continue
			}
			options.Put(strings.TrimPrefix(name, "torch."), f.value("value"))
		}
		if len(options.Members) > 0 {
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
