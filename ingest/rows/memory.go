package rows

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// Memory is a Sink that keeps all rows as they were given: for sources that are read before it is their turn to be stored, for rows that
// wait to be stored with others, and for tests.
type Memory struct {
	Tables []*Kept // in the order of their first rows
	byKey  map[string]*Kept
	work   scratch
}

// scratch is memory to fill chunks in.
type scratch []Vector

// Kept are rows of one table, with the same columns.
type Kept struct {
	Table   string
	Columns []Column // of the pieces
	Pieces  []Piece
	N       int     // rows in pieces
	Rows    [][]any // whole rows, of Append
	Texts   int     // bytes of texts
}

// Piece is a copy of a chunk's first rows.
type Piece struct {
	N      int
	Source int32      // the source they are of, where whoever keeps them notes it
	size   int        // bytes of texts
	data   [][]byte   // by column: the memory of numbers
	texts  [][]string // by column
	valid  [][]uint64 // by column; see Vector
}

// Append keeps whole rows.
func (m *Memory) Append(ctx context.Context, table string, each func(add Add) error) (n int64, err error) {
	k := m.Of(table, nil)
	err = each(func(values ...any) error {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n++
		k.AddRow(values)
		return nil
	})
	if err != nil {
		err = fmt.Errorf("store %s: %w", table, err)
	}
	return n, err
}

// AddRow keeps a copy of a row.
func (k *Kept) AddRow(values []any) {
	k.Rows = append(k.Rows, slices.Clone(values))
	for _, v := range values {
		if s, isText := v.(string); isText {
			k.Texts += len(s)
		}
	}
}

// Insert keeps rows.
func (m *Memory) Insert(ctx context.Context, table string, rows Rows) (int64, error) {
	pieces, n, _, err := m.Take(ctx, rows, -1)
	if err == nil {
		m.Keep(table, rows.Columns(), pieces, int(n))
	}
	return n, err
}

// Lean does nothing: all rows are kept.
func (m *Memory) Lean(int) (restore func() error) { return func() error { return nil } }

// Take copies rows, n of them in all. Where there are more than most of them, unless that is -1, or their texts are long, rest is what is to be asked for the
// rest; else it is nil.
func (m *Memory) Take(ctx context.Context, rows Rows, most int64) (pieces []Piece, n int64, rest Worker, err error) {
	defer Recovered(&err)
	c, w := m.work.chunk(rows.Columns()), rows.Worker()
	texts := 0 // bytes of them
	for ctx.Err() == nil {
		c.reset()
		k, err := w.Fill(&c)
		if err != nil {
			return nil, 0, nil, err
		}
		if k == 0 {
			return pieces, n, nil, nil
		}
		pieces = append(pieces, c.copied(k))
		texts += c.texts
		if n += int64(k); (n > most || texts > MostTexts) && most >= 0 {
			return pieces, n, w, nil
		}
	}
	return nil, 0, nil, ctx.Err()
}

// Keep keeps pieces of those columns and returns all that is kept with them.
func (m *Memory) Keep(table string, columns []Column, pieces []Piece, n int) *Kept {
	k := m.Of(table, columns)
	k.Columns, k.Pieces, k.N = columns, append(k.Pieces, pieces...), k.N+n
	for i := range pieces {
		k.Texts += pieces[i].size
	}
	return k
}

// Of returns what is kept of a table, in pieces of those columns or, where they are nil, in whole rows.
func (m *Memory) Of(table string, columns []Column) *Kept {
	var key strings.Builder
	key.WriteString(table)
	for _, c := range columns {
		key.WriteByte(' ')
		key.WriteString(c.Name)
	}
	k := m.byKey[key.String()]
	if k == nil {
		k = &Kept{Table: table}
		if m.byKey == nil {
			m.byKey = map[string]*Kept{}
		}
		m.byKey[key.String()] = k
		m.Tables = append(m.Tables, k)
	}
	return k
}

// chunk is one in memory of Go's, good until the next one is asked for.
func (s *scratch) chunk(columns []Column) Chunk {
	for len(*s) < len(columns) {
		*s = append(*s, Vector{Data: unsafe.Pointer(unsafe.SliceData(make([]int64, ChunkRows))), Valid: unsafe.SliceData(make([]uint64, (ChunkRows+63)/64))})
	}
	c := Chunk{columns: columns, vecs: slices.Clone((*s)[:len(columns)])}
	for i, col := range columns {
		switch {
		case col.Type != Varchar:
			c.vecs[i].texts = nil
		case c.vecs[i].texts == nil:
			c.vecs[i].texts = make([]string, ChunkRows)
			(*s)[i].texts = c.vecs[i].texts
		}
	}
	return c
}

// copied returns a copy of the first n rows.
func (c *Chunk) copied(n int) Piece {
	p := Piece{N: n, size: c.texts, data: make([][]byte, len(c.vecs)), texts: make([][]string, len(c.vecs)), valid: make([][]uint64, len(c.vecs))}
	for i, v := range c.vecs {
		p.data[i], p.valid[i] = slices.Clone(c.bytes(i)[:n*c.columns[i].Type.size()]), slices.Clone(v.words()[:(n+63)/64])
		if v.texts != nil {
			p.texts[i] = slices.Clone(v.texts[:n])
		}
	}
	return p
}

// bytes is about what the piece takes.
func (p *Piece) bytes() int {
	size := p.size
	for i := range p.data {
		size += len(p.data[i]) + 16*len(p.texts[i]) + 8*len(p.valid[i])
	}
	return size
}

// Write writes the rows to a chunk, from row at on.
func (p *Piece) Write(c *Chunk, at int) {
	for col := range p.data {
		copy(c.bytes(col)[at*c.columns[col].Type.size():], p.data[col])
		for i := range p.N {
			switch {
			case p.IsNull(col, i):
				c.SetNull(col, at+i)
			case p.texts[col] != nil:
				c.SetText(col, at+i, p.texts[col][i])
			}
		}
	}
}

// IsNull reports whether a value is NULL.
func (p *Piece) IsNull(col, row int) bool { return p.valid[col][row>>6]>>(row&63)&1 == 0 }

// Int64 is a BigInt column.
func (p *Piece) Int64(col int) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(p.data[col]))), p.N)
}

// Int32 is an Integer column.
func (p *Piece) Int32(col int) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(p.data[col]))), p.N)
}

// Float64 is a Double column.
func (p *Piece) Float64(col int) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(p.data[col]))), p.N)
}

// Text is a value of a Varchar column.
func (p *Piece) Text(col, row int) string { return p.texts[col][row] }

// Pulled returns the rows of the pieces, each with its source where source_id is the last of their columns.
func (k *Kept) Pulled() Rows {
	pieces := k.Pieces
	return Pulled(1, k.Columns, func() PullFunc {
		return func(c *Chunk) (n int, err error) {
			for ; len(pieces) > 0 && n+pieces[0].N <= c.Cap() && !c.Full(); pieces = pieces[1:] {
				p := &pieces[0]
				p.Write(c, n)
				if last := len(p.data); last < len(k.Columns) {
					for i := range p.N {
						c.Int32(last)[n+i] = p.Source
					}
				}
				n += p.N
			}
			return n, nil
		}
	})
}
