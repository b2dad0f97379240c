package doc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"prof/queries/frame"
	"prof/render/rendertest"
	"prof/render/table"
	"prof/render/typeset"
)

// painting is one golden file.
type painting struct {
	file  string
	paint func(w io.Writer) error
}

func paintings() []painting {
	var all []painting
	for name, f := range rendertest.Frames() {
		for _, form := range AnswerForms() {
			if form.Name == table.ArrowForm { // binary: TestArrow reads it
				continue
			}
			add := func(suffix string, o typeset.Options) {
				all = append(all, painting{name + suffix + "." + form.Name, func(w io.Writer) error {
					var out bytes.Buffer
					err := form.Write(&out, f, o)
					io.WriteString(w, rendertest.WithoutStyle(out.String()))
					return err
				}})
			}
			add("", typeset.Options{})
			if form.Name == "table" {
				for _, width := range []int{60, 80, 120, 200} {
					add(fmt.Sprintf(".%d", width), typeset.Options{Width: width})
				}
			}
		}
	}
	color := typeset.Options{Width: 80, Color: true}
	all = append(all, painting{"top-kernels.color.table", func(w io.Writer) error { return table.Terminal(w, rendertest.TopKernels(), color) }},
		painting{"pairs.color.txt", func(w io.Writer) error { return table.Pairs(w, "baseline", rendertest.Facts(), color) }})
	for _, width := range []int{0, 30, 80} {
		all = append(all, painting{fmt.Sprintf("pairs.%d.txt", width),
			func(w io.Writer) error {
				return table.Pairs(w, "baseline", rendertest.Facts(), typeset.Options{Width: width})
			}})
	}
	return all
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
			rendertest.Compare(t, filepath.Join("testdata", p.file), got.Bytes())
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

func TestPaintingLeavesTheFrameAlone(t *testing.T) {
	for name, f := range rendertest.Frames() {
		for _, form := range AnswerForms() {
			if err := form.Write(io.Discard, f, typeset.Options{Width: 60, Color: true}); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := fmt.Sprintf("%#v", *f), fmt.Sprintf("%#v", *rendertest.Frames()[name]); got != want {
			t.Errorf("%s was changed: got %s, want %s", name, got, want)
		}
	}
}

func TestUnknownForm(t *testing.T) {
	for form, want := range map[string]string{
		"tabel":    `unknown format "tabel": did you mean table? (one of table, md, html, blocks, csv, json, arrow)`,
		"markdown": `unknown format "markdown": did you mean md? (one of table, md, html, blocks, csv, json, arrow)`,
		"JSON":     `unknown format "JSON": did you mean json? (one of table, md, html, blocks, csv, json, arrow)`,
		"parquet":  `unknown format "parquet": use one of table, md, html, blocks, csv, json, arrow`,
	} {
		if _, err := AnswerForms().Named(form); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", form, err, want)
		}
	}
}

func TestRaggedRowsAreRefused(t *testing.T) {
	f := &frame.Frame{Query: "stages", Columns: []frame.Column{rendertest.Column("stage", frame.Text)}, Rows: [][]any{{"a"}, {"b", rendertest.N(1)}}}
	for _, form := range AnswerForms() {
		err := form.Write(io.Discard, f, typeset.Options{})
		if want := "query stages: row 2 has 2 values for 1 columns"; err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", form.Name, err, want)
		}
	}
}

func TestWriteErrorsAreReported(t *testing.T) {
	for _, form := range AnswerForms() {
		if err := form.Write(rendertest.Failing{}, rendertest.TopKernels(), typeset.Options{}); err != io.ErrClosedPipe {
			t.Errorf("%s: got %v", form.Name, err)
		}
	}
}
