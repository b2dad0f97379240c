package averages

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRead holds the reader to what its callers rely on, whatever the bytes.
func FuzzRead(f *testing.F) {
	for _, v := range variants {
		f.Add([]byte(v.in))
		f.Add([]byte(v.in[:len(v.in)*2/3]))
	}
	for _, in := range []string{small + "       a1       1.500us             2  \n" + small[:38] + "Self CPU time total: 3.000us\n", "# x\n|op_name|self_cpu_us|calls|\n|---|:-:|---|\n|f<A\\|B>|1.5|2|\n"} {
		f.Add([]byte(in))
		f.Add([]byte(in[:len(in)*2/3]))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		Sniff("file", in)
		last := 0
		res, err := read(context.Background(), strings.NewReader(string(in)), "file", func(r *row) error {
			checkRow(t, r)
			if last++; r.number != last {
				t.Errorf("row %d has the number %d", last, r.number)
			}
			return nil
		})
		if (res == nil) != (err != nil) {
			t.Fatalf("%+v, %v", res, err)
		}
		if err == nil && res.rows != last {
			t.Errorf("%d rows: %+v", last, res)
		}
	})
}

func checkRow(t *testing.T, r *row) {
	t.Helper()
	calls := r.amounts[countField]
	if r.name == "" || !utf8.ValidString(r.name) || r.kind != onCPU && r.kind != onDevice || calls == nil || *calls < 0 {
		t.Errorf("%+v", r)
	}
	if r.shapes != nil {
		var sizes []any
		if err := json.Unmarshal([]byte(*r.shapes), &sizes); err != nil {
			t.Errorf("shapes %q: %v", *r.shapes, err)
		}
	}
	for f, a := range r.amounts {
		if a != nil && (*a > 9.2e18 || *a < -9.2e18 || field(f).isTime() && (*a > maxAmount || *a < -maxAmount)) {
			t.Errorf("%+v", r)
		}
	}
}
