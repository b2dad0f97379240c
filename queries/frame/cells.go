package frame

// Cells is one of many rows of whole numbers, numbers and texts, read where they are, without a value for each cell. It is the next row afterwards, and so must
// not be kept.
type Cells struct {
	Row int // in the columns
	// The columns: each has values of one kind. Valid has a bit for each row, 0 for NULL; it is nil in a column without NULL.
	Whole64 [][]int64
	Real64  [][]float64
	Valid   [][]uint64
	TextOf  func(column, row int) string
}

// Known reports whether a cell is not NULL.
func (c *Cells) Known(i int) bool {
	return c.Valid[i] == nil || c.Valid[i][c.Row/64]>>(c.Row%64)&1 != 0
}

// Whole returns a whole number, 0 for NULL.
func (c *Cells) Whole(i int) int64 {
	if !c.Known(i) {
		return 0
	}
	return c.Whole64[i][c.Row]
}

// Number returns a number, 0 for NULL.
func (c *Cells) Number(i int) float64 {
	if !c.Known(i) {
		return 0
	}
	return c.Real64[i][c.Row]
}

// Text returns a text, "" for NULL.
func (c *Cells) Text(i int) string {
	if !c.Known(i) {
		return ""
	}
	return c.TextOf(i, c.Row)
}
