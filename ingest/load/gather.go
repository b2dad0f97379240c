package load

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"
	"unsafe"
)

// DuckDB takes as long to store ten rows as to store a thousand, and a source has rows for some thirty tables, most of them few: so those of
// a run's sources are gathered and stored together.
const (
	fewRows  = 4096    // of a table of one source, at most, are gathered
	manyRows = 1 << 15 // of a table are stored as soon as they are gathered
)

// gathered are rows of a table that wait to be stored together.
type gathered struct {
	table   string
	columns []Column // source_id last, where the table has it
	pieces  []piece
	n       int              // rows in pieces
	rows    [][]driver.Value // whole rows, of Append
	texts   int              // bytes of texts that wait
}

// isFull says that what waits should be stored.
func (g *gathered) isFull() bool {
	return g.n >= manyRows || len(g.rows) >= manyRows || g.texts >= mostTexts
}

// piece is a copy of a chunk's first rows, of one source.
type piece struct {
	n      int
	source int32
	size   int        // bytes of texts
	data   [][]byte   // by column: the memory of numbers
	texts  [][]string // by column
	valid  [][]uint64 // by column; see vector
}

// size is what a value takes; 0 for a text, which is kept elsewhere.
func (t Type) size() int { return [...]int{BigInt: 8, Integer: 4, Double: 8, Varchar: 0}[t] }

// bytes is the memory of a column of numbers.
func (c *Chunk) bytes(col int) []byte {
	return unsafe.Slice((*byte)(c.vecs[col].data), chunkRows*c.columns[col].Type.size())
}

func (v vector) words() []uint64 { return unsafe.Slice(v.valid, (chunkRows+63)/64) }

// scratchChunk is a chunk in memory of Go's, good until the next one is asked for.
func (t *Target) scratchChunk(columns []Column) Chunk {
	for len(t.scratch) < len(columns) {
		t.scratch = append(t.scratch, vector{data: unsafe.Pointer(unsafe.SliceData(make([]int64, chunkRows))), valid: unsafe.SliceData(make([]uint64, (chunkRows+63)/64)), texts: make([]string, chunkRows)})
	}
	c := Chunk{columns: columns, vecs: slices.Clone(t.scratch[:len(columns)])}
	for i, col := range columns {
		if col.Type != Varchar {
			c.vecs[i].texts = nil
		}
	}
	return c
}

// setAllValid makes all values of a chunk not NULL.
func (c *Chunk) setAllValid() {
	for _, v := range c.vecs {
		words := v.words()
		for i := range words {
			words[i] = ^uint64(0)
		}
	}
}

// copied gives a copy of the first n rows.
func (c *Chunk) copied(n, source int) piece {
	p := piece{n: n, source: int32(source), size: c.texts, data: make([][]byte, len(c.vecs)), texts: make([][]string, len(c.vecs)), valid: make([][]uint64, len(c.vecs))}
	for i, v := range c.vecs {
		p.data[i], p.valid[i] = slices.Clone(c.bytes(i)[:n*c.columns[i].Type.size()]), slices.Clone(v.words()[:(n+63)/64])
		if v.texts != nil {
			p.texts[i] = slices.Clone(v.texts[:n])
		}
	}
	return p
}

// write writes the rows to a chunk, from row at on.
func (p *piece) write(c *Chunk, at int) {
	for col := range p.data {
		copy(c.bytes(col)[at*c.columns[col].Type.size():], p.data[col])
		for i := range p.n {
			switch {
			case p.isNull(col, i):
				c.SetNull(col, at+i)
			case p.texts[col] != nil:
				c.SetText(col, at+i, p.texts[col][i])
			}
		}
	}
}

func (p *piece) isNull(col, row int) bool { return p.valid[col][row>>6]>>(row&63)&1 == 0 }

// begun is a worker some of whose rows were taken already: they come first.
type begun struct {
	pieces []piece
	Worker
}

