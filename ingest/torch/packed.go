package torch

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// packed is a list of rows of whole numbers in as few bytes as their differences from the row before take: some 10 for an
// operator, which would take 50 as a struct. Its blocks can be read each on its own.
type packed struct {
	width   int
	blocks  []packedBlock
	now     []byte // the block being written
	prev    []int64
	n       int
	moments bool // rows have a time, but no duration in the second column
	// unsorted reports whether rows are not in the order of their times, of equal ones the longer first.
	unsorted bool
	last     [2]int64
}

type packedBlock struct {
	bytes []byte
	rows  int
}

// blockRows is what a chunk of DuckDB holds.
const blockRows = 2048

// add puts a row at the end.
func (p *packed) add(row ...int64) {
	if p.width == 0 {
		p.width, p.prev = len(row), make([]int64, len(row))
	}
	if p.n > 0 && (row[0] < p.last[0] || row[0] == p.last[0] && row[1] > p.last[1] && !p.moments) {
		p.unsorted = true
	}
	p.last = [2]int64{row[0], row[1]}
	for i, v := range row {
		p.now = binary.AppendVarint(p.now, v-p.prev[i])
		p.prev[i] = v
	}
	if p.n++; p.n%blockRows == 0 {
		p.end()
	}
}

// end closes the block being written.
func (p *packed) end() {
	if rows := p.n - len(p.blocks)*blockRows; rows > 0 {
		p.blocks = append(p.blocks, packedBlock{slices.Clone(p.now), rows})
		p.now = p.now[:0]
		clear(p.prev)
	}
}

// finish ends the writing and puts the rows into order.
func (p *packed) finish() {
	p.end()
	p.now, p.prev = nil, nil
	if !p.unsorted {
		return
	}
	rows := make([]int64, 0, p.n*p.width)
	for r := p.rows(); r.next(); {
		rows = append(rows, r.row...)
	}
	order := make([]int32, p.n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := rows[int(a)*p.width:], rows[int(b)*p.width:]
		if c := cmp.Compare(x[0], y[0]); c != 0 || p.moments {
			return cmp.Or(c, cmp.Compare(a, b))
		}
		return cmp.Or(cmp.Compare(y[1], x[1]), cmp.Compare(a, b))
	})
	sorted := packed{}
	for _, i := range order {
		sorted.add(rows[int(i)*p.width:][:p.width]...)
	}
	sorted.end()
	*p = packed{width: p.width, blocks: sorted.blocks, n: p.n}
}

// packedReader reads the rows, or those of one block.
type packedReader struct {
	blocks []packedBlock
	bytes  []byte
	left   int
	row    []int64
}

func (p *packed) rows() *packedReader {
	return &packedReader{blocks: p.blocks, row: make([]int64, p.width)}
}

// next reads a row; false at the end.
func (r *packedReader) next() bool {
	if r.left == 0 {
		if len(r.blocks) == 0 {
			return false
		}
		r.bytes, r.left, r.blocks = r.blocks[0].bytes, r.blocks[0].rows, r.blocks[1:]
		clear(r.row)
	}
	r.left--
	for i := range r.row {
		v, n := binary.Varint(r.bytes)
		r.row[i] += v
		r.bytes = r.bytes[n:]
	}
	return true
}
