package sqlite

import (
	"prof/ingest/nsys/table"
)

const (
	// runBytes is the most that one read takes: few system calls, yet the pages stay in the second-level cache.
	runBytes = 256 << 10
	// runGap is how many pages of others a read may take in between two leaves: skipping them costs more.
	runGap = 2
	// pad follows the pages in the buffer, so that a varint or integer at their very end can be loaded whole.
	pad = 32
	// blockRows is how many rows are located before their columns are decoded, one word of a vector's NULL bits.
	blockRows = 64
	// mostTexts is how many bytes of texts end a batch before it has all its rows.
	mostTexts = 8 << 20
)

// cursor implements table.Cursor. It works on blocks of rows: locate finds where each value of the block lies in the
// read buffer, then each wanted column is decoded in one tight loop.
type cursor struct {
	*scan
	cols   []table.Vector
	intern []*internTable // per want, nil but for texts

	morsel []uint32 // leaves not yet read
	buf    []byte   // a run of pages and pad
	first  uint32   // the page at buf[0]
	run    []uint32 // leaves in buf not yet begun
	leaf   leaf
	seen   pageSet // overflow pages read in this morsel

	texts   int     // bytes in the batch
	batch   int     // most rows of a batch
	payload payload // of a row that is located the slow way
	block   block
}

// leaf is the reading position in a leaf page.
type leaf struct {
	page uint32
	base int // where the page starts in the buffer
	ptr  int // where the next cell pointer lies in the buffer
	left int // cells not yet read
	low  int // the least offset of a cell in the page
	used int // bytes of the cells read so far
}

func newCursor(s *scan) *cursor {
	c := &cursor{scan: s, batch: table.BatchRows, cols: make([]table.Vector, len(s.plan.wants)), intern: make([]*internTable, len(s.plan.wants))}
	if s.rows < table.BatchRows { // most tables have a few rows, and what is made for them is thrown away at once
		c.batch = min(table.BatchRows, (int(s.rows)/blockRows+1)*blockRows)
	}
	for i, w := range s.plan.wants {
		c.cols[i].Kind, c.cols[i].Missing = w.Kind, s.plan.source[i] == missingColumn
		if w.Kind == table.Text && !c.cols[i].Missing {
			c.intern[i] = new(internTable)
		}
	}
	c.block.pos = make([][blockRows]uint32, s.plan.depth+1)
	return c
}

// Seek goes to the start of a morsel.
func (c *cursor) Seek(morsel int) error {
	c.run, c.leaf, c.morsel = nil, leaf{}, nil
	if morsel < 0 || morsel >= c.Morsels() {
		return c.f.fault(c.t, 0, "morsel %d of %d", morsel, c.Morsels())
	}
	c.morsel = c.leaves[c.bounds[morsel]:c.bounds[morsel+1]]
	c.seen.reset()
	return nil
}

// Close frees the read buffer.
func (c *cursor) Close() error {
	c.buf, c.run, c.morsel, c.leaf = nil, nil, nil, leaf{}
	return nil
}

// Next fills b with the next rows of the morsel, across leaves.
func (c *cursor) Next(b *table.Batch) (bool, error) {
	if err := c.ctx.Err(); err != nil {
		return false, err
	}
	c.reset()
	n := 0
	for n < c.batch && c.texts < mostTexts {
		if c.leaf.left == 0 && len(c.run) == 0 {
			if len(c.morsel) == 0 {
				break
			}
			if err := c.readRun(); err != nil {
				return false, err
			}
		}
		got, err := c.locate(blockRows - n%blockRows)
		if err == nil {
			err = c.decode(n, got)
		}
		if err != nil {
			return false, err
		}
		n += got
	}
	c.truncate(n)
	b.N, b.Cols = n, c.cols
	return n > 0, nil
}

// reset empties the vectors for a full batch.
func (c *cursor) reset() {
	c.texts = 0
	for i := range c.cols {
		v := &c.cols[i]
		v.Reset(c.batch)
		if v.Missing {
			for w := range v.Nulls {
				v.Nulls[w] = ^uint64(0)
			}
			v.HasNull = true
		}
	}
}

// truncate cuts the vectors to n rows.
func (c *cursor) truncate(n int) {
	for i := range c.cols {
		switch v := &c.cols[i]; v.Kind {
		case table.Int:
			v.Ints = v.Ints[:n]
		case table.Float:
			v.Floats = v.Floats[:n]
		case table.Text:
			v.Texts = v.Texts[:n]
		}
	}
}

// readRun reads the next leaves whose pages lie close together.
func (c *cursor) readRun() error {
	n := c.runLength()
	first, last := c.morsel[0], c.morsel[n-1]
	size := int(last-first+1) * c.f.pageSize
	c.grow(size)
	if err := c.f.readPages(c.t, first, c.buf[:size]); err != nil {
		return err
	}
	c.first, c.run, c.morsel = first, c.morsel[:n], c.morsel[n:]
	return nil
}

// grow makes the buffer hold size bytes and pad.
func (c *cursor) grow(size int) {
	if len(c.buf) >= size+pad {
		return
	}
	if c.buf != nil {
		size = max(size, runBytes) // the table is not small: grow once
	}
	// The integer decoder loads from pos before it looks at the code, so an index of a spill must be an offset in
	// the buffer too.
	size = max(size, blockRows*c.plan.depth)
	c.buf = make([]byte, size+pad)
}

// runLength counts the next leaves that one read can take.
func (c *cursor) runLength() int {
	m := c.morsel
	most := uint32(max(runBytes/c.f.pageSize, 1))
	n := 1
	for n < len(m) && m[n] > m[n-1] && m[n]-m[n-1] <= runGap+1 && m[n]-m[0] < most {
		n++
	}
	return n
}

// enterLeaf begins the next leaf of the run.
func (c *cursor) enterLeaf() error {
	page := c.run[0]
	c.run = c.run[1:]
	base := int(page-c.first) * c.f.pageSize
	n, err := c.f.parseNode(c.t, page, c.buf[base:base+c.f.pageSize])
	if err != nil {
		return err
	}
	if n.kind != leafPage {
		return c.f.fault(c.t, page, "malformed: an interior page in place of a leaf")
	}
	c.leaf = leaf{page: page, base: base, ptr: base + n.ptrs, left: n.cells, low: n.ptrs + 2*n.cells}
	return nil
}
