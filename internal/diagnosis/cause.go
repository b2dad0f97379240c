package diagnosis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cause is something that costs time. put changes a capture and gives the time that it put in, in ns, over the passes that are measured. What the
// host does late may cost less than that, since the GPU may have had work queued: then what it cost is what grew when the capture was replayed.
type cause struct {
	put  func(c *Capture) int64
	grew func(c *Capture) int64 // nil: what was put in
}

// Harm returns a copy of a capture with the case's cause in it, and how much time that costs, in ns.
func (k Case) Harm(base *Capture) (*Capture, int64) {
	c := base.Clone()
	grew := k.put.grew
	if grew == nil {
		cost := k.put.put(c)
		c.Replay()
		return c, cost
	}
	before := grew(c)
	k.put.put(c)
	c.Replay()
	return c, grew(c) - before
}

// spans adds up the times from the first start to the last end of the work of ranges; of all work for the zero place.
func spans(p place) func(*Capture) int64 {
	return func(c *Capture) int64 {
		lists := [][]*Event{c.find(func(e *Event) bool { return e.Kind == Work })}
		if p.in != "" {
			lists = nil
			for _, r := range p.ranges(c) {
				lists = append(lists, c.Kernels(r, ""))
			}
		}
		sum := int64(0)
		for _, list := range lists {
			end := int64(0)
			for _, e := range list {
				end = max(end, e.End)
			}
			sum += end - list[0].Start
		}
		return sum
	}
}

// lengths adds up the times of the work of a name in ranges.
func lengths(p place, name string) func(*Capture) int64 {
	return func(c *Capture) int64 {
		sum := int64(0)
		for _, r := range p.ranges(c) {
			for _, e := range c.Kernels(r, name) {
				sum += e.End - e.Start
			}
		}
		return sum
	}
}

func (k cause) costs(grew func(*Capture) int64) cause {
	k.grew = grew
	return k
}

// place is where a cause is: in the ranges of a name, but for the first so many (warm-up), of one process or all.
type place struct {
	in   string
	skip int
	rank int // 1, 2, ... in order of the processes' numbers; 0 for all
}

func (p place) ranges(c *Capture) []*Event {
	var out []*Event
	count := map[int64]int{}
	for _, r := range c.Ranges(p.in) {
		count[r.Process]++
		if count[r.Process] > p.skip && (p.rank == 0 || c.processes()[p.rank-1] == r.Process) {
			out = append(out, r)
		}
	}
	return out
}

// everyLaunch does something before every so manieth launch in the ranges, and adds up what that comes to.
func everyLaunch(p place, nth int, do func(c *Capture, launch *Event) int64) cause {
	return cause{put: func(c *Capture) int64 {
		sum := int64(0)
		for _, r := range p.ranges(c) {
			for i, launch := range c.Launches(r) {
				if (i+1)%nth == 0 {
					sum += do(c, launch)
				}
			}
		}
		return sum
	}}
}

// everyRange does something before the first launch of every so manieth range.
func everyRange(p place, nth int, do func(c *Capture, launch *Event) int64) cause {
	return cause{put: func(c *Capture) int64 {
		sum := int64(0)
		for i, r := range p.ranges(c) {
			if launches := c.Launches(r); (i+1)%nth == 0 && len(launches) > 0 {
				sum += do(c, launches[0])
			}
		}
		return sum
	}}
}

// pause is the host at something else: Python's garbage collector, a data loader, a thread that was not scheduled.
func pause(ns int64) func(*Capture, *Event) int64 {
	return func(_ *Capture, launch *Event) int64 {
		launch.Pause += ns
		return ns
	}
}

// named is a pause in a range of its own, like the first of a name that holds the launch.
func named(like, name string, ns int64) func(*Capture, *Event) int64 {
	return func(c *Capture, launch *Event) int64 {
		for _, r := range c.Ranges(like) {
			if r.has(launch) && r.Thread == launch.Thread {
				c.insert(r, launch.Start, ns).rename(name)
				break
			}
		}
		return pause(ns)(c, launch)
	}
}

// starved has the thread wait for a CPU before every so manieth launch in the ranges, and marks each range with what that comes to, as the helper of prof capture does.
func starved(p place, nth int, ns int64) cause {
	return cause{put: func(c *Capture) int64 {
		sum := int64(0)
		for _, r := range p.ranges(c) {
			waited := int64(0)
			for i, launch := range c.Launches(r) {
				if (i+1)%nth == 0 {
					waited += pause(ns)(c, launch)
				}
			}
			c.insert(r, r.Start+1, 1).rename(fmt.Sprintf("CPU wait[ns=%d, wall=%d, run=%d, others=0, preempted=%d, blocked=0, cpus=1, limit=, throttled=, threads=21, runnable=4]", waited, r.End-r.Start+waited, r.End-r.Start, waited/ns))
			sum += waited
		}
		return sum
	}}
}

// call is a CUDA call that has no business there.
func call(name string, ns int64) func(*Capture, *Event) int64 {
	return func(c *Capture, launch *Event) int64 {
		c.Call(launch, name, ns)
		return ns
	}
}

