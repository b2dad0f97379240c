package reported

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"prof/ingest/load"
	"prof/internal/file"
)

// object is a JSON or YAML object in the order of the file.
type object []member

// member is one of its members. Its value is a string, a number as text (json.Number), a bool, nil, a list or an object.
type member struct {
	key   string
	value any
}

// get returns a member's value; nil where there is none.
func (o object) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// sub returns a member that is an object; nil where it is none.
func (o object) sub(key string) object {
	inner, _ := o.get(key).(object)
	return inner
}

func (o object) has(keys ...string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return slices.Contains(keys, m.key) })
}

// number returns a finite number times a power of ten; nil where the value is null or no number.
func number(v any, power int) *float64 {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	f, err := load.Scaled(n.String(), power)
	if err != nil {
		return nil
	}
	return &f
}

// parseJSON reads the object that a text is.
func parseJSON(text []byte) (object, error) {
	if err := file.FewValues(text, file.MostValues); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(file.PastMark(text)))
	d.UseNumber()
	v, err := decode(d, 0)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more follows its object")
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends inside its object: was it cut off?")
	}
	if err != nil {
		return nil, fmt.Errorf("byte %d: %w", d.InputOffset(), err)
	}
	o, ok := v.(object)
	if !ok {
		return nil, errors.New("it is JSON, but not an object")
	}
	return o, nil
}

// parseMembers reads some members of the object that a text is.
func parseMembers(text []byte, wanted ...string) (object, error) {
	d := json.NewDecoder(bytes.NewReader(file.PastMark(text)))
	token, err := d.Token()
	if err == nil && token != json.Delim('{') {
		err = errors.New("it is JSON, but not an object")
	}
	var o object
	for err == nil && d.More() {
		if token, err = d.Token(); err != nil {
			break
		}
		key, raw, v := token.(string), json.RawMessage(nil), any(nil)
		if err = d.Decode(&raw); err != nil || !slices.Contains(wanted, key) {
			continue
		}
		if err = file.FewValues(raw, file.MostValues); err == nil {
			inner := json.NewDecoder(bytes.NewReader(raw))
			inner.UseNumber()
			v, err = decode(inner, 1)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		o = append(o, member{key, v})
	}
	if err != nil {
		return nil, fmt.Errorf("byte %d: %w", d.InputOffset(), err)
	}
	return o, nil
}

func decode(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("objects are nested more than %d deep", maxDepth)
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := decode(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		o := object{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := decode(d, depth+1)
			if err != nil {
				return nil, err
			}
			o = append(o, member{key.(string), v})
		}
		_, err = d.Token()
		return o, err
	}
	return token, nil
}

// topKeys are the keys of the object that a text begins as, with those of its objects as a.b; of a text that is cut off, those before.
func topKeys(text []byte) []string {
	d := json.NewDecoder(bytes.NewReader(file.PastMark(text)))
	var out []string
	var within []string // key of each open object; "" for that of the file, "[" for a list
	key := ""
	isKey := false
	for {
		token, err := d.Token()
		if err != nil || len(within) > maxDepth {
			return out
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if len(within) == 0 && token != json.Delim('{') {
				return nil
			}
			name := key
			if token == json.Delim('[') {
				name = "["
			}
			within = append(within, name)
			isKey = token == json.Delim('{')
			continue
		case json.Delim('}'), json.Delim(']'):
			within = within[:len(within)-1]
			if len(within) == 0 {
				return out
			}
		default:
			if len(within) == 0 {
				return nil
			}
			if isKey && within[len(within)-1] != "[" {
				key, _ = token.(string)
				isKey = false
				switch len(within) {
				case 1:
					out = append(out, key)
				case 2:
					out = append(out, within[1]+"."+key)
				}
				continue
			}
		}
		isKey = within[len(within)-1] != "["
	}
}

// hasAll and hasAny say which of some keys are among others.
func hasAll(keys []string, wanted ...string) bool {
	return !slices.ContainsFunc(wanted, func(k string) bool { return !slices.Contains(keys, k) })
}

func hasAny(keys []string, wanted ...string) bool {
	return slices.ContainsFunc(wanted, func(k string) bool { return slices.Contains(keys, k) })
}

// jsonKeys are the keys of a file that is JSON by its name; nil for others, and for what prof itself wrote.
func jsonKeys(name string, head []byte) []string {
	if !strings.HasSuffix(name, ".json") {
		return nil
	}
	keys := topKeys(head)
	if hasAll(keys, "missing", "queries") || hasAll(keys, "missing", "facts") || hasAny(keys, "prof_version", "schema") {
		return nil
	}
	return keys
}

// words are the words of a file's name.
func words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".-_ ", r) })
}

