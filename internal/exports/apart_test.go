package exports_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"prof/ingest/nsys/table"
	"prof/ingest/tracer"
	"prof/internal/exports"
)

// TestApart: ranks that shared a GPU have one each, in the order of their ranks, and NCCL's words say so too; what has no GPU work has none.
func TestApart(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for pid, rank := range map[int64]int64{11: 1, 12: 2, 13: 0, 14: 9} {
		tables := []*exports.Table{
			{Name: "StringIds", Columns: []string{"id", "value"}, Rows: [][]any{{int64(1), "k"}, {int64(2), "1 7 8 0500000001000000"}}},
			{Name: "PROCESSES", Columns: []string{"globalPid", "rank"}, Rows: [][]any{{pid << 24, rank}}},
			{Name: "TARGET_INFO_GPU", Columns: []string{"id", "uuid", "busLocation"}, Rows: [][]any{{int64(0), "a", "b"}, {int64(3), "c", "d"}}},
			{Name: "TARGET_INFO_CUDA_DEVICE", Columns: []string{"gpuId", "cudaId", "pid"}, Rows: [][]any{{int64(0), int64(0), pid}, {int64(3), int64(1), pid}}},
			{Name: "NVTX_PAYLOAD_SCHEMA_ENTRIES", Columns: []string{"domainId", "schemaId", "flags", "type", "name", "arrayOrUnionDetail", "offset"},
				Rows: [][]any{{int64(1), int64(7), int64(0), int64(5), "Rank", int64(0), int64(0)}, {int64(1), int64(7), int64(0), int64(5), "CUDA device", int64(0), int64(4)}}},
			{Name: "NVTX_PAYLOAD_SCHEMAS", Columns: []string{"domainId", "schemaId", "name", "type", "payloadSize", "alignTo"}, Rows: [][]any{{int64(1), int64(7), nil, int64(1), int64(8), int64(0)}}},
			{Name: "NCCL_COMMUNICATORS", Columns: []string{"globalTid", "jsonTextId"}, Rows: [][]any{{pid << 24, int64(2)}}},
		}
		if rank < 9 {
			tables = append(tables, &exports.Table{Name: "CUPTI_ACTIVITY_KIND_KERNEL", Columns: []string{"start", "end", "deviceId", "globalPid", "demangledName"},
				Rows: [][]any{{rank, rank + 5, int64(1), pid << 24, int64(1)}}})
		}
		text := exports.TraceHead()
		for i, o := range tables {
			types := ""
			for at := range o.Columns {
				if _, ok := o.Rows[0][at].(string); ok || o.Columns[at] == "name" {
					types += "t"
				} else {
					types += "i"
				}
			}
			text = exports.AppendTraceRows(exports.AppendTraceTable(text, i+1, o, types), exports.TraceRows, i+1, o, o.Rows)
		}
		if err := os.WriteFile(filepath.Join(from, fmt.Sprint(pid, tracer.Suffix)), exports.AppendTraceEnd(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := exports.Apart(to, from); err != nil {
		t.Fatal(err)
	}
	d, err := tracer.Open(to, "apart")
	if err != nil {
		t.Fatal(err)
	}
	rows := func(name string, columns ...string) (out []string) {
		var wants []table.Want
		for _, c := range columns {
			wants = append(wants, table.Want{Name: c})
		}
		scan, err := d.Scan(context.Background(), name, wants)
		if err == nil {
			err = table.Each(scan, func(b *table.Batch) error {
				for i := range b.N {
					line := ""
					for c := range b.Cols {
						if v := b.Cols[c].Ints[i]; columns[c] == "jsonTextId" || columns[c] == "demangledName" {
							text, _, err := d.String(v)
							line += fmt.Sprint(text, err)
						} else if columns[c] == "globalPid" {
							line += fmt.Sprint(v>>24&0xFFFFFF, " ")
						} else {
							line += fmt.Sprint(v, " ")
						}
					}
					out = append(out, line)
				}
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got, want := rows("CUPTI_ACTIVITY_KIND_KERNEL", "start", "end", "deviceId", "globalPid", "demangledName"), []string{"1 6 1 11 k<nil>", "2 7 2 12 k<nil>", "0 5 0 13 k<nil>"}; !slices.Equal(got, want) {
		t.Errorf("kernels %q, not %q", got, want)
	}
	if got, want := rows("NCCL_COMMUNICATORS", "jsonTextId")[:3], []string{`{"Rank":5,"CUDA device":1}<nil>`, `{"Rank":5,"CUDA device":2}<nil>`, `{"Rank":5,"CUDA device":0}<nil>`}; !slices.Equal(got, want) {
		t.Errorf("communicators %q, not %q", got, want)
	}
	if got, want := rows("TARGET_INFO_CUDA_DEVICE", "pid", "cudaId", "gpuId")[:3], []string{"11 0 0 ", "11 1 1 ", "11 2 2 "}; !slices.Equal(got, want) {
		t.Errorf("devices %q, not %q", got, want)
	}
	if got := rows("TARGET_INFO_GPU", "id"); len(got) != 12 {
		t.Errorf("%d GPUs in 4 traces, not 3 in each", len(got))
	}
}
