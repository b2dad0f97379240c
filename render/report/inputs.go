package report

import (
	"io"
	"strings"

	"prof/queries/judge"
	"prof/render/typeset"
)

const inputsHead = "# What the workload was given, as far as the run's sources tell. Null or absent is not known.\n"

// ReportInputs writes inputs.yaml: the files that were given to the workload, its command line, what it says of its passes, and the files
// that the run was ingested from.
func ReportInputs(w io.Writer, r *judge.Report) error {
	given, err := rowObjects(r, "inputs", "path", "size_bytes", "sha256")
	if err != nil {
		return err
	}
	o := &typeset.Object{}
	if captures := r.Frame("captures"); captures != nil && len(captures.Rows) > 0 {
		o.Put("count", len(given)).Put("inputs", given)
	} else {
		o.Put("count", nil).Put("inputs", nil)
	}
	if err := putCommand(o, r); err != nil {
		return err
	}
	passes, err := rowObjects(r, "workload-passes", "source_id", "pass", "is_warmup", "prefill_count", "decode_count", "batch_count", "image_count", "crop_count")
	if err != nil {
		return err
	}
	if len(passes) > 0 {
		o.Put("workload_passes", passes)
	}
	sources, err := rowObjects(r, "sources", "source_id", "kind", "path", "size_bytes", "sha256")
	if err != nil {
		return err
	}
	return writeYAML(w, inputsHead, o.Put("sources", sources))
}

// putCommand puts the command line of the workload, and its words where they can be told apart.
func putCommand(o *typeset.Object, r *judge.Report) error {
	line, err := commandOf(r)
	if err != nil || line == "" {
		return err
	}
	o.Put("command", line)
	if words, ok := shellWords(line); ok {
		argv := make([]any, len(words))
		for i, word := range words {
			argv[i] = word
		}
		o.Put("argv", argv)
	}
	return nil
}

func commandOf(r *judge.Report) (string, error) {
	rows, err := answers(r, "run-details", "command")
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0].Text("command"), nil
}

// noInputs says why there is no inputs.yaml.
func noInputs(r *judge.Report) string {
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
