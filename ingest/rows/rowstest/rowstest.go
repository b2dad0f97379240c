// Package rowstest gives the tests of readers a target whose rows stay in memory, and shows them: what a reader writes is looked at without a
// database. Texts are masked as they are where they are stored; numbers in columns of ids are those of the run.
package rowstest

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/internal/mask"
)

// Kept is a target in memory.
type Kept struct {
	*load.Target
	t      testing.TB
	memory rows.Memory
	tables map[string][]string // the columns of every table
	byID   map[string]index    // of tables
}

// index finds rows by an id.
type index struct {
	rows int // of the table when it was made
	row  map[int64]Row
}

// New returns a target for the first source of a run.
func New(t testing.TB, o load.Options) *Kept {
	t.Helper()
	o.Threads = max(o.Threads, 1)
	if o.TempDir == "" {
		o.TempDir = t.TempDir()
	}
	k := &Kept{t: t, tables: Columns(t), byID: map[string]index{}}
	k.Target = &load.Target{Sink: sink{&k.memory, k}, RunID: "01890a5d-ac96-774b-bcce-b302099a8057", SourceID: 1, Options: o, Run: &load.Run{}}
	return k
}

// sink notes the source of the rows that it keeps.
type sink struct {
	*rows.Memory
	kept *Kept
}

// Append keeps whole rows.
func (s sink) Append(ctx context.Context, table string, each func(add rows.Add) error) (int64, error) {
	k := s.Of(table, nil)
	before := len(k.Rows)
	n, err := s.Memory.Append(ctx, table, each)
	columns := s.kept.tables[table]
	for _, row := range k.Rows[before:] {
		if len(row) != len(columns) {
			return n, fmt.Errorf("%w: a row of %s has %d values for %d columns: %v", ErrRow, table, len(row), len(columns), row)
		}
		rows.MaskRow(table, columns, row)
		for i, v := range row {
			if text, isText := v.(string); isText && !utf8.ValidString(text) {
				return n, notUTF8(table, columns[i], text)
			}
		}
	}
	return n, err
}

// ErrRow is wrapped by the errors for rows that no warehouse takes.
var ErrRow = errors.New("a row cannot be stored")

func notUTF8(table, column, text string) error {
	return fmt.Errorf("%w: %s.%s is %q, which is no UTF-8", ErrRow, table, column, text)
}

// Insert keeps rows.
func (s sink) Insert(ctx context.Context, table string, from rows.Rows) (int64, error) {
	k := s.Of(table, from.Columns())
	before := len(k.Pieces)
	n, err := s.Memory.Insert(ctx, table, from)
	for i := range k.Pieces[before:] {
		p := &k.Pieces[before+i]
		p.Source = int32(s.kept.SourceID)
		for col, c := range k.Columns {
			for row := range p.N {
				if c.Type == rows.Varchar && !p.IsNull(col, row) && !utf8.ValidString(p.Text(col, row)) {
					return n, notUTF8(table, c.Name, p.Text(col, row))
				}
			}
		}
	}
	return n, err
}

// Row is one row of a table.
type Row struct {
	kept  *Kept
	table string
	whole []any // of Append; else it is row n of a piece
	of    *rows.Kept
	piece *rows.Piece
	n     int
}

// Table returns what was written to a table, in the order in which it was.
func (k *Kept) Table(table string) Table {
	k.t.Helper()
	columns := k.tables[table]
	if columns == nil {
		k.t.Fatalf("there is no table %s", table)
	}
	var out Table
	for _, of := range k.memory.Tables {
		if of.Table != table {
			continue
		}
		for _, row := range of.Rows {
			out = append(out, Row{kept: k, table: table, whole: row})
		}
		for _, c := range of.Columns {
			if !slices.Contains(columns, c.Name) {
				k.t.Fatalf("%s has no column %s", table, c.Name)
			}
		}
		for i := range of.Pieces {
			for n := range of.Pieces[i].N {
				out = append(out, Row{kept: k, table: table, of: of, piece: &of.Pieces[i], n: n})
			}
		}
	}
	return out
}

