package exports

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prof/ingest/tracer"
)

// Apart copies a folder of traces whose processes share GPUs as one in which each process with GPU work, in the order of their ranks, has a GPU of its own,
// and all see as many GPUs as there are such processes. Times stay as they are: those of ranks that shared a GPU.
func Apart(to, from string) error {
	paths, err := filepath.Glob(filepath.Join(from, "*"+tracer.Suffix))
	if err != nil {
		return err
	}
	var traces []*rankTrace
	for _, path := range paths {
		t, err := readTrace(path)
		if err != nil {
			return err
		}
		traces = append(traces, t)
	}
	slices.SortStableFunc(traces, func(a, b *rankTrace) int { return int(a.rank() - b.rank()) })
	var working []*rankTrace
	for _, t := range traces {
		if t.device() >= 0 {
			working = append(working, t)
		}
	}
	for gpu, t := range working {
		if err := t.moveTo(int64(gpu), len(working)); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	for _, t := range traces {
		if infos := t.table("TARGET_INFO_GPU"); !slices.Contains(working, t) && len(infos.Rows) > 0 { // what started the ranks
			infos.like(infos.Rows[0], len(working))
		}
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, t := range traces {
		if err := os.WriteFile(filepath.Join(to, t.name), t.bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// rankTrace is one trace as its process wrote it: numbers of texts and processes are those of the file.
type rankTrace struct {
	name   string
	tables []*Table
}

func readTrace(path string) (*rankTrace, error) {
	d, err := tracer.Open(path, filepath.Base(path))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	tables, err := readTables(d)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		for at, column := range t.Columns {
			for _, r := range t.Rows {
				if v, ok := r[at].(int64); ok {
					r[at] = tracer.InFile(t.Name, column, v)
				}
			}
		}
	}
	return &rankTrace{filepath.Base(path), tables}, nil
}

func (t *rankTrace) bytes() []byte {
	out := TraceHead()
	for number, o := range t.tables {
		types := ""
		for at := range o.Columns {
			types += o.traceType(at)
		}
		out = AppendTraceTable(out, number+1, o, types)
		out = AppendTraceRows(out, TraceRows, number+1, o, o.Rows)
	}
	return AppendTraceEnd(out)
}

// table is a table of a trace; an empty one where it has none.
func (t *rankTrace) table(name string) *Table {
	for _, o := range t.tables {
		if o.Name == name {
			return o
		}
	}
	return &Table{}
}

func (t *rankTrace) rank() int64 {
	if o := t.table("PROCESSES"); len(o.Rows) > 0 {
		return o.Int(o.Rows[0], "rank")
	}
	return 0
}

// device is the CUDA device of a process's kernels; -1 where it has none.
func (t *rankTrace) device() int64 {
	if o := t.table("CUPTI_ACTIVITY_KIND_KERNEL"); len(o.Rows) > 0 {
		return o.Int(o.Rows[0], "deviceId")
	}
	return -1
}

// moveTo moves the work of a process to one of so many GPUs, all like its own.
func (t *rankTrace) moveTo(gpu int64, gpus int) error {
	own := t.device()
	for _, o := range t.tables {
		at := o.Column("deviceId")
		if at < 0 {
			continue
		}
		for _, r := range o.Rows {
			if r[at] != own {
				return fmt.Errorf("%s: work on devices %d and %v", o.Name, own, r[at])
			}
			r[at] = gpu
		}
	}
	seen := t.table("TARGET_INFO_CUDA_DEVICE")
	index := slices.IndexFunc(seen.Rows, func(r []any) bool { return seen.Int(r, "cudaId") == own })
	infos := t.table("TARGET_INFO_GPU")
	info := slices.IndexFunc(infos.Rows, func(r []any) bool { return index >= 0 && infos.Int(r, "id") == seen.Int(seen.Rows[index], "gpuId") })
	if info < 0 {
		return fmt.Errorf("it does not say what GPU CUDA device %d is", own)
	}
	seen.like(seen.Rows[index], gpus)
	infos.like(infos.Rows[info], gpus)
	return t.setInPayloads("CUDA device", uint32(gpu))
}

// like makes the rows of a table about GPUs so many that are like one.
func (t *Table) like(row []any, gpus int) {
	t.Rows = nil
	for n := range int64(gpus) {
		r := slices.Clone(row)
		for column, v := range map[string]any{"id": n, "gpuId": n, "cudaId": n, "uuid": fmt.Sprintf("GPU-00000000-0000-0000-0000-%012d", n+1), "busLocation": fmt.Sprintf("00000000:%02x:00.0", n+1)} {
			if at := t.Column(column); at >= 0 {
				r[at] = v
			}
		}
		t.Rows = append(t.Rows, r)
	}
}

// setInPayloads sets a field of 32 bits in every payload that has it.
func (t *rankTrace) setInPayloads(name string, value uint32) error {
	offsets := map[string]int64{} // by schema
	if o := t.table("NVTX_PAYLOAD_SCHEMA_ENTRIES"); len(o.Rows) > 0 {
		for _, r := range o.Rows {
			if r[o.Column("name")] == name {
				offsets[fmt.Sprint(o.Int(r, "domainId"), o.Int(r, "schemaId"))] = o.Int(r, "offset")
			}
		}
	}
	texts, told := t.table("StringIds"), map[int64]bool{}
	for _, o := range t.tables {
		for _, r := range o.Rows {
			id := o.Int(r, "jsonTextId")
			if id < 1 || told[id] {
				continue
			}
			told[id] = true
			text := texts.Rows[id-1]
			part := strings.Split(text[texts.Column("value")].(string), " ")
			for i := 1; i+2 < len(part); i += 3 {
				offset, ok := offsets[part[0]+" "+part[i]]
				data, err := hex.DecodeString(part[i+2])
				if err != nil {
					return err
				}
				if ok && int(offset)+4 <= len(data) {
					binary.LittleEndian.PutUint32(data[offset:], value)
					part[i+2] = hex.EncodeToString(data)
				}
			}
			text[texts.Column("value")] = strings.Join(part, " ")
		}
	}
	return nil
}
