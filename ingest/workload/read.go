package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"prof/ingest/reported"
	"prof/internal/file"
)

// ErrNoWorkload is wrapped by Read's error when a file holds no facts of a workload at all.
var ErrNoWorkload = errors.New("no workload facts")

const (
	MaxBytes      = 32 << 20
	processesName = "processes"
	maxPasses     = 1 << 18 // a table of so many rows says no more about a model than one of a thousand
)

// Names of fields that have several, the one that is preferred first.
var (
	prefillNames = []string{"prefill_len", "prefill_tokens", "tokens_in"}
	decodeNames  = []string{"new_tokens", "decode_tokens", "tokens_out"}
	passesNames  = []string{"runs", "passes"}
	wallNames    = []string{"prefill_ms", "decode_ms", "vision_ms"}
)

// topNames are the fields of the whole workload, and those of a pass that are at the wrong place.
var topNames = slices.Concat([]string{"model", "config", "image_size", "warmup", "batch", "images", "crops", "aggregates", "marks"}, passNames)

// processNames are the fields of a process besides its passes.
var processNames = []string{"pid", "rank", "world_size", "tensor_parallel"}

// passNames are the fields that only a pass of a workload has.
var passNames = slices.Concat(prefillNames, decodeNames, wallNames)

// Read reads the facts of a workload. Errors name the byte that is not JSON, or the field that is wrong and what it may be.
func Read(in io.Reader) (*Facts, error) {
	text, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%w: the file is larger than %d MiB", ErrNoWorkload, MaxBytes>>20)
	}
	raw, err := decode(text)
	if err != nil {
		return nil, err
	}
	r := &reader{facts: &Facts{}}
	r.read(raw)
	if r.err == nil && raw["aggregates"] != nil {
		if r.facts.Reported, r.err = reported.Metrics(text); r.facts.Reported != nil {
			r.facts.Warnings = append(r.facts.Warnings, r.facts.Reported.Warnings...)
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.facts, nil
}

// decode finds the fields of one object that hold facts. All is checked and nothing decoded: most files hold much beside the facts.
func decode(text []byte) (map[string]json.RawMessage, error) {
	body := file.PastMark(text)
	err := json.Unmarshal(body, &struct{}{})
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at := min(max(syntax.Offset, 0), int64(len(body)))
		hint := ""
		if isCut(body) {
			hint = ": was the file cut off?"
		}
		return nil, fmt.Errorf("%w: byte %d%s: %w%s", ErrNoWorkload, at+int64(len(text)-len(body)), near(body[:at]), err, hint)
	case err != nil || !isObject(body):
		return nil, fmt.Errorf("%w: the file is JSON, but not an object", ErrNoWorkload)
	}
	return members(body, slices.Concat(topNames, passesNames, []string{processesName})), nil
}

func isObject(text []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) }

// isNoObject reports whether an element is neither an object nor null.
func isNoObject(element json.RawMessage) bool { return !isObject(element) && string(element) != "null" }

// members returns some members of an object, as they stand in the text, which is JSON.
func members(text []byte, wanted []string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() == '"' {
		var key jsontext.Token
		if key, err = d.ReadToken(); err != nil {
			break
		}
		if name := key.String(); slices.Contains(wanted, name) {
			out[name], err = raw(d, text)
		} else {
			err = d.SkipValue()
		}
	}
	return out
}

// raw returns the next value as it stands in the text.
func raw(d *jsontext.Decoder, text []byte) (json.RawMessage, error) {
	v, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	end := d.InputOffset()
	return json.RawMessage(text[end-int64(len(v)) : end]), nil
}

