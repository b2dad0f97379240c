package load

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// TestRoom: records in memory, in a file, and where no file can be, are what was put there, also after pages were let go of.
func TestRoom(t *testing.T) {
	type record struct {
		a int64
		b int32
	}
	dir := t.TempDir()
	for _, c := range []struct {
		name     string
		room     *Room
		isMapped bool
	}{
		{"none", nil, false},
		{"memory", NewRoom(dir, 1<<30), false},
		{"file", NewRoom(dir, 0), true},
		{"both", NewRoom(dir, 1<<20), true},
		{"no folder", NewRoom(filepath.Join(dir, "none"), 0), false},
	} {
		for range 2 { // closed, it can be used again
			const n = 300_000
			list, odd, whole := Blocks[record]{Room: c.room}, Blocks[byte]{Room: c.room}, Reserve[record](c.room, n)
			if slices.ContainsFunc(whole, func(r record) bool { return r != record{} }) {
				t.Fatalf("%s: not zero", c.name)
			}
			for i := range n {
				list.Add(record{int64(i) << 20, int32(i)})
				odd.Add(byte(i))
				whole[i] = record{-int64(i), int32(i)}
				if c.room != nil && i%10_000 == 0 {
					c.room.lastLetGo.Store(0)
					c.room.LetGo()
				}
			}
			for i := range int32(n) {
				if *list.At(i) != (record{int64(i) << 20, i}) || *odd.At(i) != byte(i) || whole[i] != (record{-int64(i), i}) {
					t.Fatalf("%s: %d: %v, %d, %v", c.name, i, *list.At(i), *odd.At(i), whole[i])
				}
			}
			if c.room == nil {
				continue
			}
			if got := len(c.room.extents) > 0; got != (c.isMapped && runtime.GOOS == "linux") {
				t.Errorf("%s: in a file: %v", c.name, got)
			}
			if err := c.room.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
}
