package ncu

import (
	"sync/atomic"

	"prof/ingest/rows"
)

// chunkCursor hands out the rows of a table in chunks to several threads.
type chunkCursor struct{ next atomic.Int64 }

func (c *chunkCursor) take(size, total int) (from, to int) {
	to = int(c.next.Add(int64(size)))
	return min(to-size, total), min(to, total)
}

// Columns, Estimate and Worker make metricRows rows.Rows.
func (m *metricRows) Columns() []rows.Column {
	return []rows.Column{{Name: "launch_id", Type: rows.Integer}, {Name: "metric_id", Type: rows.Integer}, {Name: "value", Type: rows.Double}, {Name: "text", Type: rows.Varchar}}
}

func (m *metricRows) Estimate() int64 { return int64(m.len()) }

func (m *metricRows) Worker() rows.Worker { return m }

// Fill writes the next chunk. It only reads the rows, so that threads may share it.
func (m *metricRows) Fill(c *rows.Chunk) (int, error) {
	from, to := m.cursor.take(c.Cap(), m.len())
	copy(c.Int32(0), m.launch[from:to])
	copy(c.Int32(1), m.metric[from:to])
	copy(c.Float64(2), m.value[from:to])
	for i := from; i < to; i++ {
		if m.noValue[i] {
			c.SetNull(2, i-from)
		}
		if text, ok := m.text[i]; ok {
			c.SetText(3, i-from, text)
		} else {
			c.SetNull(3, i-from)
		}
	}
	return to - from, nil
}
