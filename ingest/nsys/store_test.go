package nsys_test

import (
	"testing"

	"prof/ingest/load"
	"prof/ingest/nsys"
	"prof/ingest/rows/rowstest"
)

// tryStored loads an export, packed or not, in memory.
func tryStored(t testing.TB, open nsys.Opener, o load.Options, path string) (*rowstest.Kept, *load.SourceInfo, error) {
	t.Helper()
	k, path := rowstest.New(t, o), rowstest.Plain(t, path)
	info, err := open.Identify(t.Context(), path, path)
	if err == nil {
		info, err = open.Load(t.Context(), path, path, k.Target)
	}
	if err == nil {
		err = k.StoreShared(t.Context())
	}
	return k, info, err
}

// stored is tryStored of a SQLite export that is read without an error, with a row for each API call.
func stored(t testing.TB, path string) (*rowstest.Kept, *load.SourceInfo) {
	t.Helper()
	k, info, err := tryStored(t, nsys.SQLite, load.Options{APIRows: true}, path)
	if err != nil {
		t.Fatal(err)
	}
	return k, info
}
