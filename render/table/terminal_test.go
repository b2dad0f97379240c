package table

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode"

	"prof/internal/sample"
	"prof/queries/frame"
	"prof/render/rendertest"
	"prof/render/typeset"
)

// randomFrame makes a frame of any shape, with names and texts that a terminal would suffer from.
func randomFrame(random *rand.Rand) *frame.Frame {
	alphabet := []rune("abcdefghij_<>:,() 0123456789|`*\\\x1b\n\t\u202e\u0301生命🚀\ufe0f\u00e9")
	text := func(longest int) string {
		runes := make([]rune, random.Intn(longest))
		for i := range runes {
			runes[i] = alphabet[random.Intn(len(alphabet))]
		}
		return string(runes)
	}
	units := []string{"", "_ns", "_bytes", "_ratio", "_count", "_flop_per_s"}
	f := &frame.Frame{Notes: []string{text(200)}}
	for range 1 + random.Intn(12) {
		kind := frame.Type(random.Intn(4))
		f.Columns = append(f.Columns, rendertest.Column(text(20)+units[random.Intn(len(units))], kind))
	}
	for range random.Intn(8) {
		row := make([]any, len(f.Columns))
		for j, c := range f.Columns {
			switch c.Type {
			case frame.Text:
				row[j] = text(1 + random.Intn(150))
			case frame.Int:
				row[j] = int64(math.Pow(10, random.Float64()*18))
			case frame.Float:
				row[j] = (random.Float64() - 0.5) * math.Pow10(random.Intn(30)-10)
			case frame.Bool:
				row[j] = random.Intn(2) == 0
			}
			if random.Intn(8) == 0 {
				row[j] = nil
			}
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// checkLines fails unless the output is whole lines of printable text that keep the width.
func checkLines(t *testing.T, out string, limit int) {
	t.Helper()
	if out == "" || !strings.HasSuffix(out, "\n") {
		t.Fatalf("no whole lines: %q", out)
	}
	for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if limit > 0 && typeset.Width(line) > limit {
			t.Fatalf("line of %d in a width of %d: %q\n%s", typeset.Width(line), limit, line, out)
		}
		if at := strings.IndexFunc(line, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }); at >= 0 {
			t.Fatalf("control character in %q", line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Fatalf("blanks at the end of %q", line)
		}
	}
}

func TestTableKeepsTheWidth(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for range sample.Of(make([]int, 1000), 4) {
		f := randomFrame(random)
		for _, limit := range []int{0, 1, 7, 20, 40, 60, 80, 120, 200} {
			var out bytes.Buffer
			if err := Terminal(&out, f, typeset.Options{Width: limit}); err != nil {
				t.Fatal(err)
			}
			checkLines(t, out.String(), limit)
		}
	}
}

func TestWideTableShowsEverything(t *testing.T) {
	var wide, free bytes.Buffer
	f := rendertest.TopKernels()
	f.Notes = nil
	if err := Terminal(&wide, f, typeset.Options{Width: 60, Wide: true}); err != nil {
		t.Fatal(err)
	}
	if err := Terminal(&free, f, typeset.Options{Wide: true}); err != nil {
		t.Fatal(err)
	}
	if wide.String() != free.String() || strings.Contains(wide.String(), typeset.Ellipsis) || !strings.Contains(wide.String(), rendertest.Flash) {
		t.Errorf("got:\n%s", wide.String())
	}
}

// TestWideNamesEnd holds that a name of thousands of columns does not fill the screen, and that two such names stay different.
func TestWideNamesEnd(t *testing.T) {
	long := func(end string) string {
		return "void k<" + strings.Repeat("cutlass::gemm::Shape<1, 2, 3>, ", 90) + end + ">(int *)"
	}
	table := Table{Columns: []Column{{Title: "kernel", Kernels: true}}, Rows: [][]Cell{{{Text: long("a")}}, {{Text: long("b")}}, {{Text: "void short<1>(int *)"}}}}
	for _, o := range []typeset.Options{{Wide: true}, {}} {
		var out bytes.Buffer
		table.Write(&out, o)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 4 || lines[1] == lines[2] || o.Wide && lines[3] != "void short<1>(int *)" {
			t.Errorf("%+v: %q", o, lines)
		}
		for _, line := range lines {
			if typeset.Width(line) > WideName {
				t.Errorf("%d columns: %.40s", typeset.Width(line), line)
			}
		}
	}
}

func TestColorAddsOnlyStyle(t *testing.T) {
	for name, f := range rendertest.Frames() {
		var plain, color bytes.Buffer
		if err := Terminal(&plain, f, typeset.Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		if err := Terminal(&color, f, typeset.Options{Width: 80, Color: true}); err != nil {
			t.Fatal(err)
		}
		if stripped := strings.NewReplacer(typeset.Bold, "", typeset.Dim, "", "\x1b[0m", "").Replace(color.String()); stripped != plain.String() {
			t.Errorf("%s: got\n%s", name, stripped)
		}
	}
}

func TestDroppedColumnsAreNamed(t *testing.T) {
	var out bytes.Buffer
	if err := Terminal(&out, rendertest.TopKernels(), typeset.Options{Width: 60}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	if !strings.Contains(text, "hidden columns: median (us), mean (us), min (us), max (us), std (us) (--wide or --format csv shows all)") {
		t.Errorf("got:\n%s", out.String())
	}
}

// TestAnswersOutliveFigures holds that a narrow table keeps what the figures come to, also where it is the same in every row, and hides it
// where nothing is known of it.
func TestAnswersOutliveFigures(t *testing.T) {
	f := &frame.Frame{Columns: []frame.Column{{Name: "kernel", Type: frame.Text}, {Name: "total_ns", Type: frame.Int, Unit: frame.Ns}, {Name: "sm_ratio", Type: frame.Float, Unit: frame.Ratio}, {Name: "stall_cycles", Type: frame.Float},
		{Name: "bound", Type: frame.Text}, {Name: "limiter", Type: frame.Text}, {Name: "stall", Type: frame.Text}, {Name: "cause", Type: frame.Text}}}
	for i := range 5 {
		f.Rows = append(f.Rows, []any{fmt.Sprintf("kernel %d", i), int64(1000 * (i + 1)), 0.1 * float64(i), float64(i), "latency", "grid", "barrier", nil})
	}
	table, err := Of(f)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, j := range table.fit(45).columns {
		shown = append(shown, table.Columns[j].Name)
	}
	if want := []string{"kernel", "total_ns", "bound", "limiter", "stall"}; !slices.Equal(shown, want) {
		t.Errorf("a narrow table shows %v, want %v", shown, want)
	}
}

func TestPairsKeepTheWidth(t *testing.T) {
	for limit := range 100 {
		var out bytes.Buffer
		if err := Pairs(&out, "a title of some length", rendertest.Facts(), typeset.Options{Width: limit}); err != nil {
			t.Fatal(err)
		}
		checkLines(t, out.String(), limit)
	}
}

func FuzzTable(f *testing.F) {
	f.Add("kernel", rendertest.Hostile, rendertest.Flash, int64(1), 0.5, 60)
	f.Add("total_ns", "生命🚀", "e\u0301\ufe0f\u200d", int64(math.MinInt64), math.Inf(1), 3)
	f.Fuzz(func(t *testing.T, name, a, b string, whole int64, real float64, limit int) {
		f := &frame.Frame{
			Columns: []frame.Column{rendertest.Column(name, frame.Text), rendertest.Column("n"+name, frame.Int), rendertest.Column("x"+name, frame.Float)},
			Rows:    [][]any{{a, whole, real}, {b, whole / 3, real / 1e7}, {nil, nil, nil}},
			Notes:   []string{a},
		}
		limit &= 0xff
		var out bytes.Buffer
		if err := Terminal(&out, f, typeset.Options{Width: limit}); err != nil {
			t.Fatal(err)
		}
		checkLines(t, out.String(), limit)
	})
}
