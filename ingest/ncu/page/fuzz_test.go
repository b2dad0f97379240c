package page

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"prof/ingest/ncu"
	"testing"
	"unicode/utf8"
)

// FuzzReadCSV holds the reader to what its callers rely on, whatever the bytes.
func FuzzReadCSV(f *testing.F) {
	paths, err := filepath.Glob(pages + "*")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no pages: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Add([]byte("ID,Process ID,Kernel Name,Stream,inst_executed\n,,,,\n0,1,\"a \"\"b\"\", c\",7,12\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		Sniff("page.csv", text)
		results := 0
		info, err := Read(context.Background(), bytes.NewReader(text), "page", func(r *ncu.Result) error {
			results++
			checkResult(t, r)
			return nil
		})
		if (info == nil) != (err != nil) {
			t.Fatalf("%+v, %v", info, err)
		}
		if err != nil {
			return
		}
		if info.Results != results || results > info.Rows || results == 0 && (info.Form == RawForm || info.Form == DetailsForm) {
			t.Errorf("%d results: %+v", results, info)
		}
		if info.Form == FailedForm && len(info.Errors) == 0 {
			t.Errorf("a failure without a reason: %+v", info)
		}
	})
}

func checkResult(t *testing.T, r *ncu.Result) {
	t.Helper()
	if r.ID < 0 || r.Device < -1 || r.Stream < -1 || r.Kind > ncu.Cmdlist || !utf8.ValidString(r.Name) {
		t.Errorf("%+v", r)
	}
	for _, m := range r.Metrics {
		if m.Name == "" || !utf8.ValidString(m.Name) || !utf8.ValidString(m.Text) || !utf8.ValidString(m.Unit) || m.IsText && m.Text == "" {
			t.Errorf("%+v", m)
		}
	}
	for _, g := range r.Findings {
		if math.IsNaN(g.Speedup) || math.IsInf(g.Speedup, 0) || g.Message == "" {
			t.Errorf("%+v", g)
		}
	}
}

// FuzzParseNumber checks that a number is never read twice as large or small by where its digits stand.
func FuzzParseNumber(f *testing.F) {
	for _, s := range []string{"1,234.50", "-0.18", "17,155,260,434,440,068", "1e300", "nan", "9,00"} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, exponent int) {
		exponent %= 16
		base, ok := parseNumber(text, 0, '.')
		scaled, ok2 := parseNumber(text, exponent, '.')
		if ok != ok2 {
			t.Fatalf("%q: %v, %v", text, ok, ok2)
		}
		want := base * math.Pow10(exponent)
		if ok && !math.IsNaN(want) && !math.IsInf(want, 0) && math.Abs(want) > 1e-290 && math.Abs(scaled-want) > math.Abs(want)*1e-14 {
			t.Errorf("%q scaled by %d is %v, want %v", text, exponent, scaled, want)
		}
	})
}

func BenchmarkReadCSV(b *testing.B) {
	for _, pattern := range []string{"kernels-full.raw.csv", "kernels-full.details.csv"} {
		b.Run(pattern, func(b *testing.B) {
			path := sharedPages(b, pattern)[0]
			text, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(context.Background(), bytes.NewReader(text), path, func(*ncu.Result) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
