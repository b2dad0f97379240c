package torch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prof/ingest/rows"
	"prof/ingest/torch/trace"
)

// storeFacts stores what the header says of the capture.
func (l *loader) storeFacts(ctx context.Context) error {
	h := l.header
	facts := [][2]string{}
	facts = append(facts, [2]string{"capture.id", l.info.CaptureID})
	for _, f := range h.Facts {
		facts = append(facts, [2]string{"torch." + f.Name, f.Value})
	}
	if j := h.Job; j != nil {
		for _, f := range []struct {
			key   string
			value *int64
		}{{"job.rank", l.rank()}, {"job.world_size", j.WorldSize}} {
			if f.value != nil {
				facts = append(facts, [2]string{f.key, fmt.Sprint(*f.value)})
			}
		}
		for _, f := range [][2]string{{"job.backend", j.Backend}, {"job.nccl_version", j.NCCLVersion}} {
			if f[1] != "" {
				facts = append(facts, f)
			}
		}
	}
	_, err := l.target.Append(ctx, "source_fact", func(add rows.Add) error {
		for _, f := range facts {
			if err := add(l.target.RunID, l.sourceID(), f[0], valid(f[1])); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// rank is the rank that the header says: of a merged trace it is that of one part.
func (l *loader) rank() *int64 {
	if l.header.Job == nil || len(l.parts.named) > 1 {
		return nil
	}
	return l.header.Job.Rank
}

// storeDevices stores the GPUs.
func (l *loader) storeDevices(ctx context.Context) error {
	numberOf, described := l.deviceNumbers(), map[int32]bool{}
	_, err := l.target.Append(ctx, "device", func(add rows.Add) error {
		for i := range l.header.Devices {
			d := &l.header.Devices[i]
			if d.ID == nil {
				continue
			}
			var name, capability, warps any
			if text := l.deviceName(d.Name); text != "" {
				name = valid(text)
			}
			if major, minor := cmp.Or(d.Major, d.OldMajor), cmp.Or(d.Minor, d.OldMinor); major != nil && minor != nil {
				capability = fmt.Sprintf("%d.%d", *major, *minor)
			}
			threads := cmp.Or(d.MaxThreadsPerSM, d.OldMaxThreadsPerSM)
			if threads != nil && d.WarpSize != nil && *d.WarpSize > 0 {
				warps = *threads / *d.WarpSize
			}
			for _, n := range l.parts.described(numberOf(*d.ID)) {
				if described[n] { // by another part of a merged trace
					continue
				}
				described[n] = true
				err := add(l.target.RunID, l.sourceID(), n, name, nil, nil, nil, capability, number(cmp.Or(d.SMs, d.OldSMs)), number(d.ClockHz), number(d.MemoryBytes), number(d.MemoryBytesPerS), nil, warps,
					number(d.SharedMemoryPerSMBytes))
				if err != nil {
					return err
				}
			}
		}
		if l.maker() == "" || len(described) > 0 {
			return nil
		}
		for i := range l.configs.List { // profilers of other makers' devices describe none
			d := l.configs.List[i].device
			if described[d] {
				continue
			}
			described[d] = true
			if err := add(l.target.RunID, l.sourceID(), d, l.deviceName(""), nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// deviceNumbers returns the number that work has for that of a described GPU. ROCm numbers the GPUs of work by agents, of which CPUs are some, and
// describes them by another count: where one GPU is described and all work ran on one, these are the same.
func (l *loader) deviceNumbers() func(int32) int32 {
	used := map[int32]bool{}
	for _, k := range l.configs.List {
		used[k.device] = true
	}
	same := func(described int32) int32 { return described }
	if len(l.header.Devices) != 1 || len(used) != 1 {
		return same
	}
	for device := range used {
		return func(int32) int32 { return device }
	}
	return same
}

func number(v *int64) any {
	if v == nil {
		return nil
	}
	return *v
}

// storeProcesses stores the processes that did something, and the names of their threads.
func (l *loader) storeProcesses(ctx context.Context) error {
	pids := slices.Sorted(maps.Keys(l.threads.procs))
	var rank any
	if r := l.rank(); r != nil && *r == int64(int32(*r)) {
		rank = int32(*r)
	}
	_, err := l.target.Append(ctx, "process", func(add rows.Add) error {
		for _, pid := range pids {
			var name any
			if n := l.processNames[pid]; n != "" {
				name = valid(n)
			}
			of := rank
			if part, ok := l.parts.ofPID[pid]; ok && rank == nil {
				if r, ok := l.parts.rank(part); ok {
					of = r
				}
			}
			if err := add(l.target.RunID, l.sourceID(), int32(pid), name, of); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = l.target.Append(ctx, "thread", func(add rows.Add) error {
		for _, t := range l.threads.list {
			if n := l.threadNames[[2]int64{int64(t.PID), int64(t.TID)}]; n != "" {
				if err := add(l.target.RunID, l.sourceID(), t.PID, t.TID, valid(n)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}

// storeParts stores what became of each category of events.
func (l *loader) storeParts(ctx context.Context) error {
	_, err := l.target.Append(ctx, "source_part", func(add rows.Add) error {
		for _, name := range slices.Sorted(maps.Keys(l.counts)) {
			p := l.counts[name]
			label := name
			if label == "" {
				label = "(no category)"
			}
			var reason any
			if text := p.why(); text != "" {
				reason = text
			}
			if err := add(l.target.RunID, l.sourceID(), label, p.read, p.stored, reason); err != nil {
				return err
			}
			l.info.Rows += p.stored
		}
		return nil
	})
	return err
}

// why returns why events of a category were not stored.
func (p *part) why() string {
	var out []string
	if p.reason != "" {
		out = append(out, p.reason)
	}
	for _, why := range slices.Sorted(maps.Keys(p.left)) {
		out = append(out, fmt.Sprintf("%d %s", p.left[why], why))
	}
	return strings.Join(out, "; ")
}

// storeDiagnostics stores the capture's own messages and the warnings of this reading.
func (l *loader) storeDiagnostics(ctx context.Context) error {
	_, err := l.target.Append(ctx, "diagnostic", func(add rows.Add) error {
		for _, s := range l.header.Said {
			if err := add(l.target.RunID, l.sourceID(), "capture", s.Severity, nil, nil, valid(s.Text)); err != nil {
				return err
			}
		}
		for _, w := range l.info.Warnings {
			if err := add(l.target.RunID, l.sourceID(), "ingest", "warning", nil, nil, w); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// schemaVersion is the version of the trace's form; PyTorch's own version is in no trace.
func schemaVersion(h *trace.Header) string {
	for _, f := range h.Facts {
		if f.Name == "schemaVersion" {
			return f.Value
		}
	}
	return ""
}
