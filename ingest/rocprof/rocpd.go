package rocprof

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"

	"prof/ingest/load"
	"prof/ingest/nsys/sqlite"
	export "prof/ingest/nsys/table"
	"prof/ingest/torch/trace"
)

// rocpd is the database that rocprofv3 writes by default: SQLite, with tables whose names end with the id of a process. The first
// versions keep the times and the place of a record with it, later ones in tables of their own.

// SniffRocpd reports whether a file begins as one.
func SniffRocpd(head []byte) bool {
	return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) && bytes.Contains(head, []byte("rocpd_"))
}

// IdentifyRocpd looks whether the database can be read as far as its first record.
func IdentifyRocpd(_ context.Context, path, name string) (*load.SourceInfo, error) {
	f, err := sqlite.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return identified(name, newStream(rocpdEvents(f), nil))
}

// LoadRocpd stores a database of rocprofv3.
func LoadRocpd(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	f, err := sqlite.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := stored(ctx, name, t, func() (*stream, error) { return newStream(rocpdEvents(f), nil), nil })
	if err != nil {
		return nil, err
	}
	for _, name := range f.Tables() {
		if process, ok := strings.CutPrefix(name, metadataTable); ok && info.Command == "" {
			d := &database{f: f, process: process}
			err = errors.Join(d.first("rocpd_info_process", ":command?", &info.Command), d.first("rocpd_info_node", ":hostname?", &info.Host))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return info, nil
}

// first reads a text of a table's first row.
func (d *database) first(name, column string, to *string) error {
	return d.each(name, column, func(b *export.Batch, i int) error {
		if *to == "" {
			*to = b.Cols[0].Texts[i]
		}
		return nil
	})
}

// Tables of rocpd, without the id of the process.
const (
	metadataTable = "rocpd_metadata"
	kernelTable   = "rocpd_kernel_dispatch"
	regionTable   = "rocpd_region"
	copyTable     = "rocpd_memory_copy"
	sampleTable   = "rocpd_sample"
)

// numbers are numbers by their ids, which are mostly 1, 2, 3 and so on.
type numbers struct {
	list  []int64
	rest  map[int64]int64 // of ids far beyond how many there are
	count int64
}

func (n *numbers) set(id, value int64) {
	n.count++
	if id < 0 || id > 2*n.count+1<<16 {
		if n.rest == nil {
			n.rest = map[int64]int64{}
		}
		n.rest[id] = value
		return
	}
	for int64(len(n.list)) <= id {
		n.list = append(n.list, math.MinInt64)
	}
	n.list[id] = value
}

// get returns the number of an id.
func (n *numbers) get(id int64) (value int64, ok bool) {
	if value, ok = n.rest[id]; ok || id < 0 || id >= int64(len(n.list)) || n.list[id] == math.MinInt64 {
		return value, ok
	}
	return n.list[id], true
}

// placed are the columns that say when and where, those of the first versions and those of later ones, which keep times and places in tables of
// their own.
const placed = "pid? tid? agent_id? queue_id? stream_id? start? end? track_id? start_id? end_id? "

// place is where a record was made; what is not known is -1, a process or thread 0.
type place struct{ pid, tid, agent, queue, stream int64 }

// nowhere is the place of a record that says none.
var nowhere = place{0, 0, -1, -1, -1}

// track returns the place of a track.
func (d *database) track(id int64) place {
	if at, known := d.tracks[id]; known {
		return at
	}
	return nowhere
}

// database is the tables of one process.
type database struct {
	f       *sqlite.File
	process string // what the names of its tables end with
	header  *trace.Header
	names   int // bytes of names
	strings map[int64]string
	said    map[int64]string // names of categories; strings where these are not apart
	tracks  map[int64]place
	times   numbers
	kernels map[int64]string
	gpus    map[int64]int64  // number of the GPU by its agent
	stacks  numbers          // correlation ids by event
	kinds   numbers          // categories by event
	texts   map[int64]string // of markers, by event
	yield   func(*trace.Event, error) bool
	event   trace.Event
}

// rocpdEvents returns the records of a database.
func rocpdEvents(f *sqlite.File) reader {
	return func(_ io.Reader, h *trace.Header) iter.Seq2[*trace.Event, error] {
		return func(yield func(*trace.Event, error) bool) {
			for _, name := range f.Tables() {
				process, ok := strings.CutPrefix(name, metadataTable)
				if !ok {
					continue
				}
				d := &database{f: f, process: process, header: h, yield: yield, strings: map[int64]string{}, kernels: map[int64]string{}, gpus: map[int64]int64{}, texts: map[int64]string{}, tracks: map[int64]place{}}
				d.said = d.strings
				if err := d.read(); err == errDone {
					return
				} else if err != nil {
					yield(nil, fmt.Errorf("%w: %w", ErrSyntax, err))
					return
				}
			}
		}
	}
}

func (d *database) read() error {
	for _, read := range []func() error{d.readStrings, d.readCategories, d.readSymbols, d.readAgents, d.readTracks, d.readTimes, d.readEvents, d.readRegions, d.readKernels, d.readCopies, d.readSamples} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// each reads a table's rows, where it is there. Columns that end with ? may be missing, those that begin with : are texts.
func (d *database) each(name, columns string, do func(b *export.Batch, i int) error) error {
	name += d.process
	if !d.f.Has(name) {
		return nil
	}
	var wants []export.Want
	for _, c := range strings.Fields(columns) {
		w := export.Want{Kind: export.Int}
		c, w.Optional = strings.CutSuffix(c, "?")
		if text, is := strings.CutPrefix(c, ":"); is {
			c, w.Kind = text, export.Text
		}
		w.Name = c
		wants = append(wants, w)
	}
	s, err := d.f.Scan(context.Background(), name, wants)
	if err != nil {
		return err
	}
	return export.Each(s, func(b *export.Batch) error {
		for i := range b.N {
			if err := do(b, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// keep counts memory that names take.
func (d *database) keep(text string) error {
	if d.names += len(text) + 64; d.names > maxNames {
		return fmt.Errorf("its names take more than %d MiB", maxNames>>20)
	}
	return nil
}

func (d *database) readStrings() error {
	return d.each("rocpd_string", "id :string", func(b *export.Batch, i int) error {
		d.strings[b.Cols[0].Ints[i]] = b.Cols[1].Texts[i]
		return d.keep(b.Cols[1].Texts[i])
	})
}

func (d *database) readCategories() error {
	if d.f.Has("rocpd_info_category" + d.process) {
		d.said = map[int64]string{}
	}
	return d.each("rocpd_info_category", "id :name", func(b *export.Batch, i int) error {
		d.said[b.Cols[0].Ints[i]] = b.Cols[1].Texts[i]
		return d.keep(b.Cols[1].Texts[i])
	})
}

// readTracks reads the places of records.
func (d *database) readTracks() error {
	return d.each("rocpd_track", "id pid? tid? agent_id? queue_id? stream_id?", func(b *export.Batch, i int) error {
		d.tracks[b.Cols[0].Ints[i]] = placeOf(b, i, 1)
		return d.keep("")
	})
}

// placeOf reads a place out of five columns.
func placeOf(b *export.Batch, i, first int) place {
	cell := func(k int, none int64) int64 {
		if b.Cols[first+k].Null(i) {
			return none
		}
		return b.Cols[first+k].Ints[i]
	}
	return place{cell(0, 0), cell(1, 0), cell(2, -1), cell(3, -1), cell(4, -1)}
}

func (d *database) readTimes() error {
	return d.each("rocpd_timestamp", "id value", func(b *export.Batch, i int) error {
		d.times.set(b.Cols[0].Ints[i], b.Cols[1].Ints[i])
		return nil
	})
}

// record begins a record of a row that has the placed columns.
func (d *database) record(b *export.Batch, i int, kind string) (*record, place, error) {
	at, start, end := placeOf(b, i, 0), b.Cols[5].Ints[i], b.Cols[6].Ints[i]
	if !b.Cols[7].Missing {
		if at = nowhere; !b.Cols[7].Null(i) {
			at = d.track(b.Cols[7].Ints[i])
		}
	}
	for k, to := range []*int64{&start, &end} {
		if b.Cols[8+k].Missing {
			continue
		}
		var ok bool
		if *to, ok = d.times.get(b.Cols[8+k].Ints[i]); !ok {
			return nil, at, fmt.Errorf("a record has the time %d, which is not there", b.Cols[8+k].Ints[i])
		}
	}
	return &record{kind: kind, label: kind, pid: at.pid, tid: at.tid, start: start, end: end, device: -1, stream: -1, bytes: -1}, at, nil
}

func (d *database) readSymbols() error {
	return d.each("rocpd_info_kernel_symbol", "id :kernel_name :display_name", func(b *export.Batch, i int) error {
		name := b.Cols[2].Texts[i]
		if name == "" {
			name = b.Cols[1].Texts[i]
		}
		name = strings.TrimSuffix(name, ".kd")
		d.kernels[b.Cols[0].Ints[i]] = name
		return d.keep(name)
	})
}

// readAgents puts the GPUs into the header.
func (d *database) readAgents() error {
	return d.each("rocpd_info_agent", "id :type type_index :name :product_name :extdata?", func(b *export.Batch, i int) error {
		if b.Cols[1].Texts[i] != "GPU" {
			return nil
		}
		if len(d.gpus) > load.MaxDevices {
			return errors.New("too many agents")
		}
		var a agent
		if json.Unmarshal([]byte(b.Cols[5].Texts[i]), &a) != nil { // what it says more of a GPU
			a = agent{}
		}
		a.Name, a.Product = b.Cols[3].Texts[i], b.Cols[4].Texts[i]
		number := int64(len(d.gpus))
		if !b.Cols[2].Null(i) {
			number = b.Cols[2].Ints[i]
		}
		d.gpus[b.Cols[0].Ints[i]] = number
		a.describe(d.header, number)
		return nil
	})
}

// readEvents reads which call a record belongs to, and what it says of itself.
func (d *database) readEvents() error {
	return d.each("rocpd_event", "id category_id? stack_id? :extdata?", func(b *export.Batch, i int) error {
		id := b.Cols[0].Ints[i]
		d.stacks.set(id, b.Cols[2].Ints[i])
		d.kinds.set(id, b.Cols[1].Ints[i])
		if text := b.Cols[3].Texts[i]; strings.Contains(text, `"message"`) {
			var said struct {
				Message string `json:"message"`
			}
			if json.Unmarshal([]byte(text), &said) == nil {
				d.texts[id] = said.Message
				return d.keep(said.Message)
			}
		}
		return nil
	})
}

// of returns the correlation id of an event, and its category; 0 and "" of one that is not there.
func (d *database) of(event int64) (correlation int64, kind string) {
	correlation, _ = d.stacks.get(event)
	category, _ := d.kinds.get(event)
	return correlation, d.said[category]
}

// give hands a record over.
func (d *database) give(r *record) error {
	if r.event(&d.event); !d.yield(&d.event, nil) {
		return errDone
	}
	return nil
}

func (d *database) readRegions() error {
	return d.each(regionTable, placed+"name_id event_id", func(b *export.Batch, i int) error {
		r, _, err := d.record(b, i, "api")
		if err != nil {
			return err
		}
		event := b.Cols[11].Ints[i]
		r.name = d.strings[b.Cols[10].Ints[i]]
		r.correlation, r.label = d.of(event)
		if strings.HasPrefix(r.label, "MARKER_") {
			r.kind = "marker"
			if text, ok := d.texts[event]; ok {
				r.name = text
			}
		}
		return d.give(r)
	})
}

// readSamples reads what has no length: marks.
func (d *database) readSamples() error {
	return d.each(sampleTable, "track_id timestamp? timestamp_id? event_id", func(b *export.Batch, i int) error {
		at, moment := d.track(b.Cols[0].Ints[i]), b.Cols[1].Ints[i]
		if !b.Cols[2].Missing {
			var ok bool
			if moment, ok = d.times.get(b.Cols[2].Ints[i]); !ok {
				return fmt.Errorf("a mark has the time %d, which is not there", b.Cols[2].Ints[i])
			}
		}
		r := &record{kind: "mark", name: d.texts[b.Cols[3].Ints[i]], pid: at.pid, tid: at.tid, start: moment, end: moment, device: -1, stream: -1, bytes: -1}
		_, r.label = d.of(b.Cols[3].Ints[i])
		return d.give(r)
	})
}

func (d *database) readKernels() error {
	return d.each(kernelTable, placed+"kernel_id workgroup_size_x workgroup_size_y workgroup_size_z grid_size_x grid_size_y grid_size_z event_id", func(b *export.Batch, i int) error {
		r, at, err := d.record(b, i, "kernel")
		if err != nil {
			return err
		}
		cell := func(k int) int64 { return b.Cols[10+k].Ints[i] }
		name, ok := d.kernels[cell(0)]
		if !ok {
			return fmt.Errorf("kernel %d is not among the symbols", cell(0))
		}
		r.label, r.name, r.device, r.stream = "kernel_dispatch", name, d.gpu(at.agent), at.stream
		if r.stream < 0 {
			r.stream = at.queue
		}
		for k := range 3 {
			r.block[k], r.grid[k] = cell(1+k), cell(4+k)
		}
		r.correlation, _ = d.of(cell(7))
		return d.give(r)
	})
}

func (d *database) readCopies() error {
	return d.each(copyTable, placed+"name_id dst_agent_id? src_agent_id? size event_id", func(b *export.Batch, i int) error {
		r, at, err := d.record(b, i, "copy")
		if err != nil {
			return err
		}
		cell := func(k int) int64 { return b.Cols[10+k].Ints[i] }
		r.label, r.name, r.device, r.stream, r.bytes = "memory_copy", direction(d.strings[cell(0)]), d.gpu(cell(1)), at.stream, cell(3)
		if r.device < 0 {
			r.device = d.gpu(cell(2))
		}
		r.correlation, _ = d.of(cell(4))
		return d.give(r)
	})
}

func (d *database) gpu(agent int64) int64 {
	if n, ok := d.gpus[agent]; ok {
		return n
	}
	return -1
}
