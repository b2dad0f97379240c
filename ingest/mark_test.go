package ingest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/rows/rowstest"
	"prof/internal/file"
)

// TestMark: JSON with a byte order mark, as shells of Windows write it, is read as without.
func TestMark(t *testing.T) {
	text, err := os.ReadFile("../internal/torture/files.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(text)) {
		form, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		folder, path, isFolder := strings.Cut(path, "//")
		if !isFolder {
			folder, path = filepath.Split(folder)
		}
		if !strings.Contains(path, ".json") && form != "proton-trace" && form != "proton-tree" {
			continue
		}
		data := contentOf(t, filepath.Join("..", folder, path))
		if !bytes.HasPrefix(data, []byte("{")) && !bytes.HasPrefix(data, []byte("[")) || form == "prof-run" {
			continue
		}
		if strings.HasSuffix(path, "benchmark_percentile.json") { // which is read beside the summary
			continue
		}
		seen++
		name := filepath.Base(strings.TrimSuffix(path, ".gz"))
		rows := func(text string) string {
			dir := t.TempDir()
			if isFolder { // others of it say more
				if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", folder))); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			f, ok, err := sniff(path, path)
			if err != nil || !ok || f.format.Name != form {
				t.Fatalf("%s: it is %q, %v, want %s", name, f.format.Name, err, form)
			}
			k := rowstest.New(t, load.Options{APIRows: true})
			info, err := f.format.Load(t.Context(), path, path, k.Target)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return strings.ReplaceAll(strings.Join(info.Warnings, "\n"), dir, "") + fmt.Sprint(k.Contents())
		}
		if with, without := rows(file.Mark+string(data)), rows(string(data)); with != without {
			t.Errorf("%s: with a mark the rows are other ones", name)
		}
	}
	if seen < 20 {
		t.Errorf("only %d files are JSON", seen)
	}
}

func contentOf(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}
