package model

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/internal/file"
)

// Sniff reports whether a file is the configuration of a model: one named config.json, or NAME.config.json, whose beginning is an
// object with the fields of one. Other names are read when they are given as a model.
func Sniff(name string, head []byte) bool {
	base := filepath.Base(name)
	if base != "config.json" && !strings.HasSuffix(base, ".config.json") && !strings.HasSuffix(base, "_config.json") && !strings.HasSuffix(base, "-config.json") {
		return false
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	return bytes.HasPrefix(head, []byte("{")) &&
		(bytes.Contains(head, []byte(`"model_type"`)) || bytes.Contains(head, []byte(`"architectures"`)) || bytes.Contains(head, []byte(`"hidden_size"`)))
}

// ReadFile reads a configuration from a file, plain or packed with gzip; errors carry the path.
func ReadFile(path, name string, o ...Options) (*Model, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	var text io.Reader = in
	if magic, err := in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		if text, err = gzip.NewReader(in); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	m, err := Read(text, o...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if m.Name == "" {
		m.Name = nameOf(m, name)
	}
	return m, nil
}

// nameOf names a model by its file, or the folder of a plain config.json.
func nameOf(m *Model, file string) string {
	base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".gz"), ".json")
	for _, end := range []string{".config", "_config", "-config"} {
		base = strings.TrimSuffix(base, end)
	}
	if base == "config" {
		base = filepath.Base(filepath.Dir(file))
	}
	if base == "." || base == ".." || base == string(filepath.Separator) || base == "" {
		return m.Family
	}
	return base
}

// Identify reads what the file says of the model.
func Identify(_ context.Context, path, name string) (*load.SourceInfo, error) {
	m, err := ReadFile(path, name, Options{Assume: true}) // Load refuses what is not to be assumed
	if err != nil {
		return nil, err
	}
	return info(m), nil
}

// Load stores the model of a configuration.
func Load(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	m, err := ReadFile(path, name, Options{Assume: t.Options.Assume, Image: t.Options.Image})
	if err != nil {
		return nil, err
	}
	si := info(m)
	_, si.Rows, err = Store(ctx, t, m, m.Name)
	return si, err
}

func info(m *Model) *load.SourceInfo {
	return &load.SourceInfo{Warnings: m.Warnings()}
}

// Warnings are the notes that make a figure less than exact.
func (m *Model) Warnings() []string {
	var out []string
	for _, n := range m.Notes {
		if n.Kind != Assumed {
			out = append(out, n.Text)
		}
	}
	return out
}

// Key is the same for models of a run whose rows are, under a name.
func Key(m *Model, name string) string {
	text := Line(m.row(name))
	for i, l := range m.Layers {
		text += Line(append([]any{i + 1}, l.row()...))
	}
	for i, n := range m.Notes {
		text += Line([]any{i + 1, string(n.Kind), n.Text})
	}
	return text
}

// Line is what the values of a row add to a Key.
func Line(values []any) string {
	var b strings.Builder
	for _, v := range values {
		fmt.Fprint(&b, v, "\x00")
	}
	return b.String() + "\n"
}

// Store stores a model under a name as the next of the target's run, and returns its model_id and the number of rows.
func Store(ctx context.Context, t *load.Target, m *Model, name string) (modelID int32, stored int64, err error) {
	t.Run.ModelID++
	id := t.Run.ModelID
	run := t.RunID
	put := func(table string, each func(add rows.Add) error) {
		if err == nil {
			var n int64
			n, err = t.Append(ctx, table, each)
			stored += n
		}
	}
	put("model", func(add rows.Add) error {
		return add(append([]any{run, int32(t.SourceID), id}, m.row(name)...)...)
	})
	put("model_layer", func(add rows.Add) error {
		for i, l := range m.Layers {
			if err := add(append([]any{run, id, int32(i + 1)}, l.row()...)...); err != nil {
				return err
			}
		}
		return nil
	})
	put("model_note", func(add rows.Add) error {
		for i, n := range m.Notes {
			if err := add(run, id, int32(i+1), string(n.Kind), n.Text); err != nil {
				return err
			}
		}
		return nil
	})
	return id, stored, err
}

// row returns the columns of model behind its key; a model without a name has that of its family.
func (m *Model) row(name string) []any {
	return []any{cmp.Or(name, m.Family), text(m.Architecture), m.Family, text(m.DType), size(m.HiddenSize), size(m.VocabSize),
		size(m.LayerCount), size(m.MaxContext), size(m.ImageTokens)}
}

// row returns the columns of model_layer behind its key.
func (l Layer) row() []any {
	var bits any
	if l.Bits > 0 {
		bits = l.Bits
	}
	return []any{l.Part, text(l.View), l.Group, l.Count, l.Component, string(l.Kind), text(string(l.Scope)), size(l.Input), size(l.Output),
		size(l.Copies), size(l.Active), size(l.Heads), size(l.KVHeads), size(l.KeySize), size(l.ValueSize), size(l.Window), size(l.Latent), size(l.Rope),
		size(l.Positions), size(l.Keys), l.Parameters, bits}
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func size(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}
