package ask

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// TestTimelineKept holds that a commit of another run, or of a tag, leaves the index of a timeline, that a source added to its run or another stage makes it anew, and that what the kept
// index says of the new edition is what a new one says.
func TestTimelineKept(t *testing.T) {
	t.Parallel()
	home := schema.Home{Dir: t.TempDir()}
	write := func(do func(w *schema.Warehouse) error) {
		t.Helper()
		w, err := schema.Open(t.Context(), home, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := do(w); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	store := func(run string, isAdded bool, path string, facts derive.Facts) {
		t.Helper()
		write(func(w *schema.Warehouse) error {
			w.Facts = facts
			_, err := ingest.Run(t.Context(), w, []string{path}, ingest.Options{Name: run, Now: time.Now(), ProfVersion: "test", Add: isAdded, Load: load.Options{Threads: 2}})
			return err
		})
	}
	testkit.CopyHome(t, home.Dir, testkit.Run{Name: "a", Files: []string{"ranks/rank0.trace.json.gz"}})
	live, err := schema.OpenLive(t.Context(), home, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}, Sandbox: true, MemoryLimit: "1GB"})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	kept, last := newTimelines(onePlace()), (*schema.Edition)(nil)
	// get returns the index of a in the edition of the last commit, and holds that it says what a new one does.
	get := func() *queries.Timeline {
		t.Helper()
		if err := live.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		e, done := live.Use()
		defer done()
		if e == last {
			t.Fatal("no new edition came")
		}
		last = e
		of, err := (&Asker{busy: make(chan struct{}, 1)}).subject(t.Context(), e, "a")
		if err != nil {
			t.Fatal(err)
		}
		index, err := kept.get(t.Context(), e.Warehouse, of, "")
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := newTimelines(onePlace()).get(t.Context(), e.Warehouse, of, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := said(t, e.Warehouse, index), said(t, e.Warehouse, fresh); got != want {
			t.Errorf("the kept index says %.200s, a new one %.200s", got, want)
		}
		return index
	}
	first := get()
	store("b", false, testkit.Path("ranks/rank1.trace.json.gz"), derive.Facts{Only: []string{}})
	if get() != first {
		t.Error("another run made the index anew")
	}
	write(func(w *schema.Warehouse) error {
		r, err := w.Resolve(t.Context(), "a")
		if err != nil {
			return err
		}
		return w.Tag(t.Context(), r, [2]string{"k", "v"})
	})
	if get() != first {
		t.Error("a tag made the index anew")
	}
	store("a", true, testkit.Path("torch/graph.trace.json.gz"), derive.Facts{})
	second := get()
	if second == first {
		t.Error("a source was added, and the index stayed")
	}
	write(func(w *schema.Warehouse) error {
		_, err := w.DB.ExecContext(context.Background(), `UPDATE path_stage SET is_warmup = NOT is_warmup`)
		return err
	})
	if get() == second {
		t.Error("stages changed, and the index stayed")
	}
}

// said is what an index says of its whole timeline.
func said(t *testing.T, w *schema.Warehouse, index *queries.Timeline) string {
	t.Helper()
	about := index.About()
	window, err := index.Window(t.Context(), w, queries.TimelineAsked{FromNs: about.BeginNs, ToNs: about.EndNs + 1, Bins: 64})
	if err != nil {
		t.Fatal(err)
	}
	return text(t, about) + text(t, window)
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTurn leaves the places to other questions while those about timelines wait for an index that is made.
func TestTurn(t *testing.T) { synctest.Test(t, testTurn) }

func testTurn(t *testing.T) {
	busy := make(chan struct{}, 2)
	k := newTimelines(busy)
	k.turn <- struct{}{} // an index is made
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for range 5 {
		go func() {
			busy <- struct{}{}
			err := k.takeTurn(ctx)
			<-busy
			if err == nil {
				<-k.turn
			}
			ended <- err
		}()
	}
	synctest.Wait()
	if len(busy) > 0 {
		t.Fatal("those who wait keep the places")
	}
	for range cap(busy) {
		busy <- struct{}{}
	}
	cancel() // some give up, which needs a place
	<-busy
	<-busy
	for range 5 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	go func() {
		busy <- struct{}{}
		err := k.takeTurn(t.Context())
		<-busy
		ended <- err
	}()
	<-k.turn
	if err := <-ended; err != nil || len(k.turn) != 1 || len(busy) != 0 {
		t.Errorf("at last: %v, turn %d, places %d", err, len(k.turn), len(busy))
	}
}

// onePlace are the places of an Asker, of which the test has one.
func onePlace() chan struct{} {
	places := make(chan struct{}, 1)
	places <- struct{}{}
	return places
}
