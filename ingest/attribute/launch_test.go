package attribute

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

type launchKey struct{ proc, id int64 }

// randomIDs makes keys of one kind: sparse, dense, negative, huge, or all.
func randomIDs(random *rand.Rand) []launchKey {
	var out []launchKey
	bases := []int64{0, -5000, 1 << 62, -1 << 63, 1<<63 - 4096, 1023, 1 << 32}
	kind := random.IntN(4)
	for range 1 + random.IntN(400) {
		id := bases[random.IntN(len(bases))]
		switch kind {
		case 0:
			id = random.Int64() >> random.IntN(63)
		case 1:
			id = random.Int64N(500)
		case 2:
			id = -random.Int64N(1 << 40)
		default:
			id += random.Int64N(4000)
		}
		out = append(out, launchKey{[]int64{0, 1, 5, -3, 1<<39 - 1}[random.IntN(5)], id})
	}
	return out
}

// TestLaunchSet compares sets made in several parts and merged with a map: each id in the set has a row of its own, all rows
// are in use, and no other id has one.
func TestLaunchSet(t *testing.T) {
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 3))
		keys := randomIDs(random)
		parts := make([]*Wanted, 1+random.IntN(4))
		for i := range parts {
			parts[i] = NewWanted(nil)
		}
		oracle := map[launchKey]bool{}
		for _, k := range keys {
			oracle[k] = true
			parts[random.IntN(len(parts))].Adder().Add(k.proc, k.id)
			parts[random.IntN(len(parts))].Adder().Add(k.proc, k.id) // some in several parts
		}
		all := NewWanted(nil)
		for _, p := range parts {
			all.Merge(p)
		}
		l := NewLaunches(all, nil)
		if len(l.rows) != len(oracle) {
			t.Fatalf("seed %d: %d rows for %d ids", seed, len(l.rows), len(oracle))
		}
		f := l.Finder()
		seen := map[int32]launchKey{}
		for range 2 { // the second time finds what the first did
			random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			for _, k := range keys {
				r := f.Row(k.proc, k.id)
				if old, known := seen[r]; r < 0 || int(r) >= len(l.rows) || known && old != k {
					t.Fatalf("seed %d: %v has row %d, which is %v's", seed, k, r, old)
				}
				seen[r] = k
				for _, near := range []launchKey{{k.proc, k.id + 1}, {k.proc, k.id - 1}, {k.proc, k.id ^ 1<<10}, {k.proc + 1, k.id}, {99, k.id}} {
					if got := f.Row(near.proc, near.id); got >= 0 != oracle[near] {
						t.Fatalf("seed %d: %v has row %d", seed, near, got)
					}
				}
			}
		}
		if len(seen) != len(oracle) {
			t.Fatalf("seed %d: %d rows found of %d", seed, len(seen), len(oracle))
		}
	}
}

// TestRepeatedLaunches: of several calls of one id the one that began first wins, then the longer, whatever the order and
// however many goroutines bring them.
func TestRepeatedLaunches(t *testing.T) {
	type call struct {
		Launch
		duration int64
	}
	calls := []call{
		{Launch{Start: 50, Thread: 1, Name: 1}, 10},
		{Launch{Start: 40, Thread: 2, Name: 2}, 5},
		{Launch{Start: 40, Thread: 2, Name: 3}, 6_000_000_000}, // longer than 32 bits hold
		{Launch{Start: 40, Thread: 2, Name: 4}, 6_000_000_000},
		{Launch{Start: 60, Thread: 1, Name: 5}, 7_000_000_000},
		{Launch{Start: 40, Thread: 3, Name: 1}, 6_000_000_000},
	}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 4))
		ids := NewWanted(nil)
		ids.Adder().Add(1, 7)
		ids.Adder().Add(1, 8)
		l := NewLaunches(ids, nil)
		for n := range int64(4) { // threads are numbered as they come
			l.Threads.Of(n)
		}
		order := random.Perm(len(calls))
		var wg sync.WaitGroup
		for part := range slices.Chunk(order, 2) {
			put := func() {
				for _, i := range part {
					l.Put(l.Finder().Row(1, 7), calls[i].Launch, calls[i].duration)
				}
			}
			if seed%2 == 0 {
				wg.Go(put)
			} else {
				put()
			}
		}
		wg.Wait()
		l.Settle()
		row := l.Finder().Row(1, 7)
		got, ok := l.Get(row)
		if !ok || got.Name != 3 || got.Thread != 2 || got.Start != 40 || l.DurationOf(row) != 6_000_000_000 {
			t.Fatalf("order %v: %+v lasting %d", order, got, l.DurationOf(row))
		}
		if _, ok := l.Get(l.Finder().Row(1, 8)); ok {
			t.Fatal("an id without a call has one")
		}
		if _, ok := l.Get(-1); ok {
			t.Fatal("no row has a call")
		}
	}
}

func TestLongLaunches(t *testing.T) {
	durations := []int64{0, 1, 4_294_967_294, 4_294_967_295, 4_294_967_296, 5_000_000_000, 1<<63 - 1, -1}
	ids := NewWanted(nil)
	for i := range durations {
		ids.Adder().Add(1, int64(i))
	}
	l := NewLaunches(ids, nil)
	l.Threads.Of(0)
	for i, d := range durations {
		l.Put(l.Finder().Row(1, int64(i)), Launch{Start: int64(i)}, d)
	}
	// A short call in place of a long one, and a long one in place of a short.
	l.Put(l.Finder().Row(1, 5), Launch{Start: 4}, 3)
	l.Put(l.Finder().Row(1, 1), Launch{Start: 0}, 9_000_000_000)
	l.Settle()
	durations[5], durations[1] = 3, 9_000_000_000
	for i, want := range durations {
		if got := l.DurationOf(l.Finder().Row(1, int64(i))); got != want {
			t.Errorf("call %d lasts %d, want %d", i, got, want)
		}
	}
}
