package rocprof

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"prof/ingest/load"
	"prof/ingest/torch/trace"
	"prof/internal/file"
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

// traceFile is what rocprofv3 adds to a name for the files of a process: 123_kernel_trace.csv.
var traceFile = regexp.MustCompile(`(?i)(^|_)(kernel|memory_copy|marker(_api)?|(hip|hsa|rccl|rocdecode|rocjpeg)(_[a-z]+)*)_trace\.csv$`)

const anyTrace = "*_trace.csv"

// split returns the folder and the name of what a file is a trace of; ok is false for files of other names.
func split(path string) (dir, name string, ok bool) {
	for _, end := range []string{".gz", ".zst"} {
		path = strings.TrimSuffix(path, end)
	}
	dir, name = filepath.Split(path)
	if rest, is := strings.CutSuffix(name, anyTrace); is {
		return dir, strings.TrimSuffix(rest, "_"), true
	}
	at := traceFile.FindStringIndex(name)
	if at == nil {
		return dir, name, false
	}
	return dir, name[:at[0]], true
}

// Capture names the process that a file of rocprofv3 is of, as a path: files of one are named alike. Another file stays by itself.
func Capture(path string) string {
	dir, name, ok := split(path)
	if !ok {
		return path
	}
	return dir + name
}

// Pattern is the path of a source of several files.
func Pattern(path string) string {
	dir, name, _ := split(path)
	if name != "" {
		name += "_"
	}
	return dir + name + anyTrace
}

// Stem is what a file of rocprofv3 has in common with the JSON of the same process.
func Stem(path string) string {
	dir, name, ok := split(path)
	switch {
	case !ok:
		return path
	case name == "":
		return dir + "results"
	}
	return dir + name + "_results"
}

// group are the CSV traces of one process.
type group struct {
	files []traced
	pids  map[int64]bool // that API calls are of
}

// traced is one of them.
type traced struct {
	f      *os.File
	name   string
	isWork bool // kernels and copies, which do not say their process
}

// openGroup opens a trace, or those of a folder: calls before work.
func openGroup(path, name string) (g *group, err error) {
	parts, err := load.Parts(path, name)
	if err != nil {
		return nil, err
	}
	g = &group{pids: map[int64]bool{}}
	for _, p := range parts {
		f, err := file.Open(p.Path)
		if err != nil {
			g.close()
			return nil, err
		}
		t := traced{f: f, name: p.Name}
		g.files = append(g.files, t)
		head := make([]byte, maxHeader)
		n, err := f.ReadAt(head, 0)
		if err != nil && err != io.EOF {
			g.close()
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		line, _, _ := bytes.Cut(head[:n], []byte("\n"))
		table, err := tableOf(splitRow(string(bytes.TrimRight(line, "\r"))))
		if err != nil {
			g.close()
			return nil, fmt.Errorf("%s: at line 1: %w", p.Name, err)
		}
		g.files[len(g.files)-1].isWork = table.kind != "api"
	}
	slices.SortStableFunc(g.files, func(a, b traced) int {
		switch {
		case a.isWork == b.isWork:
			return 0
		case b.isWork:
			return -1
		}
		return 1
	})
	return g, nil
}

// maxHeader is more than any header of rocprof takes.
const maxHeader = 64 << 10

func (g *group) close() {
	for _, f := range g.files {
		f.f.Close()
	}
}

// events returns the rows of all files. Work is of the process that made the calls, where these are of one.
func (g *group) events(_ io.Reader, h *trace.Header) iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		for _, f := range g.files {
			for e, err := range csvEvents(io.NewSectionReader(f.f, 0, math.MaxInt64), h) {
				if err != nil {
					if len(g.files) > 1 {
						err = fmt.Errorf("%s: %w", filepath.Base(f.name), err)
					}
					yield(nil, err)
					return
				}
				if !f.isWork && e.PID != 0 && len(g.pids) < 2 {
					g.pids[e.PID] = true
				}
				if f.isWork && e.PID == 0 && len(g.pids) == 1 {
					for pid := range g.pids {
						e.PID = pid
					}
				}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// csvEvents returns the rows of a CSV trace.
func csvEvents(in io.Reader, _ *trace.Header) iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		limit := &bounded{r: in}
		cells := file.NewFewCells(limit, ',')
		r := csv.NewReader(cells)
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
			cells.Next()
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