// kernels is more work before a launch: so many kernels of a name, each of a length, like the first that the ranges have of a name.
func kernels(count int, like, name string, ns, blocks int64) func(*Capture, *Event) int64 {
	return func(c *Capture, launch *Event) int64 {
		model := c.find(func(e *Event) bool {
			return e.Kind == Work && e.launch != nil && e.row.blocks() > 0 && strings.Contains(e.Name, like)
		})[0]
		for range count {
			c.Launch(launch, model, name, ns, blocks)
		}
		return int64(count) * ns
	}
}

// copies is a copy from pageable memory before a launch, like the first copy of the capture.
func copies(ns int64) func(*Capture, *Event) int64 {
	return func(c *Capture, launch *Event) int64 {
		model := c.find(func(e *Event) bool { return e.Kind == Work && e.launch != nil && e.isCopy() })[0]
		work := c.Launch(launch, model, model.Name, ns, 0)
		work.row.setPageable()
		return ns
	}
}

// nodes is more work in a CUDA graph: so many short kernels after each one of a name.
func nodes(p place, after string, count int, name string, ns int64) cause {
	return cause{put: func(c *Capture) int64 {
		sum := int64(0)
		for _, r := range p.ranges(c) {
			for _, k := range c.Kernels(r, after) {
				for range count {
					c.Node(k, name, ns)
					sum += ns
				}
			}
		}
		return sum
	}}
}

// longer makes kernels of a name take so many times as long.
func longer(p place, name string, times float64) cause {
	return each(p, name, func(k *Event) int64 {
		k.Longer = int64(float64(k.End-k.Start) * (times - 1))
		return k.Longer
	})
}

// smaller returns kernels of a name so few blocks, that each do so much more.
func smaller(p place, name string, blocks, sms int64) cause {
	return each(p, name, func(k *Event) int64 {
		k.Longer = (k.End - k.Start) * (sms - blocks) / blocks
		k.row.setBlocks(blocks)
		return k.Longer
	})
}

// other makes kernels of a name another one, that takes so many times as long.
func other(p place, name, becomes string, times float64) cause {
	return each(p, name, func(k *Event) int64 {
		k.Longer = int64(float64(k.End-k.Start) * (times - 1))
		k.rename(becomes)
		return k.Longer
	})
}

// pageable makes the copies of a name copies from pageable memory, at a rate so many times lower.
func pageable(p place, name string, times float64) cause {
	return each(p, name, func(k *Event) int64 {
		k.Longer = int64(float64(k.End-k.Start) * (times - 1))
		k.row.setPageable()
		return k.End - k.Start + k.Longer
	})
}

// uneven deals the work of kernels of a name to their blocks so that one SM has so many times as much as each had: they last as long as that one, and
// the others are done before. The SMs do as much as before in all.
func uneven(p place, name string, times float64) cause {
	longer := longer(p, name, times)
	return cause{put: func(c *Capture) int64 {
		c.file.(*profiled).scale(name, times, "sm__cycles_active.max", "sm__cycles_elapsed.max", "gpu__time_duration.sum")
		return longer.put(c)
	}}
}

func each(p place, name string, do func(*Event) int64) cause {
	return cause{put: func(c *Capture) int64 {
		sum := int64(0)
		for _, r := range p.ranges(c) {
			for _, k := range c.Kernels(r, name) {
				sum += do(k)
			}
		}
		return sum
	}}
}

// slow makes some of the ranges slow, by their numbers from 1: half their launches come so much later.
func slow(p place, ns int64, numbers ...int) cause {
	return cause{put: func(c *Capture) int64 {
		list := p.ranges(c)
		for _, n := range numbers {
			launches := c.Launches(list[n-1])
			launches[len(launches)/2].Pause += ns
		}
		return int64(len(numbers)) * ns
	}}
}

// cold makes a pass cold, by its number from 1: calls that load modules before its first launches.
func cold(in string, number, count int, ns int64) cause {
	return cause{put: func(c *Capture) int64 {
		for _, launch := range c.Launches(c.Ranges(in)[number-1])[:count] {
			c.Call(launch, "cuModuleLoadData", ns)
		}
		return int64(count) * ns
	}}
}

// clocks lowers the clock of the SMs, in Hz, in all samples of a busy GPU, as a power cap does, and makes the work of the capture so much longer. What it
// costs is the time of the work in a place.
func clocks(hz float64, p place) cause {
	return cause{put: func(c *Capture) int64 {
		f := c.file.(*folder)
		for _, line := range f.samples[1:] {
			if line[f.column("sm_ratio")] != "0" {
				line[f.column("sm_clock_hz")], line[f.column("throttle_mask")] = strconv.Itoa(int(hz)), "4"
			}
		}
		for _, e := range c.Events {
			if e.Kind == Work {
				e.Longer = int64(float64(e.End-e.Start) * (fullClock/hz - 1))
			}
		}
		return 0
	}, grew: lengths(p, "")}
}

func untouched(*Capture) {}

func shifted(c *Capture) {
	for _, e := range c.Events {
		e.Start, e.End = e.Start+3600*1000*ms, e.End+3600*1000*ms
	}
}

func threads(c *Capture) {
	for _, e := range c.Events {
		if e.Thread != 0 {
			e.row.setThread(e.Thread + 1000)
		}
	}
}

func renumbered(c *Capture) {
	for _, e := range c.Events {
		if e.Correlation != 0 {
			e.row.setCorrelation(7*e.Correlation + 13)
		}
	}
}

func reversed(c *Capture) { slices.Reverse(c.Events) }