// value is what was written to a column: nil where nothing or NULL was.
func (r Row) value(column string) any {
	if r.whole != nil {
		return r.whole[slices.Index(r.kept.tables[r.table], column)]
	}
	switch column {
	case "run_id":
		return r.kept.RunID
	case "source_id":
		return r.piece.Source
	}
	i := slices.IndexFunc(r.of.Columns, func(c rows.Column) bool { return c.Name == column })
	switch {
	case i < 0 || r.piece.IsNull(i, r.n):
		return nil
	case r.of.Columns[i].Type == rows.BigInt:
		return r.piece.Int64(i)[r.n]
	case r.of.Columns[i].Type == rows.Integer && booleans[r.table+"."+column]:
		return r.piece.Int32(i)[r.n] != 0
	case r.of.Columns[i].Type == rows.Integer:
		return r.piece.Int32(i)[r.n]
	case r.of.Columns[i].Type == rows.Double:
		return r.piece.Float64(i)[r.n]
	}
	text := r.piece.Text(i, r.n)
	if rows.Masked(r.table, r.of.Columns[i:i+1])[0] {
		text = mask.Stored(text)
	}
	return text
}

// Filled lists the tables that have rows, by name.
func (k *Kept) Filled() (out []string) {
	for table := range k.tables {
		if k.Count(table) > 0 {
			out = append(out, table)
		}
	}
	slices.Sort(out)
	return out
}

// named are the tables that columns of ids lead to.
var named = map[string]string{"kernel_name_id": "kernel_name", "before_kernel_name_id": "kernel_name", "after_kernel_name_id": "kernel_name", "kernel_shape_id": "kernel_shape", "api_name_id": "api_name",
	"launch_name_id": "api_name", "path_id": "range_path", "range_id": "nvtx_range", "parent_range_id": "nvtx_range", "op_name_id": "op_name", "op_id": "op", "parent_op_id": "op", "forward_op_id": "op", "op_input_id": "op_input",
	"stack_id": "python_stack", "parent_stack_id": "python_stack", "launch_id": "ncu_launch", "model_id": "model", "metric_id": "ncu_metric_name"}

// own are the columns of those tables that hold their own ids, where not the same.
var own = map[string]string{"before_kernel_name_id": "kernel_name_id", "after_kernel_name_id": "kernel_name_id", "launch_name_id": "api_name_id", "parent_range_id": "range_id",
	"parent_op_id": "op_id", "forward_op_id": "op_id", "parent_stack_id": "stack_id"}

// Get returns a value. A column may be that of a row that an id leads to: kernel_name_id.short_name.
func (r Row) Get(column string) any {
	r.kept.t.Helper()
	id, rest, isDotted := strings.Cut(column, ".")
	if !slices.Contains(r.kept.tables[r.table], id) {
		r.kept.t.Fatalf("%s has no column %s", r.table, id)
	}
	v := r.value(id)
	if !isDotted || v == nil {
		return v
	}
	to, found := r.kept.find(named[id], cmp.Or(own[id], id), number(v))
	if !found {
		return nil
	}
	return to.Get(rest)
}

// find returns the row of a table with an id.
func (k *Kept) find(table, column string, id int64) (Row, bool) {
	k.t.Helper()
	by := k.byID[table]
	if n := k.Count(table); by.rows != n {
		by = index{n, map[int64]Row{}}
		for _, r := range k.Table(table) {
			by.row[number(r.value(column))] = r
		}
		k.byID[table] = by
	}
	r, found := by.row[id]
	return r, found
}

// Count is how many rows were written to a table.
func (k *Kept) Count(table string) (n int) {
	for _, of := range k.memory.Tables {
		if of.Table == table {
			n += of.N + len(of.Rows)
		}
	}
	return n
}

// Int returns a whole number, 0 where it is NULL.
func (r Row) Int(column string) int64 {
	r.kept.t.Helper()
	v := r.Get(column)
	if v == nil {
		return 0
	}
	return number(v)
}

// Text returns a value as text, ~ where it is NULL.
func (r Row) Text(column string) string {
	r.kept.t.Helper()
	if v := r.Get(column); v != nil {
		return fmt.Sprint(v)
	}
	return "~"
}

func number(v any) int64 {
	switch n := v.(type) {
	case int32:
		return int64(n)
	case int64:
		return n
	case int:
		return int64(n)
	}
	return math.MinInt64
}

