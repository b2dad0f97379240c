package ncu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"prof/ingest/load"
)

// Magic begins every report: "NVR" and a zero byte.
const Magic = "NVR\x00"

// The form of a report is documented by NVIDIA in the folder extras/FileFormat of Nsight Compute: Magic, the size and the bytes
// of a FileHeader, then blocks up to the end of the file, each the size and the bytes of a BlockHeader and then a payload. All
// sizes are little-endian and of 32 bits.

// maxMessage bounds what a size in the file can make the reader hold: the largest results seen have a few MiB.
const maxMessage = 64 << 20

// Bounds of what is held of a report besides its strings, whatever its size: an empty message is two bytes of the file and a hundred of memory.
const (
	mostBlocks   = 1 << 19
	mostSources  = 1 << 18
	mostDevices  = load.MaxDevices
	mostFacts    = 10_000 // of a session: versions, and attributes of a GPU
	mostSections = 100_000
	mostRanges   = 10_000  // open at a result, and as many threads and domains
	mostFindings = 100_000 // of a result: findings, their metrics and cells
)

// fewer is an error where there are so many of something already.
func fewer(n, most int, what string) error {
	if n < most {
		return nil
	}
	return fmt.Errorf("it has more than %d %s", most, what)
}

// MaxReport bounds a report, in bytes: the largest seen have a few GB, and ncu itself cannot open one that is larger than memory.
const MaxReport = 64 << 30

// maxStrings bounds the names of metrics likewise; ncu knows some thousands, and sums and rates of each.
const maxStrings = 1 << 20

// Errors that this package's errors wrap.
var (
	ErrNotReport = errors.New("it is not a Nsight Compute report")
	ErrDamaged   = errors.New("the report is damaged")
)

// Report is an open report. Its headers are read; results are read by Each, one at a time.
type Report struct {
	Session Session
	// Cut reports whether the file ends before its last block does. Lost is how many bytes at its end hold no whole result or header;
	// it is known once Each has read them.
	Cut  bool
	Lost int64

	// What Each found beside the results.
	Results   int32           // whole results
	Sections  []SectionMetric // places of metrics in ncu's own display, as the first result of each kind has them
	Instances int64           // values of single units, instructions or samples that metrics hold beside their own value
	Unknown   int64           // bytes of payloads that this reader knows no kind for

	name    string
	version string // of the report's form
	file    io.ReaderAt
	size    int64
	blocks  []block
	strings []string // names of metrics; a result may use names that a later block brings
	odd     load.Odd // numbers of results that cannot be
	units   []string // of the metrics of these names, once needed
	code    code
	at      current
}

// current is the result that Each is at.
type current struct {
	place     int64 // of its message in the file
	result    *Result
	module    uint64   // of the kernel's code; 0 when not said
	instanced [][]byte // messages of metrics that have values of instances
}

// block is one block's header with the place of its payload.
type block struct {
	at, end int64 // of the payload; end is past the end of the file where the file was cut off
	counts  [6]uint64
	process Process
}

// The parts of a payload in their order, as in block.counts.
const (
	sources = iota
	kernels
	ranges
	cmdlists
	graphs
	nodes // of graphs, which ncu draws: no results
)

// Process is a process that was profiled.
type Process struct {
	PID        int32
	Host, Name string
}

// OpenReport reads the headers of a report. name is the file's name for messages. Its errors wrap ErrNotReport or ErrDamaged.
func OpenReport(file io.ReaderAt, size int64, name string) (*Report, error) {
	r := &Report{name: name, file: file, size: size}
	head := make([]byte, len(Magic))
	if n, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: byte 0: %w", name, err)
	} else if n < len(head) || string(head) != Magic {
		return nil, fmt.Errorf("%s: %w", name, ErrNotReport)
	}
	header, at, ok, err := r.message(int64(len(Magic)))
	if err == nil && !ok {
		err = r.damaged(at, errors.New("it ends inside its first header"))
	}
	if err != nil {
		return nil, err
	}
	err = eachField(header, func(f field) error {
		if f.number(1) {
			r.version = itoa(f.int)
		}
		return nil
	})
	if err != nil {
		return nil, r.damaged(int64(len(Magic)), err)
	}
	for ok && at < size {
		if at, ok, err = r.readBlock(at); err != nil {
			return nil, err
		}
	}
	if !ok {
		r.Cut, r.Lost = true, size-at
	}
	return r, nil
}

// message reads the size at a place and the bytes that follow it. ok is false, and next the same place, where the file ends
// before them.
func (r *Report) message(at int64) (msg []byte, next int64, ok bool, err error) {
	n, ok, err := r.messageSize(at)
	if !ok || err != nil {
		return nil, at, ok, err
	}
	if n > maxMessage {
		return nil, at, false, r.damaged(at, fmt.Errorf("it has a block of %d bytes, more than the %d that prof reads", n, maxMessage))
	}
	msg = make([]byte, n)
	if err := r.read(msg, at+4); err != nil {
		return nil, at, false, err
	}
	return msg, at + 4 + n, true, nil
}

