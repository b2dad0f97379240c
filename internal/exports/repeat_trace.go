package exports

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// numbered are an event's time and the ids that are its own. Quotes inside a text are escaped, so that none begins there.
var numbered = regexp.MustCompile(`"(ts|id|correlation|External id|Sequence number|Ev Idx|Python id|Python parent id)":\s*([0-9]+)`)

// RepeatTrace writes a PyTorch trace whose events are those of data, copies times: each copy later by the length of the capture and with ids of
// its own, so that launches still point at their work and operators still nest. What names processes and threads stays as it is.
func RepeatTrace(to io.Writer, data []byte, copies int) error {
	d := json.NewDecoder(bytes.NewReader(data))
	for token := json.Token(nil); token != "traceEvents"; {
		var err error
		if token, err = d.Token(); err != nil {
			return fmt.Errorf("a trace without traceEvents: %w", err)
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	var events []json.RawMessage
	var first, last float64 // us
	ids := 0
	for d.More() {
		var e json.RawMessage
		var is struct {
			Phase   string `json:"ph"`
			TS, Dur float64
		}
		if err := d.Decode(&e); err != nil {
			return err
		}
		if err := json.Unmarshal(e, &is); err != nil {
			return err
		}
		if is.Phase == "M" {
			continue
		}
		if len(events) == 0 {
			first, last = is.TS, is.TS
		}
		first, last = min(first, is.TS), max(last, is.TS+is.Dur)
		for _, m := range numbered.FindAllSubmatch(e, -1) {
			if n, err := strconv.Atoi(string(m[2])); err == nil && string(m[1]) != "ts" {
				ids = max(ids, n+1)
			}
		}
		events = append(events, e)
	}
	span := int(last-first) + 1000
	w := bufio.NewWriter(to)
	w.Write(data[:d.InputOffset()])
	for k := 1; k < copies; k++ {
		for _, e := range events {
			w.WriteString(",\n")
			w.Write(renumber(e, k*span, k*ids))
		}
	}
	w.Write(data[d.InputOffset():])
	return w.Flush() // gives the first error of all
}

// renumber moves an event in time, and its ids; 0 is no id.
func renumber(event []byte, later, ids int) []byte {
	return edit(event, numbered, func(name string, n int) int {
		switch {
		case name == "ts":
			return n + later
		case n > 0:
			return n + ids
		}
		return n
	})
}

// edit changes the numbers that a pattern finds, each the second group after its name.
func edit(text []byte, pattern *regexp.Regexp, of func(name string, n int) int) []byte {
	var out []byte
	at := 0
	for _, m := range pattern.FindAllSubmatchIndex(text, -1) {
		n, err := strconv.Atoi(string(text[m[4]:m[5]]))
		if err != nil {
			continue
		}
		out = strconv.AppendInt(append(out, text[at:m[4]]...), int64(of(string(text[m[2]:m[3]]), n)), 10)
		at = m[5]
	}
	return append(out, text[at:]...)
}

// RepeatTraceFile is RepeatTrace of files; those whose names end in .gz are packed.
func RepeatTraceFile(to, from string, copies int) error {
	data, err := Unpack(from)
	if err != nil {
		return err
	}
	return writeFile(to, func(w io.Writer) error { return RepeatTrace(w, data, copies) })
}

// writeFile writes a file, packed where its name ends in .gz.
func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !strings.HasSuffix(path, ".gz") {
		return write(f)
	}
	z, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
	return errors.Join(write(z), z.Close())
}
