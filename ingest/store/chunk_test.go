package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/duckdb/duckdb-go/v2"

	"prof/ingest/load"
	"prof/ingest/rows"
)

const testRun = "01890a5d-ac96-774b-bcce-b302099a8057"

// newTarget returns a target on a database in memory with one table of every type a worker fills.
func newTarget(t *testing.T) *Store {
	t.Helper()
	c, err := duckdb.NewConnector("", func(driver.ExecerContext) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	target, err := New(conn, testRun, &load.Run{}, load.Options{Threads: 4})
	if err != nil {
		t.Fatal(err)
	}
	target.SourceID = 3
	for _, q := range []string{"SET threads = 4", "SET preserve_insertion_order = false",
		"CREATE TABLE cell (run_id UUID NOT NULL, source_id INTEGER NOT NULL, i BIGINT, other VARCHAR, k INTEGER, d DOUBLE, s VARCHAR, late BIGINT)"} {
		if err := target.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	return target
}

// cells are rows whose values follow from their number.
type cells struct {
	n       int64
	size    int                     // rows of a chunk
	unsized bool                    // Estimate does not know n
	next    atomic.Int64            // first row not yet taken
	fail    func(first int64) error // called before each chunk
	mu      sync.Mutex
	workers int
}

func (r *cells) Columns() []rows.Column {
	return []rows.Column{{Name: "i", Type: rows.BigInt}, {Name: "k", Type: rows.Integer}, {Name: "d", Type: rows.Double}, {Name: "s", Type: rows.Varchar}}
}
func (r *cells) Estimate() int64 {
	if r.unsized {
		return -1
	}
	return r.n
}
func (r *cells) Worker() rows.Worker {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers++
	return &cellWorker{r}
}

type cellWorker struct{ *cells }

func cellText(i int64) string {
	switch i % 11 {
	case 0:
		return ""
	case 1:
		return "exactly 12 b"
	case 2:
		return "thirteen byte"
	case 3:
		return fmt.Sprintf("ünïcode %d", i)
	case 4:
		return strings.Repeat("long ", 2000) + fmt.Sprint(i)
	case 5:
		return "a\x00b"
	}
	return fmt.Sprint("s", i)
}

func cellDouble(i int64) float64 {
	return []float64{math.Inf(1), math.Inf(-1), 0, -1.5, math.MaxFloat64, math.SmallestNonzeroFloat64, float64(i) / 3}[i%7]
}

func cellInt(i int64) int64 { return []int64{math.MinInt64, math.MaxInt64, -i, i}[i%4] }
func cellInt32(i int64) int32 {
	return []int32{math.MinInt32, math.MaxInt32, int32(-i), int32(i)}[i%4]
}

func (w *cellWorker) Fill(c *rows.Chunk) (int, error) {
	first := w.next.Add(int64(w.size)) - int64(w.size)
	if w.fail != nil {
		if err := w.fail(first); err != nil {
			return 0, err
		}
	}
	n := int(min(int64(w.size), w.n-first))
	for r := range max(n, 0) {
		i := first + int64(r)
		c.Int64(0)[r], c.Int32(1)[r], c.Float64(2)[r] = cellInt(i), cellInt32(i), cellDouble(i)
		c.SetText(3, r, cellText(i))
		for col := range 4 {
			if i%13 == int64(col) || i%17 == 0 {
				c.SetNull(col, r)
			}
		}
	}
	if first/int64(w.size)%29 == 28 && n > 0 {
		c.SetAllNull(1, n)
	}
	return max(n, 0), nil
}

// TestRawChunk sends every type through DuckDB and back. It fails on a driver that keeps its chunks in another way than
// rawChunk takes them.
func TestRawChunk(t *testing.T) {
	if c := (*rows.Chunk)(nil).Cap(); c != 2048 {
		t.Fatalf("a chunk holds %d rows", c)
	}
	target := newTarget(t)
	for _, c := range []struct {
		rows int64
		size int
	}{{0, 2048}, {1, 2048}, {63, 64}, {2048, 2048}, {2049, 2048}, {4*2048 + 77, 2048}, {20_000, 1000}, {300, 1}} {
		for _, gather := range []bool{false, true} {
			if err := target.Exec(t.Context(), "DELETE FROM cell"); err != nil {
				t.Fatal(err)
			}
			from := &cells{n: c.rows, size: c.size, unsized: true}
			target.Gather(gather)
			n, err := target.Insert(t.Context(), "cell", from)
			if err != nil || n != c.rows {
				t.Fatalf("%d rows in chunks of %d, gathered %v: %d stored, %v", c.rows, c.size, gather, n, err)
			}
			if gather && n > 0 && n <= fewRows {
				checkCells(t, target, &cells{size: 1})
			}
			if err := target.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			checkCells(t, target, from)
		}
	}
}

// TestGather: rows of several sources are stored together, whole rows too, and early where they are many.
func TestGather(t *testing.T) {
	target := newTarget(t)
	counts := func() (text string) {
		t.Helper()
		if err := target.conn.QueryRowContext(t.Context(), `SELECT coalesce(string_agg(format('{} {} {}', source_id, n, kept), ', ' ORDER BY source_id), '') FROM
			(SELECT source_id, count(*) AS n, count(*) FILTER (s = 'kept') AS kept FROM cell GROUP BY source_id)`).Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	target.Gather(true)
	for source := range 3 {
		target.SourceID = source + 1
		if n, err := target.Insert(t.Context(), "cell", &cells{n: int64(100 * source), size: 64}); err != nil || n != int64(100*source) {
			t.Fatal(n, err)
		}
		row := []any{testRun, int32(target.SourceID), int64(1), nil, nil, nil, "kept", nil}
		if n, err := target.Append(t.Context(), "cell", func(add rows.Add) error {
			defer func() { row[6] = "a reader may use its row again" }()
			return add(row...)
		}); err != nil || n != 1 {
			t.Fatal(n, err)
		}
	}
	if got := counts(); got != "" {
		t.Errorf("stored before Flush: %s", got)
	}
	for range 2 {
		if err := target.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := counts(), "1 1 1, 2 101 1, 3 201 1"; got != want {
			t.Errorf("stored %s, not %s", got, want)
		}
	}
	target.SourceID = 4
	for range 4 { // the texts of three are more than may wait
		if _, err := target.Insert(t.Context(), "cell", &cells{n: fewRows, size: 2048}); err != nil {
			t.Fatal(err)
		}
	}
	target.SourceID = 5
	if _, err := target.Append(t.Context(), "cell", func(add rows.Add) error {
		for range manyRows + 1 {
			if err := add(testRun, int32(5), int64(1), nil, nil, nil, "", nil); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got, want := counts(), fmt.Sprintf("1 1 1, 2 101 1, 3 201 1, 4 %d 0, 5 %d 0", 3*fewRows, manyRows); got != want {
		t.Errorf("stored %s, not %s", got, want)
	}
}

// checkCells compares the table with what the worker wrote. Rows come back in no order, so they are compared as multisets of texts.
func checkCells(t *testing.T, target *Store, rows *cells) {
	t.Helper()
	want := map[string]int{}
	for i := range rows.n {
		v := []any{cellInt(i), cellInt32(i), cellDouble(i), cellText(i)}
		for col := range v {
			if i%13 == int64(col) || i%17 == 0 {
				v[col] = nil
			}
		}
		if i/int64(rows.size)%29 == 28 {
			v[1] = nil
		}
		want[fmt.Sprint(v...)]++
	}
	got, err := target.conn.QueryContext(t.Context(), "SELECT run_id::VARCHAR, source_id, other, late, i, k, d, s FROM cell")
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	var count int64
	for got.Next() {
		var run string
		var source int
		var other, late any
		v := make([]any, 4)
		if err := got.Scan(&run, &source, &other, &late, &v[0], &v[1], &v[2], &v[3]); err != nil {
			t.Fatal(err)
		}
		if run != testRun || source != 3 || other != nil || late != nil {
			t.Fatal(run, source, other, late)
		}
		key := fmt.Sprint(v...)
		if want[key]--; want[key] < 0 {
			t.Fatalf("%.200q was not written", key)
		}
		count++
	}
	if err := got.Err(); err != nil || count != rows.n {
		t.Fatalf("%d rows came back of %d: %v", count, rows.n, err)
	}
}

// TestWorkerFaults: what goes wrong in a worker is the error of Insert, and the connection goes on.
func TestWorkerFaults(t *testing.T) {
	target := newTarget(t)
	cause := errors.New("the cause")
	for _, c := range []struct {
		name string
		fail func(first int64) error
		want string
	}{
		{"an error at once", func(int64) error { return cause }, "the cause"},
		{"an error later", func(first int64) error {
			if first > 20*2048 {
				return fmt.Errorf("at row %d: %w", first, cause)
			}
			return nil
		}, "the cause"},
		{"a panic", func(first int64) error {
			if first > 2048 {
				panic("out of range")
			}
			return nil
		}, "internal error while reading: out of range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := target.Exec(t.Context(), "BEGIN"); err != nil {
				t.Fatal(err)
			}
			for _, gather := range []bool{false, true} {
				target.Gather(gather)
				_, err := target.Insert(t.Context(), "cell", &cells{n: 100 * 2048, size: 2048, fail: c.fail, unsized: true})
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(c.want, "cause") && !errors.Is(err, cause) {
					t.Fatalf("gathered %v: the error is %v", gather, err)
				}
				target.Gather(false)
				if err := target.Exec(t.Context(), "ROLLBACK"); err != nil {
					t.Fatal(err)
				}
				if err := target.Exec(t.Context(), "BEGIN"); err != nil {
					t.Fatal(err)
				}
			}
			if err := target.Exec(t.Context(), "ROLLBACK"); err != nil {
				t.Fatal(err)
			}
			n, err := target.Insert(t.Context(), "cell", &cells{n: 10, size: 2048})
			if err != nil || n != 10 {
				t.Fatal(n, err)
			}
			checkEmpty(t, target, 10)
		})
	}
	if len(target.held) > 0 {
		t.Errorf("%d sources of rows are still held", len(target.held))
	}
}

func checkEmpty(t *testing.T, target *Store, want int64) {
	t.Helper()
	var n int64
	if err := target.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM cell").Scan(&n); err != nil || n != want {
		t.Fatalf("%d rows, want %d: %v", n, want, err)
	}
	if err := target.Exec(t.Context(), "DELETE FROM cell"); err != nil {
		t.Fatal(err)
	}
}

// TestCancelledInsert: a context that ends stops the workers.
func TestCancelledInsert(t *testing.T) {
	target := newTarget(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := target.Insert(ctx, "cell", &cells{n: 1 << 40, size: 64, fail: func(first int64) error {
		if first > 50*64 {
			cancel()
		}
		return nil
	}})
	if err == nil {
		t.Fatal("it ended without an error")
	}
	checkEmpty(t, target, 0)
}

func TestInsertErrors(t *testing.T) {
	target := newTarget(t)
	if _, err := target.Insert(t.Context(), "absent", &cells{n: 1, size: 1}); err == nil || !strings.Contains(err.Error(), "store absent") {
		t.Error(err)
	}
	if _, err := target.Append(t.Context(), "absent", func(rows.Add) error { return nil }); err == nil || !strings.Contains(err.Error(), "store absent") {
		t.Error(err)
	}
	cause := errors.New("the cause")
	if _, err := target.Append(t.Context(), "cell", func(rows.Add) error { return cause }); !errors.Is(err, cause) {
		t.Error(err)
	}
	n, err := target.Append(t.Context(), "cell", func(add rows.Add) error {
		for i := range int64(5000) {
			if err := add(testRun, int32(1), i, nil, int32(i), float64(i), "text", nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || n != 5000 {
		t.Error(n, err)
	}
	checkEmpty(t, target, 5000)
}

// Exec runs a statement on the target's connection.
func (t *Store) Exec(ctx context.Context, query string) error {
	_, err := t.conn.ExecContext(ctx, query)
	return err
}
