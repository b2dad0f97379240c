package tracer

import (
	"encoding/binary"
	"io"

	"prof/ingest/nsys/table"
	"prof/internal/file"
)

// settle makes the last snapshot of each table rows of it, where the file has no end: with one, what was open is among the rows.
func (t *trace) settle() error {
	for _, o := range t.tables {
		s := o.snapshot
		if t.isDone || s == nil || s.rows == 0 {
			continue
		}
		if err := t.dropLater(o, *s); err != nil {
			return err
		}
		o.blocks, o.rows = append(o.blocks, *s), o.rows+int64(s.rows)-int64(count(o.dropped))
	}
	return nil
}

func count(of []bool) (n int) {
	for _, is := range of {
		if is {
			n++
		}
	}
	return n
}

// dropLater finds rows of a snapshot that ended after it: a process may be killed when it has written rows, and not yet the snapshot without them.
func (t *trace) dropLater(o *blockTable, snapshot block) error {
	first := len(o.blocks)
	for first > 0 && o.blocks[first-1].at > snapshot.at {
		first--
	}
	if first == len(o.blocks) {
		return nil
	}
	f, err := file.Open(t.path)
	if err != nil {
		return err
	}
	defer f.Close()
	open, err := t.keys(f, o, snapshot)
	if err != nil {
		return err
	}
	rows := map[string][]int{}
	for i, key := range open {
		rows[key] = append(rows[key], i)
	}
	o.dropped = make([]bool, snapshot.rows)
	for _, b := range o.blocks[first:] {
		later, err := t.keys(f, o, b)
		if err != nil {
			return err
		}
		for _, key := range later {
			if same := rows[key]; len(same) > 0 {
				o.dropped[same[0]], rows[key] = true, same[1:]
			}
		}
	}
	return nil
}

// keys returns what each row of a block is known by: its integers, but those that come with its end.
func (t *trace) keys(r io.ReaderAt, o *blockTable, b block) ([]string, error) {
	_, cells, err := t.cells(r, o, b, nil, nil)
	if err != nil {
		return nil, err
	}
	keys := make([][]byte, b.rows)
	v := table.Vector{Kind: table.Int}
	for at, c := range o.columns {
		if c.kind != intColumn || c.name == "end" || c.name == "endGlobalTid" || c.name == "jsonTextId" {
			continue
		}
		v.Reset(int(b.rows))
		if err := decodeInts(cells[at], &v, int(b.rows)); err != nil {
			return nil, t.columnFault(o, b, c.name, err)
		}
		for i := range keys {
			isNull := byte(0)
			if v.Null(i) {
				isNull = 1
			}
			keys[i] = binary.LittleEndian.AppendUint64(append(keys[i], isNull), uint64(v.Ints[i]))
		}
	}
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = string(key)
	}
	return out, nil
}
