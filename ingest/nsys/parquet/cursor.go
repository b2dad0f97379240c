package parquet

import (
	"context"
	"fmt"
	"strings"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"prof/ingest/nsys/table"
)

type scan struct {
	ctx   context.Context
	dir   *Dir
	name  string
	sql   string
	wants []table.Want
	place []int // column of the query for each want, -1 when the file lacks it
	rows  int64
}

func (s *scan) Morsels() int       { return 1 }
func (s *scan) Rows() int64        { return s.rows }
func (s *scan) Open() table.Cursor { return &cursor{scan: s} }

// cursor streams the query's result, so that one chunk of it is in memory.
type cursor struct {
	scan *scan
	conn mapping.Connection
	stmt mapping.PreparedStatement
	res  mapping.Result
	open bool
}

func (c *cursor) Seek(int) error {
	if err := c.Close(); err != nil {
		return err
	}
	d := c.scan.dir
	if mapping.Connect(d.db, &c.conn) == mapping.StateError {
		return fmt.Errorf("%s: cannot start DuckDB to read it", d.path)
	}
	c.open = true
	if mapping.Prepare(c.conn, c.scan.sql, &c.stmt) == mapping.StateError {
		return d.fault(c.scan.name, mapping.PrepareError(c.stmt))
	}
	if bindings.ExecutePreparedStreaming(c.stmt, &c.res) == mapping.StateError {
		return d.fault(c.scan.name, mapping.ResultError(&c.res))
	}
	return nil
}

func (c *cursor) Close() error {
	if c.open {
		mapping.DestroyResult(&c.res)
		mapping.DestroyPrepare(&c.stmt)
		mapping.Disconnect(&c.conn)
		c.open = false
	}
	return nil
}

func (c *cursor) Next(b *table.Batch) (bool, error) {
	if !c.open {
		return false, errClosed
	}
	if err := c.scan.ctx.Err(); err != nil {
		return false, err
	}
	chunk := mapping.FetchChunk(c.res)
	if chunk.Ptr == nil {
		if text := mapping.ResultError(&c.res); text != "" {
			return false, c.scan.dir.fault(c.scan.name, text)
		}
		return false, nil
	}
	defer mapping.DestroyDataChunk(&chunk)
	n := int(mapping.DataChunkGetSize(chunk))
	if n == 0 {
		return false, nil
	}
	c.shape(b, n)
	for i, at := range c.scan.place {
		if at < 0 {
			b.Cols[i].Missing = true
			for r := range n {
				b.Cols[i].SetNull(r)
			}
			continue
		}
		copyVector(&b.Cols[i], mapping.DataChunkGetVector(chunk, mapping.IdxT(at)), n)
	}
	return true, nil
}

func (c *cursor) shape(b *table.Batch, n int) {
	b.N = n
	if len(b.Cols) != len(c.scan.wants) {
		b.Cols = make([]table.Vector, len(c.scan.wants))
	}
	for i, w := range c.scan.wants {
		b.Cols[i].Kind = w.Kind
		b.Cols[i].Reset(n)
		if c.scan.place[i] < 0 {
			clear(b.Cols[i].Ints)
			clear(b.Cols[i].Floats)
			clear(b.Cols[i].Texts)
		}
	}
}

// copyVector copies n values out of DuckDB's memory, which lives only as long as the chunk.
func copyVector(v *table.Vector, from mapping.Vector, n int) {
	data := mapping.VectorGetData(from)
	if mask := mapping.VectorGetValidity(from); mask != nil {
		words := unsafe.Slice((*uint64)(mask), (n+63)/64)
		for r := range n {
			if words[r>>6]>>(r&63)&1 == 0 {
				v.SetNull(r)
			}
		}
	}
	switch v.Kind {
	case table.Int:
		copy(v.Ints, unsafe.Slice((*int64)(data), n))
	case table.Float:
		copy(v.Floats, unsafe.Slice((*float64)(data), n))
	case table.Text:
		for r, s := range unsafe.Slice((*mapping.StringT)(data), n) {
			if v.Null(r) {
				v.Texts[r] = ""
				continue
			}
			v.Texts[r] = strings.ToValidUTF8(mapping.StringTData(&s), "�")
		}
	}
	zeroNulls(v, n)
}

// zeroNulls gives NULLs their documented value; DuckDB leaves anything there.
func zeroNulls(v *table.Vector, n int) {
	if !v.HasNull {
		return
	}
	for r := range n {
		if v.Null(r) {
			switch v.Kind {
			case table.Int:
				v.Ints[r] = 0
			case table.Float:
				v.Floats[r] = 0
			}
		}
	}
}
