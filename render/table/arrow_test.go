package table_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"prof/queries/frame"
	"prof/render/table"
	"prof/render/typeset"
)

// arrowFrame has every type, with NULL in each column, in so many rows, all but the first two of which come from Rest.
func arrowFrame(rows int) *frame.Frame {
	row := func(i int) []any {
		if i%3 == 2 {
			return []any{nil, nil, nil, nil}
		}
		return []any{strings.Repeat("é", i%5), int64(i) + math.MaxInt64/2, float64(i) / 7, i%2 == 0}
	}
	n := 2
	return &frame.Frame{
		Query: "some", Version: 3, Notes: []string{"one", "two"},
		Columns: []frame.Column{{Name: "name", Type: frame.Text}, {Name: "total_ns", Type: frame.Int, Unit: frame.Ns, Doc: "sum of times"}, {Name: "share_ratio", Type: frame.Float, Unit: frame.Ratio}, {Name: "is_x", Type: frame.Bool}},
		Rows:    [][]any{row(0), row(1)},
		Rest: func() ([]any, error) {
			if n == rows {
				return nil, nil
			}
			n++
			return row(n - 1), nil
		},
	}
}

// TestArrow reads an Arrow file back, cell by cell.
func TestArrow(t *testing.T) {
	t.Parallel()
	const rows = 1<<16 + 5
	var out bytes.Buffer
	if err := table.Arrow(&out, arrowFrame(rows), typeset.Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewFileReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	about := r.Schema().Metadata().ToMap()
	field := r.Schema().Field(1)
	if unit, _ := field.Metadata.GetValue("unit"); about["prof_query"] != "some.v3" || about["prof_notes"] != "one\ntwo" || unit != "ns" || !strings.Contains(field.Metadata.String(), "sum of times") {
		t.Errorf("metadata %v, of a field %v", about, field)
	}
	want := [][]any{}
	if err := arrowFrame(rows).Each(func(row []any) error { want = append(want, row); return nil }); err != nil {
		t.Fatal(err)
	}
	at := 0
	for i := range r.NumRecords() {
		batch, err := r.RecordBatch(i)
		if err != nil {
			t.Fatal(err)
		}
		for row := range int(batch.NumRows()) {
			for c := range int(batch.NumCols()) {
				if got := arrowValue(batch.Column(c), row); got != want[at][c] {
					t.Fatalf("row %d, column %d: %v, want %v", at, c, got, want[at][c])
				}
			}
			at++
		}
	}
	if at != rows || r.NumRecords() != 2 {
		t.Errorf("%d rows in %d batches, want %d in 2", at, r.NumRecords(), rows)
	}
}

func arrowValue(of any, row int) any {
	switch c := of.(type) {
	case *array.String:
		if !c.IsNull(row) {
			return c.Value(row)
		}
	case *array.Int64:
		if !c.IsNull(row) {
			return c.Value(row)
		}
	case *array.Float64:
		if !c.IsNull(row) {
			return c.Value(row)
		}
	case *array.Boolean:
		if !c.IsNull(row) {
			return c.Value(row)
		}
	default:
		return of
	}
	return nil
}

// TestArrowWithoutRows writes what a reader takes for an answer without rows.
func TestArrowWithoutRows(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	f := &frame.Frame{Query: "none", Columns: []frame.Column{{Name: "name", Type: frame.Text}}}
	if err := table.Arrow(&out, f, typeset.Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewFileReader(bytes.NewReader(out.Bytes()))
	if err != nil || r.Schema().NumFields() != 1 {
		t.Fatalf("%v, %v", r, err)
	}
	if batch, err := r.RecordBatch(0); err != nil || batch.NumRows() != 0 {
		t.Errorf("%v, %v", batch, err)
	}
}
