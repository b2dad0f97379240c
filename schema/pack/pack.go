// Package pack writes and reads files of runs, NAME.prof.zst: a tar, compressed by zstd, of a folder with the runs as Parquet and their reports.
// Its first entry lists the others with their sizes and hashes, so that a file is known by its content, and read whole or not at all.
package pack

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"prof/internal/file"
)

// End ends the names of packed files.
const End = ".prof.zst"

// The folders of a packed file: runs as ExportRun writes them, and a folder of files for the report of each run.
const (
	Runs    = "runs"
	Reports = "reports"
)

// headName is the first entry, a Head as JSON.
const headName = "prof.json"

// version is that of the form of packed files.
const version = 1

// Head says what a packed file has.
type Head struct {
	Version     int    `json:"prof_pack"`
	ProfVersion string `json:"prof_version"` // of the program that packed
	Redacted    bool   `json:"redacted"`
	Runs        []Run  `json:"runs"`
	Files       []File `json:"files"` // in their order, without the head
}

// Run is a packed run. Where it was captured, by which tools and from which sources is in env.json of its report.
type Run struct {
	ID     string `json:"run_id"`
	Name   string `json:"run"`
	Report string `json:"report"` // the folder of its report
}

// File is an entry.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size_bytes"`
	SHA256 string `json:"sha256"`
}

// ErrNotPacked is wrapped by the error that a file is none that Write wrote.
var ErrNotPacked = errors.New("not a file of `prof pack`")

// What a packed file may hold. Parquet is compressed and reports become a tenth, so that what grows by more is made to fill a disk.
const (
	maxHead   = 16 << 20
	maxWindow = 8 << 20 // bounds the memory that unpacking takes; zstd's own without --ultra or --long
	maxGrowth = 100
	anyGrowth = 64 << 20 // of small files
)

// parquetName and reportName are the names of entries.
var (
	parquetName = regexp.MustCompile(`^` + Runs + `/([a-z0-9_]{1,100})/run_id=([0-9a-f-]{36})/rows\.parquet$`)
	reportName  = regexp.MustCompile(`^` + Reports + `/[A-Za-z0-9_=+-][A-Za-z0-9_.=+-]{0,199}/[a-z_]{1,100}\.[a-z]{1,10}$`)
)

