package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Numbers are what a finding follows from, by name.
type Numbers map[string]any

func (n Numbers) amount(name string) float64 { v, _ := n[name].(float64); return v }
func (n Numbers) count(name string) int64    { return int64(n.amount(name)) }
func (n Numbers) text(name string) string    { s, _ := n[name].(string); return s }
func (n Numbers) time(name string) string    { return timeText(n.amount(name)) }

// many words a count of things: 1 call, 1,024 calls.
func (n Numbers) many(name, one, several string) string {
	return manyText(n.amount(name), one, several)
}

// findingWords word what a finding follows from, by its rule.
var findingWords = map[string]func(x Finding) string{
	"launch-bound": func(x Finding) string { return joined(x.launchText(), x.singleText(), x.replayText()) },
	"graph-gaps": func(x Finding) string {
		return joined(x.launchText(), x.replayText(), fmt.Sprintf("graph replays take %.1f %% of GPU work time", 100*x.Numbers.amount("graph_ratio")), x.singleText())
	},
	"wait": func(x Finding) string {
		text := fmt.Sprintf("GPU idle %s while the CPU waits for the GPU or for a copy%s", x.saved(), x.spread())
		if n := x.Numbers; n.count("call_count") > 0 {
			text += fmt.Sprintf("; %s that wait or copy take %s of CPU time, mostly in %s", n.many("call_count", "call", "calls"), n.time("calls_ns"), n.text("api"))
		}
		return text
	},
	"call": func(x Finding) string {
		text := fmt.Sprintf("GPU idle %s during CUDA calls that neither launch nor wait%s", x.saved(), x.spread())
		if n := x.Numbers; x.Subject != "" {
			loads := ""
			if n["is_load"] == true {
				loads = " of 100 us or longer (loading code)"
			}
			text += fmt.Sprintf("; most call time is in %s: %s%s, %s", x.Subject, n.many("call_count", "call", "calls"), loads, n.time("calls_ns"))
		}
		return text
	},
	"gc-pauses": func(x Finding) string {
		return fmt.Sprintf("GPU idle %s while Python collects garbage%s; %s", x.saved(), x.spread(), x.mostText("collection", "collections")) + x.sampledLine("")
	},
	"gil-wait": func(x Finding) string {
		n := x.Numbers
		text := fmt.Sprintf("GPU idle %s while the thread that launches next waits for Python's lock (the GIL)%s; %s, %s in idle gaps", x.saved(), x.spread(), n.many("all_count", "wait", "waits"), n.time("calls_ns"))
		if n.amount("held_ns") > 0 {
			text += fmt.Sprintf("; of the other threads, thread %d held the lock longest, for %s", n.count("holder_tid"), n.time("held_ns")) + x.sampledLine("it was ")
		}
		return text
	},
	"code-loading": func(x Finding) string {
		return fmt.Sprintf("GPU idle %s while code is compiled or loaded%s; %s", x.saved(), x.spread(), x.mostText("time", "times"))
	},
	"allocator-calls": func(x Finding) string {
		text := fmt.Sprintf("GPU idle %s while memory is allocated or freed%s; %s", x.saved(), x.spread(), x.mostText("call", "calls"))
		n := x.Numbers
		if n.count("failed_count") > 0 {
			text += fmt.Sprintf("; %s failed: memory ran out, and what was free had to be given back first", n.many("failed_count", "call", "calls"))
		}
		switch {
		case n["got_bytes"] != nil:
			text += fmt.Sprintf("; CUDA gave %s and took back %s in them", bytesText(n.amount("got_bytes")), bytesText(n.amount("given_bytes")))
		case n["block_bytes"] != nil:
			text += "; PyTorch needed them for blocks of " + bytesText(n.amount("block_bytes"))
		}
		if n.count("retry_count") > 0 {
			text += fmt.Sprintf("; in %s memory was freed and then allocated, as PyTorch does when it runs out and gives its cache back", n.many("retry_count", "gap", "gaps"))
		}
		return text
	},
	"cpu-starved": func(x Finding) string {
		n := x.Numbers
		text := fmt.Sprintf("GPU idle %s while the thread of the pass is ready to run and no CPU runs it%s; it waited %s for a CPU and ran %s, and lost its CPU %s", x.saved(), x.spread(), n.time("wait_ns"), n.time("run_ns"), n.many("preempted_count", "time", "times"))
		if n.amount("throttled_ns") > 0 {
			text += fmt.Sprintf("; its control group may use %.1f CPUs and was stopped %s for it, all CPUs together", n.amount("limit_ratio"), n.time("throttled_ns"))
		}
		return text + fmt.Sprintf("; it may run on %s; the other threads of its process (%s in all) used %.1f CPUs meanwhile, and up to %s of the machine were running or ready to run",
			n.many("cpu_count", "CPU", "CPUs"), n.many("thread_count", "thread", "threads"), n.amount("others_ns")/n.amount("wall_ns"), n.many("runnable_count", "thread", "threads"))
	},
	"host": func(x Finding) string {
		text := fmt.Sprintf("GPU idle %s while the thread that launches next makes no CUDA call for 100 us or longer%s", x.saved(), x.spread())
		if line := x.Numbers.text("line"); line != "" {
			text += fmt.Sprintf("; %s of it in %s", x.Numbers.time("line_ns"), line)
		}
		return text
	},
	"queued": func(x Finding) string {
		return fmt.Sprintf("GPU idle %s although the next work had been launched in time: %s per gap over %s%s", x.saved(), timeText(float64(x.SavingNs)/x.Numbers.amount("gap_count")), x.Numbers.many("gap_count", "gap", "gaps"), x.spread())
	},
	"elementwise-chains": func(x Finding) string {
		n := x.Numbers
		return fmt.Sprintf("%s elementwise kernels under %.0f us in %s take %s; all but the first of each chain take %s", grouped(n.count("kernel_count")), n.amount("below_ns")/1e3, n.many("chain_count", "chain", "chains"), n.time("kernels_ns"), n.time("chained_ns"))
	},
	"fp32-products": func(x Finding) string {
		n := x.Numbers
		return fmt.Sprintf("%s of matrix products in FP32 take %s; TF32 on tensor cores has %.1f times the peak", n.many("call_count", "execution", "executions"), n.time("calls_ns"), n.amount("tf32_flop_per_s")/n.amount("fp32_flop_per_s")) + x.hiddenText()
	},
	"small-grids": func(x Finding) string {
		n := x.Numbers
		blocks := fmt.Sprint(n.count("least_count"))
		if n.count("least_count") != n.count("most_count") {
			blocks += fmt.Sprintf(" to %d", n.count("most_count"))
		}
		return fmt.Sprintf("%s, mean %s, total %s; enough blocks for %s of %d SMs", x.executions(), timeText(n.amount("calls_ns")/n.amount("call_count")), n.time("calls_ns"), blocks, n.count("sm_count")) + x.hiddenText()
	},
	"wave-tail": func(x Finding) string {
		n := x.Numbers
		return fmt.Sprintf("%s take %s in total; the grid with the most time has %s blocks, and %s fit on the GPU at once: %.2f waves", x.executions(), n.time("calls_ns"), grouped(n.count("block_count")), grouped(n.count("slot_count")), n.amount("block_count")/n.amount("slot_count")) + x.hiddenText()
	},
	"below-roof": func(x Finding) string {
		text := fmt.Sprintf("%s reaches %.1f %% of its roof and is bound by %s", x.atGrid(), 100*x.Numbers.amount("roof_ratio"), x.Numbers.text("bound"))
		if limiter := x.Numbers.text("limiter"); limiter != "" {
			text += " (" + limiter + ")"
		}
		return text + x.hiddenText()
	},
	"uneven-sms": func(x Finding) string {
		n := x.Numbers
		return fmt.Sprintf("%s take %s in total; with %s blocks on %d SMs, the busiest SM is active for %s cycles, the mean SM for %s (%.0f %%)", x.executions(), n.time("calls_ns"), grouped(n.count("block_count")), n.count("sm_count"), grouped(n.count("max_cycles")),
			grouped(n.count("mean_cycles")), 100*n.amount("mean_cycles")/n.amount("max_cycles")) + x.hiddenText()
	},
	"low-occupancy": func(x Finding) string {
		return fmt.Sprintf("%s reaches %.1f %% occupancy and %.1f %% of its roof", x.atGrid(), 100*x.Numbers.amount("occupancy_ratio"), 100*x.Numbers.amount("roof_ratio")) + x.hiddenText()
	},
	"pageable-copies": func(x Finding) string {
		n := x.Numbers
		in, beside := "", ""
		if x.Stage != "" {
			in = fmt.Sprintf(" in %s of %s", grouped(n.count("pass_count")), manyText(float64(x.Passes), "pass", "passes"))
		}
		if n.amount("alone_ns") < n.amount("copies_ns") {
			beside = fmt.Sprintf(" (%s of it while no kernel ran)", n.time("alone_ns"))
		}
		return fmt.Sprintf("%s from pageable memory%s (%.3f MB in total) take %s on the GPU%s and %s in their calls%s", n.many("copy_count", "copy", "copies"), in, n.amount("copied_bytes")/1e6, n.time("copies_ns"), beside,
			n.time("call_ns"), x.spreadOf(n.amount("copies_ns")))
	},
	"exposed-copies": func(x Finding) string {
		return "mostly " + x.copies().evidence() + x.streamText("copy_count", "")
	},
	"exposed-collectives": func(x Finding) string {
		n := x.Numbers
		return fmt.Sprintf("collectives take %s in %s, %s of it not overlapped (%.1f %%)%s", n.time("collectives_ns"), n.many("collective_count", "call", "calls"), x.saved(), 100*float64(x.SavingNs)/n.amount("collectives_ns"), x.spread()) + x.streamText("collective_count", " not overlapped")
	},
	"slow-gpu": func(x Finding) string {
		n := x.Numbers
		text := fmt.Sprintf("%s that all %d GPUs execute take %s, %.1f %% longer than usual on the others; %.0f %% of the time is in slower kernels", n.many("call_count", "kernel", "kernels"), n.count("gpu_count"), n.time("calls_ns"),
			100*(n.amount("calls_ns")/n.amount("usual_ns")-1), 100*n.amount("slower_ns")/n.amount("calls_ns"))
		if n.amount("clock_hz") > 0 && n.amount("others_clock_hz") > 0 {
			text += fmt.Sprintf("; its SM clock averages %.0f MHz, that of the others %.0f MHz", n.amount("clock_hz")/1e6, n.amount("others_clock_hz")/1e6)
		}
		return text
	},
	"throttling": func(x Finding) string {
		n := x.Numbers
		return fmt.Sprintf("clocks were throttled in %s of %s: mean %.0f MHz, maximum %.0f MHz; GPU work took %s", grouped(n.count("slow_count")), n.many("sample_count", "sample", "samples"), n.amount("clock_hz")/1e6, n.amount("max_clock_hz")/1e6, n.time("work_ns"))
	},
}

