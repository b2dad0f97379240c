package exports

import (
	"encoding/binary"
	"iter"
	"math"
	"os"
	"slices"
)

// pageBytes is the largest page of SQLite.
const pageBytes = 65536

// Writer writes a SQLite file of plain tables; https://www.sqlite.org/fileformat2.html says how.
type Writer struct {
	f      *os.File
	pages  int // the first, which is written last, included
	schema []cell
	Fan    int // pages that a page can be over
}

// cell is one row, or in an interior page the last row of a page and its number.
type cell struct {
	id   int64
	data []byte
}

// Create makes a file, or empties the one that is there.
func Create(path string) (*Writer, error) {
	f, err := os.Create(path)
	return &Writer{f: f, pages: 1, Fan: mostCells}, err
}

// Add writes a table of these rows, not of its own: leaf pages, and pages over them. Ids of StringIds must rise.
func (w *Writer) Add(t *Table, rows iter.Seq[[]any]) error {
	var leaves, over []cell
	size := 0
	flush := func() error {
		over = append(over, cell{leaves[len(leaves)-1].id, binary.BigEndian.AppendUint32(nil, uint32(w.pages+1))})
		p := page(13, 0, leaves)
		leaves, size = nil, 0
		return w.put(p)
	}
	rowid, id := int64(0), t.Column("id")
	for r := range rows {
		rowid++
		if t.Name == "StringIds" {
			rowid = r[id].(int64)
			r = slices.Clone(r)
			r[id] = nil
		}
		data, err := w.leaf(rowid, record(r))
		if err != nil {
			return err
		}
		if len(leaves) > 0 && size+len(data)+2 > pageBytes-8 {
			if err := flush(); err != nil {
				return err
			}
		}
		leaves, size = append(leaves, cell{rowid, data}), size+len(data)+2
	}
	root := w.pages + 1
	if len(over) == 0 {
		if err := w.put(page(13, 0, leaves)); err != nil {
			return err
		}
	} else {
		if err := flush(); err != nil {
			return err
		}
		var err error
		if root, err = w.above(over); err != nil {
			return err
		}
	}
	n := int64(len(w.schema) + 1)
	data, err := w.leaf(n, record([]any{"table", t.Name, t.Name, int64(root), t.definition()}))
	w.schema = append(w.schema, cell{n, data})
	return err
}

func (t *Table) definition() string {
	out, id := "CREATE TABLE \""+t.Name+"\" (", t.Column("id")
	for i, c := range t.Columns {
		if i > 0 {
			out += ", "
		}
		out += "\"" + c + "\""
		if i == id && t.Name == "StringIds" {
			out += " INTEGER PRIMARY KEY"
		}
	}
	return out + ")"
}

