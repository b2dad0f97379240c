package rows

import "sync/atomic"

// PullFunc fills a chunk and gives the number of rows, 0 at the end.
type PullFunc func(c *Chunk) (int, error)

// Pulled are rows that come from functions, one for each of so many threads. A thread holds a row group of DuckDB's, of all
// columns, until it is full.
func Pulled(threads int, columns []Column, newPull func() PullFunc) Rows {
	return &pulled{threads, columns, newPull}
}

type pulled struct {
	threads int
	columns []Column
	newPull func() PullFunc
}

func (p *pulled) Columns() []Column { return p.columns }
func (p *pulled) Estimate() int64   { return -1 }

// Threads is how many threads pull.
func (p *pulled) Threads() int { return p.threads }

func (p *pulled) Worker() Worker { return p.newPull() }

// Fill fills a chunk.
func (f PullFunc) Fill(c *Chunk) (int, error) { return f(c) }

// listThreads is how many threads store a list.
const listThreads = 2

// RowFunc writes value i of a list as row n of a chunk.
type RowFunc func(c *Chunk, n int, i int32)

// Listed are rows made from the values 0 to n-1 of a list in memory.
func Listed(n int, columns []Column, newRow func() RowFunc) Rows {
	var next atomic.Int64
	return Pulled(listThreads, columns, func() PullFunc {
		row := newRow()
		return func(c *Chunk) (int, error) {
			size := int64(c.Cap())
			first := next.Add(size) - size
			last := min(first+size, int64(n))
			for i := first; i < last; i++ {
				row(c, int(i-first), int32(i))
			}
			return int(max(last-first, 0)), nil
		}
	})
}