// sampledLine says where a thread was meanwhile by most samples of Python.
func (x Finding) sampledLine(what string) string {
	if n := x.Numbers; n.text("line") != "" {
		return fmt.Sprintf("; %sin %s by %d of %s", what, n.text("line"), n.count("line_count"), n.many("sample_count", "sample", "samples"))
	}
	return ""
}

// mostText says what of a cause the GPU waited for longest: a function or range, and how often.
func (x Finding) mostText(one, several string) string {
	n := x.Numbers
	text := fmt.Sprintf("%s, %s in idle gaps", n.many("call_count", one, several), n.time("calls_ns"))
	if n.count("all_count") > n.count("call_count") {
		return fmt.Sprintf("most in %s: %s; %s in all", x.Subject, text, grouped(n.count("all_count")))
	}
	return x.Subject + ": " + text
}

// streamText says which collectives or copies run on a stream of computing, where nothing overlaps them; "" for none. all is the number of them by name, and
// what is what their time is about.
func (x Finding) streamText(all, what string) string {
	n := x.Numbers
	list, _ := n["streams"].([]any)
	if len(list) == 0 {
		return ""
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = fmt.Sprint(s)
	}
	which := "all are"
	if n.count("shared_count") < n.count(all) {
		which = fmt.Sprintf("%d of them (%s%s) are", n.count("shared_count"), n.time("shared_ns"), what)
	}
	streams := "stream " + names[0]
	if len(names) > 1 {
		streams = "streams " + listed(names)
	}
	return fmt.Sprintf("; %s on %s, which compute kernels also use, so they cannot overlap with the kernels there", which, streams)
}

