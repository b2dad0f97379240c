package ask_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"prof/ingest/derive"
	"prof/internal/serve/ask"
	"prof/internal/serve/places"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/judge/diff"
	"prof/schema"
)

// TestDimensions: a page can compare by all that the command can.
func TestDimensions(t *testing.T) {
	field, _ := reflect.TypeFor[ask.Difference]().FieldByName("By")
	var want []string
	for _, d := range diff.Dimensions {
		want = append(want, string(d))
	}
	if got := field.Tag.Get("enum"); got != strings.Join(want, ",") {
		t.Errorf("by is one of %s, want %s", got, strings.Join(want, ","))
	}
}

// TestGreedy: statements of a client that do not end keep neither its other questions nor the statements of another waiting.
func TestGreedy(t *testing.T) {
	t.Parallel()
	home := schema.Home{Dir: t.TempDir()}
	testkit.CopyHome(t, home.Dir)
	live, err := schema.OpenLive(t.Context(), home, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}, Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	begun := make(chan struct{}, 100)
	a := ask.New(live, nil, func(ctx context.Context, w *schema.Warehouse, s ask.Statement, out *bytes.Buffer) error {
		if s.SQL != "endless" {
			return ask.RunStatement(ctx, w, s, out)
		}
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	ctx, cancel := context.WithCancel(places.WithClient(t.Context(), "greedy"))
	var left sync.WaitGroup
	for range 40 {
		left.Go(func() { _, _ = a.SQL(ctx, "endless", 10, "json") })
	}
	<-begun
	short, end := context.WithTimeout(places.WithClient(t.Context(), "other"), 20*time.Second)
	defer end()
	if got, err := a.SQL(short, "SELECT 42 AS x", 10, "json"); err != nil || !strings.Contains(string(got.Body), "42") {
		t.Errorf("a statement of another: %s %v", got.Body, err)
	}
	if _, err := a.Relations(short); err != nil {
		t.Errorf("another question: %v", err)
	}
	cancel()
	left.Wait()
	if n := len(begun) + 1; n > max(1, runtime.GOMAXPROCS(0)/2) {
		t.Errorf("%d statements of one client ran", n)
	}
}

// TestAsker asks of a warehouse what takes too much, and what becomes of it names no folder of this machine.
func TestAsker(t *testing.T) {
	home := schema.Home{Dir: t.TempDir()}
	o := schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}, Sandbox: true}
	testkit.CopyHome(t, home.Dir)
	live, err := schema.OpenLive(t.Context(), home, o)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	a := ask.New(live, nil, ask.RunStatement)
	for _, text := range []string{"SELECT repeat('x', 20000000)", "SELECT repeat('x', 20000000) FROM range(2)", "SELECT repeat('x', n) FROM (VALUES (1), (20000000)) v(n)"} {
		if got, err := a.SQL(t.Context(), text, 10, "json"); !errors.Is(err, ask.ErrInvalid) || !strings.Contains(err.Error(), "16 MB") {
			t.Errorf("%s: %d bytes, %v", text, len(got.Body), err)
		}
	}
	if got, err := a.SQL(t.Context(), "SELECT repeat('x', 9000000) FROM range(9)", 10, "json"); err != nil || !strings.Contains(string(got.Body), `"is_cut":true`) {
		t.Errorf("of long rows: %d bytes, %v", len(got.Body), err)
	}
	once, err := a.SQL(t.Context(), "SELECT random() AS x", 10, "json")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := a.SQL(t.Context(), "SELECT random() AS x", 10, "json"); err != nil || string(again.Body) == string(once.Body) || again.Tag == once.Tag {
		t.Errorf("chance gives the same again: %s, %v", again.Body, err)
	}
	if err := os.Remove(home.Warehouse()); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); a.Problem() == ""; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing says that the warehouse has gone")
		}
	}
	if got := a.Problem(); strings.Contains(got, home.Dir) || !strings.Contains(got, "$PROF_HOME") {
		t.Errorf("the problem names a folder: %s", got)
	}
}
