package rows

import (
	"unsafe"

	"prof/internal/mask"
)

// Chunk is memory, mostly a sink's, for up to Cap rows of a Rows' columns. All values start out not NULL and undefined.
type Chunk struct {
	columns []Column
	vecs    []Vector
	setText func(col, row int, s string) // into memory that is not Go's
	texts   int                          // bytes of them
	mask    []bool                       // columns whose texts are masked; nil while they are only gathered
	memo    mask.Memo
	copies  []byte // of texts, in memory of Go's
}

// MostTexts is how many bytes of texts make a chunk full: a chunk's memory is outside of what DuckDB bounds.
const MostTexts = 8 << 20

// ChunkRows is how many rows a Chunk holds: DuckDB's vector size.
const ChunkRows = 2048

// Vector is the memory of one column of a Chunk.
type Vector struct {
	Data  unsafe.Pointer // ChunkRows numbers
	Valid *uint64        // a bit a row, set where not NULL
	texts []string       // of a Varchar column in memory of Go's; else nil
}

// NewChunk returns a chunk that has no memory yet. setText writes a text to memory that is given by Attach; texts of columns in masked are
// masked before.
func NewChunk(columns []Column, masked []bool, setText func(col, row int, s string)) Chunk {
	return Chunk{columns: columns, vecs: make([]Vector, len(columns)), mask: masked, setText: setText}
}

// Attach points a column of the chunk at its memory.
func (c *Chunk) Attach(col int, v Vector) {
	c.texts = 0
	c.vecs[col] = v
}

// Cap is how many rows a Chunk holds.
func (c *Chunk) Cap() int { return ChunkRows }

// Full reports whether the chunk holds so much text that no further row should be written.
func (c *Chunk) Full() bool { return c.texts >= MostTexts }

// Int64 is the memory of a BigInt column.
func (c *Chunk) Int64(col int) []int64 {
	return unsafe.Slice((*int64)(c.vecs[col].Data), ChunkRows)
}

// Int32 is the memory of an Integer column.
func (c *Chunk) Int32(col int) []int32 {
	return unsafe.Slice((*int32)(c.vecs[col].Data), ChunkRows)
}

// Float64 is the memory of a Double column.
func (c *Chunk) Float64(col int) []float64 {
	return unsafe.Slice((*float64)(c.vecs[col].Data), ChunkRows)
}

// SetText writes a value of a Varchar column.
func (c *Chunk) SetText(col, row int, s string) {
	if c.mask != nil && c.mask[col] {
		s = c.memo.Stored(s)
	}
	c.texts += len(s)
	if texts := c.vecs[col].texts; texts != nil {
		if row > 0 && texts[row-1] == s { // as kinds and domains are
			texts[row] = texts[row-1]
		} else {
			texts[row] = c.copyOf(s)
		}
		return
	}
	c.setText(col, row, s)
}

// SetNull makes a value NULL.
func (c *Chunk) SetNull(col, row int) {
	c.vecs[col].words()[row>>6] &^= 1 << (row & 63)
}

// IsNull reports whether a value is NULL.
func (c *Chunk) IsNull(col, row int) bool {
	return c.vecs[col].words()[row>>6]>>(row&63)&1 == 0
}

// SetAllNull makes the first n values of a column NULL.
func (c *Chunk) SetAllNull(col, n int) {
	clear(c.vecs[col].words()[:(n+63)/64])
}

// Valid is a bit a row of a column, set where the value is not NULL.
func (c *Chunk) Valid(col int) []uint64 { return c.vecs[col].words() }

func (v Vector) words() []uint64 { return unsafe.Slice(v.Valid, (ChunkRows+63)/64) }

// bytes is the memory of a column of numbers.
func (c *Chunk) bytes(col int) []byte {
	return unsafe.Slice((*byte)(c.vecs[col].Data), ChunkRows*c.columns[col].Type.size())
}

// size is what a value takes; 0 for a text, which is kept elsewhere.
func (t Type) size() int { return [...]int{BigInt: 8, Integer: 4, Double: 8, Varchar: 0}[t] }

// copyOf is a copy of a text, in memory that it shares with others.
func (c *Chunk) copyOf(s string) string {
	if len(s) == 0 {
		return ""
	}
	if len(s) > cap(c.copies)-len(c.copies) {
		c.copies = make([]byte, 0, max(len(s), min(2*cap(c.copies), mostCopies), leastCopies))
	}
	at := len(c.copies)
	c.copies = append(c.copies, s...)
	return unsafe.String(&c.copies[at], len(s))
}

// The size of the memory in which texts are copied grows with them.
const (
	leastCopies = 512
	mostCopies  = 64 << 10
)

// reset makes an empty chunk of one in memory of Go's.
func (c *Chunk) reset() {
	c.texts = 0
	for _, v := range c.vecs {
		words := v.words()
		for i := range words {
			words[i] = ^uint64(0)
		}
	}
}
