package stats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// table is one table of a file.
type table struct {
	*header
	report string // the report that the file or a line before the table names; "" where none does
	what   string // what its rows add up; "" where that is not known, or not stored
	style  string // of its ranges, where no column says it
	file   string
	line   int // of its header
	rows   int64
}

// sink takes the rows of tables. begin is called at the first row of each.
type sink struct {
	begin func(*table) error
	row   func(*table, row) error
}

// processing is what nsys prints before the table of a report. The report may have arguments behind its name.
var processing = regexp.MustCompile(`^Processing \[.*\] with \[(?:.*[/\\])?(\w+?)(?:\.py)?(?::[^\]]*)?\]`)

// notes are beginnings of lines that nsys prints between tables.
var notes = []string{"Processing [", "SKIPPED:", "Generating ", "Importer ", "NOTICE:", "WARNING:", "ERROR:", "Exporting ", "Using ", "Try the "}

func isNote(line string) bool {
	for _, n := range notes {
		if strings.HasPrefix(line, n) {
			return true
		}
	}
	return strings.TrimSpace(line) == ""
}

// mostLines bounds the lines that the name of a row may take.
const mostLines = 64

// read reads the tables of a file that nsys stats wrote, or printed among other lines. Where the file was cut off, it gives the rows before, and
// says so; lines are those of the file.
func read(ctx context.Context, in io.Reader, name string, s sink) (cut string, lines int, err error) {
	l := newLines(ctx, in, name)
	report := ofFile(name)
	var t *table
	endless := 0 // line of the last row, where nothing shows that it is whole
	for {
		text, err := l.next()
		if errors.Is(err, io.EOF) {
			if endless > 0 {
				cut = fmt.Sprintf("line %d of %s has no end: if the file was cut off, the name in it is wrong", endless, name)
			}
			return cut, l.number, nil
		}
		if err != nil {
			return "", 0, err
		}
		if m := processing.FindStringSubmatch(text); m != nil {
			report, t = m[1], nil
			continue
		}
		if isNote(text) {
			t = nil
			continue
		}
		if h := headerOf(text); h != nil {
			t = &table{header: h, report: report, file: name, line: l.number}
			continue
		}
		if t == nil {
			continue // what something else printed
		}
		r := row{header: t.header, line: l.number}
		fits := false
		for r.cells, fits = t.split(text); !fits; r.cells, fits = t.split(text) {
			isLast := l.open
			if t.mayGoOn(text) && l.number-r.line < mostLines {
				more, err := l.next()
				if err == nil {
					text += "\n" + more
					continue
				}
				if !errors.Is(err, io.EOF) {
					return "", 0, err
				}
				isLast = true
			}
			if isLast && t.rows > 0 {
				return endsInside(name, r.line), l.number, nil
			}
			return "", 0, fmt.Errorf("%s: line %d: the row does not fit the header in line %d: %q", name, r.line, t.line, shorten(text))
		}
		if last := r.cells[len(r.cells)-1]; l.open && last == "" && t.rows > 0 {
			return endsInside(name, r.line), l.number, nil
		} else if l.open && !strings.HasSuffix(text, `"`) {
			if last == "" {
				return "", 0, fmt.Errorf("%s: line %d: the file ends inside its first row: was it cut off?", name, r.line)
			}
			endless = r.line
		}
		for i := range r.cells {
			r.cells[i] = strings.ToValidUTF8(r.cells[i], "\uFFFD")
		}
		if t.rows == 0 {
			t.resolve(r)
			if err := s.begin(t); err != nil {
				return "", 0, err
			}
		}
		t.rows++
		if t.what == "" {
			continue
		}
		if err := s.row(t, r); err != nil {
			return "", 0, fmt.Errorf("%s: line %d: %w", name, r.line, err)
		}
	}
}

func endsInside(name string, line int) string {
	return fmt.Sprintf("%s ends inside line %d: it was cut off; the rows before that are stored", name, line)
}

// mayGoOn reports whether a row that does not fit may go on in the next line: a name between quotes has not ended.
func (h *header) mayGoOn(text string) bool {
	return strings.Contains(text, `"`) && len(text) < maxRecord && (h.behind == 0 || !strings.HasSuffix(text, `"`))
}

// resolve says what a table adds up. Its columns do, but for tables of functions, which are alike for every API, and of ranges of one style: the
// report's name decides, or CUDA's names of functions.
func (t *table) resolve(first row) {
	t.what = t.form.what
	r, known := named(t.report)
	switch {
	case known && r.what == "":
		t.what = ""
	case t.what == apiCalls && (r.what == apiCalls || r.what == osrtCalls):
		t.what = r.what
	case t.what == apiCalls && !cudaFunction.MatchString(first.cells[t.label]), t.what == apiCalls && known:
		t.what = ""
	case t.what == ranges && first.cell("style") == "":
		t.style = r.style
	}
}

// cudaFunction fits names of the CUDA runtime's and driver's functions.
var cudaFunction = regexp.MustCompile(`^cu(da)?[A-Z]\w*$`)

// title names a table in a message.
func (t *table) title() string { return cmp.Or(t.report, t.what, "a table") }
