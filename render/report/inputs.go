package report

import (
	"bytes"
	"strings"

	"prof/queries/judge"
	"prof/render/typeset"
)

const inputsHead = "# What the workload was given, as far as the run's sources tell. Null or absent is not known.\n"

// writeInputs writes inputs.yaml: the files that were given to the workload, its command line, what it says of its passes, and the files
// that the run was ingested from.
func writeInputs(out *bytes.Buffer, r *reader) {
	o := new(typeset.Object)
	if given := objects(r, inputRows); r.has("captures") {
		o.Put("count", len(given)).Put("inputs", given)
	} else {
		o.Put("count", nil).Put("inputs", nil)
	}
	if line := r.command(); line != "" {
		o.Put("command", line)
		if argv, ok := shellWords(line); ok {
			o.Put("argv", argv)
		}
	}
	if passes := objects(r, workloadCells); len(passes) > 0 {
		o.Put("workload_passes", passes)
	}
	writeYAML(out, inputsHead, o.Put("sources", objects(r, readCells)))
}

// command is the command line of the workload; "" where it is not known.
func (r *reader) command() string {
	for _, row := range read(r, runRows) {
		return row.Command
	}
	return ""
}

// noInputs says why there is no inputs.yaml.
func noInputs(report *judge.Report) string {
	r := &reader{Report: report}
	if r.has("inputs") || r.has("workload-passes") || r.command() != "" || r.err != nil { // an error is told when the file is written
		return ""
	}
	return "no source has the command line of the workload, its files or its tokens: capture with prof capture --input, or ingest the facts of the workload"
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
