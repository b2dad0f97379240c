package load

// Blocks is a list in pieces, so that growing copies nothing but a short list: there may be one for each of many threads.
type Blocks[T any] struct {
	Room   *Room // where the blocks lie; T holds no pointers where it is not nil
	blocks [][]T
}

const blockBits = 13

// Add puts a value at the end and gives its place.
func (b *Blocks[T]) Add(v T) int32 {
	n := len(b.blocks)
	if n == 0 || len(b.blocks[n-1]) == 1<<blockBits {
		var room []T
		if n > 0 {
			room = Reserve[T](b.Room, 1<<blockBits)[:0]
		}
		b.blocks = append(b.blocks, room)
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

// Pieces returns all values in order, in the pieces they are kept in.
func (b *Blocks[T]) Pieces() [][]T { return b.blocks }

// At returns a value.
func (b *Blocks[T]) At(i int32) *T { return &b.blocks[i>>blockBits][i&(1<<blockBits-1)] }
