package pack_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"prof/schema/pack"
)

const (
	runID = "01a2167a-b7d3-750e-bffb-57859bf1514f"
	row   = "runs/run/run_id=" + runID + "/rows.parquet"
	page  = "reports/a/report.html"
)

// entry is one of a tar.
type entry struct {
	tar.Header
	text string
}

func text(name, text string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o644}, text}
}

// head is a prof.json that lists files.
func head(t testing.TB, files ...entry) entry {
	h := pack.Head{Version: 1, ProfVersion: "0.1.0", Runs: []pack.Run{{ID: runID, Name: "a", Report: "a"}}}
	for _, f := range files {
		sum := sha256.Sum256([]byte(f.text))
		h.Files = append(h.Files, pack.File{Name: f.Name, Size: int64(len(f.text)), SHA256: hex.EncodeToString(sum[:])})
	}
	out, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	return text("prof.json", string(out))
}

// archive makes a tar of entries.
func archive(t testing.TB, entries ...entry) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func compressed(t testing.TB, text []byte) []byte {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll(text, nil)
}

// unpack returns the names of what Read wrote.
func unpack(t testing.TB, packed []byte) (*pack.Head, []string, error) {
	dir := t.TempDir()
	h, err := pack.Read(t.Context(), bytes.NewReader(packed), int64(len(packed)), dir)
	var names []string
	if e := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	}); e != nil {
		t.Fatal(e)
	}
	return h, names, err
}

