package load

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"prof/internal/mask"
)

// Chunk is memory, mostly DuckDB's, for up to Cap rows of a Rows' columns. All values start out not NULL and undefined.
type Chunk struct {
	columns []Column
	vecs    []vector
	texts   int    // bytes of them
	mask    []bool // columns whose texts are masked; nil while they are only gathered
}

// mostTexts is how many bytes of texts make a chunk full: a chunk's memory is outside of what DuckDB bounds.
const mostTexts = 8 << 20

type vector struct {
	vec   mapping.Vector
	data  unsafe.Pointer
	valid *uint64  // a bit a row, set where not NULL
	texts []string // of a Varchar column in memory of Go's; else nil
}

// Cap is how many rows a Chunk holds.
func (c *Chunk) Cap() int { return chunkRows }

// Full says that the chunk holds so much text that no further row should be written.
func (c *Chunk) Full() bool { return c.texts >= mostTexts }

// chunkRows is DuckDB's vector size.
var chunkRows = duckdb.GetDataChunkCapacity()

// attach points the chunk at the vectors of one output chunk.
func (c *Chunk) attach(raw mapping.DataChunk) {
	if c.vecs == nil {
		c.vecs = make([]vector, len(c.columns))
	}
	c.texts = 0
	for i := range c.columns {
		v := mapping.DataChunkGetVector(raw, mapping.IdxT(i))
		c.vecs[i] = vector{vec: v, data: mapping.VectorGetData(v), valid: (*uint64)(mapping.VectorGetValidity(v))}
	}
}

// Int64 is the memory of a BigInt column.
func (c *Chunk) Int64(col int) []int64 {
	return unsafe.Slice((*int64)(c.vecs[col].data), chunkRows)
}

// Int32 is the memory of an Integer column.
func (c *Chunk) Int32(col int) []int32 {
	return unsafe.Slice((*int32)(c.vecs[col].data), chunkRows)
}

// Float64 is the memory of a Double column.
func (c *Chunk) Float64(col int) []float64 {
	return unsafe.Slice((*float64)(c.vecs[col].data), chunkRows)
}

// SetText writes a value of a Varchar column.
func (c *Chunk) SetText(col, row int, s string) {
	if c.mask != nil && c.mask[col] {
		s = mask.Stored(s)
	}
	c.texts += len(s)
	if texts := c.vecs[col].texts; texts != nil {
		texts[row] = strings.Clone(s)
		return
	}
	mapping.VectorAssignStringElementLen(c.vecs[col].vec, mapping.IdxT(row), unsafe.Slice(unsafe.StringData(s), len(s)))
}

// SetNull makes a value NULL.
func (c *Chunk) SetNull(col, row int) {
	c.vecs[col].words()[row>>6] &^= 1 << (row & 63)
}

func (c *Chunk) isNull(col, row int) bool {
	return c.vecs[col].words()[row>>6]>>(row&63)&1 == 0
}

// SetAllNull makes the first n values of a column NULL.
func (c *Chunk) SetAllNull(col, n int) {
	clear(c.vecs[col].words()[:(n+63)/64])
}

// addBase turns the first n values of a column, numbers within a run, into ids. 0 stays. The memory is a BIGINT column's, whatever
// type it was filled in, so that integers are widened in place, from the last one on.
func (c *Chunk) addBase(col, n int, base int64) {
	ids, numbers := c.Int64(col), c.Int32(col)
	isInteger := c.columns[col].Type == Integer
	for i := n - 1; i >= 0; i-- {
		if isInteger {
			ids[i] = int64(numbers[i])
		}
		if ids[i] != 0 {
			ids[i] += base
		}
	}
}

// chunkField is where duckdb.DataChunk keeps DuckDB's handle of the chunk. The driver exports no way to its vectors' memory,
// and setting values one by one through it costs more than compressing them; so the handle is taken from the struct, by
// its type and not by its place, and TestRawChunk fails on a driver that lays it out otherwise.
var chunkField = func() uintptr {
	t := reflect.TypeOf(duckdb.DataChunk{})
	for i := range t.NumField() {
		if t.Field(i).Type == reflect.TypeOf(mapping.DataChunk{}) {
			return t.Field(i).Offset
		}
	}
	panic("load: this version of duckdb-go keeps its chunks in another way; see rawChunk")
}()

func rawChunk(c *duckdb.DataChunk) mapping.DataChunk {
	return *(*mapping.DataChunk)(unsafe.Add(unsafe.Pointer(c), chunkField))
}