// sniffEnvironment: GPU and versions of the software, in a file whose name says that it is of the environment.
func sniffEnvironment(name string, head []byte) bool {
	keys := jsonKeys(name, head)
	return hasAny(words(name), "env", "environment") && hasAny(keys, "gpu", "gpus", "device", "device_name") && hasAny(keys, "cuda", "torch", "transformers", "driver", "driver_version", "cuda_version", "torch_version")
}

func readEnvironment(text []byte) (*Report, error) {
	o, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	return r, r.flatten("", o, 0)
}

// sniffStatic: what a static analysis counted of a model, by stage or as a whole. prof's own has no activations as numbers.
func sniffStatic(name string, head []byte) bool {
	keys := jsonKeys(name, head)
	return hasAny(keys, "total.activations", "metadata.fvcore_version") && hasAny(keys, "total.flops", "stages", "total.params") || // as whole
		hasAll(keys, "params.total") && hasAny(keys, "decode.flops_per_token_proj_only", "prefill.flops_per_seq", "vision.flops") || // in short
		hasAny(keys, "total_flop", "total_flops") && hasAny(keys, "seq_len", "metadata.seq_len")
}

// staticMetrics are the figures of a stage or the model, and their units.
var staticMetrics = []struct{ key, metric, unit string }{
	{"params", "parameter_count", "count"}, {"total_params", "parameter_count", "count"}, {"trainable", "trainable_parameter_count", "count"}, {"total", "parameter_count", "count"}, {"activations", "activation_count", "count"},
	{"flops", "flops", "flop"}, {"total_flop", "total_flop", "flop"}, {"total_flops", "total_flops", "flop"}, {"flops_isolated", "flops_isolated", "flop"}, {"flops_analytic", "flops_analytic", "flop"},
	{"flops_per_seq", "flops_per_seq", "flop"}, {"flops_per_token_avg", "flops_per_token_avg", "flop"}, {"flops_per_token_proj_only", "flops_per_token_proj_only", "flop"},
	{"macs", "mac_count", "mac"}, {"total_macs", "mac_count", "mac"},
}

// counts notes the figures of one object.
func (r *Report) counts(scope, subject string, o object) error {
	for _, m := range staticMetrics {
		if !o.has(m.key) {
			continue
		}
		v := number(o.get(m.key), 0)
		if _, isObject := o.get(m.key).(object); isObject {
			continue
		}
		if v == nil && o.get(m.key) != nil {
			return fmt.Errorf("%s of %s is no number", m.key, strings.TrimSpace(scope+" "+subject))
		}
		if err := r.value(Value{Scope: scope, Subject: subject, Metric: m.metric, Unit: m.unit, Value: v}); err != nil {
			return err
		}
	}
	return nil
}

