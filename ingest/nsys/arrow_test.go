package nsys_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/nsys"
	"prof/ingest/rows/rowstest"
)

// TestArrowEqualsSQLite: the exports of a report as SQLite, arrow and arrowdir give the same rows in every table.
func TestArrowEqualsSQLite(t *testing.T) {
	const folder = "../../testdata/forms/"
	stream := filepath.Join(t.TempDir(), "llama_arwdir")
	splitArrow(t, folder+"llama.arrows.gz", stream)
	o := load.Options{WithOSRT: true, APIRows: true}
	want, info, err := tryStored(t, nsys.SQLite, o, folder+"llama.sqlite.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{folder + "llama.arrows.gz", stream} {
		got, i, err := tryStored(t, nsys.Arrow, o, path)
		if err != nil {
			t.Fatal(err)
		}
		if n := rowstest.Same(t, ofForm(want), ofForm(got)); n < 5_000 {
			t.Errorf("%s: only %d rows were compared", path, n)
		}
		i.SHA256 = info.SHA256
		if !reflect.DeepEqual(i, info) {
			t.Errorf("%s is %+v, the SQLite export %+v", path, i, info)
		}
	}
}

// ofForm are the rows that all forms of an export give: they differ in the exporter's own tables.
func ofForm(k *rowstest.Kept) map[string][]string {
	out := k.Contents()
	out["source_part"] = slices.DeleteFunc(out["source_part"], func(part string) bool { return strings.Split(part, "|")[3] == "~" })
	return out
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
