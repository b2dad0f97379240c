package ingest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/ingest/nsys"
	"prof/ingest/nsys/sqlite"
	"prof/ingest/store"
	"prof/schema"
)

func gunzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// loader loads damaged exports into one warehouse, each rolled back.
type loader struct {
	w        *schema.Warehouse
	conn     *sql.Conn
	target   *store.Store
	fixtures [][]byte
	names    []string
}

func newLoader(t testing.TB) *loader {
	t.Helper()
	dir, err := os.MkdirTemp("", "prof-fuzz-")
	if err != nil {
		t.Fatal(err)
	}
	l := &loader{}
	t.Cleanup(func() {
		l.conn.Close()
		l.w.Close()
		os.RemoveAll(dir)
	})
	if l.w, err = openWarehouse(t, dir, derive.Facts{Only: []string{}}); err != nil {
		t.Fatal(err)
	}
	if l.conn, err = l.w.DB.Conn(context.Background()); err != nil {
		t.Fatal(err)
	}
	id, err := schema.NewRunID()
	if err != nil {
		t.Fatal(err)
	}
	if l.target, err = store.New(l.conn, id, &load.Run{}, load.Options{Threads: 2, WithOSRT: true}); err != nil {
		t.Fatal(err)
	}
	l.target.SourceID = 1
	if l.names, err = filepath.Glob("nsys/testdata/*.sqlite"); err != nil || len(l.names) < 5 {
		t.Fatal(l.names, err)
	}
	for _, f := range l.names {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		l.fixtures = append(l.fixtures, b)
	}
	return l
}

// maxAllocated bounds what the reading of a small damaged export may allocate in all.
const maxAllocated = 200 << 20

// load reads an export whole. Rows or an error are right; a panic, a half-stored transaction or much memory are not.
func (l *loader) load(data []byte) error {
	ctx := context.Background()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e, err := sqlite.New(bytes.NewReader(data), int64(len(data)), "fuzz")
	if err != nil {
		return nil
	}
	if _, err := nsys.Identify(ctx, e, "fuzz"); err != nil {
		return nil
	}
	l.target.Run = &load.Run{}
	if _, err := l.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	info, err := nsys.Load(ctx, e, "fuzz", &l.target.Target)
	if err == nil {
		err = l.check(ctx, info)
	} else {
		err = nil
	}
	if _, rollback := l.conn.ExecContext(ctx, "ROLLBACK"); rollback != nil {
		return fmt.Errorf("rollback: %w", rollback)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > maxAllocated {
		return fmt.Errorf("%d bytes of input took %d bytes of memory", len(data), n)
	}
	return err
}

// check holds what was stored to the conservation of kernel time and to sums that fit.
func (l *loader) check(ctx context.Context, info *load.SourceInfo) error {
	if err := l.target.StoreShared(ctx); err != nil {
		return err
	}
	for _, f := range slices.Concat(faults, operatorFaults) {
		switch f.what {
		case "the time of a GPU does not add up", "gaps are not the idle time", "a range's busy time is not that of its parts", "a kernel's context has not one innermost range", "a kernel's path is not its context's", "context and path do not go together",
			"range_id repeats", "range_context repeats", "range_device repeats", "a parent is missing", "a kernel's name is missing",
			"an operator's device work is not what it launched", "an operator's total is not its own work and that of what it calls", "an operator is not inside its parent",
			"an operator's set of ranges is missing or has another path", "op_id repeats", "an operator's own time is not the rest", "a forward operator began no earlier, or has another number":
		default:
			continue
		}
		var n int
		if err := l.conn.QueryRowContext(ctx, "SELECT count(*) FROM ("+f.sql+")").Scan(&n); err != nil || n > 0 {
			return fmt.Errorf("%s: %d rows %v", f.what, n, err)
		}
	}
	return nil
}

// patch overwrites bytes of an export: each takes the page, a place in it (two bytes) and the new byte.
func patch(data, patches []byte) []byte {
	data = slices.Clone(data)
	size := int(binary.BigEndian.Uint16(data[16:]))
	for ; len(patches) >= 4; patches = patches[4:] {
		at := int(patches[0])%(len(data)/size)*size + int(binary.BigEndian.Uint16(patches[1:]))%size
		if at >= 100 {
			data[at] = patches[3]
		}
	}
	return data
}

// FuzzExport loads small exports with some bytes patched.
func FuzzExport(f *testing.F) {
	l := newLoader(f)
	for i := range l.fixtures {
		f.Add(uint8(i), []byte{1, 0, 8, 1, 3, 0, 3, 255})
		f.Add(uint8(i), []byte{5, 3, 240, 255, 6, 3, 250, 0, 7, 3, 200, 128})
	}
	f.Fuzz(func(t *testing.T, which uint8, patches []byte) {
		i := int(which) % len(l.fixtures)
		if err := l.load(patch(l.fixtures[i], patches)); err != nil {
			t.Errorf("%s: %v", l.names[i], err)
		}
	})
}

// TestDamagedExports is a short FuzzExport whose patches lie in the rows.
func TestDamagedExports(t *testing.T) {
	l := newLoader(t)
	rounds := uint64(250)
	if testing.Short() {
		rounds = 50
	}
	for seed := range rounds {
		random := rand.New(rand.NewPCG(seed, 9))
		var patches []byte
		for range 1 + random.IntN(5) {
			at := random.IntN(1024)
			value := []byte{0, 1, 6, 127, 128, 255, byte(random.Uint32()), byte(random.Uint32())}[random.IntN(8)]
			patches = append(patches, byte(random.Uint32()), byte(at>>8), byte(at), value)
		}
		i := random.IntN(len(l.fixtures))
		if err := l.load(patch(l.fixtures[i], patches)); err != nil {
			t.Fatalf("seed %d, %s: %v", seed, l.names[i], err)
		}
	}
}
