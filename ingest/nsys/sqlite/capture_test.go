package sqlite

import (
	"bytes"
	"context"
	"os"
	"testing"

	"prof/ingest/nsys/table"
)

// capture opens a real export, unpacked into memory.
func capture(t *testing.T, name string) *File {
	t.Helper()
	path := "../../../../shared/captures/nsys/" + name + "/" + name + ".sqlite"
	data, err := os.ReadFile(path)
	if err != nil {
		data, err = os.ReadFile(path + ".gz")
		if err != nil {
			t.Skipf("the capture is not here: %v", err)
		}
		if data, err = gunzip(data); err != nil {
			t.Fatal(err)
		}
	}
	f, err := New(bytes.NewReader(data), int64(len(data)), name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sums returns the row count and each column's sum: of values modulo 1000003, of text lengths, then the NULLs of all.
func sums(t *testing.T, f *File, name string, w []table.Want) (n int, sum []int64, nulls int) {
	t.Helper()
	s, err := f.Scan(context.Background(), name, w)
	if err != nil {
		t.Fatal(err)
	}
	sum = make([]int64, len(w))
	err = table.Each(s, func(b *table.Batch) error {
		n += b.N
		for c := range b.Cols {
			v := &b.Cols[c]
			for i := range b.N {
				switch {
				case v.Null(i):
					nulls++
				case v.Kind == table.Text:
					sum[c] += int64(len(v.Texts[i]))
				default:
					sum[c] += v.Ints[i] % 1000003
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, sum, nulls
}

// TestCaptures compares with what the sqlite3 shell gives for the same exports.
func TestCaptures(t *testing.T) {
	for _, c := range []struct {
		capture, table string
		wants          []table.Want
		rows, nulls    int
		sums           []int64
	}{
		{"dsocr-sdpa", "CUPTI_ACTIVITY_KIND_KERNEL", kernelWants(),
			59582, 59582, []int64{29556492765, 29569553066, 0, 59582, 417074, 27259487601, 31403467666, 80467444, 75556872, 2860608, 43278651, 10048000, 1399071296, 0}},
		{"llama-graph-node", "CUPTI_ACTIVITY_KIND_KERNEL", kernelWants(),
			88872, 6172, []int64{44274672580, 44289163188, 0, 88872, 676672, 8265270281, 80445779064, 115580692, 111647120, 4445552, 14893343, 17175648, 2140999472, 75193982800}},
		{"dsocr-sdpa", "NVTX_EVENTS", wants("start:i end:i text:t globalTid:i"),
			694, 619, []int64{355464315, 341704639, 947, 366266828}},
		{"dsocr-eager", "CUPTI_ACTIVITY_KIND_RUNTIME", wants("start:i end:i correlationId:i nameId:i callchainId:i"),
			147982, 147982, []int64{74204446627, 74180570817, 68164862185, 183537569, 0}},
		{"kernels", "StringIds", wants("value:t id:i"),
			274, 0, []int64{5499, 37401}},
	} {
		t.Run(c.capture+"/"+c.table, func(t *testing.T) {
			n, got, nulls := sums(t, capture(t, c.capture), c.table, c.wants)
			if n != c.rows || nulls != c.nulls {
				t.Errorf("%d rows with %d NULLs, want %d with %d", n, nulls, c.rows, c.nulls)
			}
			for i := range got {
				if got[i] != c.sums[i] {
					t.Errorf("the sum of %s is %d, want %d", c.wants[i].Name, got[i], c.sums[i])
				}
			}
		})
	}
}

func TestCaptureStrings(t *testing.T) {
	f := capture(t, "dsocr-sdpa")
	if n := len(f.Columns("CUPTI_ACTIVITY_KIND_KERNEL")); n != 28 {
		t.Errorf("%d columns", n)
	}
	if len(f.tables) != 50 {
		t.Errorf("%d tables", len(f.tables))
	}
	total := 0
	for id := range int64(1471) {
		s, ok, err := f.String(id)
		if !ok || err != nil {
			t.Fatal(id, ok, err)
		}
		total += len(s)
	}
	if s, _, _ := f.String(7); total != 102267 || s != "mm_" {
		t.Errorf("%d bytes of strings; string 7 is %q", total, s)
	}
	if _, ok, err := f.String(1471); ok || err != nil {
		t.Error(ok, err)
	}
}
