package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/rendertest"
	"prof/render/table"
	"prof/render/typeset"
)

// elementwise is a kernel whose name differs from others' in its middle only.
func elementwise(functor string) string {
	return "void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl_nocast<at::native::" + functor +
		">(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)"
}

// TestKernelNames holds that different kernels differ in a table, and that one reads the same in all tables of a page, with its whole name at hand.
func TestKernelNames(t *testing.T) {
	functors := []string{"direct_copy_kernel_cuda", "CUDAFunctor_add<float>", "CUDAFunctor_add<c10::BFloat16>", "BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float>>",
		"BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float>>", "silu_kernel", "neg_kernel_cuda"}
	top := rendertest.FrameOf("top-kernels", "rank kernel", []any{int64(0), "void gemm<4>(int, T1 *)"})
	gaps := rendertest.FrameOf("gaps", "before after", []any{elementwise("silu_kernel"), "void gemm<4>(int, T1 *)"})
	for i, functor := range functors {
		top.Rows = append(top.Rows, []any{int64(1 + i), elementwise(functor)})
	}
	names := table.KernelNames([]*frame.Frame{top, gaps})
	seen := map[string]string{}
	for whole, short := range names {
		if other, taken := seen[short]; taken || typeset.Width(short) > typeset.LongName {
			t.Errorf("%s is %q, as is %q", whole, short, other)
		}
		seen[short] = whole
	}
	if len(names) != len(functors)+1 || names["void gemm<4>(int, T1 *)"] != "gemm<4>" {
		t.Errorf("the names are %q", names)
	}
	tables := [2]*table.View{}
	for i, f := range []*frame.Frame{top, gaps} {
		var err error
		if tables[i], err = table.NewView(f, "a", wide, names); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := tables[0].Rows[6][1], tables[1].Rows[0][0]; a != b || a.Text != elementwise("silu_kernel") || a.Class != "name" || !strings.Contains(a.Short, "silu") {
		t.Errorf("a kernel is %+v in one table, %+v in another", a, b)
	}
}

// TestOtherLongNames holds that names that are no kernels' differ in a table too.
func TestOtherLongNames(t *testing.T) {
	middle := func(s string) string { return strings.Repeat("a", 60) + s + strings.Repeat("b", 60) }
	table, err := table.NewView(rendertest.FrameOf("q", "range", []any{middle("one")}, []any{middle("two")}), "q", table.PageExcerpt, nil)
	if err != nil || table.Rows[0][0].Short == table.Rows[1][0].Short || table.Rows[0][0].Short == "" {
		t.Errorf("%v: %+v", err, table.Rows)
	}
}

// TestUnknownColumns holds that a column without a value is left out with a word, though not when it has one in a row that is not shown.
func TestUnknownColumns(t *testing.T) {
	f := rendertest.FrameOf("q", "stage mfu_ratio fault total_ns", []any{"a", 0.5, "x", int64(1)}, []any{"b", nil, nil, int64(2)}, []any{"c", 0.5, nil, int64(3)})
	f.Rows[0][2], f.Rows[0][1] = nil, nil
	view, err := table.NewView(f, "q", table.Excerpt{Rows: 2, Bytes: 1 << 20, Cell: 0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(view.Columns) != 3 || len(view.Rows) != 2 || len(view.Rows[1]) != 3 || view.Rows[1][2].Sort != "2" || view.Columns[1].Name != "mfu_ratio" {
		t.Errorf("the table is %+v", view)
	}
	if want := "Empty columns hidden: wrong input."; view.Without != want {
		t.Errorf("it says %q, not %q", view.Without, want)
	}
	f.Rows = [][]any{{nil, nil, nil, nil}}
	if view, err = table.NewView(f, "q", table.PageExcerpt, nil); err != nil || len(view.Columns) != 4 || view.Without != "" {
		t.Errorf("of a row without values: %+v, %v", view, err)
	}
}

// wide has all columns.
var wide = table.Excerpt{Rows: 500, Bytes: 1 << 20}

// TestFitted holds that a report has the columns that have room side by side, and says which it has not; of those none is lost.
func TestFitted(t *testing.T) {
	names, row := "kernel total_ns", []any{"k", int64(1)}
	for i := range 40 {
		names, row = fmt.Sprintf("%s share_%d_ratio", names, i), append(row, 0.5)
	}
	names, row = names+" reason", append(row, nil)
	f := rendertest.FrameOf("q", names, row)
	view, err := table.NewView(f, "q", table.PageExcerpt, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := len(view.Columns)
	if rest := fmt.Sprintf(" and %d more.", 42-n-8); n < 8 || n > 30 || view.Columns[0].Name != "kernel" || !strings.HasPrefix(view.Without, "Empty columns hidden: reason. Columns that only the query has: share ") || !strings.HasSuffix(view.Without, rest) {
		t.Errorf("of 43 columns %d are there: %s", n, view.Without)
	}
	var md bytes.Buffer
	if err := table.MarkdownExcerpt.Markdown(&md, f); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(strings.SplitN(md.String(), "\n", 2)[0], " | ") + 1; got != n || !strings.Contains(md.String(), "\nEmpty columns hidden: reason. Columns that only") {
		t.Errorf("Markdown has %d columns, the page %d:\n%s", got, n, md.String())
	}
}

// TestPaper holds that a table too wide for paper says which columns are not printed, and marks these.
func TestPaper(t *testing.T) {
	names, row := "kernel total_ns", []any{"k", int64(1)}
	for range 40 {
		names, row = names+" share_of_something_ratio", append(row, 0.5)
	}
	view, err := table.NewView(rendertest.FrameOf("q", names, row), "q", wide, nil)
	if err != nil {
		t.Fatal(err)
	}
	aside := 0
	for j, c := range view.Columns {
		if c.Class == "n aside" {
			aside++
		}
		if c.Class != view.Rows[0][j].Class && c.Name != "kernel" {
			t.Errorf("the head of %s is %q, its cell %q", c.Name, c.Class, view.Rows[0][j].Class)
		}
	}
	if said := strings.Count(view.OffPaper, ",") + 1; aside == 0 || aside > 39 || said != aside || view.Columns[0].Class != "" {
		t.Errorf("%d columns are aside, it says %q", aside, view.OffPaper)
	}
}

// TestSharedNotes holds that a note of three sections is said once, and that each of these says so; one of two sections stays in both.
func TestSharedNotes(t *testing.T) {
	r := &judge.Report{Name: "a"}
	for i, notes := range [][]string{{"shared", "also shared"}, {"own", "shared", "of two"}, {"also shared", "of two"}, {"shared", "also shared"}} {
		f := rendertest.FrameOf("q", "stage", []any{"a"})
		f.Notes = notes
		r.Sections = append(r.Sections, judge.Section{ID: string(rune('a' + i)), Title: "T", Frame: f})
	}
	md := fileText(t, r, markdown(reportFile))
	page := fileText(t, r, writeHTML)
	body := page[strings.Index(page, "<body>"):strings.LastIndex(page, "<script>")]
	for _, c := range []struct {
		text, mark string
		times      int
	}{
		{md, "\n1. shared\n2. also shared\n", 1}, {md, "shared\n", 2}, {md, "\n- of two\n", 2}, {md, "\n- own\n", 1},
		{md, "\nSee footnotes 1 and 2 below.\n", 2}, {md, "\nSee footnote 2 below.", 1},
		{body, "<li>shared</li>", 1}, {body, "<li>also shared</li>", 1}, {body, `<p class="note">of two</p>`, 2}, {body, `<p class="note">`, 3},
		{body, `<a href="#notes">See footnotes 1 and 2 below.`, 2}, {body, `<section id="notes"`, 1},
	} {
		if n := strings.Count(c.text, c.mark); n != c.times {
			t.Errorf("%q is there %d times, not %d, in\n%s", c.mark, n, c.times, c.text)
		}
	}
	if notes := r.Sections[0].Frame.Notes; len(notes) != 2 {
		t.Errorf("the frame itself was changed: %q", notes)
	}
}
