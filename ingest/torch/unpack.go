package torch

import (
	"sync/atomic"

	"prof/ingest/rows"
)

// unpackFunc writes row i of list k as row n of a chunk, and reports whether it did: false leaves the row out.
type unpackFunc func(c *rows.Chunk, n int, k, i int, row []int64) bool

// unpacked are rows made from the rows of packed lists, block by block. Each worker has an unpackFunc of its own.
func (l *loader) unpacked(lists []*packed, columns []rows.Column, newRow func() unpackFunc) rows.Rows {
	type piece struct{ list, block int }
	var chunks [][]piece // of many threads with few rows each, several share a chunk
	room := 0
	for k, p := range lists {
		for b := range p.blocks {
			if p.blocks[b].rows > room {
				chunks, room = append(chunks, nil), blockRows
			}
			last := len(chunks) - 1
			chunks[last], room = append(chunks[last], piece{k, b}), room-p.blocks[b].rows
		}
	}
	var next atomic.Int64
	return rows.Pulled(2, columns, func() rows.PullFunc {
		row := newRow()
		return func(c *rows.Chunk) (int, error) {
			for { // no rows would end the worker
				i := next.Add(1) - 1
				if i >= int64(len(chunks)) {
					return 0, nil
				}
				n := 0
				for _, p := range chunks[i] {
					list := lists[p.list]
					r := &packedReader{blocks: list.blocks[p.block : p.block+1], row: make([]int64, list.width)}
					for at := p.block * blockRows; r.next(); at++ {
						if row(c, n, p.list, at, r.row) {
							n++
						}
					}
				}
				if n > 0 {
					return n, nil
				}
			}
		}
	})
}

// columnOf collects one packed list of each thread.
func (l *loader) columnOf(pick func(*thread) *packed) []*packed {
	out := make([]*packed, len(l.of))
	for i, th := range l.of {
		out[i] = pick(th)
	}
	return out
}
