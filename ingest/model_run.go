package ingest

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"prof/ingest/load"
	"prof/ingest/model"
	"prof/ingest/store"
	"prof/schema"
)

// Model stores the model of one configuration as a run of its own and gives the run's id. The warehouse is one in memory: nothing
// is looked up in it and no other run is expected.
func Model(ctx context.Context, w *schema.Warehouse, path string, o model.Options, now time.Time) (run string, err error) {
	m, err := readModel(path, o)
	if err != nil {
		return "", err
	}
	id, err := schema.NewRunID()
	if err != nil {
		return "", err
	}
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	var shared load.Run
	t, err := store.New(conn, id, &shared, load.Options{Threads: 1})
	if err != nil {
		return "", err
	}
	t.SourceID = 1
	if _, _, err := model.Store(ctx, &t.Target, m, m.Name); err != nil {
		return "", err
	}
	in := &ingester{ctx: ctx, conn: conn, target: t}
	f := input{path: path, format: formOf(configForm)}
	if err := in.storeSource(f, &load.SourceInfo{}, 0, ""); err != nil {
		return "", err
	}
	if _, err := conn.ExecContext(ctx, `INSERT INTO run VALUES (?::UUID, ?, ?, NULL, NULL, NULL, '')`, id, m.Name, now.UTC()); err != nil {
		return "", err
	}
	return id, w.Facts.Derive(ctx, conn, id)
}

// configName is what the configuration in the folder of a model is called.
const configName = "config.json"

// readModel reads a configuration: a file, packed or not, or the folder of a model.
func readModel(path string, o model.Options) (*model.Model, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, configName)
	}
	m, err := model.ReadFile(path, path, o)
	if os.IsNotExist(err) {
		return nil, plainPathError(path, os.ErrNotExist)
	}
	return m, err
}
