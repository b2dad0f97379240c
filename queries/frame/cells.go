package frame

import "math"

// Cells is one of many rows of whole numbers, numbers and texts, read without a value for each cell. The next row is written over it.
type Cells struct {
	bits  []uint64
	texts []string
	known []bool
}

// NewCells is a row of so many cells, all NULL.
func NewCells(n int) *Cells {
	return &Cells{bits: make([]uint64, n), texts: make([]string, n), known: make([]bool, n)}
}

// Set makes a cell a whole number.
func (c *Cells) Set(i int, n int64) { c.bits[i], c.known[i] = uint64(n), true }

// SetNumber makes a cell a number.
func (c *Cells) SetNumber(i int, x float64) { c.bits[i], c.known[i] = math.Float64bits(x), true }

// SetText makes a cell a text.
func (c *Cells) SetText(i int, s string) { c.texts[i], c.known[i] = s, true }

// SetNull makes a cell NULL.
func (c *Cells) SetNull(i int) { c.bits[i], c.texts[i], c.known[i] = 0, "", false }

// Known says whether a cell is not NULL.
func (c *Cells) Known(i int) bool { return c.known[i] }

// Whole gives a whole number, 0 for NULL.
func (c *Cells) Whole(i int) int64 { return int64(c.bits[i]) }

// Number gives a number, 0 for NULL.
func (c *Cells) Number(i int) float64 { return math.Float64frombits(c.bits[i]) }

// Text gives a text, "" for NULL.
func (c *Cells) Text(i int) string { return c.texts[i] }
