package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"prof/ingest/nsys/table"
)

// FuzzRead opens arbitrary bytes and reads every table in every way. Nothing may panic or run on: a table's rows are
// bounded by the file's bytes, as a cell takes two at least.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.sqlite")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		stale := bytes.Clone(data)
		stale[92] ^= 1 // the page count then follows the size
		f.Add(stale[:min(len(stale), 4096)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= 100<<10 {
			fuzzFile(t, data)
		}
	})
}

// damaged are the fixtures that FuzzDamage patches.
var damaged = []string{"types.sqlite", "overflow.sqlite", "levels.sqlite", "alter.sqlite", "names.sqlite",
	"noalias.sqlite"}

// FuzzDamage patches a fixture behind its header, so that more inputs get past Open. A patch takes four bytes: the
// page, a place in it (two bytes) and the new byte.
func FuzzDamage(f *testing.F) {
	for i := range damaged {
		f.Add(uint8(i), []byte{1, 0, 8, 1, 3, 0, 3, 255})
	}
	f.Fuzz(func(t *testing.T, which uint8, patches []byte) {
		fuzzFile(t, damage(fixture(t, damaged[int(which)%len(damaged)]), patches))
	})
}

func damage(data, patches []byte) []byte {
	size := int(binary.BigEndian.Uint16(data[16:]))
	for ; len(patches) >= 4; patches = patches[4:] {
		at := int(patches[0])%(len(data)/size)*size + int(binary.BigEndian.Uint16(patches[1:]))%size
		if at >= headerSize {
			data[at] = patches[3]
		}
	}
	return data
}

// TestRandomDamage is a short FuzzDamage with patches that lie where they hurt: page headers, cell pointers and cells.
func TestRandomDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	values := []byte{0, 1, 2, 5, 13, 127, 128, 129, 255}
	rounds := 1000
	if testing.Short() {
		rounds = 200
	}
	for i := range rounds {
		var patches []byte
		for range 1 + random.IntN(6) {
			value := values[random.IntN(len(values))]
			if random.IntN(2) == 0 {
				value = byte(random.Uint32())
			}
			at := random.IntN(1 << (4 + random.IntN(7)))
			patches = append(patches, byte(random.Uint32()), byte(at>>8), byte(at), value)
		}
		fuzzFile(t, damage(fixture(t, damaged[i%len(damaged)]), patches))
	}
}

// fuzzFile opens a file and reads every table in every way.
func fuzzFile(t *testing.T, data []byte) {
	file, err := New(bytes.NewReader(data), int64(len(data)), "fuzz")
	if err != nil {
		return
	}
	for id := range int64(4) {
		_, _, _ = file.String(id * 3)
	}
	for name := range file.tables {
		for kind := table.Int; kind <= table.Text; kind++ {
			fuzzTable(t, file, name, kind, len(data))
		}
	}
}

// fuzzTable reads all columns of a table as one kind, then each column alone, so that an error in one hides no other.
func fuzzTable(t *testing.T, f *File, name string, kind table.Kind, size int) {
	all := []table.Want{{Name: "absent", Kind: kind, Optional: true}}
	for _, col := range f.Columns(name) {
		all = append(all, table.Want{Name: col, Kind: kind})
	}
	fuzzScan(t, f, name, all, size)
	for i := range min(len(all), 20) {
		fuzzScan(t, f, name, all[i:i+1], size)
	}
}

func fuzzScan(t *testing.T, f *File, name string, w []table.Want, size int) {
	s, err := f.Scan(context.Background(), name, w)
	if err != nil {
		return
	}
	n := 0
	_ = table.Each(s, func(b *table.Batch) error {
		if n += b.N; b.N == 0 || b.N > table.BatchRows || n > size/2 {
			t.Fatalf("table %s: a batch of %d makes %d rows in %d bytes", name, b.N, n, size)
		}
		return nil
	})
}
