package ingest_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/internal/testkit"
	"prof/queries"
)

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

// TestNoSecrets: nothing of the profiled process's environment reaches the warehouse.
func TestNoSecrets(t *testing.T) {
	home := t.TempDir()
	w, err := openWarehouse(t, home, derive.Facts{Only: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { w.Close() }()
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
	with := 0
	for _, c := range in {
		if hasPlanted(content(t, c.path)) != "" {
			with++
		}
		_, err := tryIngest(t, w, load.Options{WithOSRT: true, APIRows: true}, c.name, c.path)
		refused := strings.Contains(c.name, "made-strings") || strings.Contains(c.name, "made-no_cuda")
		if (err != nil) != refused {
			t.Fatal(c.name, err)
		}
		if err != nil && hasPlanted([]byte(err.Error())) != "" {
			t.Errorf("%s: the error holds the secret: %v", c.name, err)
		}
	}
	if with < 8 { // or the search proves nothing
		t.Errorf("only %d of %d captures hold the secret", with, len(in))
	}
	searchFiles(t, home)
	if _, err := w.DB.Exec("FORCE CHECKPOINT"); err != nil {
		t.Fatal(err)
	}
	searchFiles(t, home)
	searched := 0
	for _, c := range testkit.Rows(t, w, `SELECT table_name || '|' || column_name FROM duckdb_columns() WHERE data_type LIKE 'VARCHAR%'
		AND table_name IN (SELECT table_name FROM duckdb_tables())`) {
		table, column, _ := strings.Cut(c, "|")
		for _, p := range planted {
			expectNone(t, w, c+" holds the secret", fmt.Sprintf(`SELECT "%s"::VARCHAR FROM "%s" WHERE contains("%s"::VARCHAR, '%s')`, column, table, column, p))
		}
		searched++
	}
	if searched < 40 {
		t.Errorf("only %d columns were searched", searched)
	}
	for _, c := range testkit.Rows(t, w, `SELECT name FROM run`) {
		for _, name := range []string{"facts", "diagnostics", "sources", "source-tables"} {
			f := testkit.Query(t, w, name, queries.Args{"run": c})
			if p := hasPlanted([]byte(fmt.Sprint(f.Rows, f.Notes))); p != "" {
				t.Errorf("%s of %s shows %s", name, c, p)
			}
		}
	}
	// The environment as a whole stays out, not only what looks like a secret.
	expectNone(t, w, "an environment variable", `SELECT key, value FROM source_fact WHERE contains(value, 'PATH=') OR contains(key, 'nviron')`)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	searchFiles(t, home)
}

// content gives the bytes of a capture as they are unpacked.
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

// searchFiles looks for the secret in every byte under a folder.
func searchFiles(t *testing.T, dir string) {
	t.Helper()
	var seen []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if found := hasPlanted(b); found != "" {
			t.Errorf("%s holds %s", p, found)
		}
		seen = append(seen, filepath.Base(p))
		return err
	})
	if err != nil || !slices.Contains(seen, "warehouse.duckdb") {
		t.Fatal(seen, err)
	}
}

func gunzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
