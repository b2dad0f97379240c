package averages

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"prof/internal/file"
)

// Bounds of what is taken for a table.
const (
	maxColumns = 1000
	maxValue   = 16 << 20 // bytes of one value, and of one line of a CSV file
	maxBlank   = 4 << 10  // blanks before a table of JSON or CSV
	headBytes  = 64 << 10 // within which a table begins
)

// errNotTable means that a file is something else.
var errNotTable = errors.New("it is not a key_averages() table: it has no columns for operator names, calls and times")

// columns are the columns of a table in the order in which they were met.
type columns struct {
	list []column
	ids  map[string]int
}

// id finds a column by its name, or adds it.
func (c *columns) id(name string) (int, error) {
	if id, ok := c.ids[name]; ok {
		return id, nil
	}
	if len(c.list) == maxColumns {
		return 0, fmt.Errorf("it has more than %d columns; is it a key_averages() table?", maxColumns)
	}
	if c.ids == nil {
		c.ids = map[string]int{}
	}
	c.ids[name] = len(c.list)
	c.list = append(c.list, columnOf(name))
	return len(c.list) - 1, nil
}

func (c *columns) has(plain string) bool {
	return slices.ContainsFunc(c.list, func(k column) bool { return k.plain == plain })
}

// isTable reports whether the columns are those of key_averages(): names, calls and a time of a processor. prof's own tables of
// operators are none: they were computed from a capture.
func (c *columns) isTable() bool {
	var name, calls, time bool
	for _, k := range c.list {
		name = name || k.field == nameField
		calls = calls || k.field == countField
		time = time || k.field.isTime() && k.strong
	}
	ours := c.has("rank") && c.has("operator") && c.has("self_device_ns") && c.has("total_cpu_ns") || c.has("self_cuda_share") && c.has("kernels_and_copies")
	return name && calls && time && !c.has("ph") && !ours
}

// cellKind is the type of a cell.
type cellKind uint8

const (
	absent cellKind = iota // not there, or null
	number                 // of JSON
	text                   // of JSON or CSV
	other                  // true, false, an array or an object
)

// cell is one value of a row.
type cell struct {
	kind cellKind
	text string // number or text as written; of an array in a column of shapes its JSON; "" for an empty array or object
}

// record is one row as written. Its cells are by the column's id, and only good until the next one is read.
type record struct {
	number int // 1, 2, ...
	line   int // of a CSV file; 0 in JSON
	offset int64
	cells  []cell
}

func (r *record) where() string {
	if r.line > 0 {
		return fmt.Sprintf("line %d", r.line)
	}
	return fmt.Sprintf("row %d (byte %d)", r.number, r.offset)
}

// cell returns a row's value in a column, which may have been met only after this row.
func (r *record) cell(id int) cell {
	if id < len(r.cells) {
		return r.cells[id]
	}
	return cell{}
}

func (r *record) set(id int, c cell) {
	for len(r.cells) <= id {
		r.cells = append(r.cells, cell{})
	}
	r.cells[id] = c
}

// source reads a table once from the beginning.
type source struct {
	ctx   context.Context
	name  string // of the file, for messages
	in    *counted
	cols  *columns
	each  func(*record) error
	row   record
	first *columns // of the row that may tell whether it is a table
	cut   string   // why the table is not whole; "" when it is
	notes []string // what is odd about the file
	totals
}

// readTable returns each row of a table. The columns are cols and may be more after each row.
func readTable(ctx context.Context, r io.Reader, name string, cols *columns, each func(*record) error) (*source, error) {
	in := bufio.NewReaderSize(r, headBytes)
	s := &source{ctx: ctx, name: name, cols: cols}
	s.each = func(rec *record) error {
		if rec.number%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return each(rec)
	}
	skipped := 0
	if head, err := in.Peek(len(file.Mark)); err == nil && string(head) == file.Mark {
		skipped, _ = in.Discard(len(file.Mark))
	}
	first := byte(0)
	for i := 1; first == 0; i++ {
		head, err := in.Peek(i)
		if errors.Is(err, io.EOF) || i > maxBlank {
			return s, fmt.Errorf("%s: %w", name, errNotTable)
		}
		if err != nil {
			return s, fmt.Errorf("%s: %w", name, err)
		}
		if c := head[i-1]; !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)) {
			first = c
		}
	}
	s.in = &counted{r: in, left: maxValue}
	if head, _ := in.Peek(in.Size()); isText(head) {
		return s, s.text()
	}
	if first == '[' || first == '{' {
		return s, s.json(int64(skipped))
	}
	return s, s.csv(in)
}

// counted bounds what is read for one value, and knows how the file ends.
type counted struct {
	r     io.Reader
	left  int
	total int64
	last  byte
	ended bool
}

var errLong = fmt.Errorf("a value is longer than %d MiB", maxValue>>20)

func (c *counted) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errLong
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	c.left -= n
	c.total += int64(n)
	if n > 0 {
		c.last = p[n-1]
	}
	c.ended = errors.Is(err, io.EOF)
	return n, err
}

// openAt reports whether the file ends at an offset without the end of a line.
func (c *counted) openAt(offset int64) bool {
	return c.ended && offset == c.total && c.last != '\n' && c.last != '\r'
}

// reset is called when a value was read.
func (c *counted) reset() { c.left = maxValue }
