package store

import (
	"context"
	"database/sql"
	"testing"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"prof/ingest/rows"
)

// counted is a table function of six columns of whole numbers, whose chunks are filled by fill.
type counted struct {
	left int
	fill func(chunk duckdb.DataChunk, at, n int) error
	at   int
}

const countedColumns = 6

func (c *counted) ColumnInfos() []duckdb.ColumnInfo {
	bigint, _ := duckdb.NewTypeInfo(duckdb.TYPE_BIGINT)
	out := make([]duckdb.ColumnInfo, countedColumns)
	for i := range out {
		out[i] = duckdb.ColumnInfo{Name: string(rune('a' + i)), T: bigint}
	}
	return out
}
func (c *counted) Cardinality() *duckdb.CardinalityInfo { return nil }
func (c *counted) Init()                                {}
func (c *counted) FillChunk(chunk duckdb.DataChunk) error {
	n := min(rows.ChunkRows, c.left)
	if err := c.fill(chunk, c.at, n); err != nil {
		return err
	}
	c.left, c.at = c.left-n, c.at+n
	return chunk.SetSize(n)
}

// BenchmarkChunk compares the two ways to give DuckDB rows: through the driver, a value at a time, and by the memory of its vectors.
func BenchmarkChunk(b *testing.B) {
	memory := bulkWorker{vectors: make([]mapping.Vector, countedColumns), c: rows.NewChunk(make([]rows.Column, countedColumns), make([]bool, countedColumns), nil)}
	for _, way := range []struct {
		name string
		fill func(chunk duckdb.DataChunk, at, n int) error
	}{
		{"driver", func(chunk duckdb.DataChunk, at, n int) error {
			for col := range countedColumns {
				for i := range n {
					if err := duckdb.SetChunkValue(chunk, col, i, int64(at+i)); err != nil {
						return err
					}
				}
			}
			return nil
		}},
		{"memory", func(chunk duckdb.DataChunk, at, n int) error {
			memory.attach(rawChunk(&chunk))
			for col := range countedColumns {
				for i, values := 0, memory.c.Int64(col); i < n; i++ {
					values[i] = int64(at + i)
				}
			}
			return nil
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			db, err := sql.Open("duckdb", "")
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			conn, err := db.Conn(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			const n = 1 << 20
			if err := duckdb.RegisterTableUDF(conn, "counted", duckdb.ChunkTableFunction{BindArguments: func(map[string]any, ...any) (duckdb.ChunkTableSource, error) {
				return &counted{left: n, fill: way.fill}, nil
			}}); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(n * countedColumns * 8)
			for b.Loop() {
				if _, err := conn.ExecContext(context.Background(), "CREATE OR REPLACE TEMP TABLE t AS FROM counted()"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
