package exports

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Where a PyTorch trace names processes, threads, GPUs and ranks: in its events, in its head, and lists of ranks in both.
var (
	placed = regexp.MustCompile(`"(pid|tid|device|Device Id|Rank|Src Rank|Dst Rank|Group size)":\s*([0-9]+)`)
	headed = regexp.MustCompile(`"(id|rank|world_size|pg_size)":\s*([0-9]+)`)
	listed = regexp.MustCompile(`("(?:Process Group Ranks|ranks)":\s*"?\[)([0-9][0-9, ]*)\]`)
)

// torchRank is a PyTorch trace of one rank, to be written as that of others.
type torchRank struct {
	members           []traceMember // in the order of the file
	events            []json.RawMessage
	rank, world, gpus int
	isGPU             map[string]bool // pids that are none of processes
}

type traceMember struct {
	name string
	raw  json.RawMessage
}

// placedEvent is what an event says of itself.
type placedEvent struct {
	Name string
	PID  json.RawMessage
	Args struct{ Labels string }
}

func readTorchRank(data []byte) (*torchRank, error) {
	r := &torchRank{world: 1, isGPU: map[string]bool{}}
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := traceMember{name: fmt.Sprint(name)}
		if err := d.Decode(&m.raw); err != nil {
			return nil, err
		}
		r.members = append(r.members, m)
		switch m.name {
		case "traceEvents":
			err = json.Unmarshal(m.raw, &r.events)
		case "deviceProperties":
			var list []json.RawMessage
			err = json.Unmarshal(m.raw, &list)
			r.gpus = len(list)
		case "distributedInfo":
			edit(m.raw, headed, func(name string, n int) int {
				switch name {
				case "rank":
					r.rank = n
				case "world_size":
					r.world = n
				}
				return n
			})
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	if r.gpus == 0 {
		return nil, errors.New("a trace without deviceProperties")
	}
	for _, e := range r.events {
		if is, err := placeOf(e); err != nil {
			return nil, err
		} else if strings.HasPrefix(is.Args.Labels, "GPU ") {
			r.isGPU[string(is.PID)] = true
		}
	}
	return r, nil
}

func placeOf(event []byte) (is placedEvent, err error) {
	return is, json.Unmarshal(event, &is)
}

// write writes the trace of copy k, as of Ranks.
func (r *torchRank) write(to io.Writer, k, copies int) error {
	w := bufio.NewWriter(to)
	begin := "{"
	for _, m := range r.members {
		fmt.Fprintf(w, "%s\n%q: ", begin, m.name)
		begin = ","
		switch m.name {
		case "traceEvents":
			for i, e := range r.events {
				w.WriteString([]string{"[\n", ",\n"}[min(i, 1)])
				e, err := r.event(e, k, copies)
				if err != nil {
					return err
				}
				w.Write(e)
			}
			w.WriteString("]")
		case "deviceProperties":
			list := bytes.Trim(m.raw, "[] \n")
			for c := range copies {
				w.WriteString([]string{"[", ","}[min(c, 1)])
				w.Write(edit(list, headed, func(_ string, n int) int { return n + c*r.gpus }))
			}
			w.WriteString("]")
		case "distributedInfo":
			w.Write(r.lists(edit(m.raw, headed, func(name string, n int) int {
				if name == "rank" {
					return n + k*r.world
				}
				return n * copies
			}), copies))
		default:
			w.Write(m.raw)
		}
	}
	w.WriteString("\n}\n")
	return w.Flush() // gives the first error of all
}

// event is an event of copy k. A trace names more GPUs than there are: those names stay.
func (r *torchRank) event(e []byte, k, copies int) ([]byte, error) {
	is, err := placeOf(e)
	isGPU := r.isGPU[string(is.PID)]
	if err != nil || isGPU && strings.HasPrefix(is.Name, "process_") {
		return e, err
	}
	return r.lists(edit(e, placed, func(name string, n int) int {
		switch name {
		case "pid", "tid":
			switch {
			case !isGPU && (n > 0 || name == "pid"):
				return n + k*rankStride
			case name == "pid":
				return n + k*r.gpus
			}
			return n
		case "device", "Device Id":
			return n + k*r.gpus
		case "Group size":
			if n > 1 { // else it is of one rank alone
				return n * copies
			}
			return n
		}
		return n + k*r.world
	}), copies), nil
}

// lists adds the ranks of all copies to lists of ranks.
func (r *torchRank) lists(text []byte, copies int) []byte {
	return listed.ReplaceAllFunc(text, func(found []byte) []byte {
		m := listed.FindSubmatch(found)
		out := m[1]
		for c := range copies {
			for i, s := range strings.Split(string(m[2]), ",") {
				if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
					if c+i > 0 {
						out = append(out, ", "...)
					}
					out = strconv.AppendInt(out, int64(n+c*r.world), 10)
				}
			}
		}
		return append(out, ']')
	})
}

// RankTraceFiles writes the traces that a job with copies times as many ranks has for the one of a file. In each path, * is its rank.
func RankTraceFiles(to, from string, copies int) error {
	data, err := Unpack(from)
	if err != nil {
		return err
	}
	r, err := readTorchRank(data)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	for k := range copies {
		path := strings.Replace(to, "*", strconv.Itoa(r.rank+k*r.world), 1)
		if err := writeFile(path, func(w io.Writer) error { return r.write(w, k, copies) }); err != nil {
			return err
		}
	}
	return nil
}
