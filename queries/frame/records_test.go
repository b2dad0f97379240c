package frame

import (
	"math"
	"testing"
)

// TestRecords checks that NULL is no number, that a number which cannot be drawn is none either, and that a missing column is named.
func TestRecords(t *testing.T) {
	f := &Frame{Query: "q", Columns: []Column{{Name: "name"}, {Name: "total_ns"}, {Name: "share_ratio"}, {Name: "is_warmup"}},
		Rows: [][]any{{"a", nil, 0.5, true}, {nil, int64(3), math.Inf(1), nil}}}
	if _, err := f.Records("name", "other"); err == nil || err.Error() != "query q: no column other" {
		t.Errorf("a column that is not there: %v", err)
	}
	rows, err := f.Records("name", "total_ns")
	if err != nil {
		t.Fatal(err)
	}
	if _, known := rows[0].Finite("total_ns"); known || rows[0].Number("total_ns") != nil {
		t.Error("NULL is a number")
	}
	if share, known := rows[0].Finite("share_ratio"); !known || share != 0.5 {
		t.Errorf("the share is %v", share)
	}
	if _, known := rows[1].Finite("share_ratio"); known {
		t.Error("infinity can be drawn")
	}
	if !rows[0].Is("is_warmup") || rows[1].Is("is_warmup") {
		t.Error("NULL is set, or true is not")
	}
	f.Rows[1] = f.Rows[1][:2]
	if err := f.Check(); err == nil || err.Error() != "query q: row 2 has 2 values for 4 columns" {
		t.Errorf("a short row: %v", err)
	}
}
