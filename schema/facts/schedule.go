package facts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"prof/schema"
)

// derivation derives facts: each once what it is made of is there, as many at a time as there are connections. Of one connection all is in one transaction.
type derivation struct {
	run         string // as SQL
	table       string // what steps are: TEMP TABLE, or TABLE where other connections see them
	connections []schema.SQL
	computed    map[string]Computed

	ctx       context.Context
	fail      context.CancelCauseFunc
	free      chan schema.SQL // connections that do nothing
	works     map[string]*work
	computing sync.WaitGroup

	mu   sync.Mutex
	has  map[string]bool // what has rows of the run: tables, facts and steps
	made []string        // tables of steps
}

// work is a fact or a step to derive. Rows that Go computes are found beside statements: begun is when they are looked for, put when they are stored.
type work struct {
	*fact
	begun, put func() error // each is done once
	found      chan result  // what is computed; nil where SQL fills the table
}

// result is what a computation gives.
type result struct {
	rows []Rows
	err  error
}

// derive derives facts and steps towards them.
func (d *derivation) derive(ctx context.Context, needs []*fact) error {
	d.ctx, d.fail = context.WithCancelCause(ctx)
	defer d.computing.Wait()
	defer d.fail(nil)
	d.free, d.works = make(chan schema.SQL, len(d.connections)), map[string]*work{}
	for _, q := range d.connections {
		d.free <- q
	}
	var all []*work
	for _, f := range needs {
		w := &work{fact: f}
		w.begun = sync.OnceValue(func() error { return d.begin(w) })
		w.put = sync.OnceValue(func() error { return d.finish(w) })
		d.works[f.Name] = w
		all = append(all, w)
	}
	put := func(w *work) error { return w.put() }
	if len(d.connections) > 1 { // steps that nothing needs too: who waits to see loses more
		return d.each(all, put)
	}
	// What is computed begins first, so that it goes on beside statements, and what waits for it comes last.
	var last []*work
	waits := map[string]bool{}
	for _, w := range all {
		if d.computed[w.Name] != nil {
			if err := w.begun(); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(all, func(a, b *work) int { return strings.Compare(a.Name, b.Name) })
	for _, w := range all {
		if w.step {
			continue
		}
		if d.waits(w, waits) {
			last = append(last, w)
		} else if err := w.put(); err != nil {
			return err
		}
	}
	if err := d.each(last, put); err != nil {
		return err
	}
	for _, name := range d.made {
		if _, err := d.connections[0].ExecContext(ctx, "DROP TABLE "+name); err != nil {
			return fmt.Errorf("drop %s: %w", name, err)
		}
	}
	return nil
}

// each does something with each work: one after the other on one connection, else side by side.
func (d *derivation) each(list []*work, do func(*work) error) error {
	if len(d.connections) == 1 {
		for _, w := range list {
			if err := do(w); err != nil {
				return err
			}
		}
		return nil
	}
	var working sync.WaitGroup
	for _, w := range list {
		working.Go(func() {
			if err := do(w); err != nil {
				d.fail(err)
			}
		})
	}
	working.Wait()
	return context.Cause(d.ctx)
}

// behind puts works that another is made of.
func (d *derivation) behind(names []string) error {
	var list []*work
	for _, name := range names {
		if w := d.works[name]; w != nil {
			list = append(list, w)
		}
	}
	return d.each(list, func(w *work) error { return w.put() })
}

// waits reports whether a work is computed, or made of such; known are those of which it is known.
func (d *derivation) waits(w *work, known map[string]bool) bool {
	is, has := known[w.Name]
	if !has {
		is = d.computed[w.Name] != nil
		for _, name := range slices.Concat(w.reads, w.needed()) {
			if from := d.works[name]; from != nil {
				is = is || d.waits(from, known)
			}
		}
		known[w.Name] = is
	}
	return is
}

// begin fills the table of a work, or reads what its rows are computed from, behind what it is made of; unless something that it needs has no rows.
func (d *derivation) begin(w *work) error {
	if err := d.behind(w.needed()); err != nil {
		return err
	}
	is := d.hasNeeds(w)
	if is {
		if err := d.behind(w.reads); err != nil {
			return err
		}
	} else if !w.step {
		return nil
	}
	return d.with(func(q schema.SQL) error {
		if err := d.make(q, w); err != nil || !is {
			return err
		}
		query := strings.ReplaceAll(w.Body, "$run", d.run)
		read := d.computed[w.Name]
		if read == nil {
			what := d.run + " AS run_id, *"
			if w.step {
				what = "*"
			}
			return d.insert(q, w, ByName(what, query))
		}
		compute, err := read(d.ctx, q, d.run, query)
		if err != nil {
			return fmt.Errorf("derive %s: %w", w.Name, err)
		}
		w.found = make(chan result, 1)
		d.computing.Go(func() {
			rows, err := compute(d.ctx)
			w.found <- result{rows, err}
		})
		return nil
	})
}

// finish is begin, and stores what is computed.
func (d *derivation) finish(w *work) error {
	if err := w.begun(); err != nil || w.found == nil {
		return err
	}
	rows := <-w.found
	if rows.err != nil {
		return fmt.Errorf("derive %s: %w", w.Name, rows.err)
	}
	return d.with(func(q schema.SQL) error {
		for _, v := range rows.rows {
			if err := d.insert(q, w, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// with does something on a connection.
func (d *derivation) with(do func(q schema.SQL) error) error {
	select {
	case q := <-d.free:
		defer func() { d.free <- q }()
		return do(q)
	case <-d.ctx.Done():
		return context.Cause(d.ctx)
	}
}

// hasNeeds reports whether all that a work needs has rows.
func (d *derivation) hasNeeds(w *work) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, needs := range w.Needs {
		if !slices.ContainsFunc(strings.Split(needs, "|"), func(name string) bool { return d.has[name] }) {
			return false
		}
	}
	return true
}

// make makes the table of a step, empty.
func (d *derivation) make(q schema.SQL, w *work) error {
	if !w.step {
		return nil
	}
	columns := make([]string, len(w.Columns))
	for i, c := range w.Columns {
		columns[i] = fmt.Sprintf("%q %s", c.Name, c.Type)
	}
	if _, err := q.ExecContext(d.ctx, fmt.Sprintf("CREATE OR REPLACE %s %s (%s)", d.table, w.Name, strings.Join(columns, ", "))); err != nil {
		return fmt.Errorf("make %s: %w", w.Name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.made = append(d.made, w.Name)
	return nil
}

// insert inserts rows of a work.
func (d *derivation) insert(q schema.SQL, w *work, rows Rows) error {
	result, err := q.ExecContext(d.ctx, fmt.Sprintf("INSERT INTO %s %s", cmp.Or(w.Into, w.Name), rows.SQL), rows.Args...)
	if err != nil {
		return fmt.Errorf("derive %s: %w", w.Name, err)
	}
	n, err := result.RowsAffected()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.has[w.Name] = d.has[w.Name] || n > 0
	return err
}

// Computed reads on a connection what the rows of a step are found in, given the run as SQL and the query of its file, and returns what finds them without the
// connection.
type Computed func(ctx context.Context, q schema.SQL, run, query string) (Computation, error)

// Computation finds rows.
type Computation func(ctx context.Context) ([]Rows, error)

// Rows are rows to insert: what follows the name of the table in the statement, and its arguments.
type Rows struct {
	SQL  string
	Args []any
}

// ByName are the rows of a query, by the names of its columns.
func ByName(what, query string, args ...any) Rows {
	return Rows{fmt.Sprintf("BY NAME SELECT %s FROM (\n%s\n)", what, query), args}
}
