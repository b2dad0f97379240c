package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

type step struct {
	start, end int64
	what       string // call, api or at: an interval that a call must hold
}

// TestSweep holds the nesting of calls and what is each one's own, on sequences with known answers.
func TestSweep(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []step
		want  []string // id, parent, depth, self CPU, folded, nested, in the order of ids
	}{
		{"side by side", []step{{0, 10, "a"}, {10, 20, "a"}}, []string{"1 0 1 10 false false", "2 0 1 10 false false"}},
		{"inside", []step{{0, 10, "a"}, {2, 4, "b"}, {5, 9, "b"}}, []string{"1 0 1 4 false false", "2 1 2 2 false false", "3 1 2 4 false false"}},
		{"the same interval", []step{{0, 10, "a"}, {0, 10, "b"}}, []string{"1 0 1 0 false false", "2 1 2 10 false false"}},
		{"overlapping in part", []step{{0, 10, "a"}, {5, 15, "b"}, {6, 7, "c"}}, []string{"1 0 1 10 false false", "2 0 1 9 false false", "3 2 2 1 false false"}},
		{"all that it calls", []step{{0, 10, "a"}, {1, 9, "a"}, {2, 8, "a"}}, []string{"1 0 1 2 false false", "2 1 2 2 true true", "3 2 3 6 true true"}},
		{"not all that it calls", []step{{0, 10, "a"}, {1, 4, "a"}, {5, 6, "b"}}, []string{"1 0 1 6 false false", "2 1 2 3 false true", "3 1 2 1 false false"}},
		{"an API call beside it", []step{{0, 10, "a"}, {1, 4, "a"}, {5, 6, "api"}}, []string{"1 0 1 6 false false", "2 1 2 3 false true"}},
		{"API calls in each other", []step{{0, 100, "a"}, {10, 70, "api"}, {20, 60, "api"}, {65, 80, "api"}, {90, 90, "api"}}, []string{"1 0 1 30 false false"}},
		{"an API call that outlasts the inner call", []step{{0, 100, "a"}, {10, 20, "b"}, {15, 30, "api"}}, []string{"1 0 1 75 false false", "2 1 2 10 false false"}},
		{"an empty call where another ends", []step{{0, 10, "a"}, {10, 10, "b"}}, []string{"1 0 1 10 false false", "2 0 1 0 false false"}},
	} {
		names := []string{}
		got := map[int32]string{}
		s := Sweep[int]{Emit: func(c *Call[int]) error {
			if _, twice := got[c.ID]; twice {
				t.Errorf("%s: call %d came twice", c.name(), c.ID)
			}
			got[c.ID] = fmt.Sprint(c.ID, c.Parent, c.Depth, c.SelfCPU(), c.Folded, c.Nested)
			return nil
		}}
		for _, st := range c.steps {
			if st.what == "api" {
				if call, err := s.Holding(st.start, st.end); err != nil || call == nil {
					t.Fatalf("%s: %v %v", c.name, call, err)
				} else {
					call.AddAPI(st.start, st.end)
				}
				continue
			}
			k := slices.Index(names, st.what)
			if k < 0 {
				k, names = len(names), append(names, st.what)
			}
			if _, err := s.Push(Call[int]{Start: st.start, End: st.end, Name: int32(k)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.End(); err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if got[int32(i+1)] != want {
				t.Errorf("%s: call %d is %q, want %q", c.name, i+1, got[int32(i+1)], want)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %d calls came out, of %d", c.name, len(got), len(c.want))
		}
	}
}

func (c *Call[Of]) name() string { return fmt.Sprint("name ", c.Name) }

// TestHolding: both ends of a call belong to it, and the innermost call that holds all of an interval is meant.
func TestHolding(t *testing.T) {
	s := Sweep[int]{Emit: func(*Call[int]) error { return nil }}
	for _, c := range []Call[int]{{Start: 0, End: 100, Name: 1}, {Start: 10, End: 50, Name: 2}} {
		if _, err := s.Push(c); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		start, end int64
		want       int32 // ID, 0 none
	}{{10, 10, 2}, {20, 60, 1}, {50, 50, 2}, {51, 51, 1}, {100, 100, 1}, {100, 101, 0}, {101, 101, 0}} {
		call, err := s.Holding(c.start, c.end)
		got := int32(0)
		if call != nil {
			got = call.ID
		}
		if err != nil || got != c.want {
			t.Errorf("%d to %d is held by %d, want %d (%v)", c.start, c.end, got, c.want, err)
		}
	}
}

// TestStream: what is emitted arrives whole and in order, an error of the making is the taker's, and stopping ends the making.
func TestStream(t *testing.T) {
	const n = 5*pieceSize + 77
	made := newStream(func(emit func(*Call[Op]) error) error {
		for i := range int64(n) {
			if err := emit(&Call[Op]{Start: i}); err != nil {
				return err
			}
		}
		return nil
	})
	next := int64(0)
	for {
		piece, err := made.next()
		if err != nil {
			t.Fatal(err)
		}
		if len(piece) == 0 {
			break
		}
		for i := range piece {
			if piece[i].Start != next {
				t.Fatalf("call %d came in place of %d", piece[i].Start, next)
			}
			next++
		}
		made.giveBack(piece)
	}
	if made.stop(); next != n {
		t.Errorf("%d calls came, of %d", next, n)
	}
	cause := errors.New("the cause")
	failing := newStream(func(emit func(*Call[Op]) error) error { return cause })
	if _, err := failing.next(); !errors.Is(err, cause) {
		t.Errorf("the error is %v", err)
	}
	failing.stop()
	ended := make(chan error, 1)
	endless := newStream(func(emit func(*Call[Op]) error) error {
		for {
			if err := emit(&Call[Op]{End: math.MaxInt64}); err != nil {
				ended <- err
				return err
			}
		}
	})
	if _, err := endless.next(); err != nil {
		t.Fatal(err)
	}
	endless.stop()
	select {
	case err := <-ended:
		if !errors.Is(err, errStopped) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
	newStream(func(func(*Call[Op]) error) error { t.Error("it began"); return nil }).stop()
}
