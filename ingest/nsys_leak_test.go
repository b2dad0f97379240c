package ingest_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/nsys"
	"prof/ingest/nsys/parquet"
	"prof/ingest/nsys/table"
	"prof/ingest/rows/rowstest"
)

func openParquet(path string) (table.Export, error) { return parquet.Open(path) }

// planted are the parts of the secret that stands in the environments and command lines of the captures.
var planted = []string{"hf_examplesecret0123456789", "examplesecret", "0123456789exampleexample"}

// hasPlanted looks into the text for the secret.
func hasPlanted(text []byte) string {
	for _, p := range planted {
		if bytes.Contains(text, []byte(p)) {
			return p
		}
	}
	return ""
}

// TestNoSecrets: nothing of the profiled process's environment is in what is read of a capture.
func TestNoSecrets(t *testing.T) {
	in := captures(t)
	for _, p := range pairs(t) {
		in = append(in, capture{p.name + "-parquet", p.parquet})
	}
	fixtures, err := filepath.Glob("nsys/testdata/*.sqlite")
	if err != nil || len(fixtures) < 5 {
		t.Fatal(fixtures, err)
	}
	for _, f := range fixtures {
		in = append(in, capture{"made-" + filepath.Base(f), f})
	}
	with, searched := 0, map[string]bool{}
	for _, c := range in {
		if hasPlanted(content(t, c.path)) != "" {
			with++
		}
		open := nsys.Opener(nsys.SQLite)
		if strings.HasSuffix(c.name, "-parquet") {
			open = openParquet
		}
		k, path := rowstest.New(t, load.Options{WithOSRT: true, APIRows: true}), rowstest.Plain(t, c.path)
		info, err := open.Identify(t.Context(), path, c.path)
		if err == nil {
			info, err = open.Load(t.Context(), path, c.path, k.Target)
		}
		if err == nil {
			err = k.StoreShared(t.Context())
		}
		refused := strings.Contains(c.name, "made-strings") || strings.Contains(c.name, "made-no_cuda")
		if (err != nil) != refused {
			t.Fatal(c.name, err)
		}
		if p := hasPlanted([]byte(fmt.Sprintf("%v %+v", err, info))); p != "" {
			t.Errorf("%s: the error or the source holds %s: %v, %+v", c.name, p, err, info)
		}
		k.EachText(func(table, column, text string) {
			searched[table+"."+column] = true
			if p := hasPlanted([]byte(text)); p != "" {
				t.Errorf("%s: %s.%s holds %s", c.name, table, column, p)
			}
		})
		// The environment as a whole stays out, not only what looks like a secret.
		for _, f := range k.Table("source_fact") {
			if strings.Contains(f.Text("value"), "PATH=") || strings.Contains(f.Text("key"), "nviron") {
				t.Errorf("%s: an environment variable: %s is %s", c.name, f.Text("key"), f.Text("value"))
			}
		}
	}
	if with < 8 { // or the search proves nothing
		t.Errorf("only %d of %d captures hold the secret", with, len(in))
	}
	if len(searched) < 30 {
		t.Errorf("only %d columns were searched", len(searched))
	}
}

// content returns the bytes of a capture as they are unpacked.
func content(t *testing.T, path string) []byte {
	t.Helper()
	var out []byte
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if strings.HasSuffix(p, ".gz") && err == nil {
			b, err = gunzip(b)
		}
		out = append(out, b...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func gunzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