// messageSize reads the size at a place; ok is false where the file ends before that many bytes.
func (r *Report) messageSize(at int64) (n int64, ok bool, err error) {
	if r.size-at < 4 {
		return 0, false, nil
	}
	var b [4]byte
	if err := r.read(b[:], at); err != nil {
		return 0, false, err
	}
	n = int64(binary.LittleEndian.Uint32(b[:]))
	return n, r.size-at-4 >= n, nil
}

func (r *Report) read(into []byte, at int64) error {
	if n, err := r.file.ReadAt(into, at); n < len(into) {
		return fmt.Errorf("%s: byte %d: %w", r.name, at, err)
	}
	return nil
}

func (r *Report) damaged(at int64, err error) error {
	return fmt.Errorf("%s: byte %d: %w: %w; was it copied completely?", r.name, at, ErrDamaged, err)
}

// readBlock reads the header of a block and gives the place of the next one. ok is false, and the place that of this block,
// where the file was cut off in it.
func (r *Report) readBlock(at int64) (next int64, ok bool, err error) {
	msg, payload, ok, err := r.message(at)
	// A header always has fields; zeros are what a file holds that was never written to its end.
	if err != nil || !ok || len(msg) == 0 {
		return at, false, err
	}
	b := block{at: payload, end: payload}
	err = eachField(msg, func(f field) error {
		switch {
		case f.number(1):
			b.counts[sources] = f.int
		case f.number(2):
			b.counts[kernels] = f.int
		case f.message(3):
			return r.Session.merge(f.bytes)
		case f.message(4):
			return r.addStrings(f.bytes)
		case f.number(5):
			b.end = payload + int64(min(f.int, 1<<32))
		case f.message(6):
			return b.process.decode(f.bytes)
		case f.number(7):
			b.counts[ranges] = f.int
		case f.number(8):
			b.counts[cmdlists] = f.int
		case f.number(9):
			b.counts[graphs] = f.int
		case f.number(10):
			b.counts[nodes] = f.int
		}
		return nil
	})
	if err != nil {
		return at, false, r.damaged(at, err)
	}
	if b.process == (Process{}) {
		b.process.PID = r.Session.PID // as the format has it; 0 when not said there either
	}
	if err := fewer(len(r.blocks), mostBlocks, "blocks"); err != nil {
		return at, false, r.damaged(at, err)
	}
	r.blocks = append(r.blocks, b)
	if b.end > r.size {
		return at, false, nil
	}
	return b.end, true, nil
}

func (r *Report) addStrings(table []byte) error {
	return eachField(table, func(f field) error {
		if f.message(1) {
			if len(r.strings) == maxStrings {
				return fmt.Errorf("it has more than %d metric names", maxStrings)
			}
			r.strings = append(r.strings, f.text())
		}
		return nil
	})
}

func (p *Process) decode(msg []byte) error {
	return eachField(msg, func(f field) error {
		switch {
		case f.number(1):
			p.PID = small(f.int, 0)
		case f.message(2):
			p.Host = f.text()
		case f.message(3):
			p.Name = f.text()
		}
		return nil
	})
}

// Processes returns the processes that were profiled and named, each once.
func (r *Report) Processes() []Process {
	var out []Process
	seen := map[int32]bool{}
	for _, b := range r.blocks {
		if p := b.process; (p.Name != "" || p.Host != "") && !seen[p.PID] {
			seen[p.PID] = true
			out = append(out, p)
		}
	}
	return out
}

// Each calls f for every whole result in the order of the file. The result and what it holds are f's only until it returns.
func (r *Report) Each(ctx context.Context, f func(*Result) error) error {
	d := &decoder{report: r}
	r.Results, r.Sections, r.Instances, r.Unknown, r.code = 0, nil, 0, 0, code{}
	for i := range r.blocks {
		if err := r.eachInBlock(ctx, &r.blocks[i], d, f); err != nil {
			return err
		}
	}
	return nil
}

// eachInBlock reads the results of one payload. Sources, the compiled code of tens of MiB, are passed over unread; EachInstance reads of
// them what it needs.
func (r *Report) eachInBlock(ctx context.Context, b *block, d *decoder, f func(*Result) error) error {
	at := b.at
	for part, count := range b.counts {
		for range count {
			if err := ctx.Err(); err != nil {
				return err
			}
			n, whole, err := r.messageSize(at)
			if err != nil {
				return err
			}
			switch {
			case b.end > r.size && !whole:
				if at > b.at { // else the block's header is lost too
					r.Lost = r.size - at
				}
				return nil
			case n == 0 && part != sources && part != nodes:
				return r.damaged(at, errors.New("a result is empty, as if that part of the file was never written"))
			case at+4+n > b.end:
				return r.damaged(at, fmt.Errorf("an entry of %d bytes runs past the end of its block at byte %d", n, b.end))
			}
			switch part {
			case sources:
				if err := fewer(len(r.code.sources), mostSources, "pieces of compiled code"); err != nil {
					return r.damaged(at, err)
				}
				r.code.sources = append(r.code.sources, source{place{at + 4, n}, b.process.PID})
			case nodes:
			default:
				if err := d.read(at, n, part, b.process); err != nil {
					return err
				}
				if err := f(&d.result); err != nil {
					return err
				}
			}
			at += 4 + n
		}
	}
	if at < b.end && b.end <= r.size {
		r.Unknown += b.end - at
	}
	return nil
}
