package nsys_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"prof/ingest/load"
	"prof/ingest/nsys"
	"prof/ingest/nsys/sqlite"
	"prof/ingest/rows/rowstest"
)

// fixtures are small exports, by their paths.
func fixtures(t testing.TB) (names []string, exports [][]byte) {
	t.Helper()
	names, err := filepath.Glob("testdata/*.sqlite")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	for _, f := range names {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		exports = append(exports, b)
	}
	return names, exports
}

// maxAllocated bounds what the reading of a small damaged export may allocate in all.
const maxAllocated = 200 << 20

// read reads an export whole. Rows or an error are right; a panic, faults in the rows or much memory are not.
func read(t testing.TB, data []byte) error {
	ctx := context.Background()
	k := rowstest.New(t, load.Options{WithOSRT: true})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e, err := sqlite.New(bytes.NewReader(data), int64(len(data)), "fuzz")
	if err != nil {
		return nil
	}
	if _, err := nsys.Identify(ctx, e, "fuzz"); err != nil {
		return nil
	}
	_, err = nsys.Load(ctx, e, "fuzz", k.Target)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > maxAllocated {
		return fmt.Errorf("%d bytes of input took %d bytes of memory", len(data), n)
	}
	if err != nil {
		if errors.Is(err, rowstest.ErrRow) {
			return err
		}
		return nil
	}
	if err := k.StoreShared(ctx); err != nil {
		return err
	}
	if faults := faultsOf(k); len(faults) > 0 {
		return fmt.Errorf("%d faults, such as %s", len(faults), faults[0])
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
	names, exports := fixtures(f)
	for i := range exports {
		f.Add(uint8(i), []byte{1, 0, 8, 1, 3, 0, 3, 255})
		f.Add(uint8(i), []byte{5, 3, 240, 255, 6, 3, 250, 0, 7, 3, 200, 128})
	}
	f.Fuzz(func(t *testing.T, which uint8, patches []byte) {
		i := int(which) % len(exports)
		if err := read(t, patch(exports[i], patches)); err != nil {
			t.Errorf("%s: %v", names[i], err)
		}
	})
}

// TestDamagedExports is a short FuzzExport whose patches lie in the rows.
func TestDamagedExports(t *testing.T) {
	names, exports := fixtures(t)
	for i := range exports {
		if err := read(t, exports[i]); err != nil {
			t.Errorf("%s: %v", names[i], err)
		}
	}
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
		i := random.IntN(len(exports))
		if err := read(t, patch(exports[i], patches)); err != nil {
			t.Fatalf("seed %d, %s: %v", seed, names[i], err)
		}
	}
}