// elements returns the elements of a list, as they stand in the text, which is JSON; ok is false for another value, and for a list of more than most.
func elements(text []byte, most int) (out []json.RawMessage, ok bool) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '[' {
		return nil, false
	}
	for d.PeekKind() != ']' {
		v, err := raw(d, text)
		if err != nil || len(out) == most {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// isCut reports whether a text could go on and be JSON.
func isCut(text []byte) bool {
	var v json.RawMessage
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&v)
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// value decodes a value that decode found to be JSON.
func value(name string, raw []byte) (v any, err error) {
	if err := file.FewValues(raw, file.MostValues); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

func (r *reader) read(raw map[string]json.RawMessage) {
	o := object{r: r, fields: map[string]any{}}
	for _, name := range topNames {
		if text, ok := raw[name]; ok {
			if o.fields[name], r.err = value(name, text); r.err != nil {
				return
			}
		}
	}
	f := r.facts
	f.Model = o.text("model")
	f.Config = o.sub("config").fields
	f.Image = o.picture("image_size")
	f.Warmup = o.count(0, "warmup")
	each := Pass{Each: true, Batch: 1}
	each.shape(o)
	f.Versions = versions(o.sub("marks"))
	listed := r.processes(raw, each) || r.passes(raw, each, "")
	switch {
	case listed || r.err != nil:
	case o.has("aggregates"):
		f.Passes = []Pass{r.means(o.sub("aggregates"), each)}
	case o.has("batch") || o.has("images") || o.has("crops"):
		f.Passes = []Pass{each}
	case f.Config == nil && f.Warmup == nil:
		r.err = fmt.Errorf("%w: it has none of runs, passes, processes, config, warmup, batch, images, crops and aggregates", ErrNoWorkload)
	}
	r.warn(o)
}

// shape reads what a pass and the whole workload say alike; what is not said stays.
func (p *Pass) shape(o object) {
	if n := o.count(1, "batch"); n != nil {
		p.Batch = *n
	}
	if n := o.count(0, "images"); n != nil {
		p.Images = n
	}
	if n := o.count(0, "crops"); n != nil {
		p.Crops = n
	}
}

// versions reads those of the software; what is not said is left out.
func versions(o object) (out []Version) {
	for _, v := range [][2]string{{"python", "python"}, {"torch", "torch"}, {"cuda", "torch_cuda"}, {"transformers", "transformers"}} {
		if text := o.text(v[0]); text != "" {
			out = append(out, Version{v[1], text})
		}
	}
	return out
}

// maxProcesses bounds the processes of a job.
const maxProcesses = 1 << 16

// processes reads the list of processes with their passes. It gives false where there is no list.
func (r *reader) processes(raw map[string]json.RawMessage, each Pass) bool {
	text, ok := raw[processesName]
	if !ok || string(text) == "null" || r.err != nil {
		return false
	}
	for _, name := range passesNames {
		if _, both := raw[name]; both {
			r.err = fmt.Errorf("%s and %s both list passes: keep one", processesName, name)
			return true
		}
	}
	list, isList := elements(text, maxProcesses)
	if !isList || slices.ContainsFunc(list, isNoObject) {
		r.err = fmt.Errorf("%s is %s, want a list of at most %d objects", processesName, shown(text), maxProcesses)
		return true
	}
	seen := map[int64]bool{}
	for i, element := range list {
		fields := members(element, slices.Concat(processNames, passesNames))
		place := fmt.Sprintf("%s[%d].", processesName, i)
		o := object{r: r, path: place, fields: map[string]any{}}
		for _, name := range processNames {
			if text, ok := fields[name]; ok && r.err == nil {
				o.fields[name], r.err = value(place+name, text)
			}
		}
		p := Process{Rank: o.id(0, "rank"), World: o.id(1, "world_size"), Parallel: o.id(1, "tensor_parallel")}
		pid := o.id(1, "pid")
		if r.err != nil {
			return true
		}
		if pid == nil || seen[*pid] {
			r.err = fmt.Errorf("%spid is %s, want the id of a process that no other entry has", place, shown(fields["pid"]))
			return true
		}
		p.PID, seen[*pid] = *pid, true
		r.facts.Process = append(r.facts.Process, p)
		each.Process = len(r.facts.Process)
		if !r.passes(fields, each, place) {
			r.err = fmt.Errorf("%sruns is missing: want the passes of the process", place)
		}
		if r.err != nil {
			return true
		}
	}
	return true
}

// passes reads the list of passes at a place; each holds what the whole workload says of them. It gives false where there is no list.
func (r *reader) passes(raw map[string]json.RawMessage, each Pass, place string) bool {
	var listed string
	for _, name := range passesNames {
		if text, ok := raw[name]; !ok || string(text) == "null" {
			continue
		}
		if listed != "" && r.err == nil {
			r.err = fmt.Errorf("%s%s and %s mean the same, and both are given: keep one", place, listed, name)
		}
		listed = name
	}
	if listed == "" || r.err != nil {
		return listed != ""
	}
	d := json.NewDecoder(bytes.NewReader(raw[listed]))
	d.UseNumber()
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		r.err = errors.Join(err, fmt.Errorf("%s%s is %s, want a list", place, listed, shown(raw[listed])))
		return true
	}
	for i := 0; d.More() && r.err == nil; i++ {
		if len(r.facts.Passes) == maxPasses {
			r.err = fmt.Errorf("%s%s has more than %d passes", place, listed, maxPasses)
			break
		}
		r.pass(d, fmt.Sprintf("%s%s[%d]", place, listed, i), each)
	}
	return true
}

// pass reads the next pass of a list.
func (r *reader) pass(d *json.Decoder, place string, p Pass) {
	var raw json.RawMessage
	if r.err = d.Decode(&raw); r.err != nil {
		return
	}
	var v any
	if v, r.err = value(place, raw); r.err != nil {
		return
	}
	fields, ok := v.(map[string]any)
	if !ok {
		r.err = fmt.Errorf("%s is %s, want an object", place, shown(v))
		return
	}
	o := object{r: r, path: place + ".", fields: fields}
	p.Each = false
	p.Warmup = o.flag("warmup")
	p.Prefill = o.count(0, prefillNames...)
	p.Decode = o.count(0, decodeNames...)
	p.shape(o)
	p.Input = o.text("input")
	p.PrefillNs, p.DecodeNs, p.VisionNs = o.wall("prefill_ms"), o.wall("decode_ms"), o.wall("vision_ms")
	r.facts.Passes = append(r.facts.Passes, p)
}

// warn says what is missing, and what was there but not taken.
func (r *reader) warn(top object) {
	if n := len(r.passed); n > 0 {
		r.warning(r.passed[0] + more(n-1))
	}
	if top.has("image_size") && r.facts.Config == nil {
		r.warning("image_size is ignored, because it belongs to the model in config, which is missing: give --model CONFIG.json --image-size WIDTHxHEIGHT")
	}
	if len(r.facts.Passes) == 0 {
		r.warning("it lists no passes: give their tokens with --prefill N and --decode M")
	}
	var stray []string
	for _, name := range passNames {
		if top.has(name) {
			stray = append(stray, name)
		}
	}
	if len(stray) > 0 {
		r.warning(fmt.Sprintf("ignored, because it belongs inside each entry of runs: %s", strings.Join(stray, ", ")))
	}
	r.missing("prefill_len", "--prefill N", func(p Pass) *int64 { return p.Prefill })
	r.missing("new_tokens", "--decode M", func(p Pass) *int64 { return p.Decode })
}

// missing warns of passes in the list that do not say a count that FLOPs need.
func (r *reader) missing(name, option string, of func(Pass) *int64) {
	var n, first int
	for i, p := range r.facts.Passes {
		if !p.Each && !p.Warmup && of(p) == nil {
			if n++; n == 1 {
				first = i + 1
			}
		}
	}
	if n > 0 {
		r.warning(fmt.Sprintf("pass %d lacks %s, which its FLOPs need%s: give %s", first, name, more(n-1), option))
	}
}

func (r *reader) warning(text string) { r.facts.Warnings = append(r.facts.Warnings, text) }

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}
