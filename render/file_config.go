package render

import (
	"io"
	"slices"
	"strings"

	"prof/queries"
)

const (
	inputsHead = "# What the workload was given, as far as the run's sources tell. Null or absent is not known.\n"
	configHead = "# How the run was captured, as far as its sources tell. A run that prof capture made has the whole of it in its own folder.\n"
)

// ReportInputs writes inputs.yaml: the files that were given to the workload, its command line, what it says of its passes, and the files
// that the run was ingested from.
func ReportInputs(w io.Writer, r *queries.Report) error {
	given, err := rowObjects(r, "inputs", "path", "size_bytes", "sha256")
	if err != nil {
		return err
	}
	o := &object{}
	if captures := r.Frame("captures"); captures != nil && len(captures.Rows) > 0 {
		o.put("count", len(given)).put("inputs", given)
	} else {
		o.put("count", nil).put("inputs", nil)
	}
	if err := putCommand(o, r); err != nil {
		return err
	}
	passes, err := rowObjects(r, "workload-passes", "source_id", "pass", "is_warmup", "prefill_count", "decode_count", "batch_count", "image_count", "crop_count")
	if err != nil {
		return err
	}
	if len(passes) > 0 {
		o.put("workload_passes", passes)
	}
	sources, err := rowObjects(r, "sources", "source_id", "kind", "path", "size_bytes", "sha256")
	if err != nil {
		return err
	}
	return writeYAML(w, inputsHead, o.put("sources", sources))
}

// putCommand puts the command line of the workload, and its words where they can be told apart.
func putCommand(o *object, r *queries.Report) error {
	line, err := commandOf(r)
	if err != nil || line == "" {
		return err
	}
	o.put("command", line)
	if words, ok := shellWords(line); ok {
		argv := make([]any, len(words))
		for i, word := range words {
			argv[i] = word
		}
		o.put("argv", argv)
	}
	return nil
}

func commandOf(r *queries.Report) (string, error) {
	rows, err := answers(r, "run-details", "command")
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0].text("command"), nil
}

// noInputs says why there is no inputs.yaml.
func noInputs(r *queries.Report) string {
	for _, key := range []string{"inputs", "workload-passes"} {
		if f := r.Frame(key); f != nil && len(f.Rows) > 0 {
			return ""
		}
	}
	if line, err := commandOf(r); err != nil || line != "" {
		return "" // an error is told when the file is written
	}
	return "no source tells the command line of the workload, its files or its tokens: capture with prof capture --input, or ingest the facts of the workload"
}

// shellWords splits a command line as the warehouse keeps it: words with a blank between, in single quotes where a shell would read them
// otherwise. ok is false where a secret that was masked has taken a quote with it.
func shellWords(line string) (words []string, ok bool) {
	var word strings.Builder
	open, quoted := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted:
			if c == '\'' {
				quoted = false
			} else {
				word.WriteByte(c)
			}
		case c == '\'':
			open, quoted = true, true
		case c == '\\' && i+1 < len(line):
			i++
			open = true
			word.WriteByte(line[i])
		case c == ' ':
			if open {
				words = append(words, word.String())
			}
			open = false
			word.Reset()
		default:
			open = true
			word.WriteByte(c)
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words, !quoted
}

// ReportConfig writes config.yaml: mode, tools and repeats of prof capture, and the options of the tools by the facts of their captures.
func ReportConfig(w io.Writer, r *queries.Report) error {
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
	options, err := toolOptions(r)
	if err != nil {
		return err
	}
	return writeYAML(w, configHead, o.put("captures", options))
}

// repeatsByTool counts the passes of each tool that prof capture ran, in their order; those without a tool are the baseline.
func repeatsByTool(r *queries.Report) (*object, error) {
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

// toolOptions gives the options that each capture was made with.
func toolOptions(r *queries.Report) ([]any, error) {
	facts, err := answers(r, "facts", "source_id", "key", "value")
	if err != nil {
		return nil, err
	}
	sources, err := answers(r, "sources", "source_id", "kind", "tool_version")
	if err != nil {
		return nil, err
	}
	out := []any{}
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
		if len(options.members) == 0 {
			continue
		}
		o := (&object{}).put("source_id", s.value("source_id")).put("kind", s.value("kind"))
		if v := s.value("tool_version"); v != nil {
			o.put("tool_version", v)
		}
		out = append(out, o.put("options", options))
	}
	return out, nil
}

// noConfig says why there is no config.yaml.
func noConfig(r *queries.Report) string {
	if f := r.Frame("captures"); f != nil && len(f.Rows) > 0 {
		return ""
	}
	if options, err := toolOptions(r); err != nil || len(options) > 0 {
		return "" // an error is told when the file is written
	}
	return "no source tells the options that it was captured with"
}
