package frame_test

import (
	"fmt"
	"math"
	"testing"

	"prof/queries/frame"
)

type place struct {
	Stage string `col:"stage"`
}

type made struct {
	place
	Calls int64    `col:"calls"`
	Share *float64 `col:"share_ratio"`
	Warm  *bool    `col:"is_warmup"`
	Total float64  `col:"total_ns"`
	Bound string   `col:"bound,optional"`
	Sum   float64  // no column
}

var madeRows = frame.RowsOf[made]("q")

func madeFrame(rows ...[]any) *frame.Frame {
	return &frame.Frame{Query: "q", Rows: rows, Columns: []frame.Column{{Name: "stage"}, {Name: "calls", Type: frame.Int}, {Name: "share_ratio", Type: frame.Float, Doc: "a share; NULL when unknown"},
		{Name: "is_warmup", Type: frame.Bool}, {Name: "total_ns", Type: frame.Int}}}
}

// TestRows checks that NULL is no number, that an option's column may be missing, and that any other mismatch is named.
func TestRows(t *testing.T) {
	list, err := madeRows.Of(madeFrame([]any{"a", int64(3), nil, true, int64(7)}, []any{nil, int64(0), math.Inf(1), nil, int64(8)}))
	if err != nil {
		t.Fatal(err)
	}
	if x := list[0]; x.Stage != "a" || x.Calls != 3 || x.Share != nil || !*x.Warm || x.Total != 7 || x.Bound != "" {
		t.Errorf("the first row is %+v", x)
	}
	if x := list[1]; x.Stage != "" || !math.IsInf(*x.Share, 1) || frame.Or(x.Warm, false) {
		t.Errorf("the second row is %+v", x)
	}
	if none, err := madeRows.Of(nil); none != nil || err != nil {
		t.Errorf("an answer that was not asked for: %v, %v", none, err)
	}
	lacks, other := madeFrame(), madeFrame()
	lacks.Columns[1].Name, other.Columns[1].Type = "calles", frame.Float
	for want, err := range map[string]error{
		"query q: no column calls":                          second(madeRows.Of(lacks)),
		"query q: column calls does not hold whole numbers": second(madeRows.Of(other)),
		"query q: column calls is NULL":                     second(madeRows.Of(madeFrame([]any{"a", nil, nil, nil, int64(1)}))),
		"query q: column total_ns is NULL":                  second(madeRows.Of(madeFrame([]any{"b", int64(1), nil, nil, nil}))),
	} {
		if err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func second[T any](_ T, err error) error {
	if err == nil {
		return fmt.Errorf("no error")
	}
	return err
}

// TestDeclarations checks what a declaration holds a type to.
func TestDeclarations(t *testing.T) {
	var d frame.Declaration
	for _, x := range frame.Declarations() {
		if x.Query == "q" {
			d = x
		}
	}
	with := func() *frame.Frame {
		f := madeFrame()
		f.Columns = append(f.Columns, frame.Column{Name: "bound"})
		return f
	}
	if err := d.Check(with(), madeFrame()); err != nil {
		t.Error(err)
	}
	if d.Check(with(), with()) == nil {
		t.Error("a column that is always there is optional")
	}
	unknown := with()
	unknown.Columns[1].Doc = "NULL when unknown"
	if d.Check(unknown, madeFrame()) == nil {
		t.Error("a column that can be NULL is read into a number")
	}
	for _, change := range []func(*frame.Column){func(c *frame.Column) { c.Name = "other" }, func(c *frame.Column) { c.Type = frame.Bool }} {
		f := with()
		change(&f.Columns[1])
		if d.Check(f, madeFrame()) == nil {
			t.Error("another column is read")
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a type without a column's type is taken")
		}
	}()
	frame.RowsOf[struct {
		X []byte `col:"x"`
	}]("q").Of(madeFrame())
}
