package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"prof/ingest/load"
	"prof/internal/file"
)

// Errors that Read's errors wrap.
var (
	ErrNoConfig = errors.New("not a model configuration")
	ErrMissing  = errors.New("the configuration lacks")
	ErrWrong    = errors.New("the configuration is wrong")
	ErrUnread   = errors.New("models of this kind are not supported")
	ErrUnknown  = errors.New("parameters and FLOPs are unknown")
)

// Options say how a configuration is read.
type Options struct {
	Assume bool           // go on where a field that bears on shapes is not supported, as if it were not there
	Image  load.ImageSize // for towers that take pictures of any size; a note begins with "pictures of W x H pixels". Zero: not known
}

// MaxBytes bounds a configuration; the largest published ones, with tables of label names, have a few hundred kB.
const MaxBytes = 16 << 20

// reader reads one configuration into a model.
type reader struct {
	model  *Model
	b      builder
	faults *faults

	image load.ImageSize // of the pictures; zero where nothing says
	sized bool           // the tower takes pictures of any size
	merge int64          // patches along a square that the projector joins; 0: it joins none
}

// picture returns the size of the pictures to a tower that takes any; ok is false where nothing says.
func (r *reader) picture() (size load.ImageSize, ok bool) {
	r.sized = true
	return r.image, r.image != load.ImageSize{}
}

// refuse says what the model has that is not supported.
func (r *reader) refuse(what string) {
	if r.faults.refused == "" {
		r.faults.refused = what
	}
}

// Read reads a configuration as JSON. Errors say where, or name every field that is missing or wrong at once.
func Read(in io.Reader, o ...Options) (*Model, error) {
	text, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%w: it is larger than %d MB", ErrNoConfig, MaxBytes>>20)
	}
	if err := file.FewValues(text, file.MostValues); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoConfig, err)
	}
	fields, err := decode(text)
	if err != nil {
		return nil, err
	}
	return FromFields(fields, o...)
}

// decode reads one JSON object, with the Infinity and NaN that Python writes into it.
func decode(text []byte) (map[string]any, error) {
	body := file.PastMark(text)
	marked := int64(len(text) - len(body))
	d := json.NewDecoder(load.FiniteJSON(bytes.NewReader(body)))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: byte %d: it ends in the middle: was it cut off?", ErrNoConfig, len(text))
	} else if err != nil {
		return nil, fmt.Errorf("%w: byte %d: %w", ErrNoConfig, marked+d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: byte %d: more data follows the object", ErrNoConfig, marked+d.InputOffset())
	}
	return fields, nil
}

// FromFields reads a configuration that was decoded with UseNumber already, as the one inside a workload's facts.
func FromFields(fields map[string]any, o ...Options) (*Model, error) {
	var given Options
	if len(o) > 0 {
		given = o[0]
	}
	f := &faults{assume: given.Assume}
	c := config{fields: fields, faults: f, strict: true}
	r := reader{model: &Model{Family: c.text("model_type")}, faults: f, image: given.Image}
	c.defaults = classDefaults()[r.model.Family]
	r.read(c)
	if !r.sized && r.image != (load.ImageSize{}) {
		c.assume("images of %v pixels: no vision tower of this model takes images of any size, so this changes nothing", r.image)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	if r.b.overflow || r.b.tooLarge() {
		return nil, fmt.Errorf("%w: its sizes multiply to more than any machine holds", ErrWrong)
	}
	r.model.Layers, r.model.Notes = r.b.layers, f.notes
	return r.model, nil
}
