// Package ledger holds what prof answers. It has every capture of testdata asked every public query, every table that they are stored in, and the
// verbs on a few runs, at full precision, beside what it answered when the files in testdata were written. A change lands with the ledger
// unchanged, or with the changed rows explained in its commit.
package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"prof/internal/golden"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// threads is of DuckDB: the ledger is the same with any number of them.
var threads = flag.Int("threads", 0, "store everything anew and ask with so many threads; 0 takes what is stored")

// some is of how many captures a query is asked that has rows of more, unless -whole is given: most changes of a query show in any capture, and
// what is stored is always compared whole.
const some = 12

// written is the folder that every answer is written to in full, to compare two commits.
var written = flag.String("ledger", "", "write every answer in full to files below this folder")

// masked are the columns whose values differ by nature: the folder of the captures and of the home, and the program's version.
var masked = map[string]bool{"path": true, "prof_version": true, "file_path": true, "out_dir": true}

// placed takes the folder of the captures out of texts, which is another one in each clone.
var placed = strings.NewReplacer(testkit.Root(), "(root)", filepath.Join(filepath.Dir(testkit.Root()), "shared"), "(shared)")

// small is how long an answer may be to stand in the ledger as text, in bytes.
const small = 400

// answer is the rows of a query as text, cell by cell.
type answer struct {
	columns []string
	rows    [][]string
}

// newAnswer reads all rows, which it closes.
func newAnswer(rows *sql.Rows) (a answer, err error) {
	defer rows.Close()
	if a.columns, err = rows.Columns(); err != nil {
		return a, err
	}
	values, into := make([]any, len(a.columns)), make([]any, len(a.columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return a, err
		}
		cells := make([]string, len(values))
		for i, v := range values {
			cells[i] = cell(a.columns[i], v)
		}
		a.rows = append(a.rows, cells)
	}
	slices.SortFunc(a.rows, slices.Compare)
	return a, rows.Err()
}

// cell is a value at full precision. Sums of doubles are made in no fixed order, which shows in their last digits: 12 of them count.
func cell(column string, v any) string {
	switch v := v.(type) {
	case nil:
		return "~"
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strconv.FormatFloat(v, 'g', 12, 64)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case []byte:
		return hex.EncodeToString(v)
	case string:
		if masked[column] && v != "" {
			return "(masked)"
		}
		return strconv.Quote(placed.Replace(v))
	}
	return fmt.Sprint(v)
}

// instants are columns that say when, not how long, and so may be before the capture began. Those called start and end are everywhere.
var instants = map[string]string{"device-samples": "time_ns", "diagnostics": "time_ns"}

// known are answers that prof should not give, of captures that lost data; to be mended.
var known = []string{"shared/queries/tpot-causes: lost-burst"}

// check holds what is true of every answer: shares are from 0 to 1, unless the row says that it is over 1, no amount is negative but net ones, no
// number is NaN, and the columns named as key identify a row.
func (a answer) check(q queries.Query) error {
	var keys []int
	isMasked := false
	for name := range strings.SplitSeq(q.Key, ", ") {
		if at := slices.Index(a.columns, name); at >= 0 {
			keys = append(keys, at)
			isMasked = isMasked || masked[name]
		} else if len(a.rows) > 1 {
			return fmt.Errorf("its key %s is no column of it", name)
		}
	}
	seen := map[string]bool{}
	for _, row := range a.rows {
		for i, column := range a.columns {
			v, err := strconv.ParseFloat(row[i], 64)
			if err != nil { // a text, which stands in quotes, or NULL
				continue
			}
			unit := frame.UnitOf(column)
			isOver := unit == frame.Ratio && v > 1+1e-11 && !slices.ContainsFunc(row, func(cell string) bool { return strings.Contains(cell, "-over-1") })
			mayBeNegative := unit == frame.None || instants[q.Name] == column || strings.HasSuffix(column, "start_ns") || strings.HasSuffix(column, "end_ns") || strings.Contains(column, "_net_") || column == "off_ratio"
			if v != v || isOver || v < 0 && !mayBeNegative {
				return fmt.Errorf("%s is %s in %.300q", column, row[i], row)
			}
		}
		var key strings.Builder
		for _, at := range keys {
			key.WriteString(row[at] + "\t")
		}
		if seen[key.String()] && !isMasked {
			return fmt.Errorf("two rows of the key %q", key.String())
		}
		seen[key.String()] = true
	}
	return nil
}

// text is the answer in full.
func (a answer) text() string {
	var b strings.Builder
	b.WriteString(strings.Join(a.columns, "\t") + "\n")
	for _, r := range a.rows {
		b.WriteString(strings.Join(r, "\t") + "\n")
	}
	return b.String()
}

