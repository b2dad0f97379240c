package exports

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
)

// rankStride is by how much a copy's numbers of processes and threads are above those of the copy before, in exports and traces of a job alike.
const rankStride = 1 << 20

// lowBits are those of a thread in globalTid, and above it of its process.
const lowBits = 1<<24 - 1

// Columns that name a process, the first two kinds with a thread or 0, and those that name a GPU.
var (
	threadColumns  = []string{"globalTid", "globalPid", "endGlobalTid"}
	processColumns = []string{"pid", "processId"}
	gpuColumns     = []string{"deviceId", "srcDeviceId", "dstDeviceId", "gpuId", "cudaId", "cuDevice", "pwGpuId"}
)

// What NCCL says in a range's payload.
var (
	communicator = regexp.MustCompile(`"NCCL communicator ID":\s*([0-9]+)`)
	ofRanks      = regexp.MustCompile(`"(No\. of ranks|Rank|Peer rank|CUDA device)":\s*([0-9]+)`)
)

// Ranks writes an export with the ranks of the tables, copies times, side by side: at the times of the first, each copy has processes, threads and GPUs
// of its own, and its ranks follow those of the copy before in the same communicators. What is of no process with work on a GPU stays once.
func Ranks(path string, tables []*Table, copies int) error {
	j := newJob(tables, copies)
	if last := j.highest + (copies-1)*rankStride; last > lowBits {
		return fmt.Errorf("%d copies have processes or threads of up to %d, and an export can name %d", copies, last, lowBits)
	}
	w, err := Create(path)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := w.Add(t, j.rows(t)); err != nil {
			return err
		}
	}
	return w.Close()
}

// job is what is known of the ranks of an export.
type job struct {
	copies, gpus int
	isRank       map[int64]bool // processes
	highest      int            // of its processes and threads
	sizes        map[string]int // ranks by communicator
}

func newJob(tables []*Table, copies int) *job {
	j := &job{copies: copies, isRank: map[int64]bool{}, sizes: map[string]int{}}
	for _, t := range tables {
		if t.Name == "TARGET_INFO_GPU" {
			j.gpus = max(j.gpus, len(t.Rows))
		}
		isWork, by, payload := strings.HasPrefix(t.Name, "CUPTI_") && t.Column("deviceId") >= 0, t.processOf(), t.Column("jsonText")
		for _, r := range t.Rows {
			pid, tid := by(r)
			j.highest = max(j.highest, int(pid), int(tid))
			if isWork {
				j.isRank[pid], j.gpus = true, max(j.gpus, int(t.Int(r, "deviceId"))+1)
			}
			if text, _ := at(r, payload).(string); text != "" {
				edit([]byte(text), ofRanks, func(name string, n int) int {
					if name == "No. of ranks" {
						j.sizes[communicatorOf(text)] = n
					}
					return n
				})
			}
		}
	}
	delete(j.isRank, 0)
	return j
}

func communicatorOf(payload string) string {
	if m := communicator.FindStringSubmatch(payload); m != nil {
		return m[1]
	}
	return ""
}

func at(row []any, column int) any {
	if column < 0 {
		return nil
	}
	return row[column]
}

// processOf gives the process that a row of the table names, and its thread; 0 for none.
func (t *Table) processOf() func(row []any) (pid, tid int64) {
	for _, name := range threadColumns {
		if c := t.Column(name); c >= 0 {
			return func(row []any) (int64, int64) {
				n, _ := row[c].(int64)
				if n < 0 {
					return 0, 0
				}
				return n >> 24 & lowBits, n & lowBits
			}
		}
	}
	for _, name := range processColumns {
		if c := t.Column(name); c >= 0 {
			return func(row []any) (int64, int64) {
				n, _ := row[c].(int64)
				return n, 0
			}
		}
	}
	return func([]any) (int64, int64) { return 0, 0 }
}

// rows are those of a table in each copy.
func (j *job) rows(t *Table) iter.Seq[[]any] {
	by, payload := t.processOf(), t.Column("jsonText")
	columns := func(names []string) (out []int) {
		for _, name := range names {
			if c := t.Column(name); c >= 0 {
				out = append(out, c)
			}
		}
		return out
	}
	threads, processes, gpus := columns(threadColumns), columns(processColumns), columns(gpuColumns)
	isGPU := t.Name == "TARGET_INFO_GPU"
	if isGPU {
		gpus = append(gpus, columns([]string{"id"})...)
	}
	return func(yield func([]any) bool) {
		for k := range j.copies {
			for _, r := range t.Rows {
				pid, _ := by(r)
				if k > 0 && !isGPU && !j.isRank[pid] {
					continue
				}
				text, _ := at(r, payload).(string)
				if k > 0 || text != "" {
					r = slices.Clone(r)
				}
				if text != "" {
					r[payload] = j.payload(text, k)
				}
				if k > 0 {
					for _, c := range threads {
						move(r, c, int64(k)*rankStride<<24)
						if n, _ := r[c].(int64); n&lowBits != 0 {
							move(r, c, int64(k)*rankStride)
						}
					}
					for _, c := range processes {
						move(r, c, int64(k)*rankStride)
					}
					for _, c := range gpus {
						move(r, c, int64(k*j.gpus))
					}
					setApart(r, t.Column("uuid"), "%02x", k)
					setApart(r, t.Column("busLocation"), "%04x", k)
				}
				if !yield(r) {
					return
				}
			}
		}
	}
}

// setApart makes a GPU's text, such as its UUID, another one by its first characters.
func setApart(row []any, column int, format string, k int) {
	first := fmt.Sprintf(format, k)
	if s, _ := at(row, column).(string); len(s) > len(first) {
		row[column] = first + s[len(first):]
	}
}

// payload is what NCCL would say in a copy.
func (j *job) payload(text string, k int) string {
	size := j.sizes[communicatorOf(text)]
	return string(edit([]byte(text), ofRanks, func(name string, n int) int {
		switch name {
		case "No. of ranks":
			return n * j.copies
		case "CUDA device":
			return n + k*j.gpus
		}
		return n + k*size
	}))
}
