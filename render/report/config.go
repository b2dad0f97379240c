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
	if made := read(r, captureRows); len(made) > 0 {
		o.PutText("mode", made[0].Mode)
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
		of := new(typeset.Object).Put("source_id", c.source.SourceID).PutText("kind", c.source.Kind)
		if v := c.source.ToolVersion; v != "" {
			of.Put("tool_version", v)
		}
		return of.Put("options", c.options)
	})))
}

// repeatsByTool counts the passes of each tool that prof capture ran, in their order; those without a tool are the baseline.
func (r *reader) repeatsByTool() *typeset.Object {
	o := new(typeset.Object)
	for _, row := range read(r, recordingRows) {
		tool := row.Tool
		if tool == "none" {
			tool = "baseline"
		}
		if row.Status == "not_run" {
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
	source  sourceRow
	options *typeset.Object
}

// captures returns the sources that tell of their options.
func (r *reader) captures() []captureOptions {
	facts := read(r, factRows)
	var out []captureOptions
	for _, s := range read(r, sourceRows) {
		options := new(typeset.Object)
		for _, f := range facts {
			name, isCapture := strings.CutPrefix(f.Key, "capture.")
			if f.SourceID != s.SourceID || !isCapture && !slices.Contains(torchOptions, f.Key) || f.Key == "capture.id" {
				continue
			}
			options.PutText(strings.TrimPrefix(name, "torch."), f.Value)
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
