package rocprof

import "testing"

// TestNumbers: an id between others that has no number is not known, and neither is one beyond them or far from them.
func TestNumbers(t *testing.T) {
	var n numbers
	for id, v := range map[int64]int64{1: 10, 3: 0, 1 << 40: 7, -5: 9} {
		n.set(id, v)
	}
	for id, want := range map[int64]int64{1: 10, 3: 0, 1 << 40: 7, -5: 9, 0: -1, 2: -1, 4: -1, 1<<40 + 1: -1} {
		v, ok := n.get(id)
		if !ok {
			v = -1
		}
		if v != want {
			t.Errorf("%d has %d, want %d", id, v, want)
		}
	}
	d := &database{tracks: map[int64]place{1: {pid: 5}}}
	if got := d.track(1).pid; got != 5 || d.track(2) != nowhere {
		t.Errorf("track 1 has process %d, track 2 is %v", got, d.track(2))
	}
}