// hiddenText says what faster kernels would not save; "" for nothing.
func (x Finding) hiddenText() string {
	if x.Numbers.amount("hidden_ns") == 0 {
		return ""
	}
	return "; another " + x.Numbers.time("hidden_ns") + " would save nothing: by the critical path, launches or other work end later"
}

func (x Finding) saved() string      { return timeText(float64(x.SavingNs)) }
func (x Finding) executions() string { return x.Numbers.many("call_count", "execution", "executions") }

func (x Finding) atGrid() string {
	n := x.Numbers
	return fmt.Sprintf("%s take %s in total; the grid with the most time (%s, blocks of %s)", x.executions(), n.time("calls_ns"), n.text("grid"), n.text("block"))
}

func (x Finding) launchText() string {
	var parts []string
	for _, p := range [][2]string{{"launch_ns", " inside launching calls"}, {"launch_delay_ns", " between calls before the next launch"}, {"launch_latency_ns", " between a late launch and the start of its work"}} {
		if x.Numbers.amount(p[0]) > 0 {
			parts = append(parts, x.Numbers.time(p[0])+p[1])
		}
	}
	return fmt.Sprintf("GPU busy %.1f %% of the time; idle %s%s", 100*x.Numbers.amount("busy_ratio"), listed(parts), x.spread())
}

