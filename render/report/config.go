package report

import (
	"bytes"
	"slices"
	"strings"

	"prof/queries/judge"
	"prof/render/typeset"
)

const configHead = "# How the run was captured, as far as its sources tell. A run that prof capture made has the whole of it in its own folder.\n"

// writeConfig writes config.yaml: mode, tools and repeats of prof capture, and the options of the tools by the facts of their captures.
func writeConfig(out *bytes.Buffer, r *reader) {
	o := new(typeset.Object)
	if made := r.rows("captures", "mode", "status"); len(made) > 0 {
		o.Put("mode", made[0].value("mode"))
	}
	if tools := r.repeatsByTool(); len(tools.Members) > 0 {
		names := []string{}
		for _, m := range tools.Members {
			if m.Key != "baseline" {
				names = append(names, m.Key)
			}
		}
		o.Put("tools", names).Put("repeats", tools)
	}
	writeYAML(out, configHead, o.Put("captures", typeset.List(r.captures(), func(c captureOptions) *typeset.Object {
		of := new(typeset.Object).Put("source_id", c.source.value("source_id")).Put("kind", c.source.value("kind"))
		if v := c.source.value("tool_version"); v != nil {
			of.Put("tool_version", v)
		}
		return of.Put("options", c.options)
	})))
}

// repeatsByTool counts the passes of each tool that prof capture ran, in their order; those without a tool are the baseline.
func (r *reader) repeatsByTool() *typeset.Object {
	o := new(typeset.Object)
	for _, row := range r.rows("capture-passes", "tool", "status") {
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
	return o
}

// torchOptions are the options of the PyTorch profiler that its traces tell; other facts of a trace are of the machine.
var torchOptions = []string{"torch.record_shapes", "torch.profile_memory", "torch.with_stack", "torch.with_flops", "torch.with_modules"}

// captureOptions are the options that a source was captured with, by their names.
type captureOptions struct {
	source  answered
	options *typeset.Object
}

// captures returns the sources that tell of their options.
func (r *reader) captures() []captureOptions {
	facts := r.rows("facts", "source_id", "key", "value")
	var out []captureOptions
	for _, s := range r.rows("sources", "source_id", "kind", "tool_version") {
		options := new(typeset.Object)
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
	return out
}

// noConfig says why there is no config.yaml.
func noConfig(report *judge.Report) string {
	r := &reader{Report: report}
	if r.has("captures") || len(r.captures()) > 0 || r.err != nil { // an error is told when the file is written
		return ""
	}
	return "no source has the options that it was captured with"
}
