package sqlite

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestString(t *testing.T) {
	f := open(t, "overflow.sqlite")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for id := int64(-3); id < 115; id++ {
				s, ok, err := f.String(id)
				want, exists := "", id >= 1 && id%3 == 1 && id <= 3*35+1
				if exists {
					want = fixtureText(int(id / 3))
				}
				if err != nil || ok != exists || s != want {
					t.Errorf("String(%d) is %q, %v, %v", id, s, ok, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestStringByLevels(t *testing.T) {
	f := open(t, "levels.sqlite")
	// No texts here, but the descent through three levels ends at the row, whose value then is no text.
	w := &scratch{page: make([]byte, f.pageSize)}
	for id := int64(-2005); id < 10505; id++ {
		_, ok, err := f.lookup(f.table("n"), id, 1, w)
		exists := id%5 == 0 && id >= -2000 && id < 10500
		if ok || exists != (err != nil) || exists && !strings.Contains(err.Error(), fmt.Sprintf("row %d: ", id)) {
			t.Fatalf("row %d: %v, %v", id, ok, err)
		}
	}
}

func TestStringWithoutAlias(t *testing.T) {
	f := open(t, "noalias.sqlite")
	for i := range 50 {
		s, ok, err := f.String(int64(1000 - 7*i))
		if err != nil || !ok || s != fmt.Sprintf("name %d", i) {
			t.Errorf("String(%d) is %q, %v, %v", 1000-7*i, s, ok, err)
		}
	}
	if _, ok, err := f.String(1); ok || err != nil {
		t.Error(ok, err)
	}
	if _, ok, err := open(t, "types.sqlite").String(1); ok || err != nil {
		t.Error("a file without StringIds gives", ok, err)
	}
}
