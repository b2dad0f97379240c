package ingest_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"prof/ingest/load"
)

// TestArrowEqualsSQLite: the exports of a report as SQLite, arrow and arrowdir give the same rows in every table.
func TestArrowEqualsSQLite(t *testing.T) {
	const folder = "../testdata/forms/"
	stream := filepath.Join(t.TempDir(), "llama_arwdir")
	splitArrow(t, folder+"llama.arrows.gz", stream)
	for _, arrow := range []string{folder + "llama.arrows.gz", stream} {
		w := newWarehouse(t)
		for i, path := range []string{folder + "llama.sqlite.gz", arrow} {
			if _, err := tryIngest(t, w, load.Options{WithOSRT: true, APIRows: true}, []string{"sqlite", "parquet"}[i], path); err != nil {
				t.Fatal(err)
			}
		}
		compared := 0
		for _, table := range tables(t, w) {
			compared += compareRuns(t, w, table)
		}
		if compared < 7_000 {
			t.Errorf("%s: only %d rows were compared", arrow, compared)
		}
		expect(t, w, `SELECT form FROM source ORDER BY run_id`, "sqlite", "arrow")
	}
}

// splitArrow writes each table of an arrow export to a file of its own, as arrowdir has them.
func splitArrow(t *testing.T, from, to string) {
	t.Helper()
	packed, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	end := []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0} // and the next stream, or nothing
	n := 0
	for len(data) > 0 {
		at := bytes.Index(data, end)
		for at >= 0 && at+8 < len(data) && !bytes.HasPrefix(data[at+8:], end[:4]) {
			at += 1 + bytes.Index(data[at+1:], end)
		}
		name := fmt.Sprint("table", n)
		for _, known := range []string{"StringIds", "META_DATA_EXPORT", "CUPTI_ACTIVITY_KIND_KERNEL"} {
			if bytes.Contains(data[:512], []byte("\x00"+known+"\x00")) {
				name = known
			}
		}
		if err := os.WriteFile(filepath.Join(to, name+".arrow"), data[:at+8], 0o600); err != nil {
			t.Fatal(err)
		}
		data, n = data[at+8:], n+1
	}
	if n < 40 {
		t.Fatalf("%d tables", n)
	}
}
