package table

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/render/rendertest"
	"prof/render/typeset"
)

// markdownCells reads one row of a table as GitHub does: split at pipes that no backslash escapes, then \| is a pipe.
func markdownCells(line string) []string {
	var cells []string
	start := 0
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && isPunctuation(line[i+1]):
			i++
		case line[i] == '|':
			cells = append(cells, strings.ReplaceAll(strings.Trim(line[start:i], " "), `\|`, "|"))
			start = i + 1
		}
	}
	return cells[1:] // the first pipe stands at the start of the line
}

// readMarkdown returns the text that a cell shows, or false if something in it would not be read as typed.
func readMarkdown(cell string) (string, bool) {
	if fence := len(cell) - len(strings.TrimLeft(cell, "`")); fence > 0 {
		inner, closed := strings.CutSuffix(cell[fence:], strings.Repeat("`", fence))
		if !closed || strings.HasPrefix(inner, "`") || hasRun(inner, fence) {
			return "", false
		}
		if len(inner) > 1 && inner[0] == ' ' && inner[len(inner)-1] == ' ' && strings.Trim(inner, " ") != "" {
			inner = inner[1 : len(inner)-1]
		}
		return inner, true
	}
	var text strings.Builder
	for i := 0; i < len(cell); i++ {
		switch {
		case cell[i] == '\\' && i+1 < len(cell) && isPunctuation(cell[i+1]):
			i++
		case strings.IndexByte("`*[]<>~&$", cell[i]) >= 0:
			return "", false
		case cell[i] == '_' && (i == 0 || i+1 == len(cell) || !typeset.IsWord(cell[i-1]) || !typeset.IsWord(cell[i+1])):
			return "", false
		}
		text.WriteByte(cell[i])
	}
	return text.String(), true
}

// hasRun reports whether s holds exactly so many backticks in a row.
func hasRun(s string, length int) bool {
	for _, run := range strings.FieldsFunc(s, func(r rune) bool { return r != '`' }) {
		if len(run) == length {
			return true
		}
	}
	return false
}

func isPunctuation(c byte) bool { return c > ' ' && c < 0x7f && !typeset.IsWord(c) }