// Write packs a folder. The same files give the same bytes.
func Write(w io.Writer, dir string, h Head) error {
	h.Version, h.Files = version, nil
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if name = filepath.ToSlash(name); !parquetName.MatchString(name) && !reportName.MatchString(name) {
			return fmt.Errorf("%s: no such file can be packed", path)
		}
		sum := sha256.New()
		n, err := copyFile(sum, path)
		h.Files = append(h.Files, File{name, n, hex.EncodeToString(sum.Sum(nil))})
		return err
	})
	if err != nil {
		return err
	}
	head, err := json.MarshalIndent(h, "", " ")
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(maxWindow))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	put := func(name string, size int64) error {
		return t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0)})
	}
	if err := put(headName, int64(len(head))); err != nil {
		return err
	}
	if _, err := t.Write(head); err != nil {
		return err
	}
	for _, f := range h.Files {
		if err := put(f.Name, f.Size); err != nil {
			return err
		}
		if _, err := copyFile(t, filepath.Join(dir, filepath.FromSlash(f.Name))); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func copyFile(w io.Writer, path string) (int64, error) {
	f, err := file.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(w, f)
}

// Begins reports whether unpacked bytes are the beginning of a packed file.
func Begins(head []byte) bool {
	return len(head) > 262 && bytes.HasPrefix(head, []byte(headName+"\x00")) && string(head[257:262]) == "ustar"
}

// Is reports whether a file is packed, by its first bytes. What cannot be read is not.
func Is(path string) bool {
	f, err := file.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	z, err := unpacked(f)
	if err != nil {
		return false
	}
	defer z.Close()
	head := make([]byte, 512)
	_, err = io.ReadFull(z, head)
	return err == nil && Begins(head)
}

func unpacked(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

// Unpack checks a packed file and writes its runs into an empty folder. Reports are checked, and not written. Of a file that is damaged or that
// Write did not write, some may be in the folder.
func Unpack(ctx context.Context, path, dir string) (*Head, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	h, err := Read(ctx, f, st.Size(), dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}

// Read is Unpack of a file of so many bytes.
func Read(ctx context.Context, from io.Reader, size int64, dir string) (*Head, error) {
	z, err := unpacked(from)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	r := &reader{ctx: ctx, from: z, most: anyGrowth + maxGrowth*size}
	r.tar = tar.NewReader(r)
	h, err := r.head()
	if err != nil {
		return nil, err
	}
	for _, f := range h.Files {
		if err := r.file(f, dir); err != nil {
			return nil, r.at(f.Name, err)
		}
	}
	if next, err := r.tar.Next(); err == nil {
		return nil, r.at(next.Name, errors.New("it is not in the list of files"))
	} else if !errors.Is(err, io.EOF) {
		return nil, r.at("the end", err)
	}
	return h, r.rest()
}

// reader reads the tar, and counts its bytes.
type reader struct {
	ctx       context.Context
	from      io.Reader
	tar       *tar.Reader
	n, most   int64
	unwritten error // why a file could not be written, which is no fault of the tar
}

var errTooMuch = errors.New("it unpacks to far more than it packs, as no file of `prof pack` does")

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.n > r.most {
		return 0, errTooMuch
	}
	n, err := r.from.Read(p)
	r.n += int64(n)
	return n, err
}

// at adds where an error is, and says in plain words that a file ends too early.
func (r *reader) at(what string, err error) error {
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case r.unwritten != nil:
		return r.unwritten
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		err = fmt.Errorf("the file is cut short: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("%s, byte %d of the unpacked tar: %w", what, r.n, err)
}

// head reads and checks the first entry.
func (r *reader) head() (*Head, error) {
	entry, err := r.tar.Next()
	switch {
	case errors.Is(err, zstd.ErrMagicMismatch), errors.Is(err, tar.ErrHeader):
		return nil, ErrNotPacked
	case err != nil:
		return nil, r.at("the beginning", err)
	case entry.Name != headName || entry.Typeflag != tar.TypeReg:
		return nil, ErrNotPacked
	}
	text, err := file.ReadAll(r.tar, headName, maxHead)
	if err != nil {
		return nil, r.at(headName, err)
	}
	var h Head
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, r.at(headName, err)
	}
	switch {
	case h.Version < 1:
		return nil, ErrNotPacked
	case h.Version > version:
		return nil, fmt.Errorf("a newer prof packed it (%s), in a form that this one does not know", h.ProfVersion)
	}
	seen, sum := map[string]bool{}, int64(0)
	for _, f := range h.Files {
		switch {
		case !parquetName.MatchString(f.Name) && !reportName.MatchString(f.Name):
			return nil, r.at(headName, fmt.Errorf("it lists %q, which is no file of a run or report", f.Name))
		case seen[f.Name]:
			return nil, r.at(headName, fmt.Errorf("it lists %s twice", f.Name))
		case f.Size < 0 || f.Size > r.most-sum:
			return nil, r.at(headName, errTooMuch)
		}
		seen[f.Name] = true
		sum += f.Size
	}
	if err := h.checkRuns(); err != nil {
		return nil, r.at(headName, err)
	}
	return &h, nil
}

// checkRuns reports whether the runs that a head lists are those of its files; a redacted one has reports alone.
func (h *Head) checkRuns() error {
	rows := map[string]bool{} // by run: whether the row of the run itself is there
	for _, f := range h.Files {
		if m := parquetName.FindStringSubmatch(f.Name); m != nil {
			rows[m[2]] = rows[m[2]] || m[1] == "run"
		}
	}
	listed := map[string]bool{}
	for _, r := range h.Runs {
		switch {
		case listed[r.ID]:
			return fmt.Errorf("it lists run %q twice", r.ID)
		case h.Redacted == rows[r.ID]:
			return fmt.Errorf("its files do not fit run %q, which it lists", r.ID)
		}
		listed[r.ID] = true
	}
	for id := range rows {
		if !listed[id] {
			return fmt.Errorf("it has rows of run %s, which it does not list", id)
		}
	}
	return nil
}

// file reads the next entry, which must be the one that the head lists.
func (r *reader) file(want File, dir string) error {
	entry, err := r.tar.Next()
	switch {
	case err != nil:
		return err
	case entry.Name != want.Name:
		return fmt.Errorf("%q is in its place", entry.Name)
	case entry.Typeflag != tar.TypeReg:
		return errors.New("it is a link, a folder or a device, not a file")
	case entry.Size != want.Size:
		return fmt.Errorf("it has %d bytes, not the %d that are listed", entry.Size, want.Size)
	}
	sum := sha256.New()
	if err := r.keep(sum, want.Name, dir); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != want.SHA256 {
		return errors.New("it is damaged: its SHA-256 is not the one that is listed")
	}
	return nil
}

// keep reads an entry into a hash, and writes it into the folder where it is of a run.
func (r *reader) keep(sum hash.Hash, name, dir string) (err error) {
	if !strings.HasPrefix(name, Runs+"/") {
		_, err = io.Copy(sum, r.tar)
		return err
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if r.unwritten = file.MakeDir(filepath.Dir(path)); r.unwritten != nil {
		return r.unwritten
	}
	to, err := file.Create(path)
	if r.unwritten = err; err != nil {
		return err
	}
	defer func() {
		if e := to.Close(); err == nil {
			r.unwritten, err = e, e
		}
	}()
	_, err = io.Copy(io.MultiWriter(sum, &writer{to, r}), r.tar)
	return err
}

// writer keeps apart why a file could not be written.
type writer struct {
	to *os.File
	r  *reader
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.r.unwritten = err
	return n, err
}

// rest reads what is behind the last entry, zeros, so that zstd's checksum is compared.
func (r *reader) rest() error {
	part := make([]byte, 32<<10)
	for {
		n, err := r.Read(part)
		if slices.ContainsFunc(part[:n], func(b byte) bool { return b != 0 }) {
			return r.at("the end", errors.New("more follows"))
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return r.at("the end", err)
		}
	}
}