// entry is how an answer of a run stands in the ledger: in full where it is small, else with a sum for each column.
func (a answer) entry(run string) string {
	if text := a.text(); len(text) <= small {
		return fmt.Sprintf("%s: %d\n\t%s\n", run, len(a.rows), strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n\t"))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d", run, len(a.rows))
	for i, c := range a.columns {
		sum := sha256.New()
		for _, r := range a.rows {
			fmt.Fprintln(sum, r[i])
		}
		fmt.Fprintf(&b, " %s=%s", c, hex.EncodeToString(sum.Sum(nil))[:6])
	}
	return b.String() + "\n"
}

// page is one file of the ledger: the entries of a query or a table by run, those without rows left out.
type page struct {
	name string
	was  map[string]string // the entries of its file, without those that are not asked for
	lock sync.Mutex
	list map[string]string
	full map[string]string
	// wrong is what no answer may be, by run.
	wrong []string
}

func newPage(t *testing.T, name string) *page {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return &page{name: name, was: entries(string(file)), list: map[string]string{}, full: map[string]string{}}
}

// choose returns the runs that are asked: some of those that the ledger has rows of, the same each time but others for each page, and one in
// eight of the rest.
func (p *page) choose(runs []schema.Run) (out []schema.Run) {
	if *sample.Whole || *golden.Update || *threads > 0 {
		return runs
	}
	draw := func(run string) string {
		sum := sha256.Sum256([]byte(p.name + run))
		return hex.EncodeToString(sum[:])
	}
	runs = slices.SortedFunc(slices.Values(runs), func(a, b schema.Run) int { return strings.Compare(draw(a.Name), draw(b.Name)) })
	found := 0
	for _, r := range runs {
		switch {
		case p.was[r.Name] != "" && found < some:
			found++
			out = append(out, r)
		case p.was[r.Name] != "":
			delete(p.was, r.Name)
		case draw(r.Name) < "2": // one in eight
			out = append(out, r)
		}
	}
	return out
}

func (p *page) add(run string, a answer) {
	if len(a.rows) == 0 {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.list[run] = a.entry(run)
	if *written != "" {
		p.full[run] = a.text()
	}
}

// compare holds the page to its file.
func (p *page) compare(t *testing.T) {
	t.Helper()
	if *written != "" {
		for run, text := range p.full {
			write(t, filepath.Join(*written, p.name, run), text)
		}
	}
	for _, fault := range p.wrong {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(p.name+": "+fault, k+":") }) {
			t.Errorf("%s: %s", p.name, fault)
		}
	}
	if *golden.Update {
		p.update(t)
		return
	}
	for _, d := range changes(p.was, p.list) {
		t.Errorf("%s: %s", p.name, d)
	}
}

