package load

import "sync/atomic"

// Blocks is a list in pieces, so that growing copies nothing.
type Blocks[T any] struct{ blocks [][]T }

const blockBits = 13

// Add puts a value at the end and gives its place.
func (b *Blocks[T]) Add(v T) int32 {
	n := len(b.blocks)
	if n == 0 || len(b.blocks[n-1]) == 1<<blockBits {
		b.blocks = append(b.blocks, make([]T, 0, 1<<blockBits))
		n++
	}
	b.blocks[n-1] = append(b.blocks[n-1], v)
	return int32((n-1)<<blockBits + len(b.blocks[n-1]) - 1)
}

// Len is the number of values.
func (b *Blocks[T]) Len() int {
	if n := len(b.blocks); n > 0 {
		return (n-1)<<blockBits + len(b.blocks[n-1])
	}
	return 0
}

// At gives a value.
func (b *Blocks[T]) At(i int32) *T { return &b.blocks[i>>blockBits][i&(1<<blockBits-1)] }

// RowFunc writes value i of a list as row n of a chunk; false leaves it out.
type RowFunc func(c *Chunk, n int, i int32) bool

// Listed are rows made from the values 0 to n-1 of a list in memory. Each worker has a RowFunc of its own.
func Listed(n int, columns []Column, newRow func() RowFunc) Rows {
	return &listed{n: int64(n), columns: columns, newRow: newRow}
}

type listed struct {
	n       int64
	columns []Column
	newRow  func() RowFunc
	next    atomic.Int64
}

func (l *listed) Columns() []Column { return l.columns }
func (l *listed) Estimate() int64   { return l.n }
func (l *listed) Worker() Worker    { return &listWorker{l, l.newRow()} }

type listWorker struct {
	*listed
	row RowFunc
}

func (w *listWorker) Fill(c *Chunk) (int, error) {
	for size := int64(c.Cap()); ; {
		first := w.next.Add(size) - size
		last := min(first+size, w.n)
		if first >= last {
			return 0, nil
		}
		n := 0
		for i := first; i < last; i++ {
			if w.row(c, n, int32(i)) {
				n++
			}
		}
		if n > 0 {
			return n, nil
		}
	}
}
