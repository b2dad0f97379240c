package render

import (
	"strings"
	"testing"
)

// TestRecords holds that NULL is no number, and that a column which was not asked for never reads as another.
func TestRecords(t *testing.T) {
	f := frameOf("q", "name calls total_ns share_ratio", []any{"a", int64(3), nil, 0.5})
	if _, err := recordsOf(f, "name", "other"); err == nil || err.Error() != "render q: it has no column other" {
		t.Errorf("a column that is not there: %v", err)
	}
	rows, err := recordsOf(f, "name", "total_ns", "share_ratio")
	if err != nil {
		t.Fatal(err)
	}
	if _, known := rows[0].float("total_ns"); known || rows[0].value("total_ns") != nil {
		t.Error("NULL is a number")
	}
	if share, known := rows[0].float("share_ratio"); !known || share != 0.5 {
		t.Errorf("the share is %v", share)
	}
	defer func() {
		if said, _ := recover().(string); !strings.Contains(said, "calls") {
			t.Errorf("reading a column that was not asked for says %q", said)
		}
	}()
	rows[0].int("calls")
}
