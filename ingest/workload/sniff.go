package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"prof/internal/file"
)

// Marks by which the beginning of a file is known.
var (
	configMarks = []string{"model_type", "architectures", "transformers_version"}
	meansMarks  = []string{"prefill_ms", "decode_ms", "tokens", "tokens_per_s", "stage_ms"}
)

// Sniff reports whether a file holds the facts of a workload, by its lower-case name without .gz and its beginning: one of the words of
// its name is workload or metrics, and it holds a pass, a model's configuration or means. Files that call themselves a baseline
// are of a run without the profiler: see SniffAlone.
func Sniff(name string, head []byte) bool {
	words := wordsOf(name)
	return !slices.Contains(words, "baseline") && (slices.Contains(words, "workload") || slices.Contains(words, "metrics")) && hasFact(head)
}

// SniffAlone reports whether a file is of passes of a workload without a profiler: one of the words of its name is baseline, and it holds what a workload does.
func SniffAlone(name string, head []byte) bool {
	return slices.Contains(wordsOf(name), "baseline") && hasFact(head)
}

// wordsOf are the words of the name of a JSON file; none of others.
func wordsOf(name string) []string {
	base, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return nil
	}
	return strings.FieldsFunc(base, func(r rune) bool { return strings.ContainsRune(".-_ ", r) })
}

func hasFact(head []byte) bool {
	found := false
	walk(file.PastMark(head), func(at []step, v json.Token) bool {
		found = found || isFact(at, v)
		return !found
	})
	return found
}

// isFact reports whether a value at that place is one that only a workload has.
func isFact(at []step, v json.Token) bool {
	if len(at) < 2 || at[0].list {
		return false
	}
	last := at[len(at)-1]
	if len(at) == 5 && at[0].key == processesName && at[1].list && !at[2].list { // the passes of a process
		at = at[2:]
	}
	switch {
	case len(at) == 3:
		return slices.Contains(passesNames, at[0].key) && at[1].list && !last.list && slices.Contains(passNames, last.key)
	case len(at) > 3 || last.list:
		return false
	case at[0].key == "config":
		return slices.Contains(configMarks, last.key)
	}
	return at[0].key == "aggregates" && slices.Contains(meansMarks, last.key) && v == json.Delim('{')
}

// step is one level of the place in a JSON text: a list and the index of its element, or an object and the key of its value.
type step struct {
	list  bool
	index int // -1 before the first element
	key   string
	value bool // the key was read, its value was not
}

// maxDepth is deeper than anything that is looked for.
const maxDepth = 64

// walk visits the values of a JSON text, which may be cut off, until visit gives false. A list or object is visited as its opening
// delimiter. It gives the place at which it stopped.
func walk(text []byte, visit func(at []step, v json.Token) bool) []step {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var at []step
	for {
		tok, err := d.Token()
		if err != nil {
			return at
		}
		if tok == json.Delim('}') || tok == json.Delim(']') {
			at = at[:len(at)-1]
			continue
		}
		if len(at) > 0 {
			in := &at[len(at)-1]
			key, isText := tok.(string)
			switch {
			case in.list:
				in.index++
			case !in.value && isText:
				in.key, in.value = key, true
				continue
			default:
				in.value = false
			}
		}
		if !visit(at, tok) || len(at) == maxDepth {
			return at
		}
		if open, ok := tok.(json.Delim); ok {
			at = append(at, step{list: open == '[', index: -1})
		}
	}
}

// maxPlace bounds the levels of a place in a message.
const maxPlace = 4

// near names the field at which a text that is not JSON ends, for a message: " (near runs[2].decode_ms)"; "" before the first.
func near(text []byte) string {
	at := walk(text, func([]step, json.Token) bool { return true })
	var b strings.Builder
	for _, s := range at[:min(len(at), maxPlace)] {
		switch {
		case s.list:
			fmt.Fprintf(&b, "[%d]", max(s.index, 0))
		case s.key != "":
			fmt.Fprintf(&b, ".%s", brief(s.key))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return " (near " + strings.TrimPrefix(b.String(), ".") + ")"
}

func brief(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "..."
	}
	return s
}
