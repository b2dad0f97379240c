package rocprof

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"prof/ingest/torch/trace"
)

// table is where a CSV trace has what; -1 where it has it not.
type table struct {
	kind                                           string
	name, domain, from, to, pid, tid, start, end   int
	agent, queue, stream, correlation, grid, block int // of grid and block the x, behind which y and z follow
	oldGrid, oldBlock                              int // rocprof 1 and 2: all work items as one number
}

// tableOf finds the columns of a trace by its header.
func tableOf(header []string) (*table, error) {
	at := func(names ...string) int {
		for i, h := range header {
			for _, name := range names {
				if strings.EqualFold(strings.TrimPrefix(h, "\ufeff"), name) {
					return i
				}
			}
		}
		return -1
	}
	t := &table{domain: at("Domain"), pid: at("Process_Id", "pid"), tid: at("Thread_Id", "tid"), start: at("Start_Timestamp", "BeginNs"), end: at("End_Timestamp", "EndNs"), agent: at("Agent_Id", "gpu-id"),
		queue: at("Queue_Id", "queue-id"), stream: at("Stream_Id"), correlation: at("Correlation_Id"), grid: at("Grid_Size_X"), block: at("Workgroup_Size_X"), oldGrid: at("grd"), oldBlock: at("wgr"),
		from: at("Source_Agent_Id"), to: at("Destination_Agent_Id")}
	if t.start < 0 || t.end < 0 || at("Counter_Name") >= 0 { // of a counter the kernel is there for each
		return nil, ErrSyntax
	}
	switch {
	case at("Kernel_Name", "KernelName") >= 0 && t.agent >= 0 && t.queue >= 0:
		t.kind, t.name = "kernel", at("Kernel_Name", "KernelName")
	case at("Direction") >= 0 && t.to >= 0:
		t.kind, t.name = "copy", at("Direction")
	case at("Function") >= 0 && t.domain >= 0 && t.pid >= 0:
		t.kind, t.name = "api", at("Function")
	default:
		return nil, ErrSyntax
	}
	return t, nil
}

func splitRow(line string) []string {
	row, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil {
		return nil
	}
	return row
}

// csvEvents gives the rows of a CSV trace.
func csvEvents(in io.Reader, _ *trace.Header) iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		limit := &bounded{r: in}
		r := csv.NewReader(limit)
		r.ReuseRecord, r.FieldsPerRecord = true, -1
		header, err := r.Read()
		if err != nil {
			yield(nil, fmt.Errorf("at line 1: %w: %w", ErrSyntax, err))
			return
		}
		t, err := tableOf(header)
		if err != nil {
			yield(nil, fmt.Errorf("at line 1: %w", err))
			return
		}
		width := len(header)
		var e trace.Event
		for {
			limit.since = 0
			row, err := r.Read()
			if err == io.EOF {
				return
			}
			if err != nil { // it names the line
				err = fmt.Errorf("%w: %w", ErrSyntax, err)
			} else if err = t.event(row, width, &e); err != nil {
				line, _ := r.FieldPos(0)
				err = fmt.Errorf("at line %d: %w: %w", line, ErrSyntax, err)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&e, nil) {
				return
			}
		}
	}
}

// event reads one row.
func (t *table) event(row []string, width int, e *trace.Event) error {
	if len(row) != width {
		return fmt.Errorf("%d cells, not %d", len(row), width)
	}
	var bad error
	number := func(col int, unsaid int64) int64 {
		if col < 0 || col >= len(row) || row[col] == "" {
			return unsaid
		}
		v, err := strconv.ParseInt(row[col], 10, 64)
		if err != nil && bad == nil {
			bad = fmt.Errorf("%q is no whole number", row[col])
		}
		return v
	}
	agent := func(col int) int64 { // 2, or "Agent 2", or "GPU 2" of GPUs alone
		if col < 0 || row[col] == "" {
			return -1
		}
		text := strings.TrimPrefix(strings.TrimPrefix(row[col], "Agent "), "GPU ")
		if strings.HasPrefix(text, "CPU ") {
			return -1
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil && bad == nil {
			bad = fmt.Errorf("%q is no agent", row[col])
		}
		return v
	}
	r := record{kind: t.kind, name: row[t.name], label: t.kind, pid: number(t.pid, 0), tid: number(t.tid, 0), start: number(t.start, 0), end: number(t.end, 0), correlation: number(t.correlation, 0), device: -1, stream: -1, bytes: -1}
	switch t.kind {
	case "kernel":
		r.device, r.stream = agent(t.agent), number(t.stream, number(t.queue, -1))
		if t.grid >= 0 && t.block >= 0 {
			for d := range 3 {
				r.grid[d], r.block[d] = number(t.grid+d, 0), number(t.block+d, 0)
			}
		} else if t.oldGrid >= 0 && t.oldBlock >= 0 {
			r.grid, r.block = [3]int64{number(t.oldGrid, 0), 1, 1}, [3]int64{number(t.oldBlock, 0), 1, 1}
		}
		r.name = strings.TrimSuffix(strings.TrimSuffix(r.name, " [clone .kd]"), ".kd")
	case "copy":
		r.name = direction(r.name)
		switch {
		case strings.HasSuffix(row[t.name], "TO_DEVICE"):
			r.device = agent(t.to)
		case t.from >= 0:
			r.device = agent(t.from)
		}
	case "api":
		if r.label = row[t.domain]; strings.HasPrefix(r.label, "MARKER_") {
			if r.kind = "marker"; r.start == r.end {
				r.kind = "mark"
			}
		}
	}
	if bad != nil {
		return bad
	}
	r.event(e)
	return nil
}
