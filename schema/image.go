package schema

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"prof/internal/file"
	"prof/internal/scratch"
)

// To make an empty warehouse takes most of a second: DuckDB binds each of 350 macros, and plans each of 2500 comments. That is too long for every new home
// and every command on a lake. So one is made once a version of the program, kept in the user's cache and copied from there.

// imageKind is what a kept file has.
type imageKind string

const (
	emptyImage imageKind = "empty" // a warehouse without runs
	lakeImage  imageKind = "lake"  // its views and macros, and no tables: those of a lake are under them
)

// images are the contents of those that this process has made or read, so that it makes one once also where none can be kept.
var images struct {
	sync.Mutex
	known map[string][]byte
	told  bool // that none can be kept
}

// image returns the content of such a file: the kept one, or one that it makes in a folder below dir.
func image(ctx context.Context, kind imageKind, o Options, dir string) ([]byte, error) {
	images.Lock()
	defer images.Unlock()
	return kind.find(ctx, o, dir)
}

// find is image for who has the lock.
func (kind imageKind) find(ctx context.Context, o Options, dir string) ([]byte, error) {
	recorded, err := o.recorded()
	if err != nil {
		return nil, err
	}
	key := string(kind) + recorded
	if known := images.known[key]; known != nil {
		return known, nil
	}
	name, err := kind.fileName(o, recorded)
	if err != nil {
		return nil, err
	}
	var content []byte
	kept, problem := imageFolder()
	if problem == nil {
		content = readImage(kept, name)
	}
	if content == nil {
		if content, err = kind.make(ctx, o, dir); err != nil {
			return nil, err
		}
		if problem == nil {
			problem = keepImage(kept, name, content)
		}
		if problem != nil && o.Talk != nil && !images.told {
			images.told = true
			o.Talk(fmt.Sprintf("an empty warehouse cannot be kept, so that each new one takes a moment to make: %v", problem))
		}
	}
	if images.known == nil {
		images.known = map[string][]byte{}
	}
	images.known[key] = content
	return content, nil
}

// recorded are the checksums that a warehouse records, of its facts and of its views, macros and built-in rows.
func (o Options) recorded() (string, error) {
	facts, err := o.Facts.Checksum()
	if err != nil {
		return "", err
	}
	defs, err := installedSum(o.Defs)
	return facts + defs, err
}

// Identity identifies the program's empty warehouse, so all that the program itself has of migrations, tables, views, macros, and what fills them.
func Identity(o Options) (string, error) {
	recorded, err := o.recorded()
	if err != nil {
		return "", err
	}
	return emptyImage.fileName(o, recorded)
}

// fileName names the file after everything that it is made of: how DuckDB writes it, all statements, and the checksums that it records, one of which is of
// the built-in rows too.
func (kind imageKind) fileName(o Options, recorded string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, DuckDBVersion(), StorageVersion, newBlockSize, versionTable)
	known, err := knownMigrations()
	if err != nil {
		return "", err
	}
	for _, m := range known {
		text, err := m.statements()
		if err != nil {
			return "", err
		}
		fmt.Fprintln(sum, m.name, text)
	}
	tables, err := o.Facts.Tables()
	if err != nil {
		return "", err
	}
	for _, t := range tables {
		fmt.Fprintln(sum, t.create())
	}
	defs, err := o.Defs.Definitions()
	if err != nil {
		return "", err
	}
	for _, d := range defs {
		fmt.Fprintln(sum, d.create())
	}
	fmt.Fprintln(sum, recorded)
	return fmt.Sprintf("%s-%s.duckdb", kind, hex.EncodeToString(sum.Sum(nil))[:32]), nil
}

// make makes the file in a folder below dir.
func (kind imageKind) make(ctx context.Context, o Options, dir string) (content []byte, err error) {
	if dir, err = os.MkdirTemp(dir, "empty-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w := &Warehouse{Home: Home{Dir: dir}, Writable: true, Facts: o.Facts}
	if kind == lakeImage {
		if content, err = emptyImage.find(ctx, o, dir); err == nil {
			err = file.Write(w.Home.Warehouse(), content)
		}
		if err != nil {
			return nil, err
		}
	}
	if w.DB, err = connect(ctx, w.Home.Warehouse(), "READ_WRITE", w.Home.Temp(), Options{MemoryLimit: o.MemoryLimit, Budget: o.Budget}); err != nil {
		return nil, err
	}
	if kind == lakeImage {
		err = w.dropTables(ctx)
	} else {
		err = w.migrate(ctx, o)
	}
	if err = errors.Join(err, w.DB.Close()); err != nil {
		return nil, err
	}
	return file.Read(w.Home.Warehouse(), maxImage)
}

func (w *Warehouse) dropTables(ctx context.Context) error {
	drops, err := texts(w.DB.QueryContext(ctx, `SELECT 'DROP TABLE ' || table_name || ';' FROM duckdb_tables() WHERE NOT internal`))
	if err != nil {
		return err
	}
	return w.exec(ctx, "BEGIN;"+strings.Join(drops, "")+"COMMIT;CHECKPOINT")
}

// maxImage bounds an image, which is of some 3 MB.
const maxImage = 64 << 20

// imageFolder makes the folder in the user's cache, or says why none can be used.
func imageFolder() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "prof", "empty")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	st, err := os.Stat(dir)
	if err == nil && (st.Mode().Perm()&0o022 != 0 || !scratch.IsOwn(dir)) {
		err = fmt.Errorf("others can write to %s: remove it", dir)
	}
	return dir, err
}

// readImage reads a kept file; nil where there is none, or not the whole of it.
func readImage(dir, name string) []byte {
	text, err := file.Read(filepath.Join(dir, name), maxImage)
	if err != nil || len(text) < sha256.Size {
		return nil
	}
	content := text[:len(text)-sha256.Size]
	if !bytes.Equal(text[len(content):], imageSum(name, content)) {
		return nil
	}
	return content
}

// imageSum ends a kept file.
func imageSum(name string, content []byte) []byte {
	h := sha256.New()
	fmt.Fprintln(h, name)
	h.Write(content)
	return h.Sum(nil)
}

// mostImages is how many files the folder keeps, the newest: two for each version of the program.
const mostImages = 8

// keepImage writes a file, and removes the oldest.
func keepImage(dir, name string, content []byte) error {
	if err := file.Write(filepath.Join(dir, name), slices.Concat(content, imageSum(name, content))); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	age := func(e fs.DirEntry) time.Duration {
		st, err := e.Info()
		if err != nil { // another process has removed it
			return 0
		}
		return time.Since(st.ModTime())
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return int(age(a) - age(b)) })
	for _, e := range entries[min(mostImages, len(entries)):] {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// writeEmpty puts an empty warehouse into a home that has none, whole or not at all. Where another process made one meanwhile, that one stays.
func (h Home) writeEmpty(ctx context.Context, o Options) error {
	// A killed process leaves it where the next one that writes clears it.
	if err := os.MkdirAll(h.Temp(), 0o755); err != nil {
		return err
	}
	defer os.Remove(h.Temp())
	empty, err := image(ctx, emptyImage, o, h.Temp())
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(h.Temp(), "empty-")
	if err != nil {
		return err
	}
	// DuckDB would make it with such rights, less the umask.
	if err := temp.Chmod(0o644); err != nil {
		return errors.Join(err, temp.Close())
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(empty)
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	// A link, and no renaming: that would take the file from under a process that has opened it.
	if err := os.Link(temp.Name(), h.Warehouse()); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
