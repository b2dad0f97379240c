package render

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"prof/queries/frame"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

// painting is one golden file.
type painting struct {
	file  string
	paint func(w io.Writer) error
}

func paintings() []painting {
	var all []painting
	for name, f := range frames() {
		for _, form := range Forms() {
			add := func(suffix string, o Options) {
				all = append(all, painting{name + suffix + "." + form.Name, func(w io.Writer) error { return Frame(w, form.Name, f, o) }})
			}
			add("", Options{})
			if form.Name == "table" {
				for _, width := range []int{60, 80, 120, 200} {
					add(fmt.Sprintf(".%d", width), Options{Width: width})
				}
			}
		}
	}
	color := Options{Width: 80, Color: true}
	all = append(all, painting{"top-kernels.color.table", func(w io.Writer) error { return Table(w, topKernels(), color) }},
		painting{"pairs.color.txt", func(w io.Writer) error { return Pairs(w, "baseline", facts(), color) }})
	for _, width := range []int{0, 30, 80} {
		all = append(all, painting{fmt.Sprintf("pairs.%d.txt", width),
			func(w io.Writer) error { return Pairs(w, "baseline", facts(), Options{Width: width}) }})
	}
	return all
}

func facts() [][2]string {
	return [][2]string{
		{"run", "0193a7b2-7c1e-7d1f-9a51-0f2d3c4b5a69"},
		{"command", "python serve.py --model meta-llama/Llama-3-8B-Instruct --batch 32 --input-len 2048 --dtype bfloat16"},
		{"conservation", "attributed 1,203.4 ms + outside any range 31.1 ms + no launch found 0 = 1,234.5 ms"},
		{"", "of 41,760 kernels"}, {"tag", ""}, {"evil\x1b[2J", hostile},
	}
}

func TestGolden(t *testing.T) {
	used := map[string]bool{}
	for _, p := range paintings() {
		used[p.file] = true
		t.Run(p.file, func(t *testing.T) {
			var got bytes.Buffer
			if err := p.paint(&got); err != nil {
				t.Fatal(err)
			}
			compare(t, filepath.Join("testdata", p.file), got.Bytes())
		})
	}
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !entry.IsDir() && !used[entry.Name()] {
			t.Errorf("testdata/%s belongs to no test", entry.Name())
		}
	}
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update writes it); got:\n%s\nwant:\n%s", file, got, want)
	}
}

func TestPaintingLeavesTheFrameAlone(t *testing.T) {
	for name, f := range frames() {
		for _, form := range Forms() {
			if err := Frame(io.Discard, form.Name, f, Options{Width: 60, Color: true}); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := fmt.Sprintf("%#v", *f), fmt.Sprintf("%#v", *frames()[name]); got != want {
			t.Errorf("%s was changed: got %s, want %s", name, got, want)
		}
	}
}

func TestUnknownForm(t *testing.T) {
	for form, want := range map[string]string{
		"tabel":    `unknown format "tabel": did you mean table? (one of table, md, csv, json)`,
		"markdown": `unknown format "markdown": did you mean md? (one of table, md, csv, json)`,
		"JSON":     `unknown format "JSON": did you mean json? (one of table, md, csv, json)`,
		"parquet":  `unknown format "parquet": use one of table, md, csv, json`,
	} {
		if err := Frame(io.Discard, form, topKernels(), Options{}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", form, err, want)
		}
	}
}

func TestRaggedRowsAreRefused(t *testing.T) {
	f := &frame.Frame{Query: "stages", Columns: []frame.Column{column("stage", frame.Text)}, Rows: [][]any{{"a"}, {"b", n(1)}}}
	for _, form := range Forms() {
		err := form.Write(io.Discard, f, Options{})
		if want := "render stages: row 2 has 2 values for 1 columns"; err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", form.Name, err, want)
		}
	}
}

// failing is a writer that takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteErrorsAreReported(t *testing.T) {
	for _, form := range Forms() {
		if err := form.Write(failing{}, topKernels(), Options{}); err != io.ErrClosedPipe {
			t.Errorf("%s: got %v", form.Name, err)
		}
	}
}
