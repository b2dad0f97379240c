package rocprof

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"prof/ingest/load"
	"prof/ingest/nsys/sqlite"
	export "prof/ingest/nsys/table"
	"prof/ingest/torch/trace"
)

// rocpd is the database that rocprofv3 writes unless it is told otherwise: SQLite, with tables whose names end with the id of a process.

// SniffRocpd says whether a file begins as one.
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
	return stored(ctx, name, t, newStream(rocpdEvents(f), nil))
}

// Tables of rocpd, without the id of the process.
const (
	metadataTable = "rocpd_metadata"
	kernelTable   = "rocpd_kernel_dispatch"
	regionTable   = "rocpd_region"
	copyTable     = "rocpd_memory_copy"
	sampleTable   = "rocpd_sample"
)

// maxEvents bounds the ids of events, for each of which some bytes are kept.
const maxEvents = 1 << 28

// database is the tables of one process.
type database struct {
	f       *sqlite.File
	process string // what the names of its tables end with
	header  *trace.Header
	names   int // bytes of names
	strings map[int64]string
	kernels map[int64]string
	gpus    map[int64]int64  // number of the GPU by its agent
	stacks  []int64          // correlation ids by event
	kinds   []int64          // categories by event, as ids of strings
	texts   map[int64]string // of markers, by event
	yield   func(*trace.Event, error) bool
	event   trace.Event
}

// rocpdEvents gives the records of a database.
func rocpdEvents(f *sqlite.File) reader {
	return func(_ io.Reader, h *trace.Header) iter.Seq2[*trace.Event, error] {
		return func(yield func(*trace.Event, error) bool) {
			for _, name := range f.Tables() {
				process, ok := strings.CutPrefix(name, metadataTable)
				if !ok {
					continue
				}
				d := &database{f: f, process: process, header: h, yield: yield, strings: map[int64]string{}, kernels: map[int64]string{}, gpus: map[int64]int64{}, texts: map[int64]string{}}
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
	for _, name := range []string{kernelTable, copyTable, regionTable} {
		if columns := d.f.Columns(name + d.process); columns != nil && !slices.Contains(columns, "start") {
			return fmt.Errorf("%s keeps its times elsewhere, as later versions of rocpd: rocpd convert --output-format csv", name+d.process)
		}
	}
	for _, read := range []func() error{d.readStrings, d.readSymbols, d.readAgents, d.readEvents, d.readRegions, d.readKernels, d.readCopies, d.readSamples} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// each reads a table's rows, where it is there. Columns that end with a ? may lack, those that begin with a : are texts.
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
		if id < 0 || id > maxEvents {
			return fmt.Errorf("an event has the id %d", id)
		}
		for int64(len(d.stacks)) <= id {
			d.stacks, d.kinds = append(d.stacks, 0), append(d.kinds, 0)
		}
		d.stacks[id], d.kinds[id] = b.Cols[2].Ints[i], b.Cols[1].Ints[i]
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

// of gives the correlation id of an event, and its category; 0 and "" of one that is not there.
func (d *database) of(event int64) (correlation int64, kind string) {
	if event < 0 || event >= int64(len(d.stacks)) {
		return 0, ""
	}
	return d.stacks[event], d.strings[d.kinds[event]]
}

// give hands a record over.
func (d *database) give(r *record) error {
	if r.event(&d.event); !d.yield(&d.event, nil) {
		return errDone
	}
	return nil
}

func (d *database) readRegions() error {
	return d.each(regionTable, "pid tid start end name_id event_id", func(b *export.Batch, i int) error {
		cell := func(k int) int64 { return b.Cols[k].Ints[i] }
		r := record{kind: "api", name: d.strings[cell(4)], pid: cell(0), tid: cell(1), start: cell(2), end: cell(3), device: -1, stream: -1, bytes: -1}
		r.correlation, r.label = d.of(cell(5))
		if strings.HasPrefix(r.label, "MARKER_") {
			r.kind = "marker"
			if text, ok := d.texts[cell(5)]; ok {
				r.name = text
			}
		}
		return d.give(&r)
	})
}

// readSamples reads what has no length: marks.
func (d *database) readSamples() error {
	return d.each(sampleTable, "timestamp event_id", func(b *export.Batch, i int) error {
		r := record{kind: "mark", start: b.Cols[0].Ints[i], end: b.Cols[0].Ints[i], device: -1, stream: -1, bytes: -1}
		_, r.label = d.of(b.Cols[1].Ints[i])
		r.name = d.texts[b.Cols[1].Ints[i]]
		return d.give(&r)
	})
}

func (d *database) readKernels() error {
	return d.each(kernelTable, "pid tid? agent_id kernel_id queue_id? stream_id? start end workgroup_size_x workgroup_size_y workgroup_size_z grid_size_x grid_size_y grid_size_z event_id", func(b *export.Batch, i int) error {
		cell := func(k int) int64 { return b.Cols[k].Ints[i] }
		name, ok := d.kernels[cell(3)]
		if !ok {
			return fmt.Errorf("kernel %d is not among the symbols", cell(3))
		}
		r := record{kind: "kernel", label: "kernel_dispatch", name: name, pid: cell(0), tid: cell(1), start: cell(6), end: cell(7), device: d.gpu(cell(2)), stream: cell(5), bytes: -1}
		if b.Cols[5].Null(i) {
			r.stream = cell(4)
		}
		for k := range 3 {
			r.block[k], r.grid[k] = cell(8+k), cell(11+k)
		}
		r.correlation, _ = d.of(cell(14))
		return d.give(&r)
	})
}

func (d *database) readCopies() error {
	return d.each(copyTable, "pid tid? start end name_id dst_agent_id? src_agent_id? size stream_id? event_id", func(b *export.Batch, i int) error {
		cell := func(k int) int64 { return b.Cols[k].Ints[i] }
		r := record{kind: "copy", label: "memory_copy", name: direction(d.strings[cell(4)]), pid: cell(0), tid: cell(1), start: cell(2), end: cell(3), device: d.gpu(cell(5)), stream: cell(8), bytes: cell(7)}
		if r.device < 0 {
			r.device = d.gpu(cell(6))
		}
		if b.Cols[8].Null(i) {
			r.stream = -1
		}
		r.correlation, _ = d.of(cell(9))
		return d.give(&r)
	})
}

func (d *database) gpu(agent int64) int64 {
	if n, ok := d.gpus[agent]; ok {
		return n
	}
	return -1
}