// listed joins words: a, b and c.
func listed(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// singleText is about kernels that no graph launched; "" when there are none.
func (x Finding) singleText() string {
	n := x.Numbers.amount("single_count")
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("launched one by one: %s, mean %s", x.aPass(n, "kernel", "kernels"), timeText(x.Numbers.amount("single_ns")/n))
}

// replayText is about graph replays; "" when there are none.
func (x Finding) replayText() string {
	n := x.Numbers.amount("replay_count")
	if n == 0 {
		return ""
	}
	return x.aPass(n, "graph replay", "graph replays")
}

// aPass words how many of something a pass has on the mean; how many there are where that is less than one.
func (x Finding) aPass(n float64, one, several string) string {
	if x.Stage == "" || n < float64(x.Passes) {
		return manyText(n, one, several)
	}
	return manyText(n/float64(x.Passes), one, several) + " per pass"
}

func (x Finding) spread() string { return x.spreadOf(float64(x.SavingNs)) }

// spreadOf says how a time is spread over passes, as the end of a sentence; "" of a single one. A mean would hide that one cold pass holds nearly
// all of it.
func (x Finding) spreadOf(total float64) string {
	passes, most, median := x.Numbers.amount("pass_count"), x.Numbers.amount("max_ns"), x.Numbers.time("median_ns")
	if x.Numbers.amount("median_ns") == 0 {
		median = "none"
	}
	switch {
	case x.Stage == "" || passes <= 1:
		return ""
	case most > oncePart*total:
		return fmt.Sprintf("; %s of it in one of %s passes, %s in the median pass", timeText(most), grouped(int64(passes)), median)
	case total >= 0.9*most*passes:
		return fmt.Sprintf("; about %s in each of %s passes", median, grouped(int64(passes)))
	}
	return fmt.Sprintf("; up to %s per pass over %s passes, %s in the median pass", timeText(most), grouped(int64(passes)), median)
}

func joined(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "; ")
}

// timeText returns a time with two decimals in the unit that suits it: 12.84 ms.
func timeText(ns float64) string {
	switch {
	case ns >= 1e9:
		return fmt.Sprintf("%.2f s", ns/1e9)
	case ns >= 1e6:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	case ns >= 1e3:
		return fmt.Sprintf("%.2f us", ns/1e3)
	}
	return fmt.Sprintf("%.0f ns", ns)
}

// manyText words a number of things: 1 pass, 49,711 gaps.
func manyText(n float64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(math.RoundToEven(n))) + " " + several
}

// grouped writes a whole number with its thousands apart: 49,711.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