// Close writes the first page, which is the header and the list of tables.
func (w *Writer) Close() error {
	defer w.f.Close()
	first := page(13, 100, w.schema)
	copy(first, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(first[16:], 1) // a page of 65,536 bytes
	first[18], first[19], first[21], first[22], first[23] = 1, 1, 64, 32, 32
	for at, v := range map[int]int{24: 1, 28: w.pages, 40: 1, 44: 4, 56: 1, 92: 1, 96: 3045000} {
		binary.BigEndian.PutUint32(first[at:], uint32(v))
	}
	if _, err := w.f.WriteAt(first, 0); err != nil {
		return err
	}
	return w.f.Close()
}

func (w *Writer) put(page []byte) error {
	_, err := w.f.WriteAt(page, int64(w.pages)*pageBytes)
	w.pages++
	return err
}

// leaf is the cell of a row; what of a long one a page does not take goes into pages of its own.
func (w *Writer) leaf(id int64, payload []byte) ([]byte, error) {
	head := appendVarint(appendVarint(nil, uint64(len(payload))), uint64(id))
	const most, least, overflow = pageBytes - 35, (pageBytes-12)*32/255 - 23, pageBytes - 4
	if len(payload) <= most {
		return slices.Concat(head, payload), nil
	}
	here := least + (len(payload)-least)%overflow
	if here > most {
		here = least
	}
	first := binary.BigEndian.AppendUint32(nil, uint32(w.pages+1))
	for rest := payload[here:]; len(rest) > 0; rest = rest[min(len(rest), overflow):] {
		p := make([]byte, pageBytes)
		if copy(p[4:], rest) < len(rest) {
			binary.BigEndian.PutUint32(p, uint32(w.pages+2))
		}
		if err := w.put(p); err != nil {
			return nil, err
		}
	}
	return slices.Concat(head, payload[:here], first), nil
}

// page writes a page of a b-tree: 13 is a leaf of a table, 5 one over others.
func page(kind byte, from int, cells []cell) []byte {
	p, head := make([]byte, pageBytes), 8
	if kind == 5 {
		head = 12
	}
	end := pageBytes
	for i, c := range cells {
		end -= len(c.data)
		copy(p[end:], c.data)
		binary.BigEndian.PutUint16(p[from+head+2*i:], uint16(end))
	}
	p[from] = kind
	binary.BigEndian.PutUint16(p[from+3:], uint16(len(cells)))
	binary.BigEndian.PutUint16(p[from+5:], uint16(end%pageBytes))
	return p
}

// mostCells is how many pages a page can be over: each takes a page number, an id of at most nine bytes and a place.
const mostCells = (pageBytes - 12) / (4 + 9 + 2)

// above writes the pages over others, level by level, and gives the number of the one over all.
func (w *Writer) above(over []cell) (root int, err error) {
	for len(over) > 1 || root == 0 {
		var level []cell
		pages := (len(over) + w.Fan - 1) / w.Fan
		for some := range slices.Chunk(over, (len(over)+pages-1)/pages) {
			root = w.pages + 1
			level = append(level, cell{some[len(some)-1].id, binary.BigEndian.AppendUint32(nil, uint32(root))})
			if err := w.put(interior(some)); err != nil {
				return 0, err
			}
		}
		over = level
	}
	return root, nil
}

// interior is a page over others.
func interior(over []cell) []byte {
	for i := range over {
		over[i].data = appendVarint(over[i].data, uint64(over[i].id))
	}
	last := over[len(over)-1]
	p := page(5, 0, over[:len(over)-1])
	copy(p[8:], last.data[:4])
	return p
}

// record writes the values of a row.
func record(values []any) []byte {
	var types, body []byte
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			types = append(types, 0)
		case int64:
			kind, size := shortest(v)
			types, body = append(types, kind), append(body, binary.BigEndian.AppendUint64(nil, uint64(v))[8-size:]...)
		case float64:
			types, body = append(types, 7), binary.BigEndian.AppendUint64(body, math.Float64bits(v))
		case string:
			types, body = appendVarint(types, uint64(13+2*len(v))), append(body, v...)
		}
	}
	size := 1 + len(types)
	if size > 127 {
		size++
	}
	return slices.Concat(appendVarint(nil, uint64(size)), types, body)
}

// shortest is the type of an integer that takes the fewest bytes, and how many.
func shortest(v int64) (kind byte, size int) {
	if v == 0 || v == 1 {
		return byte(8 + v), 0
	}
	for i, size := range []int{1, 2, 3, 4, 6} {
		if limit := int64(1) << (8*size - 1); -limit <= v && v < limit {
			return byte(1 + i), size
		}
	}
	return 6, 8
}

// appendVarint writes a number as SQLite does: seven bits a byte, the high ones first; a ninth byte would hold eight, but no number here needs it.
func appendVarint(to []byte, v uint64) []byte {
	var b [9]byte
	at := len(b)
	for {
		at--
		b[at] = byte(v & 0x7f)
		if at < len(b)-1 {
			b[at] |= 0x80
		}
		if v >>= 7; v == 0 || at == 0 {
			return append(to, b[at:]...)
		}
	}
}