// TestWrite: what was packed is what is unpacked, twice the same bytes, and nothing but files of runs and reports is packed.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := strings.Repeat("Parquet", 1e5)
	for name, text := range map[string]string{row: long, page: "<html>", "runs/kernel/run_id=" + runID + "/rows.parquet": ""} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var one, two bytes.Buffer
	want := pack.Head{ProfVersion: "0.1.0", Runs: []pack.Run{{ID: runID, Name: "a", Report: "a"}}}
	if err := errors.Join(pack.Write(&one, dir, want), os.Chtimes(filepath.Join(dir, row), time.Unix(5, 0), time.Unix(5, 0)), pack.Write(&two, dir, want)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("packed twice, the bytes differ")
	}
	path := filepath.Join(t.TempDir(), "a.prof.zst")
	if err := os.WriteFile(path, one.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	h, err := pack.Unpack(t.Context(), path, to)
	if err != nil || !pack.Is(path) || pack.Is(filepath.Join(dir, row)) || pack.Is(dir) {
		t.Fatalf("unpacked: %v; it is packed: %t", err, pack.Is(path))
	}
	if h.Version != 1 || h.ProfVersion != "0.1.0" || h.Redacted || !slices.Equal(h.Runs, want.Runs) || len(h.Files) != 3 {
		t.Errorf("head %+v", h)
	}
	if got, err := os.ReadFile(filepath.Join(to, row)); err != nil || string(got) != long {
		t.Errorf("%d bytes: %v", len(got), err)
	}
	if _, err := os.Stat(filepath.Join(to, "reports")); err == nil {
		t.Error("a report was written")
	}
	if err := os.WriteFile(filepath.Join(dir, "other.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := pack.Write(io.Discard, dir, want); err == nil || !strings.Contains(err.Error(), "other.txt: no such file can be packed") {
		t.Errorf("another file: %v", err)
	}
}

// hostile are packed files that nobody may read, by what is said of them.
func hostile(t testing.TB) map[string][]byte {
	a, b := text(row, "rows"), text(page, "<html>")
	whole := archive(t, head(t, b, a), b, a)
	whole = whole[:len(whole)-1024] // without zeros at its end
	link := entry{tar.Header{Typeflag: tar.TypeSymlink, Name: row, Linkname: "/etc/passwd"}, ""}
	hard := entry{tar.Header{Typeflag: tar.TypeLink, Name: row, Linkname: page}, ""}
	folder := entry{tar.Header{Typeflag: tar.TypeDir, Name: row + "/"}, ""}
	lying := head(t, a)
	lying.text = strings.Replace(lying.text, `"size_bytes":4`, `"size_bytes":5`, 1)
	huge := head(t, a)
	huge.text = strings.Replace(huge.text, `"size_bytes":4`, `"size_bytes":4000000000000`, 1)
	huge.Size = int64(len(huge.text))
	newer := head(t, a)
	newer.text = strings.Replace(newer.text, `"prof_pack":1`, `"prof_pack":2`, 1)
	longHead := text("prof.json", `{"prof_pack":1}`+strings.Repeat(" ", 17<<20))
	// listing is a head of the run's row whose list of runs is another one.
	listing := func(redacted bool, files []entry, ids ...string) []byte {
		var h pack.Head
		if err := json.Unmarshal([]byte(head(t, files...).text), &h); err != nil {
			t.Fatal(err)
		}
		h.Runs, h.Redacted = nil, redacted
		for _, id := range ids {
			h.Runs = append(h.Runs, pack.Run{ID: id, Name: "a", Report: "a"})
		}
		out, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		return compressed(t, archive(t, append([]entry{text("prof.json", string(out))}, files...)...))
	}
	const other = "01a2167a-b7d3-750e-bffb-000000000000"
	at := func(name string) []byte { e := text(name, "rows"); return compressed(t, archive(t, head(t, e), e)) }
	flipped := slices.Clone(compressed(t, archive(t, head(t, a), a)))
	flipped[len(flipped)-1] ^= 1 // of zstd's checksum
	return map[string][]byte{
		"the beginning, byte 0 of the unpacked tar: the file is cut short":                 nil,
		"not a file of `prof pack`":                                                        []byte("text that is not compressed"),
		"not a file of `prof pack` ":                                                       compressed(t, []byte(strings.Repeat("no tar", 200))),
		"not a file of `prof pack`  ":                                                      compressed(t, archive(t, a)),
		"not a file of `prof pack`   ":                                                     compressed(t, archive(t, text("prof.json", "{}"))),
		"prof.json, byte 519 of the unpacked tar: invalid character":                       compressed(t, archive(t, text("prof.json", "no JSON"))),
		"prof.json is larger than 16 MiB":                                                  compressed(t, archive(t, longHead)),
		"a newer prof packed it (0.1.0), in a form":                                        compressed(t, archive(t, newer, a)),
		`it lists "../rows.parquet", which is no file of`:                                  at("../rows.parquet"),
		`it lists "/etc/rows.parquet", which is no file of`:                                at("/etc/rows.parquet"),
		`it lists "runs/../../run_id=`:                                                     at("runs/../../run_id=" + runID + "/rows.parquet"),
		`it lists "reports/../report.md", which is no file of`:                             at("reports/../report.md"),
		"it lists " + row + " twice":                                                       compressed(t, archive(t, head(t, a, a), a, a)),
		"it has rows of run " + runID + ", which it does not list":                         listing(false, []entry{a}),
		`its files do not fit run "` + other + `", which it lists`:                         listing(false, []entry{a}, runID, other),
		`its files do not fit run "../../x", which it lists`:                               listing(false, []entry{a}, "../../x"),
		`it lists run "` + runID + `" twice`:                                               listing(false, []entry{a}, runID, runID),
		`its files do not fit run "` + runID + `", which it lists`:                         listing(true, []entry{a}, runID),
		`its files do not fit run "` + runID + `", which it lists `:                        listing(false, []entry{text(strings.Replace(row, "runs/run/", "runs/kernel/", 1), "rows")}, runID),
		"it is a link, a folder or a device":                                               compressed(t, archive(t, head(t, a), link)),
		"it is a link, a folder or a device ":                                              compressed(t, archive(t, head(t, a), hard)),
		`rows.parquet/" is in its place`:                                                   compressed(t, archive(t, head(t, a), folder)),
		`"` + page + `" is in its place`:                                                   compressed(t, archive(t, head(t, a, b), b, a)),
		"it has 4 bytes, not the 5 that are listed":                                        compressed(t, archive(t, lying, a)),
		"it is damaged: its SHA-256":                                                       compressed(t, archive(t, head(t, a), text(row, "ROWS"))),
		"it unpacks to far more than it packs":                                             compressed(t, archive(t, huge, a)),
		page + ", byte 2560 of the unpacked tar: it is not in the list":                    compressed(t, archive(t, head(t, a), a, b)),
		row + ", byte 3072 of the unpacked tar: the file is cut short":                     compressed(t, archive(t, head(t, b, a), b)),
		row + ", byte 2559 of the unpacked tar: the file is cut short":                     compressed(t, whole[:len(whole)-513]),
		"the end, byte 3076 of the unpacked tar: more follows":                             compressed(t, append(archive(t, head(t, a), a), "more"...)),
		"of the unpacked tar: CRC check failed":                                            flipped,
		"the end, byte 3072 of the unpacked tar: invalid input: magic":                     append(compressed(t, archive(t, head(t, a), a)), "more"...),
		"the end, byte 68059136 of the unpacked tar: it unpacks to far more than it packs": compressed(t, append(archive(t, head(t, a), a), make([]byte, 80<<20)...)),
		"the beginning, byte 0 of the unpacked tar: window size exceeded":                  {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa0, 0x01, 0x00, 0x00},
	}
}

// TestHostile: damaged and hostile files are refused, with the place, and nothing is written outside the folder.
func TestHostile(t *testing.T) {
	t.Parallel()
	cases := hostile(t)
	for _, want := range slices.Sorted(maps.Keys(cases)) {
		_, names, err := unpack(t, cases[want])
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if len(names) > 1 || len(names) == 1 && names[0] != row {
			t.Errorf("%s: wrote %q", want, names)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := pack.Read(stopped, bytes.NewReader(compressed(t, archive(t, head(t)))), 1, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	a := text(row, "rows")
	full := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(full, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	packed := compressed(t, archive(t, head(t, a), a))
	if _, err := pack.Read(t.Context(), bytes.NewReader(packed), int64(len(packed)), full); err == nil || strings.Contains(err.Error(), "of the unpacked tar") {
		t.Errorf("a folder that cannot be written: %v", err)
	}
}

// FuzzRead holds that any tar is unpacked or refused, in the folder alone.
func FuzzRead(f *testing.F) {
	a, b := text(row, "rows"), text(page, "<html>")
	f.Add(archive(f, head(f, b, a), b, a))
	f.Add(archive(f, head(f, a), entry{tar.Header{Typeflag: tar.TypeSymlink, Name: row, Linkname: "/etc/passwd"}, ""}))
	f.Add(archive(f, text("prof.json", `{"prof_pack":1,"files":[{"name":"`+row+`","size_bytes":-1}]}`)))
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<17))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, packed := range [][]byte{data, z.EncodeAll(data, nil)} {
			h, names, err := unpack(t, packed)
			if (h == nil) == (err == nil) {
				t.Errorf("head %v, error %v", h, err)
			}
			for _, n := range names {
				if !strings.HasPrefix(n, "runs/") || !strings.HasSuffix(n, "/rows.parquet") {
					t.Errorf("wrote %q", n)
				}
			}
		}
	})
}