// Fill fills a chunk.
func (b *begun) Fill(c *Chunk) (int, error) {
	if len(b.pieces) == 0 {
		return b.Worker.Fill(c)
	}
	p := b.pieces[0]
	b.pieces = b.pieces[1:]
	p.write(c, 0)
	return p.n, nil
}

// gather takes the rows if they are few. If not, the bulk begins with those that were taken.
func (t *Target) gather(ctx context.Context, table string, b *bulk) (n int64, few bool, err error) {
	if !t.apart && b.rows.Estimate() > fewRows {
		return 0, false, nil
	}
	defer recovered(&err)
	columns := b.rows.Columns()
	hasSource := false
	if !t.apart {
		all, err := t.columnsOf(ctx, table)
		if err != nil {
			return 0, false, err
		}
		hasSource = slices.Contains(all, "source_id")
	}
	c, w := t.scratchChunk(columns), b.rows.Worker()
	var pieces []piece
	texts := 0 // bytes of them
	for ctx.Err() == nil {
		c.setAllValid()
		c.texts = 0
		k, err := w.Fill(&c)
		if err != nil {
			return 0, false, err
		}
		if k == 0 {
			return n, true, t.keep(ctx, table, hasSource, columns, pieces, int(n))
		}
		pieces = append(pieces, c.copied(k, t.SourceID))
		texts += c.texts
		if n += int64(k); (n > fewRows || texts > mostTexts) && !t.apart {
			b.begun = &begun{pieces, w}
			return 0, false, nil
		}
	}
	return 0, false, ctx.Err()
}

// keep adds pieces to what waits.
func (t *Target) keep(ctx context.Context, table string, hasSource bool, columns []Column, pieces []piece, n int) error {
	if hasSource {
		columns = append(slices.Clip(columns), Column{"source_id", Integer})
	}
	var key strings.Builder
	key.WriteString(table)
	for _, c := range columns {
		key.WriteByte(' ')
		key.WriteString(c.Name)
	}
	g := t.waitingFor(key.String(), table)
	g.columns, g.pieces, g.n = columns, append(g.pieces, pieces...), g.n+n
	for i := range pieces {
		g.texts += pieces[i].size
	}
	if !g.isFull() || t.apart {
		return nil
	}
	return t.store(ctx, g)
}

func (t *Target) waitingFor(key, table string) *gathered {
	g := t.byKey[key]
	if g == nil {
		g = &gathered{table: table}
		t.byKey[key] = g
		t.waiting = append(t.waiting, g)
	}
	return g
}

// pulled gives the rows of the pieces, with their source where the table has it.
func (g *gathered) pulled() Rows {
	pieces := g.pieces
	return Pulled(1, g.columns, func() PullFunc {
		return func(c *Chunk) (n int, err error) {
			for ; len(pieces) > 0 && n+pieces[0].n <= c.Cap() && !c.Full(); pieces = pieces[1:] {
				p := &pieces[0]
				p.write(c, n)
				if last := len(p.data); last < len(g.columns) {
					for i := range p.n {
						c.Int32(last)[n+i] = p.source
					}
				}
				n += p.n
			}
			return n, nil
		}
	})
}

// store stores what waits of a table.
func (t *Target) store(ctx context.Context, g *gathered) error {
	g.texts = 0
	if g.n > 0 {
		b, err := t.newBulk(g.table, g.pulled(), nil)
		if err != nil {
			return err
		}
		if _, err := t.insert(ctx, g.table, b, g.columns, ""); err != nil {
			return err
		}
		g.pieces, g.n = nil, 0
	}
	if len(g.rows) > 0 {
		rows := g.rows
		g.rows = nil
		return t.appendRows(ctx, g.table, func(add func(...driver.Value) error) error {
			for _, row := range rows {
				if err := add(row...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return nil
}

// Gather lets few rows of a source wait, in memory and unknown to the database, until Flush stores them with those of other sources.
func (t *Target) Gather(on bool) { t.gathers = on }

// Flush stores all rows that wait.
func (t *Target) Flush(ctx context.Context) error {
	for _, g := range t.waiting {
		if err := t.store(ctx, g); err != nil {
			return err
		}
	}
	return nil
}