func checkMarkdown(t *testing.T, columns []string, texts ...string) {
	t.Helper()
	f := &frame.Frame{}
	for _, name := range columns {
		f.Columns = append(f.Columns, frame.Column{Name: name, Type: frame.Text})
	}
	for _, text := range texts {
		row := make([]any, len(columns))
		for j := range row {
			row[j] = text
		}
		f.Rows = append(f.Rows, row)
	}
	var out bytes.Buffer
	if err := Markdown(&out, f, typeset.Options{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(texts)+2 {
		t.Fatalf("%d lines for %d rows:\n%s", len(lines), len(texts), out.String())
	}
	for i, text := range texts {
		cells := markdownCells(lines[i+2])
		if len(cells) != len(columns) {
			t.Fatalf("%q: %d cells in %q", text, len(cells), lines[i+2])
		}
		for j, cell := range cells {
			got, ok := readMarkdown(cell)
			if !ok || strings.TrimSpace(got) != strings.TrimSpace(typeset.Neutral(text)) {
				t.Errorf("%s %q reads as %q, %v, in %q", columns[j], text, got, ok, cell)
			}
		}
	}
}

func TestMarkdownReadsAsTyped(t *testing.T) {
	checkMarkdown(t, []string{"command", "reason"}, rendertest.Hostile, rendertest.Flash, rendertest.Addition,
		"void at::native::<unnamed>::k<(int)4>(T*)|x", "`", "``", "a`", "`a`", "|", `\|`, `\\|`, `\`, `a\`, "", " a ",
		"*x* _y_ __z__ ~~w~~", "[a](b)", "![a](b)", "<script>", "&lt;", "$x$", "a|b|`c|d`", "line\nbreak", "snake_case_name")
}

func TestMarkdownNotesStayListItems(t *testing.T) {
	for note, want := range map[string]string{
		"# a": `- \# a`, "- a": `- \- a`, "1. a": `- 1\. a`, "1) a": `- 1\) a`, "===": `- \===`, "> a": `- \> a`, "12": "- 12",
		"a\nb": `- a\\nb`, "": "- ", "mbu_ratio *x*": `- mbu_ratio \*x\*`,
	} {
		var out bytes.Buffer
		if err := Markdown(&out, &frame.Frame{Notes: []string{note}}, typeset.Options{}); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(out.String(), "\n"); lines[len(lines)-2] != want {
			t.Errorf("%q: got %q, want %q", note, lines[len(lines)-2], want)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add(rendertest.Hostile)
	f.Add("a\\\\|`` `|")
	f.Fuzz(func(t *testing.T, text string) {
		checkMarkdown(t, []string{"command", "reason"}, text)
	})
}

// TestMarkdownNames holds that a row stays one that can be read, whatever its names, that no two of them look alike, and that what is to be copied is whole.
func TestMarkdownNames(t *testing.T) {
	names := []string{rendertest.Flash, rendertest.Addition, strings.Repeat("f<", 300) + "1", strings.Repeat("f<", 300) + "2"}
	var rows [][]any
	for _, name := range names {
		rows = append(rows, []any{name, name, name})
	}
	f := rendertest.FrameOf("x", "kernel range command", rows...)
	var out bytes.Buffer
	if err := Markdown(&out, f, typeset.Options{}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[2:] {
		cells := markdownCells(line)
		for j, cell := range cells[:2] {
			got, _ := readMarkdown(cell)
			if key := fmt.Sprint(j, got); typeset.Width(got) > typeset.LongName || seen[key] {
				t.Errorf("%d columns, or twice: %q", typeset.Width(got), got)
			} else {
				seen[key] = true
			}
		}
		if got, _ := readMarkdown(cells[2]); got != names[i] {
			t.Errorf("a command is cut: %q", got)
		}
	}
}

// TestMarkdownPaths holds that the path of a file is whole, however deep its folder is, and that one of modules is cut.
func TestMarkdownPaths(t *testing.T) {
	file, modules := strings.Repeat("folder/", 20)+"a.sqlite", strings.Repeat("layer > ", 20)+"attention"
	for path, isWhole := range map[string]bool{file: true, modules: false} {
		var out bytes.Buffer
		if err := Markdown(&out, rendertest.FrameOf("x", "path", []any{path}), typeset.Options{}); err != nil {
			t.Fatal(err)
		}
		got, _ := readMarkdown(markdownCells(strings.Split(out.String(), "\n")[2])[0])
		if isWhole != (got == path) || !isWhole && typeset.Width(got) > typeset.LongName {
			t.Errorf("%q is shown as %q", path, got)
		}
	}
}

// TestLongNames holds that tables for people cut names of megabytes before they look at them.
func TestLongNames(t *testing.T) {
	f := &frame.Frame{Query: "top-kernels", Columns: []frame.Column{{Name: "kernel"}, {Name: "operator"}}}
	for _, middle := range []string{"a", "b"} {
		half := "void at::native::f<" + strings.Repeat("std::pair<(int)4, `", 100_000)
		f.Rows = append(f.Rows, []any{half + middle + half, strings.Repeat("aten::`", 300_000) + middle})
	}
	for name, write := range map[string]func(io.Writer, *frame.Frame, typeset.Options) error{"terminal": Terminal, "wide": Terminal, "document": Markdown} {
		var out bytes.Buffer
		if err := write(&out, f, typeset.Options{Width: 100, Wide: name == "wide"}); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); out.Len() > 20*typeset.LongestText || lines[len(lines)-1] == lines[len(lines)-2] {
			t.Errorf("%s: %d bytes, or two names that look alike", name, out.Len())
		}
	}
}