// update writes the page's file, and none where no run has rows.
func (p *page) update(t *testing.T) {
	t.Helper()
	file := filepath.Join("testdata", p.name)
	if len(p.list) == 0 {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return
	}
	var b strings.Builder
	for _, run := range slices.Sorted(maps.Keys(p.list)) {
		b.WriteString(p.list[run])
	}
	write(t, file, b.String())
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// entries reads a file of the ledger: the text of each entry by its run.
func entries(file string) map[string]string {
	out := map[string]string{}
	run := ""
	for line := range strings.Lines(file) {
		if !strings.HasPrefix(line, "\t") {
			run, _, _ = strings.Cut(line, ": ")
		}
		out[run] += line
	}
	return out
}

// changes returns which entries changed, and which columns of them where the ledger has sums.
func changes(was, is map[string]string) (out []string) {
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, run := range slices.Sorted(maps.Keys(all)) {
		a, b := was[run], is[run]
		switch {
		case a == b:
		case a == "":
			out = append(out, "new: "+b)
		case b == "":
			out = append(out, "gone: "+a)
		case strings.Contains(a, "\n\t") || strings.Contains(b, "\n\t"):
			out = append(out, fmt.Sprintf("was %sis %s", a, b))
		default:
			before, after := strings.Fields(a[len(run):]), strings.Fields(b[len(run):]) // a colon, how many rows, sums
			var sums []string
			for _, sum := range after[2:] {
				if !slices.Contains(before[2:], sum) {
					sums = append(sums, sum)
				}
			}
			out = append(out, fmt.Sprintf("%s: %s rows, was %s; changed: %s", run, after[1], before[1], strings.Join(sums, " ")))
		}
	}
	return out
}

// TestLedger asks every public query of every capture of testdata, and looks at every table.
func TestLedger(t *testing.T) {
	w := testkit.All(t)
	if *threads > 0 {
		w = stored(t, testkit.Captures, func(name string, err error) { t.Errorf("run %s: %v", name, err) })
	} else {
		// Small questions are planned for longer than they are answered, and threads that look for work take as much of the processors again.
		testkit.Exec(t, w, "SET threads = 1")
	}
	compare(t, w, "")
}

// stored stores captures anew, with as many threads as asked for, and hands over those that are refused.
func stored(t *testing.T, runs []testkit.Run, refused func(name string, err error)) *schema.Warehouse {
	t.Helper()
	w := testkit.Copy(t)
	for i, r := range runs {
		if *threads > 0 {
			r.Options.Load.Threads = *threads
			set(t, w)
		}
		if err := testkit.Ingest(t.Context(), w, i, r); err != nil {
			refused(r.Name, err)
		}
	}
	set(t, w)
	return w
}

func set(t *testing.T, w *schema.Warehouse) {
	t.Helper()
	if *threads > 0 {
		testkit.Exec(t, w, fmt.Sprintf("SET threads = %d", *threads))
	}
}

// compare makes the ledger of a warehouse and holds it to its files below a folder of testdata.
func compare(t *testing.T, w *schema.Warehouse, dir string) {
	t.Helper()
	runs, err := w.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := queries.All()
	if err != nil {
		t.Fatal(err)
	}
	var pages []*page
	jobs := make(chan func() error)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for job := range jobs {
				if err := job(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, q := range all {
		if q.Private || q.Scalar {
			continue
		}
		p := newPage(t, filepath.Join(dir, "queries", q.Name))
		pages = append(pages, p)
		jobs <- func() error { return ask(t.Context(), w, q, runs, p) }
	}
	p := newPage(t, filepath.Join(dir, "tables"))
	pages = append(pages, p)
	jobs <- func() error { return tables(t.Context(), w, p) }
	close(jobs)
	workers.Wait()
	for _, p := range pages {
		p.compare(t)
	}
}

// ask asks a query of every run; it is planned once.
func ask(ctx context.Context, w *schema.Warehouse, q queries.Query, runs []schema.Run, p *page) error {
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	text := "FROM " + q.Relation()
	switch {
	case q.TakesRun():
		text += "(?::UUID)"
	case len(q.Params) > 0:
		text += "()"
	}
	stmt, err := conn.PrepareContext(ctx, text)
	if err != nil {
		return fmt.Errorf("%s: %w", q.Name, err)
	}
	defer stmt.Close()
	if !q.TakesRun() {
		runs = []schema.Run{{Name: "all"}}
	}
	for _, r := range p.choose(runs) {
		var args []any
		if q.TakesRun() {
			args = append(args, r.ID)
		}
		rows, err := stmt.QueryContext(ctx, args...)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", q.Name, r.Name, err)
		}
		a, err := newAnswer(rows)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", q.Name, r.Name, err)
		}
		if err := a.check(q); err != nil {
			p.wrong = append(p.wrong, fmt.Sprintf("%s: %v", r.Name, err))
		}
		p.add(r.Name, a)
	}
	return nil
}

// tables sums up the rows of every table by run.
func tables(ctx context.Context, w *schema.Warehouse, p *page) error {
	columns, err := w.DB.QueryContext(ctx, `SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal AND database_name = current_database()
		AND table_name IN (SELECT table_name FROM duckdb_tables() WHERE NOT internal) ORDER BY table_name, column_index`)
	if err != nil {
		return err
	}
	defer columns.Close()
	list := map[string][]string{}
	for columns.Next() {
		var table, column, kind string
		if err := columns.Scan(&table, &column, &kind); err != nil {
			return err
		}
		value := fmt.Sprintf("%q", column)
		switch {
		case masked[column]:
			continue
		case kind == "DOUBLE":
			value = fmt.Sprintf("format('{:.12g}', %s)", value)
		case kind == "VARCHAR":
			value = fmt.Sprintf("replace(replace(%s, %s, '(root)'), %s, '(shared)')", value, schema.Quote(testkit.Root()), schema.Quote(filepath.Join(filepath.Dir(testkit.Root()), "shared")))
		}
		list[table] = append(list[table], value)
	}
	if err := columns.Err(); err != nil {
		return err
	}
	for table, values := range list {
		if values[0] != `"run_id"` || table == "derivation" { // whose checksum is of the program
			continue
		}
		rows, err := w.DB.QueryContext(ctx, fmt.Sprintf(`SELECT (SELECT name FROM run r WHERE r.run_id = t.run_id), count(*), right(sum(hash(%s)::HUGEINT)::VARCHAR, 12) FROM %s t GROUP BY t.run_id`, strings.Join(values, ", "), table))
		if err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
		if err := addTable(rows, table, p); err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
	}
	return nil
}

func addTable(rows *sql.Rows, table string, p *page) error {
	defer rows.Close()
	for rows.Next() {
		var run, sum string
		var n int64
		if err := rows.Scan(&run, &n, &sum); err != nil {
			return err
		}
		p.list[table+" of "+run] = fmt.Sprintf("%s of %s: %d sum=%s\n", table, run, n, sum)
	}
	return rows.Err()
}