// Table are rows of one table.
type Table []Row

// Where returns the rows that hold a condition.
func (t Table) Where(holds func(r Row) bool) (out Table) {
	for _, r := range t {
		if holds(r) {
			out = append(out, r)
		}
	}
	return out
}

// Is returns the rows whose column is that text, as Text says it.
func (t Table) Is(column, text string) Table {
	return t.Where(func(r Row) bool { return r.Text(column) == text })
}

// Repeated lists what rows have in columns, separated by spaces, that another row has too.
func (t Table) Repeated(columns string) (out []string) {
	seen := map[string]int{}
	for _, text := range t.Texts(columns) {
		if seen[text]++; seen[text] == 2 {
			out = append(out, text)
		}
	}
	return out
}

// Sum adds up a column of whole numbers.
func (t Table) Sum(column string) (sum int64) {
	for _, r := range t {
		sum += r.Int(column)
	}
	return sum
}

// By returns the rows in the order of columns, separated by spaces: numbers by size, NULL last.
func (t Table) By(columns string) Table {
	out := slices.Clone(t)
	slices.SortStableFunc(out, func(a, b Row) int {
		for _, c := range strings.Fields(columns) {
			if by := compare(a.Get(c), b.Get(c)); by != 0 {
				return by
			}
		}
		return 0
	})
	return out
}

func compare(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	case number(a) != math.MinInt64 && number(b) != math.MinInt64:
		return cmp.Compare(number(a), number(b))
	}
	if x, ok := a.(float64); ok {
		if y, ok := b.(float64); ok {
			return cmp.Compare(x, y)
		}
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// Texts returns columns, separated by spaces, as texts: values of a row joined by bars, NULL as ~.
func (t Table) Texts(columns string) (out []string) {
	for _, r := range t {
		var parts []string
		for _, c := range strings.Fields(columns) {
			parts = append(parts, r.Text(c))
		}
		out = append(out, strings.Join(parts, "|"))
	}
	return out
}

// Expect compares columns of rows, which are in an order, with texts.
func (t Table) Expect(tb testing.TB, columns string, want ...string) {
	tb.Helper()
	if got := t.Texts(columns); !slices.Equal(got, want) {
		tb.Errorf("%s is\n  %s\nwant\n  %s", columns, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// Plain returns the path of a file's content: itself, or what a .gz holds, in a folder of the test's own.
func Plain(t testing.TB, path string) string {
	t.Helper()
	name, isPacked := strings.CutSuffix(filepath.Base(path), ".gz")
	if !isPacked {
		return path
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), name)
	data, err := io.ReadAll(z)
	if err == nil {
		err = os.WriteFile(out, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Contents are the rows of all tables but those of the run's names, as sorted texts, with the names of kernels, calls and operators in the place of
// their numbers: two readings of one capture have the same, in whatever order they met the names.
func (k *Kept) Contents() map[string][]string {
	out := map[string][]string{}
	for _, table := range k.Filled() {
		var list []string
		for _, c := range k.tables[table] {
			of := named[c]
			switch {
			case c == "run_id" || of == table && !strings.HasPrefix(c, "parent_") && hasName[table]:
			case hasName[of]:
				list = append(list, c+".name")
			default:
				list = append(list, c)
			}
		}
		out[table] = slices.Sorted(slices.Values(k.Table(table).Texts(strings.Join(list, " "))))
	}
	return out
}

// hasName are tables whose rows are numbered as they are met.
var hasName = map[string]bool{"kernel_name": true, "api_name": true, "op_name": true}

// Same compares the contents of two targets, and returns how many rows there are.
func Same(t testing.TB, a, b map[string][]string) (n int) {
	t.Helper()
	tables := map[string]bool{}
	for _, side := range []map[string][]string{a, b} {
		for table := range side {
			tables[table] = true
		}
	}
	for table := range tables {
		one, two := a[table], b[table]
		n += len(one)
		for i := range max(len(one), len(two)) {
			if x, y := at(one, i), at(two, i); x != y {
				t.Errorf("%s has %d and %d rows; %s is not %s", table, len(one), len(two), x, y)
				break
			}
		}
	}
	return n
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}
