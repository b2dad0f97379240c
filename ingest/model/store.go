package model

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"prof/ingest/load"
	"prof/internal/file"
	"prof/schema"
)

// Sniff says whether a file is the configuration of a model: one named config.json, or NAME.config.json, whose beginning is an
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
	text := line(m.row(name))
	for i, l := range m.Layers {
		text += line(append([]driver.Value{i + 1}, l.row()...))
	}
	for i, n := range m.Notes {
		text += line([]any{i + 1, string(n.Kind), n.Text})
	}
	return text
}

func line[T any](values []T) string {
	var b strings.Builder
	for _, v := range values {
		fmt.Fprint(&b, v, "\x00")
	}
	return b.String() + "\n"
}

// Stored gives the models that workloads of a stored run carried, by Key.
func Stored(ctx context.Context, conn *sql.Conn, runID string) (map[string]int32, error) {
	keys := map[int64]string{}
	for _, query := range []string{
		`SELECT x.model_id, x.* EXCLUDE (run_id, source_id, model_id) FROM model x`,
		`SELECT x.model_id, x.* EXCLUDE (run_id, model_id) FROM model_layer x`,
		`SELECT x.model_id, x.* EXCLUDE (run_id, model_id) FROM model_note x`,
	} {
		if err := addLines(ctx, conn, query+` WHERE run_id = ?::UUID AND x.model_id IN (SELECT w.model_id FROM workload w WHERE w.run_id = x.run_id) ORDER BY x.model_id, 2`, runID, keys); err != nil {
			return nil, fmt.Errorf("read the models of the run: %w", err)
		}
	}
	out := map[string]int32{}
	for id, key := range keys {
		out[key] = schema.IDNumber(id)
	}
	return out, nil
}

// addLines adds the rows of a query to the texts by their first column.
func addLines(ctx context.Context, conn *sql.Conn, query, runID string, to map[int64]string) (err error) {
	rows, err := conn.QueryContext(ctx, query, runID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	var id int64
	values := make([]any, len(columns)-1)
	into := []any{&id}
	for i := range values {
		into = append(into, &values[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		to[id] += line(values)
	}
	return rows.Err()
}

// Store stores a model under a name as the next of the target's run, and gives its model_id and the rows stored.
func Store(ctx context.Context, t *load.Target, m *Model, name string) (modelID int32, rows int64, err error) {
	t.Run.ModelID++
	id := t.Run.ModelID
	run := t.UUID()
	put := func(table string, each func(add func(...driver.Value) error) error) {
		if err == nil {
			var n int64
			n, err = t.Append(ctx, table, each)
			rows += n
		}
	}
	put("model", func(add func(...driver.Value) error) error {
		return add(append([]driver.Value{run, int32(t.SourceID), id}, m.row(name)...)...)
	})
	put("model_layer", func(add func(...driver.Value) error) error {
		for i, l := range m.Layers {
			if err := add(append([]driver.Value{run, id, int32(i + 1)}, l.row()...)...); err != nil {
				return err
			}
		}
		return nil
	})
	put("model_note", func(add func(...driver.Value) error) error {
		for i, n := range m.Notes {
			if err := add(run, id, int32(i+1), string(n.Kind), n.Text); err != nil {
				return err
			}
		}
		return nil
	})
	return id, rows, err
}

// row gives the columns of model behind its key; a model without a name has that of its family.
func (m *Model) row(name string) []driver.Value {
	return []driver.Value{cmp.Or(name, m.Family), text(m.Architecture), m.Family, text(m.DType), size(m.HiddenSize), size(m.VocabSize),
		size(m.LayerCount), size(m.MaxContext), size(m.ImageTokens)}
}

// row gives the columns of model_layer behind its key.
func (l Layer) row() []driver.Value {
	var bits driver.Value
	if l.Bits > 0 {
		bits = l.Bits
	}
	return []driver.Value{l.Part, text(l.View), l.Group, l.Count, l.Component, string(l.Kind), text(string(l.Scope)), size(l.Input), size(l.Output),
		size(l.Copies), size(l.Active), size(l.Heads), size(l.KVHeads), size(l.KeySize), size(l.ValueSize), size(l.Window), size(l.Latent), size(l.Rope),
		size(l.Positions), size(l.Keys), l.Parameters, bits}
}

func text(s string) driver.Value {
	if s == "" {
		return nil
	}
	return s
}

func size(n int64) driver.Value {
	if n == 0 {
		return nil
	}
	return n
}
