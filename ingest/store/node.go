package store

import (
	"fmt"
	"slices"

	"prof/ingest/rows"
)

// deviceColumn holds numbers of GPUs in every table that has them.
const deviceColumn = "device_id"

// Devices says how a source's numbers of GPUs become those of the run: those of two nodes of a job are not the same GPUs. The zero value leaves
// them as they are.
type Devices struct {
	Offset int // is added
	Limit  int // numbers must be less
}

// onNode gives the number of a GPU of a node its number in the run; an absent one stays.
func (s *Store) onNode(device *any) error {
	n, ok := (*device).(int32)
	switch {
	case *device == nil:
		return nil
	case !ok:
		return fmt.Errorf("internal error: the number of a GPU is a %T", *device)
	}
	n, err := s.Devices.number(n)
	*device = n
	return err
}

func (d Devices) number(device int32) (int32, error) {
	if device < 0 || int(device) >= d.Limit {
		return 0, fmt.Errorf("GPU %d of a node of a job: its number must be less than %d", device, d.Limit)
	}
	return device + int32(d.Offset), nil
}

// onNode does so for the rows of a piece.
func (d Devices) onNode(columns []rows.Column, p *rows.Piece) error {
	at := slices.IndexFunc(columns, func(c rows.Column) bool { return c.Name == deviceColumn })
	if at < 0 || d.Offset == 0 {
		return nil
	}
	return d.numberAll(p.Int32(at), func(i int) bool { return p.IsNull(at, i) })
}

func (d Devices) numberAll(devices []int32, isNull func(i int) bool) (err error) {
	for i := range devices {
		if isNull(i) {
			continue
		}
		if devices[i], err = d.number(devices[i]); err != nil {
			return err
		}
	}
	return nil
}

// nodeRows are rows of a source of one node of several.
type nodeRows struct {
	rows.Rows
	column  int
	devices Devices
}

// Threads are those of the rows.
func (r nodeRows) Threads() int {
	if few, ok := r.Rows.(interface{ Threads() int }); ok {
		return few.Threads()
	}
	return maxThreads
}

// Worker numbers the GPUs as it fills.
func (r nodeRows) Worker() rows.Worker {
	w := r.Rows.Worker()
	return rows.PullFunc(func(c *rows.Chunk) (int, error) {
		n, err := w.Fill(c)
		if err != nil {
			return n, err
		}
		return n, r.devices.numberAll(c.Int32(r.column)[:n], func(i int) bool { return c.IsNull(r.column, i) })
	})
}