func readStatic(text []byte) (*Report, error) {
	o, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	steps := []error{r.counts(OfModel, "", o), r.counts(OfModel, "", o.sub("total")), r.counts(OfModel, "", o.sub("params"))}
	for _, stage := range o.sub("stages") {
		inner, _ := stage.value.(object)
		steps = append(steps, r.counts(OfStage, stage.key, inner))
	}
	for _, stage := range []string{"vision", "prefill", "decode"} { // in short
		steps = append(steps, r.counts(OfStage, stage, o.sub(stage)))
	}
	steps = append(steps, r.flatten("", o.sub("metadata"), 0))
	for _, m := range o {
		switch m.value.(type) {
		case object:
		default:
			if !slices.ContainsFunc(staticMetrics, func(s struct{ key, metric, unit string }) bool { return s.key == m.key }) {
				steps = append(steps, r.flatten(m.key, m.value, 1))
			}
		}
	}
	if o.sub("metadata").has("fvcore_version") {
		r.Warnings = append(r.Warnings, "fvcore counts a multiply-add as one operation, prof as two: flops and flops_isolated are not comparable with FLOP that prof counts")
	}
	return r, errors.Join(steps...)
}

// sniffTorchinfoJSON: totals of torchinfo as the first implementation saved them, with or without its layers.
func sniffTorchinfoJSON(name string, head []byte) bool {
	return hasAll(jsonKeys(name, head), "total_params", "total_macs", "depth")
}

func readTorchinfoJSON(text []byte) (*Report, error) {
	o, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	steps := []error{r.counts(OfModel, "", o)}
	isZero := true
	stages := &Report{}
	for _, stage := range o.sub("stages") {
		inner, _ := stage.value.(object)
		steps = append(steps, stages.counts(OfStage, stage.key, inner))
	}
	for _, v := range stages.Values {
		isZero = isZero && v.Value != nil && *v.Value == 0
	}
	if len(stages.Values) > 0 && isZero {
		r.Warnings = append(r.Warnings, "its stages are not stored: all of their figures are 0, so nothing was counted")
	} else {
		r.Values = append(r.Values, stages.Values...)
	}
	for _, m := range o {
		switch m.value.(type) {
		case object, []any: // layers, which repeat the configuration of the model
		default:
			if m.key != "total_params" && m.key != "total_macs" {
				steps = append(steps, r.fact(m.key, m.value))
			}
		}
	}
	return r, errors.Join(steps...)
}

// sniffSweep: figures by the shape of the input, computed and not measured.
func sniffSweep(name string, head []byte) bool {
	return hasAll(jsonKeys(name, head), "model_id", "num_points", "points")
}

// pointKeys are the members of a point that identify it, in the order in which its name has them.
var pointKeys = []string{"image_tokens_total", "height_crop_num", "width_crop_num", "batch_size", "context_len", "seq_len", "decode_steps"}

func readSweep(text []byte) (*Report, error) {
	o, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	points, ok := o.get("points").([]any)
	if !ok {
		return nil, errors.New("points is no list")
	}
	for i, p := range points {
		point, ok := p.(object)
		if !ok {
			return nil, fmt.Errorf("points[%d] is no object", i)
		}
		var name []string
		for _, key := range pointKeys {
			if v, isNumber := point.get(key).(json.Number); isNumber {
				name = append(name, key+" "+v.String())
			}
		}
		if err := r.tflops(strings.Join(name, ", "), "", point, 0); err != nil {
			return nil, fmt.Errorf("points[%d]: %w", i, err)
		}
	}
	for _, m := range o {
		if m.key == "points" {
			continue
		}
		if err := r.flatten(m.key, m.value, 1); err != nil {
			return nil, err
		}
	}
	r.Warnings = append(r.Warnings, "a sweep is computed for inputs that the run need not have had; of each point the operations are stored, by its tokens")
	return r, nil
}

// tflops notes the operations of a point: members that end with _tflops, by the objects that they lie in.
func (r *Report) tflops(subject, within string, o object, depth int) error {
	for _, m := range o {
		name := m.key
		if within != "" {
			name = within + "." + m.key
		}
		if inner, ok := m.value.(object); ok && depth < maxDepth {
			if err := r.tflops(subject, name, inner, depth+1); err != nil {
				return err
			}
		}
		metric, ok := strings.CutSuffix(name, "_tflops")
		if v := number(m.value, 12); ok && v != nil {
			if err := r.value(Value{Scope: OfPoint, Subject: subject, Metric: metric, Unit: "flop", Value: v}); err != nil {
				return err
			}
		}
	}
	return nil
}
