package caveat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prof/schema/say"
	"prof/schema/terms"
)

// words are the kinds of caveats.
var words = map[string]kind{
	// What a run is made of.
	"source-partial": sentence(func(c PartialSource) string {
		return c.Source + " is " + c.Status + ": " + c.Reason
	}),
	"timed-by-workload":    says("the run was not made by prof capture: its recordings and the state of the GPU are not known; times without a profiler are the workload's own"),
	"not-captured-by-prof": says("the run was not made by prof capture: its recordings, their overhead and the state of the GPU are not known"),
	"no-samples":           says("NVML was not sampled: there was no NVIDIA driver, or --sample-hz was 0; see prof query diagnostics"),
	"no-kernels":           says("the timeline has no kernels; see prof query bottlenecks and region-metrics for what Nsight Compute profiled"),
	"no-timeline":          says("the run has no timeline from Nsight Systems or the PyTorch profiler, only Nsight Compute results: see prof query bottlenecks and region-metrics"),
	"two-timelines": sentence(func(c struct {
		Counted string `col:"object"`
		Others  string `col:"detail"`
	}) string {
		others := strings.Fields(c.Others)
		var named []string
		for _, kind := range slices.Sorted(slices.Values(append([]string{c.Counted}, others...))) {
			named = append(named, terms.SourceLabel(kind))
		}
		return fmt.Sprintf("the run has timelines from %s; this counts the one from %s (--source %s for the other)", strings.Join(named, " and "), terms.SourceLabel(c.Counted), strings.Join(others, " or "))
	}),
	"timelines-differ-in-kernels": sentence(func(c struct {
		Stage        string `col:"stage"`
		GPU          string `col:"subject"`
		Kernels      int64  `col:"item_count"`
		OtherKernels int64  `col:"of_count"`
	}) string {
		return fmt.Sprintf("of the same passes of %s on GPU %s prof's tracer has %s and Nsight Systems %s: one of them lost some, or the workload did other work: see prof query timeline-agreement",
			c.Stage, c.GPU, say.Count(c.Kernels, "kernel", "kernels"), say.Whole(c.OtherKernels))
	}),
	"timelines-differ-in-time": sentence(func(c struct {
		Stage     string  `col:"stage"`
		GPU       string  `col:"subject"`
		Time      float64 `col:"time_ns"`
		OtherTime float64 `col:"of_time_ns"`
	}) string {
		return fmt.Sprintf("the kernels of the same passes of %s on GPU %s take %s by prof's tracer and %s by Nsight Systems: clocks of the GPU differed, or the workload did other work: see prof query timeline-agreement",
			c.Stage, c.GPU, say.Duration(c.Time), say.Duration(c.OtherTime))
	}),
	"sums-only": sentence(func(c struct {
		Kind string `col:"subject"`
	}) string {
		return "the run has only what " + strings.TrimSuffix(terms.SourceLabel(c.Kind), " (sums)") + " added up: no times of single kernels or calls, so no stages, idle time, launches, steps or GPUs"
	}),
	"several-sums": sentence(func(c struct {
		Captures int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("the run has the sums of %d captures: they are added up; medians and standard deviations of what several have are unknown", c.Captures)
	}),
	"rounded-times": sentence(func(c struct {
		Step float64 `col:"time_ns"`
	}) string {
		return fmt.Sprintf("nsys stats rounded times to %s: shorter ones are unknown", say.Duration(c.Step))
	}),
	"rounded-sizes": sentence(func(c struct {
		StepBytes int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("nsys stats rounded sizes to %d bytes: smaller ones are unknown", c.StepBytes)
	}),
	"several-repeats": sentence(func(c struct {
		Repeats int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("the run has %d repeats of the workload: totals, calls and passes include all of them", c.Repeats)
	}),
	"earlier-window": sentence(func(c struct {
		Source string `col:"subject"`
	}) string {
		return fmt.Sprintf("%s is one of several windows of its session, and an earlier one is not in the run: ingest all reports of the session together, or add them with --add", c.Source)
	}),
	"several-nodes": sentence(func(c struct {
		Nodes    int64 `col:"item_count"`
		JobNodes int64 `col:"of_count"`
	}) string {
		text := fmt.Sprintf("the run is of a job on %d nodes: GPU n of node K has the number 1000 x K + n", c.Nodes)
		if c.JobNodes > c.Nodes {
			text = fmt.Sprintf("the run has %d of the job's %s, so the work of the others is missing; GPU n of node K has the number 1000 x K + n", c.Nodes, count(c.JobNodes, "node"))
		}
		return text
	}),

	// What profiling and the state of the GPUs did to times.
	"overhead-without-baseline":   says("profiling overhead is unknown: no recording without a profiler; capture with --baseline"),
	"overhead-of-failed-baseline": says("profiling overhead is unknown: no recording without a profiler succeeded"),
	"overhead-of-one-recording":   says("the profiling overhead of the whole process is unknown: that takes two recordings of one kind beside the first of the capture, which starts with cold caches; --repeats 3 makes them, and --auto-stages compares stages, which start warm"),
	"slowed-by-profiling": sentence(func(c struct {
		Mode     string  `col:"subject"`
		Tool     string  `col:"object"`
		Slowdown float64 `col:"ratio"`
	}) string {
		advice := map[string]string{"operators": "this covers the whole process, in which PyTorch also writes its trace; take times from nsys", "deep": "capture with --mode light",
			"light": "capture less of it, with --range or --delay and --duration"}[c.Mode]
		if advice == "" {
			advice = "take times from a capture with --mode light"
		}
		return fmt.Sprintf("%s (%s) made the workload %.0f %% slower: CPU times and waits for the CPU are too long; %s", terms.SourceLabel(c.Tool), c.Mode, 100*c.Slowdown, advice)
	}),
	"stage-slowed-by-profiling": sentence(func(c struct {
		Stage           string  `col:"stage"`
		Mode            string  `col:"subject"`
		Tool            string  `col:"object"`
		Recordings      int64   `col:"item_count"`
		RecordingsAlone int64   `col:"of_count"`
		Profiled        float64 `col:"time_ns"`
		Alone           float64 `col:"of_time_ns"`
		Slowdown        float64 `col:"ratio"`
	}) string {
		text := fmt.Sprintf("%s (%s) made %s %.0f %% slower: %s alone, %s under it; quote the times alone, and read those under it for where time goes", terms.SourceLabel(c.Tool), c.Mode, c.Stage, 100*c.Slowdown, say.Duration(c.Alone), say.Duration(c.Profiled))
		if c.Recordings < 2 && c.RecordingsAlone < 2 {
			text += "; how much recordings differ by chance is unknown, since there is one of each: --repeats 3 shows it"
		}
		return text
	}),
	"stage-not-compared": sentence(func(c struct {
		Stage  string `col:"stage"`
		Mode   string `col:"subject"`
		Tool   string `col:"object"`
		Reason string `col:"detail"`
	}) string {
		return fmt.Sprintf("the profiling overhead of %s under %s (%s) is unknown: %s", c.Stage, terms.SourceLabel(c.Tool), c.Mode, terms.OverheadReason(c.Reason))
	}),
	"faster-under-profiling": sentence(func(c struct {
		Mode     string  `col:"subject"`
		Tool     string  `col:"object"`
		Slowdown float64 `col:"ratio"`
	}) string {
		return faster(c.Tool, c.Mode, "the workload", c.Slowdown)
	}),
	"stage-faster-under-profiling": sentence(func(c struct {
		Stage    string  `col:"stage"`
		Mode     string  `col:"subject"`
		Tool     string  `col:"object"`
		Slowdown float64 `col:"ratio"`
	}) string {
		return faster(c.Tool, c.Mode, c.Stage, c.Slowdown)
	}),
	"gpu-throttled":            throttled("its busy samples"),
	"gpu-throttled-maybe-idle": throttled("all samples (NVML did not report when it was busy)"),
	"gpu-shared": sentence(func(c struct {
		GPU           string `col:"subject"`
		SharedSamples int64  `col:"item_count"`
		Samples       int64  `col:"of_count"`
	}) string {
		return fmt.Sprintf("other processes used GPU %s in %.0f %% of the samples: times are not the workload's alone", c.GPU, 100*float64(c.SharedSamples)/float64(c.Samples))
	}),

	FactsLacking: together(func(c dataOf, alike []dataOf) string {
		of := ""
		if c.Run != "" {
			of = " of " + names(alike, 5, func(c dataOf) string { return c.Run })
		}
		return "what follows from the captures" + of + " is missing, since DuckDB had too little memory for it: " + Derives + " derives it (in a lake, prof lake upgrade)"
	}),

	// Device work.
	"kernels-without-launch": sentence(func(c struct {
		Kernels int64   `col:"item_count"`
		Time    float64 `col:"time_ns"`
	}) string {
		return fmt.Sprintf("%s cannot be assigned to a range: the capture lacks %s", count(c.Kernels, "kernel ("+ms(c.Time)+")", "kernels ("+ms(c.Time)+")"), map[bool]string{true: "its launch", false: "their launches"}[c.Kernels == 1])
	}),
	"early-starts": sentence(func(c struct {
		Kernels int64   `col:"item_count"`
		Time    float64 `col:"time_ns"`
		All     float64 `col:"of_time_ns"`
	}) string {
		return fmt.Sprintf("%s before the last one on the stream ended, as with programmatic dependent launch or parallel branches of a CUDA graph: %s (%s of kernel time) may only be waiting, and counts as theirs", count(c.Kernels, "kernel began", "kernels began"), say.Duration(c.Time), share(c.Time, c.All))
	}),
	"graphs-traced-whole": sentence(func(c struct {
		Replays int64   `col:"item_count"`
		Time    float64 `col:"time_ns"`
	}) string {
		return fmt.Sprintf("%s traced as a whole: the kernels inside are in no kernel table; capture with --cuda-graph-trace=node to see them", count(c.Replays, "CUDA graph replay ("+ms(c.Time)+" of device time) was", "CUDA graph replays ("+ms(c.Time)+" of device time) were"))
	}),
	"not-accounted": sentence(func(c struct {
		Source      string `col:"subject"`
		ProfVersion string `col:"detail"`
	}) string {
		return fmt.Sprintf("%s was ingested by prof %s, which did not account for GPU time: ingest it again with --replace", c.Source, c.ProfVersion)
	}),

	// What captures did not record.
	"launches-without-work": sentence(func(c struct {
		Stage     string `col:"stage"`
		Processes string `col:"subject"`
		Lost      int64  `col:"item_count"`
		Launches  int64  `col:"of_count"`
	}) string {
		return fmt.Sprintf("%d of %s%s %s no GPU work in the capture%s", c.Lost, count(c.Launches, "launch", "launches"), inStage(c.Stage), map[bool]string{true: "has", false: "have"}[c.Lost == 1], processes(c.Processes))
	}),
	"ran-after-capture": sentence(func(c struct {
		Stage    string `col:"stage"`
		Launches int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("%s%s, at the end of the capture, ran after it: passes that they are of are excluded from GPU times", count(c.Launches, "launch", "launches"), inStage(c.Stage))
	}),
	"launched-before-capture": sentence(func(c struct {
		Kernels int64   `col:"item_count"`
		Time    float64 `col:"time_ns"`
	}) string {
		return fmt.Sprintf("%s launched before the capture began, and cannot be assigned to a range", count(c.Kernels, "kernel ("+ms(c.Time)+") was", "kernels ("+ms(c.Time)+") were"))
	}),
	"work-without-launch": sentence(func(c struct {
		Kernels int64   `col:"item_count"`
		Time    float64 `col:"time_ns"`
	}) string {
		return fmt.Sprintf("%s no launch in the capture: the stage is unknown", count(c.Kernels, "kernel ("+ms(c.Time)+") has", "kernels ("+ms(c.Time)+") have"))
	}),
	"repeated-records": sentence(func(c struct {
		Stage   string `col:"stage"`
		Records int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("the capture has %s of GPU work%s twice: sums count them twice", count(c.Records, "record"), inStage(c.Stage))
	}),
	"no-time": sentence(func(c struct {
		Stage   string `col:"stage"`
		Kernels int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("%s%s took no time by the capture, which cannot be", count(c.Kernels, "kernel"), inStage(c.Stage))
	}),
	"work-before-launch": sentence(func(c struct {
		Stage  string `col:"stage"`
		Pieces int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("%s%s began before the call that launched it, which cannot be: the clocks of CPU and GPU disagree", count(c.Pieces, "piece of GPU work", "pieces of GPU work"), inStage(c.Stage))
	}),
	"work-after-wait": sentence(func(c struct {
		Stage  string `col:"stage"`
		Pieces int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("%s%s ended after a wait for it had returned, which cannot be: the clocks of CPU and GPU disagree", count(c.Pieces, "piece of GPU work", "pieces of GPU work"), inStage(c.Stage))
	}),
	"stream-overlap": sentence(func(c struct {
		Stage  string `col:"stage"`
		Pieces int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("%s%s ran while earlier work of the same stream ran, which cannot be: their times are wrong", count(c.Pieces, "piece of GPU work", "pieces of GPU work"), inStage(c.Stage))
	}),
	"stream-order": sentence(func(c struct {
		Stage  string `col:"stage"`
		Pieces int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("%s%s ran after work that their stream was given later, which cannot be: their times are wrong", count(c.Pieces, "piece of GPU work", "pieces of GPU work"), inStage(c.Stage))
	}),
	"replays-differ": sentence(func(c struct {
		Stage   string `col:"stage"`
		Missing int64  `col:"item_count"`
		Kernels int64  `col:"of_count"`
	}) string {
		return fmt.Sprintf("replays of CUDA graphs%s lack %d of their %s, which other replays of the same graphs have", inStage(c.Stage), c.Missing, count(c.Kernels, "kernel"))
	}),
	"totals-differ": sentence(func(c struct {
		Total   string  `col:"detail"`
		Missing float64 `col:"time_ns"`
	}) string {
		what := map[string]string{"kernel_ns": "kernels", "memory_time_ns": "copies and fills", "self_device_ns": "operators and GPU work"}[c.Total]
		if c.Missing < 0 {
			return fmt.Sprintf("the rows of %s in a table add up to %s more than it says they do", what, say.Duration(-c.Missing))
		}
		return fmt.Sprintf("a table lacks rows of %s: %s of the sum that it gives are in none", what, say.Duration(c.Missing))
	}),
	"ranks-missing": sentence(func(c struct {
		Missing int64 `col:"item_count"`
		Ranks   int64 `col:"of_count"`
	}) string {
		return fmt.Sprintf("the captures have %d of %s of the job: figures are of these", c.Ranks-c.Missing, count(c.Ranks, "rank"))
	}),
	"passes-not-whole": sentence(func(c struct {
		Stage  string `col:"stage"`
		Lost   int64  `col:"item_count"`
		Passes int64  `col:"of_count"`
	}) string {
		if c.Lost == c.Passes {
			return fmt.Sprintf("GPU times of %s are unknown: all its passes (%d) lost GPU work", c.Stage, c.Passes)
		}
		return fmt.Sprintf("GPU times of %s are of %d of its %d passes: the others lost GPU work", c.Stage, c.Passes-c.Lost, c.Passes)
	}),

	// Ranges, stages and passes.
	"no-stage": sentence(func(c struct {
		Ranges int64 `col:"item_count"`
	}) string {
		if c.Ranges == 0 {
			return "without ranges there are no stages"
		}
		return fmt.Sprintf("no range of this run matches a rule in stage_rule; it has %s, see prof query ranges", count(c.Ranges, "range"))
	}),
	"stages-without-passes": sentence(func(c struct {
		Stages string `col:"subject"`
	}) string {
		return fmt.Sprintf("the scopes of %s have no times: passes are unknown, the kernels are known; see prof query stage-kernels", c.Stages)
	}),
	"kernels-alone": says("the timeline has kernels alone: no API calls, copies or fills were recorded, and no range with its times"),
	"no-raw-names":  says("names are normalised, ids and counters as #: the timeline names the scopes of kernels, and those as recorded are not kept"),
	"reported-stages": sentence(func(c struct {
		Source string `col:"object"`
		Stages int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("%s reports times of %s, by the clock of the tool that wrote it: prof query reported-metrics", c.Source, count(c.Stages, "stage"))
	}),
	"endless-ranges": sentence(func(c struct {
		Ranges int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("CPU time is unknown for %s without an end in the capture", count(c.Ranges, "range"))
	}),
	"warm-up": together(func(c warmUp, alike []warmUp) string {
		var said []string
		for _, x := range alike {
			switch {
			case x.Said == 0:
			case x.How == "listed":
				said = append(said, "lists "+count(x.Said, "measured pass", "measured passes"))
			case x.Said == 1:
				said = append(said, "marks the first of each process as warm-up")
			default:
				said = append(said, fmt.Sprintf("marks the first %d of each process as warm-up", x.Said))
			}
		}
		text := count(c.Passes, "warm-up pass is", "warm-up passes are") + " excluded"
		if len(said) > 0 {
			text += " (the workload " + strings.Join(said, " and ") + ")"
		}
		return text
	}),
	"cold-passes": together(coldPasses),
	"other-work": sentence(func(c struct {
		Stage   string  `col:"stage"`
		Measure string  `col:"subject"`
		Passes  int64   `col:"item_count"`
		Usual   int64   `col:"of_count"`
		Times   float64 `col:"ratio"`
	}) string {
		times, what := c.Times, "more"
		if c.Times < 1 {
			times, what = 1/c.Times, "fewer"
		}
		text := fmt.Sprintf("1 %s pass does other work and is excluded: it has %.3g times %s", c.Stage, times, what)
		if c.Passes > 1 {
			text = fmt.Sprintf("%d %s passes do other work and are excluded: up to %.3g times %s", c.Passes, c.Stage, times, what)
		}
		return fmt.Sprintf("%s %ss than the others (%d); see prof query passes; prof ingest --warmup 0 counts every pass", text, c.Measure, c.Usual)
	}),
	"tool-lost-data": sentence(ToolLost.sentence),
	"unseen-wait": sentence(func(c struct {
		Place string  `col:"detail"`
		Call  string  `col:"subject"`
		Wait  float64 `col:"time_ns"`
	}) string {
		when := "before the first device work of the capture"
		if c.Place == "end" {
			when = "after the last device work of the capture"
		}
		return fmt.Sprintf("%s %s waits %s for work that the capture does not have", when, c.Call, say.Duration(c.Wait))
	}),
	"unseen-work": sentence(func(c struct {
		Stage string  `col:"stage"`
		Call  string  `col:"subject"`
		Waits int64   `col:"item_count"`
		Wait  float64 `col:"time_ns"`
	}) string {
		what := "its figures begin behind it"
		if c.Stage != "" {
			what = "the time of " + c.Stage + " begins behind it"
		}
		text := fmt.Sprintf("the capture begins while the GPU does work from before it, for %s", say.Duration(c.Wait))
		if c.Call != "" {
			text += " (" + c.Call + " waits for it)"
		}
		return text + ": " + what
	}),
	"warm-included": together(func(_ warmIncluded, alike []warmIncluded) string {
		what, passes := "warm-up or cold pass", int64(0)
		for _, c := range alike {
			passes += c.Passes
		}
		switch unlike := where(alike, func(c warmIncluded) bool { return c.Why == "unlike" }); len(unlike) {
		case 0:
		case len(alike):
			what = "unlike pass"
		default:
			what = "warm-up, cold or unlike pass"
		}
		text := count(passes, what, what+"es")
		if len(alike) == 1 {
			return text + " of " + alike[0].Stage + " included; see prof query passes"
		}
		return text + " included: " + names(alike, 9, func(c warmIncluded) string { return fmt.Sprintf("%d of %s", c.Passes, c.Stage) }) + "; see prof query passes"
	}),
	"left-out": sentence(func(c struct {
		Work  string  `col:"subject"`
		Scope string  `col:"detail"`
		Count int64   `col:"item_count"`
		Time  float64 `col:"time_ns"`
		All   float64 `col:"of_time_ns"`
	}) string {
		several := c.Work + "s"
		if c.Work == "copy" {
			several = "copies and fills"
		}
		text := fmt.Sprintf("left out: %s %s, %s", say.Count(c.Count, c.Work, several), cmp.Or(leftOut[c.Scope], c.Scope), say.Duration(c.Time))
		if c.All > 0 {
			text += fmt.Sprintf(" (%s)", share(c.Time, c.All))
		}
		return text + "; --warmup counts all"
	}),
	"sync-without-record": sentence(func(c struct {
		Call  string  `col:"subject"`
		Count int64   `col:"item_count"`
		Time  float64 `col:"time_ns"`
	}) string {
		return fmt.Sprintf("the capture has no record of the waits of %s: its %s on the CPU, passes and warm-up together; see prof query api-calls", c.Call, say.Count(c.Count, "call takes", "calls take")+" "+say.Duration(c.Time))
	}),
	"mixed-gaps": sentence(func(c struct {
		Gaps int64   `col:"item_count"`
		Time float64 `col:"time_ns"`
	}) string {
		return fmt.Sprintf("of %s (%s) the capture is too long to tell the pass: some may be of warm-up passes or between stages", say.Count(c.Gaps, "gap", "gaps"), say.Duration(c.Time))
	}),
	"unlike-passes": together(unlikePasses),
	"idle-between-steps": sentence(func(c struct {
		Stage     string  `col:"stage"`
		Steps     int64   `col:"item_count"`
		Idle      float64 `col:"time_ns"`
		IdleShare float64 `col:"ratio"`
	}) string {
		return fmt.Sprintf("before a %s step the GPU has no work of any step for %s, %.0f %% of the time since the step before began (medians); see prof query engine-overhead", c.Stage, say.Duration(c.Idle), 100*c.IdleShare)
	}),
	"no-decode-steps": sentence(func(c struct {
		Iterations int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("the capture has no two measured iterations that decode and follow each other (of %s): see prof query iterations", count(c.Iterations, "that decodes", "that decode"))
	}),
	"tokens-speculated": sentence(func(c struct {
		Iterations int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("%s several tokens of a sequence (speculative decoding): the time of a step is not that of a token, and TPOT is not compared with it", count(c.Iterations, "iteration decodes", "iterations decode"))
	}),
	"requests-alone": sentence(func(c struct {
		Tool       string `col:"subject"`
		Benchmarks int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("%s known by requests alone: prof computes its figures as the tool does; the summary next to the file (profile_export_*.json) says more, and prof ingest --add adds it", count(c.Benchmarks, "benchmark of "+c.Tool+" is", "benchmarks of "+c.Tool+" are"))
	}),
	"requests-differ": sentence(func(c struct {
		Benchmarks int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("the requests of %s are left out: their times are not those of the summary", count(c.Benchmarks, "benchmark", "benchmarks"))
	}),
	"several-benchmarks": sentence(func(c struct {
		Benchmarks int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("the run has %d benchmarks: which one was captured is unknown, so TPOT is not compared with the steps; see prof query serving", c.Benchmarks)
	}),
	"client-beyond-capture": sentence(func(struct {
		Benchmarks int64 `col:"item_count"`
	}) string {
		return "the client's TPOT is that of a whole benchmark, the steps are those captured, which a profiler slows: prof capture --baseline measures by how much"
	}),
	"steps-too-large": sentence(func(c struct {
		Stage string `col:"stage"`
		Steps int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("the critical path of %s of %s is not known: too much happens in one", count(c.Steps, "step or pass", "steps or passes"), c.Stage)
	}),
	"stretches-not-stored": sentence(func(c struct {
		Stage string `col:"stage"`
		Steps int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("of %s of %s only the sums of the critical path are stored, not its stretches: there are too many", count(c.Steps, "step or pass", "steps or passes"), c.Stage)
	}),
	"steps-by-recurrence": sentence(func(c struct {
		Source string `col:"subject"`
	}) string {
		return fmt.Sprintf("no range in %s is named as a step or iteration, so steps are inferred: each runs from one occurrence of a kernel or graph replay to the next, where 80 %% of its occurrences are the same number of kernels apart and half of all kernels lie between them", c.Source)
	}),
	"steps-by-time": sentence(func(c struct {
		Range        string `col:"subject"`
		OtherKernels int64  `col:"item_count"`
		Kernels      int64  `col:"of_count"`
	}) string {
		return fmt.Sprintf("%s counts kernels by time: other threads launched %d of the %d kernels that ran in its steps, such as backward work; --by launch counts what its own thread launched", c.Range, c.OtherKernels, c.Kernels)
	}),

	// What the workload says of its passes.
	"fewer-passes": sentence(func(c struct {
		Stage  string `col:"stage"`
		Passes int64  `col:"item_count"`
		Listed int64  `col:"of_count"`
	}) string {
		return fmt.Sprintf("the workload lists %s, but the timeline has only %d of %s: which ones, and their tokens, are unknown", count(c.Listed, "measured pass", "measured passes"), c.Passes, c.Stage)
	}),
	"fewer-passes-alike": sentence(func(c struct {
		Stage  string `col:"stage"`
		Passes int64  `col:"item_count"`
		Listed int64  `col:"of_count"`
	}) string {
		return fmt.Sprintf("the workload lists %s, but the timeline has only %d of %s: all listed passes have the same tokens, so theirs are known", count(c.Listed, "measured pass", "measured passes"), c.Passes, c.Stage)
	}),
	"process-without-facts": sentence(func(c struct {
		Processes int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("the workload's facts tell its processes apart and lack %s of the timeline: the tokens of their passes are unknown", count(c.Processes, "process", "processes"))
	}),
	"shared-tokens-unknown": sentence(func(c struct {
		Stage     string `col:"stage"`
		Processes int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("%d processes ran %s: whether they worked on each pass together or on passes of their own is unknown, and so are the tokens of all of them", c.Processes, c.Stage)
	}),
	"passes-as-steps": sentence(func(c struct {
		Passes    int64 `col:"item_count"`
		MostSteps int64 `col:"of_count"`
	}) string {
		return fmt.Sprintf("%s as one decode step each, but the workload decodes up to %d steps per pass; see prof query passes", count(c.Passes, "decode pass counts", "decode passes count"), c.MostSteps)
	}),
	"steps-contradicted": sentence(func(c struct {
		Stage           string `col:"stage"`
		StepsByRanges   int64  `col:"item_count"`
		StepsByWorkload int64  `col:"of_count"`
	}) string {
		return fmt.Sprintf("a decode pass has %s by its ranges, but %d by the workload: its tokens are unknown", count(c.StepsByRanges, "step", "steps"), c.StepsByWorkload)
	}),
	"steps-do-not-match": sentence(func(c struct {
		Passes int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("%s not match the number of steps that the workload lists after each prefill: tokens are unknown, see prof query passes and workload-passes", count(c.Passes, "decode pass does", "decode passes do"))
	}),
	"no-range-of-stage": sentence(func(c struct {
		Stage string `col:"stage"`
	}) string {
		return fmt.Sprintf("the workload gives tokens for %s, but no range of the timeline is a %s pass by stage_rule: see prof query ranges", c.Stage, c.Stage)
	}),
	"all-warm-up": sentence(func(c struct {
		Stage  string `col:"stage"`
		Passes int64  `col:"item_count"`
	}) string {
		all := fmt.Sprintf("all %d %s passes are", c.Passes, c.Stage)
		if c.Passes == 1 {
			all = fmt.Sprintf("the only %s pass is", c.Stage)
		}
		return all + " warm-up according to the workload: no measured pass is left, see prof query workload-passes"
	}),
	"several-workload-files": sentence(func(c struct {
		Files   int64  `col:"item_count"`
		Counted string `col:"object"`
	}) string {
		return fmt.Sprintf("%d files describe the passes of this timeline; the latest counts: %s", c.Files, c.Counted)
	}),
	"facts-of-another-timeline": sentence(func(struct{}) string {
		return "the workload file describes the other timeline: choose it with --source " + terms.Or(terms.Timelines())
	}),

	// Inputs.
	"unknown-input": sentence(func(c struct {
		Inputs  int64  `col:"item_count"`
		Example string `col:"object"`
	}) string {
		return fmt.Sprintf("the workload names %s not in the manifest of --inputs, such as %q: the input of their passes is unknown", count(c.Inputs, "input that is", "inputs that are"), c.Example)
	}),
	"inputs-without-manifest": says("the workload names inputs, but the run has no manifest of them: capture with --inputs MANIFEST"),
	"passes-without-input": sentence(func(c struct {
		Stage   string `col:"stage"`
		Unknown int64  `col:"item_count"`
		Passes  int64  `col:"of_count"`
	}) string {
		return fmt.Sprintf("the input of %d of %d %s passes is unknown: the workload does not name it (prof_mark.inputs, prof_mark.input), or its passes cannot be matched with those of the timeline, as with several processes", c.Unknown, c.Passes, c.Stage)
	}),

	// Ranks.
	"no-matched-collective": says("no collective is matched between ranks: the capture has no collectives (kernels that kernel_rule classifies so), or those of only one rank"),
	"uneven-ranks": together(func(_ unevenRanks, alike []unevenRanks) string {
		text := names(alike, 3, func(c unevenRanks) string {
			return fmt.Sprintf("%s has %d of %s, %s has %d", c.Fewest, c.Calls, c.Operation, c.Most, c.MostCalls)
		})
		return "ranks have different numbers of collectives: " + text + "; those that run at the same time are matched"
	}),
	"ranks-apart": sentence(func(c struct {
		Apart       int64 `col:"item_count"`
		Collectives int64 `col:"of_count"`
	}) string {
		return fmt.Sprintf("in %d of %s the ranks never overlapped, so which came last is unknown: they may be in different communicators, their clocks may be off, or a capture begins between collectives", c.Apart, count(c.Collectives, "matched collective"))
	}),
	"clocks-by-bounds": sentence(func(c struct {
		Error       float64 `col:"time_ns"`
		WithinError int64   `col:"item_count"`
		Collectives int64   `col:"of_count"`
	}) string {
		text := fmt.Sprintf("the clocks of the machines are aligned by bounds that matched collectives set: differences between machines may be off by %.1f us; see prof query clock-offsets", c.Error/1e3)
		if c.WithinError > 0 {
			text += fmt.Sprintf("; in %d of %s the last rank was later by no more than that, so no rank is called late", c.WithinError, count(c.Collectives, "matched collective"))
		}
		return text
	}),
	"hosts-apart": sentence(func(c struct {
		Host        string `col:"subject"`
		Reason      string `col:"detail"`
		Collectives int64  `col:"item_count"`
	}) string {
		why := map[string]string{"uneven-counts": "the ranks have different numbers of collectives", "few-matches": "fewer than 3 all-reduces, all-gathers and reduce-scatters match",
			"no-line": "no constant drift agrees with all of them"}[c.Reason]
		return fmt.Sprintf("the clock of %s is not aligned with that of the first machine (%s): in %s, ranks of different machines are not compared", c.Host, why, count(c.Collectives, "matched collective"))
	}),
	"clocks-by-capture": says("no matched collective aligns the clocks of the sources, so the capture start times align them: across machines that is only as good as their clocks agree; see prof query clock-offsets"),
	"clocks-by-collectives": sentence(func(c struct {
		Error float64 `col:"time_ns"`
	}) string {
		return fmt.Sprintf("the clocks of the sources are aligned by the ends of matched collectives: a skew may be off by %.1f us; see prof query clock-offsets", c.Error/1e3)
	}),

	// Operators of PyTorch.
	"no-operators": says("the run has no operators: record them with the PyTorch profiler (activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) or with Nsight Systems inside torch.autograd.profiler.emit_nvtx(record_shapes=True)"),
	"no-operators-of-capture": together(func(c operatorsFrom, alike []operatorsFrom) string {
		return fmt.Sprintf("the run has no operators from %s, only from %s", c.Asked, c.others(alike))
	}),
	"operators-of-several-captures": together(func(c operatorsFrom, alike []operatorsFrom) string {
		others := c.others(alike)
		return fmt.Sprintf("the run also has operators from %s; this counts those from %s: --source %s for others", strings.ReplaceAll(others, ", ", " and "), c.Asked, strings.ReplaceAll(others, ", ", " or "))
	}),
	"operators-of-several-traces": sentence(func(c struct {
		Traces int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("the operators of %d traces are added up", c.Traces)
	}),
	"sums-of-operators": says("these are PyTorch's own sums, which count ranges and the profiler's overhead as operators"),
	"several-tables-of-sums": sentence(func(c struct {
		Tables          int64  `col:"item_count"`
		Counted         string `col:"object"`
		CountedByShapes string `col:"detail"`
	}) string {
		text := fmt.Sprintf("of %d tables of sums this counts %s", c.Tables, c.Counted)
		if c.CountedByShapes != "" {
			text += ", and by shapes " + c.CountedByShapes
		}
		return text
	}),
	"no-calls-in-sums":  says("PyTorch's sums have no single operator calls: see prof query top-operators"),
	"no-shapes-in-sums": says("the sums are not by input shape: save key_averages(group_by_input_shape=True), recorded with record_shapes=True"),
	"no-shapes":         says("shapes were not recorded, so one row has the calls of all shapes: record them with record_shapes=True"),
	"work-outside-operators": sentence(func(c struct {
		Time       float64 `col:"time_ns"`
		DeviceTime float64 `col:"of_time_ns"`
	}) string {
		return ofDeviceWork(c.Time, c.DeviceTime) + " was launched outside every operator: see (none) in top-operators and operator-kernels"
	}),
	"products-matched": sentence(func(c struct {
		Stage   string `col:"stage"`
		Matched int64  `col:"item_count"`
		Calls   int64  `col:"of_count"`
	}) string {
		return fmt.Sprintf("%s: %s of the calls of matrix products match the model's layers by order and count", c.Stage, share(float64(c.Matched), float64(c.Calls)))
	}),
	"products-unmatched": sentence(func(c struct {
		Stage   string `col:"stage"`
		Reason  string `col:"subject"`
		Matched int64  `col:"item_count"`
		Calls   int64  `col:"of_count"`
	}) string {
		if c.Reason == "sequence" {
			return fmt.Sprintf("%s has no speeds of matrix products: %s of the calls match the model's layers by order and count, and 95 %% must", c.Stage, share(float64(c.Matched), float64(c.Calls)))
		}
		return because(c.Stage+" has no speeds of matrix products", unmatchedProducts[c.Reason])
	}),
	"operators-above-bandwidth": sentence(func(c struct {
		Most       string  `col:"subject"`
		Operators  int64   `col:"item_count"`
		Time       float64 `col:"time_ns"`
		DeviceTime float64 `col:"of_time_ns"`
	}) string {
		return fmt.Sprintf("operators with %s of the device time moved their bytes faster than DRAM can (dram_ratio over 1; most of it %s): what an operator before had just written came out of the L2 cache", share(c.Time, c.DeviceTime), c.Most)
	}),
	"operators-without-roof": sentence(func(c struct {
		Reason     string  `col:"subject"`
		Operators  int64   `col:"item_count"`
		Time       float64 `col:"time_ns"`
		DeviceTime float64 `col:"of_time_ns"`
	}) string {
		return because(fmt.Sprintf("operators with %s of the device time have no roof", share(c.Time, c.DeviceTime)), withoutRoof[c.Reason])
	}),
	"replays-of-unknown-operators": sentence(func(c struct {
		Time       float64 `col:"time_ns"`
		DeviceTime float64 `col:"of_time_ns"`
	}) string {
		return ofDeviceWork(c.Time, c.DeviceTime) + " is graph replays, and the capture does not say which operators they contain: see (graph replay) in top-operators and operator-kernels. " +
			"Nsight Systems records them with --cuda-graph-trace=node if it traces while the graph is captured under torch.autograd.profiler.emit_nvtx; " +
			"with the PyTorch profiler, ingest a trace of the capture, with an eager pass before it, into the same run"
	}),
	"replays-unlike-captures": sentence(func(c struct {
		Reason     string  `col:"subject"`
		Replays    int64   `col:"item_count"`
		Time       float64 `col:"time_ns"`
		DeviceTime float64 `col:"of_time_ns"`
	}) string {
		return because(fmt.Sprintf("%s is %s of which no operators are known", ofDeviceWork(c.Time, c.DeviceTime), count(c.Replays, "graph replay")), unlikeCaptures[c.Reason])
	}),
	"replays-without-stack": sentence(func(c struct {
		Time       float64 `col:"time_ns"`
		DeviceTime float64 `col:"of_time_ns"`
	}) string {
		return ofDeviceWork(c.Time, c.DeviceTime) + " is graph replays that count for the lines which launched them: which Python functions captured them is unknown"
	}),
	"launches-without-stack": sentence(func(c struct {
		Call       string  `col:"object"`
		Kernels    int64   `col:"item_count"`
		Time       float64 `col:"time_ns"`
		DeviceTime float64 `col:"of_time_ns"`
	}) string {
		return fmt.Sprintf("%s was launched by %s, of which Nsight Systems takes no stack: it is (not recorded)", ofDeviceWork(c.Time, c.DeviceTime), c.Call)
	}),
	"samples-without-stacks": says("Python was sampled, but no stacks of CUDA calls were taken: device work is (not recorded); capture with --nsys-stack"),
	"python-sampled": sentence(func(c struct {
		Samples  int64   `col:"item_count"`
		Threads  int64   `col:"of_count"`
		Interval float64 `col:"time_ns"`
	}) string {
		return fmt.Sprintf("Python was sampled every %s (%s of %s): most gaps shorter than that have no sample", say.Duration(c.Interval), count(c.Samples, "sample"), count(c.Threads, "thread"))
	}),
	"idle-by-samples": sentence(func(c struct {
		Sampled float64 `col:"time_ns"`
		Idle    float64 `col:"of_time_ns"`
	}) string {
		return fmt.Sprintf("%s of the idle time (%.3f of %s) counts for lines by samples within it, the rest for the launch after it, where that has a stack", share(c.Sampled, c.Idle), c.Sampled/1e6, ms(c.Idle))
	}),
	"work-of-unknown-operators": sentence(func(c struct {
		Time       float64 `col:"time_ns"`
		DeviceTime float64 `col:"of_time_ns"`
	}) string {
		return ofDeviceWork(c.Time, c.DeviceTime) + " has no launch in the capture, so its operator is unknown: see (no launch) in top-operators and operator-kernels"
	}),
	"no-device-work":      says("no device work was recorded with these operators: device times are unknown"),
	"no-allocations":      says("no allocations were recorded: use prof capture with --torch-memory, or torch.profiler.profile(profile_memory=True) without profile_all_threads"),
	"no-python-functions": says("no Python functions were recorded: use torch.profiler.profile(with_stack=True)"),
	"no-synchronisations": says("prof's own tracer records no synchronisations by kind: see prof query api-calls for calls that wait; prof capture --tools prof,nsys records both"),
	"collectives-without-bytes": sentence(func(c struct {
		Lacking     int64 `col:"item_count"`
		Collectives int64 `col:"of_count"`
	}) string {
		return fmt.Sprintf("the bytes of %s of %s collectives are unknown, and so are bandwidths: NCCL tells them from 2.25 on, but not of calls that a CUDA graph replays; exports of Nsight Systems have them with --include-json=true",
			say.Whole(c.Lacking), say.Whole(c.Collectives))
	}),
	"no-module-calls": says("the recorded Python functions have no nn.Module calls"),
	"modules-of-several-traces": sentence(func(c struct {
		Traces int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("the modules of %d traces are added up", c.Traces)
	}),

	// What Nsight Compute profiled.
	"not-profiled":        says("the run has no kernels profiled by Nsight Compute; ingest a report (.ncu-rep) or its CSV pages together with the timeline"),
	"no-profiled-kernels": says("the run has no kernels profiled by Nsight Compute, only whole ranges, graphs or command lists: see prof query region-metrics"),
	"no-profiled-regions": says("no range or graph was profiled as a whole: run ncu with --replay-mode range or app-range, or with --graph-profiling graph"),
	"profiled-launches": together(func(_ profiledLaunches, alike []profiledLaunches) string {
		what := map[string]string{"kernel": "kernel launch|kernel launches", "range": "range|ranges", "graph": "graph|graphs"}
		return names(alike, 9, func(c profiledLaunches) string {
			one, many, known := strings.Cut(what[c.Kind], "|")
			if !known {
				one, many = "command list", "command lists"
			}
			return count(c.Launches, one, many)
		}) + " profiled by Nsight Compute"
	}),
	"matched-launches": sentence(func(c struct {
		Matched       int64   `col:"item_count"`
		Launches      int64   `col:"of_count"`
		KernelTime    float64 `col:"time_ns"`
		AllKernelTime float64 `col:"of_time_ns"`
	}) string {
		text := fmt.Sprintf("%d of %s matched to the timeline; their kernels take %s of its kernel time", c.Matched, count(c.Launches, "profiled launch", "profiled launches"), share(c.KernelTime, c.AllKernelTime))
		if c.Matched < c.Launches {
			text += "; for the others see prof query ncu-matches --unmatched"
		}
		return text
	}),
	"unknown-bound": sentence(func(c struct {
		Kernels int64  `col:"item_count"`
		Missing string `col:"detail"`
	}) string {
		return fmt.Sprintf("the bound or limiter of %s is unknown; missing: %s", count(c.Kernels, "kernel"), c.Missing)
	}),
	"warp-stall": sentence(func(c struct {
		Stall       string  `col:"object"`
		SampleShare float64 `col:"ratio"`
	}) string {
		text := fmt.Sprintf("%.0f %% of samples: %s", 100*c.SampleShare, c.Stall)
		if meaning := stalls[c.Stall]; meaning != "" {
			text += ": the warp " + meaning
		}
		return text
	}),
	"no-instruction-values": sentence(func(c struct {
		Without int64 `col:"item_count"`
		Kernels int64 `col:"of_count"`
	}) string {
		return fmt.Sprintf("no values at instructions of %d of %s: profile with ncu --set full, or --section SourceCounters, and ingest the report (.ncu-rep)", c.Without, count(c.Kernels, "profiled kernel"))
	}),
	"no-rule-tables": says("no tables of rules: rules about source lines have them, in reports (.ncu-rep) with --set full or --section SourceCounters"),
	"no-courses":     says("no PM samples: Nsight Compute takes them with --set full or --section PmSampling"),
	"no-lines": sentence(func(c struct {
		Without int64 `col:"item_count"`
		Kernels int64 `col:"of_count"`
	}) string {
		return fmt.Sprintf("no source lines of %d of %s: compile with -lineinfo", c.Without, count(c.Kernels, "kernel"))
	}),
	"no-source-text": sentence(func(c struct {
		Without int64 `col:"item_count"`
		Kernels int64 `col:"of_count"`
	}) string {
		return fmt.Sprintf("no text of the source lines of %d of %s: profile with ncu --import-source yes where the sources are", c.Without, count(c.Kernels, "kernel"))
	}),
	"no-ptx": sentence(func(c struct {
		Without int64 `col:"item_count"`
		Kernels int64 `col:"of_count"`
	}) string {
		return fmt.Sprintf("no lines of PTX of %d of %s: compile with -lineinfo, or ingest again with --replace what an older prof stored", c.Without, count(c.Kernels, "kernel"))
	}),
	"no-ptx-text": sentence(func(c struct {
		Without int64 `col:"item_count"`
		Kernels int64 `col:"of_count"`
	}) string {
		return fmt.Sprintf("the text of the PTX of %d of %s is not stored: it is longer than 8 MiB, or a secret in it spans several lines", c.Without, count(c.Kernels, "kernel"))
	}),
	"no-operations-measured":     says("no operations were measured: profile with ncu --set roofline or full"),
	"no-timeline-to-plan-from":   says("the run has no timeline of prof's tracer or Nsight Systems to plan from"),
	"no-symbols":                 says("the capture has no kernel symbols, or an older prof did not store them: ingest it again with --replace"),
	"kernels-without-symbol":     excluded("top kernel is excluded: its symbol is", "top kernels are excluded: their symbols are", "unknown"),
	"kernels-that-wait":          excluded("top kernel is excluded: it waits", "top kernels are excluded: each waits", "for other ranks, and Nsight Compute would replay it for ever"),
	"kernels-of-several-symbols": excluded("top kernel is excluded: several functions share its", "top kernels are excluded: several functions share their", "name"),

	// What findings are about, and what their rules could not judge.
	"work-outside-passes":          says("no rule was tried: findings of a run with measured passes cover only these passes"),
	"stage-without-work":           says("no rule was tried: the stage has no device work in measured passes"),
	"measured-passes-without-work": says("no rule was tried: the measured passes have no device work"),
	"nothing-to-judge":             says("no rule was tried: rules need a timeline with GPU work"),
	"no-timeline-to-judge":         says("no rule was tried: rules need the times of single kernels"),
	"no-measured-passes":           says("the run has no measured passes of a stage: findings cover all captured device work"),
	"part-of-busy-time": sentence(func(c struct {
		Judged float64 `col:"time_ns"`
		Busy   float64 `col:"of_time_ns"`
	}) string {
		return fmt.Sprintf("findings cover the measured passes of stages: %s of GPU busy time", share(c.Judged, c.Busy))
	}),
	"idle-by-profiler": sentence(func(c struct {
		Idle float64 `col:"time_ns"`
		Span float64 `col:"of_time_ns"`
	}) string {
		return fmt.Sprintf("in %s of these spans a GPU was idle while the profiler worked: no finding covers that", share(c.Idle, c.Span))
	}),
	"idle-before-unknown-launch": sentence(func(c struct {
		Idle float64 `col:"time_ns"`
		Span float64 `col:"of_time_ns"`
	}) string {
		return fmt.Sprintf("in %s of these spans a GPU was idle before work whose launch was not captured: no rule can say why", share(c.Idle, c.Span))
	}),
	"rules-without-profiled-kernels": says("not checked without Nsight Compute data: roofline and occupancy of the kernels (below-roof, low-occupancy)"),
	"rules-without-sms":              says("not checked on every GPU, since the capture lacks the number or the limits of its SMs: small-grids, wave-tail"),
	"rules-without-sm-limits":        says("not checked on every GPU, since the capture lacks the limits of its SMs: wave-tail"),
	"kernels-without-grid": sentence(func(c struct {
		Kernels int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("not checked on %s, since the capture lacks the grid: small-grids, wave-tail", count(c.Kernels, "kernel"))
	}),
	"copies-without-memory": sentence(func(c struct {
		Copies int64 `col:"item_count"`
	}) string {
		return fmt.Sprintf("not checked on %s to the GPU, since the capture lacks the kind of memory: pageable-copies", count(c.Copies, "copy", "copies"))
	}),
	"clocks-of-other-gpus": says("throttling could not be checked: the clocks were not sampled on the counted GPUs while their timeline was captured"),
	"clocks-not-sampled":   says("throttling could not be checked: the run has no samples of clocks, which prof capture takes"),
	"savings-overlap":      says("savings overlap and do not add up: fixing one changes the others"),
	"launches-slowed": sentence(func(c struct {
		Stage    string  `col:"subject"`
		Slowdown float64 `col:"ratio"`
	}) string {
		what := "the workload"
		if c.Stage != "" {
			what = "a pass of " + c.Stage
		}
		return fmt.Sprintf("%s took %.0f %% longer under the profiler than without it, mostly in launches: without it there is less launch-bound idle time", what, 100*c.Slowdown)
	}),
	"launches-slowed-in-noise":   says("tracing makes each launch longer, by less than what else differs between recordings (prof query overhead)"),
	"launches-slowed-unmeasured": says("tracing makes each launch longer: without it there is less launch-bound idle time; prof capture --baseline measures how much"),

	// What was asked, and the rows themselves.
	"mfu-over-1": fault("mfu-over-1"),
	"mbu-over-1": fault("mbu-over-1"),
	"nothing-picked": sentence(func(c Unpicked) string {
		return fmt.Sprintf("nothing has --%s; the run has the %s %s", c.Option, c.Things, c.Has)
	}),
	"no-name-fits": sentence(func(c Unpicked) string {
		return fmt.Sprintf("nothing has --%s; the run has the %s %s; names match as a whole, * stands for any text", c.Option, c.Things, c.Has)
	}),
	"no-operator-fits": sentence(func(c Unpicked) string {
		_, name, _ := strings.Cut(c.Option, " ")
		return fmt.Sprintf("no operator matches %s; the nearest are %s; names match as a whole, * stands for any text", name, c.Has)
	}),

	// Models, peaks and utilisation.
	"model-assumed": sentence(func(c struct {
		What string `col:"detail"`
	}) string {
		return "assumed: " + c.What
	}),
	"model-left-out": sentence(func(c struct {
		What string `col:"detail"`
	}) string {
		return "not counted, so figures are too small: " + c.What
	}),
	"model-unknown": sentence(func(c struct {
		What string `col:"detail"`
	}) string {
		return "unknown: " + c.What
	}),
	"no-layers": sentence(func(c struct {
		Stage  string `col:"stage"`
		Reason string `col:"subject"`
	}) string {
		return because(c.Stage+" is not divided into layers", noLayers[c.Reason])
	}),
	"no-model": sentence(func(c struct {
		Run string `col:"subject"`
	}) string {
		return "the run has no model: give its configuration with prof ingest --run " + c.Run + " --model config.json"
	}),
	"no-such-model": sentence(func(c struct {
		Run   string `col:"subject"`
		Model string `col:"detail"`
	}) string {
		return fmt.Sprintf("the run has no model %s: see prof query models --run %s", c.Model, c.Run)
	}),
	"tokens-differ":  says("passes differ in their tokens: give --prefill and --decode"),
	"tokens-unknown": says("the tokens of the passes are unknown: give --prefill and --decode"),

	"gpu-without-name": says("the capture does not name its GPU: " + nameIt + ", or give --peak and --bandwidth to prof query mfu and mbu"),
	"gpu-without-peak": sentence(func(c struct {
		GPU     string `col:"subject"`
		Nearest string `col:"object"`
	}) string {
		if strings.Contains(c.GPU, " MIG") {
			return fmt.Sprintf("%s is an instance of a partitioned GPU, which has a part of the GPU's peaks: give --peak and --bandwidth of the instance to prof query mfu and mbu", c.GPU)
		}
		name := strings.ReplaceAll(c.GPU, "'", "''")
		text := fmt.Sprintf("%s is not in device_peak, so its peaks are unknown: give --peak and --bandwidth to prof query mfu and mbu, or add a row with any DuckDB client: "+
			"INSERT INTO device_peak VALUES ('user', '%s', 'tensor_bf16', 'fp32', FLOP_PER_S, NULL, 'variant', 'source', DATE '2026-01-31')", c.GPU, name)
		if c.Nearest != "" {
			text += fmt.Sprintf("; the nearest names are %s: to use the figures of one of them, INSERT INTO device_alias VALUES ('user', '%s', 'ITS NAME', 'why')", c.Nearest, name)
		}
		return text
	}),

	"stage-without-tokens": together(func(c stageOfRun, alike []stageOfRun) string {
		return fmt.Sprintf("the tokens of the passes of %s are unknown: prof ingest --run %s --workload workload.json, or --prefill TOKENS --decode STEPS", names(alike, 9, func(x stageOfRun) string { return x.Stage }), c.Run)
	}),
	"use-left-out": sentence(func(c struct {
		What string `col:"detail"`
	}) string {
		return "not counted, so utilisation is too low: " + c.What
	}),
	"use-of-unnamed-gpu": says("the capture does not name its GPU: " + nameIt + ", or " + giveBoth),
	"use-of-several-gpus": sentence(func(c struct {
		GPUs string `col:"subject"`
	}) string {
		return fmt.Sprintf("the run has several kinds of GPU (%s), which share no peak: give --device, or --peak and --bandwidth", c.GPUs)
	}),
	"use-without-peak": sentence(func(c struct {
		GPU string `col:"subject"`
	}) string {
		return fmt.Sprintf("%s is not in device_peak: %s, or add rows to it", c.GPU, giveBoth)
	}),
	"precisions-disagree": sentence(func(c struct {
		Configured string `col:"object"`
		Seen       string `col:"detail"`
	}) string {
		return fmt.Sprintf("the configuration says %s, the kernel names say %s: give --compute, and --dtype for the weights", c.Configured, c.Seen)
	}),
	"precision-unknown": says("neither the configuration nor the kernel names show the precision: give --compute"),
	"no-peak-of-precision": sentence(func(c struct {
		GPU       string `col:"subject"`
		Precision string `col:"object"`
		Known     string `col:"detail"`
	}) string {
		return fmt.Sprintf("device_peak has no dense %s peak for %s, only %s: give --compute or --peak", c.Precision, c.GPU, c.Known)
	}),
	"several-processes": together(func(c ranStage, alike []ranStage) string {
		return fmt.Sprintf("%d processes ran %s: give --ranks shared (one batch over all of them, as in tensor parallelism) or --ranks own (each its own batch) to get utilisation", c.Processes, c.stages(alike))
	}),
	"processes-share": together(func(c ranStage, alike []ranStage) string {
		return fmt.Sprintf("the %d processes of %s are assumed to share one batch, as in tensor parallelism: one per GPU, all-reduces inside forward passes, kernels of equal shapes; --ranks own overrides this", c.Processes, c.stages(alike))
	}),
	"processes-share-gpu": sentence(func(c struct {
		Processes int64 `col:"item_count"`
		GPUs      int64 `col:"of_count"`
	}) string {
		if c.GPUs == 1 {
			return fmt.Sprintf("%d processes share one GPU: the kernels of one take longer while those of the others run", c.Processes)
		}
		return fmt.Sprintf("%d GPUs are shared, each by up to %d processes: the kernels of one take longer while those of the others run", c.GPUs, c.Processes)
	}),
	"processes-split-model": together(func(c ranStage, alike []ranStage) string {
		return fmt.Sprintf("the %d processes of %s share one batch: the model is split over all of them by tensor parallelism", c.Processes, c.stages(alike))
	}),
	"processes-apart": together(func(c ranStage, alike []ranStage) string {
		return fmt.Sprintf("the %d processes of %s had different tokens, so each counts as one with batches of its own; --ranks shared overrides this", c.Processes, c.stages(alike))
	}),
	"one-rank-of-several": sentence(func(c struct {
		Stage string `col:"stage"`
	}) string {
		return fmt.Sprintf("only part of the ranks that share the model were captured for %s, so their share of its operations is unknown: capture all of them in one run", c.Stage)
	}),
	"passes-on-several-gpus": says("passes ran on several GPUs, and the share of one GPU in their operations is unknown: omit --device"),
	"passes-without-work": sentence(func(c struct {
		Stage   string `col:"stage"`
		Without int64  `col:"item_count"`
		Passes  int64  `col:"of_count"`
	}) string {
		return fmt.Sprintf("GPU work is missing, and the time unknown, in %d of %s of %s", c.Without, count(c.Passes, "pass", "passes"), c.Stage)
	}),
	"vision-outside-prefill": says("vision work lies outside the ranges of prefill: its time and operations are not in the rows"),
	"precision-of-kernels": sentence(func(c struct {
		Precision string `col:"object"`
	}) string {
		return "the configuration names no precision; the kernel names say " + c.Precision
	}),
	"quantised-weights": sentence(func(c struct {
		Precision string `col:"object"`
	}) string {
		return fmt.Sprintf("weights are quantised, and the peak is that of %s: give --compute if matrix products run in another precision", c.Precision)
	}),
	"vision-not-in-model": together(func(c visionPart, alike []visionPart) string {
		return fmt.Sprintf("prefill time includes vision work (%s), but the model %s has no vision part, so its operations are not counted and utilisation is too low", names(alike, 9, func(x visionPart) string { return x.Part }), c.Model)
	}),
	"images-unknown": sentence(func(c struct {
		Run string `col:"subject"`
	}) string {
		return fmt.Sprintf("the number of images per prompt is unknown: prof ingest --run %s --images K", c.Run)
	}),
	"images-and-crops-unknown": sentence(func(c struct {
		Run string `col:"subject"`
	}) string {
		return fmt.Sprintf("the number of images per prompt is unknown: prof ingest --run %s --images K --crops C (per image, without its global view)", c.Run)
	}),
	"crops-unknown": sentence(func(c struct {
		Run string `col:"subject"`
	}) string {
		return fmt.Sprintf("the number of crops per image, without its global view, is unknown: prof ingest --run %s --crops C, 0 for none", c.Run)
	}),
	"latent-cache-expanded": says("decode counts latent attention as transformers 5.17 runs it, recomputing keys and values of the whole context at every step: most of that is not the model's own work; --mla absorbed counts what serving engines do"),
	"contexts-unknown":      says("step names lack context lengths: attention counts its minimum, so utilisation is at least what is shown"),
	"source-unknown":        says("step names do not separate encoder and decoder tokens: the model's operations and bytes are unknown"),
	"windows-unknown":       says("the model's attention has windows, and step names lack each context: its operations are unknown"),
}

const nameIt = "name it with `prof ingest --run RUN --device-name NAME`"

const giveBoth = "give --peak (operations a second, e.g. 989.4T) and --bandwidth (bytes a second, e.g. 4.8T) to prof query mfu and mbu"

type dataOf struct {
	Run string `col:"subject"`
}

// leftOut are the parts of a run that rankings leave out, as _scope names them.
var leftOut = map[string]string{"warm-up": "of warm-up, cold or unlike passes", "initialisation": "before the first pass", "outside": "outside stages"}

type warmUp struct {
	Passes int64  `col:"item_count"`
	Said   int64  `col:"of_count"`
	How    string `col:"detail"`
}

type warmIncluded struct {
	Stage  string `col:"stage"`
	Passes int64  `col:"item_count"`
	Why    string `col:"detail"`
}

type unevenRanks struct {
	Operation string `col:"subject"`
	Fewest    string `col:"object"`
	Most      string `col:"detail"`
	Calls     int64  `col:"item_count"`
	MostCalls int64  `col:"of_count"`
}

type operatorsFrom struct {
	Asked string `col:"subject"`
	Has   string `col:"object"`
}

// others lists what a run has operators from beside what is asked.
func (c operatorsFrom) others(alike []operatorsFrom) string {
	return names(where(alike, func(x operatorsFrom) bool { return x.Asked == c.Asked }), 3, func(x operatorsFrom) string { return x.Has })
}

type profiledLaunches struct {
	Kind     string `col:"object"`
	Launches int64  `col:"item_count"`
}

type excludedKernel struct {
	Kernel  string `col:"object"`
	Kernels int64  `col:"item_count"`
}

// excluded is the kind of kernels that are not planned for, for one reason.
func excluded(one, many, why string) kind {
	return together(func(_ excludedKernel, alike []excludedKernel) string {
		n := int64(0)
		for _, c := range alike {
			n += c.Kernels
		}
		return count(n, one, many) + " " + why + ": " + names(alike, 3, func(c excludedKernel) string { return c.Kernel })
	})
}

type stageOfRun struct {
	Stage string `col:"stage"`
	Run   string `col:"object"`
}

type visionPart struct {
	Model string `col:"subject"`
	Part  string `col:"object"`
}

// Unpicked is of an argument that picks no rows: the option and its value, what there is to pick from, and what such things are.
type Unpicked struct {
	Option string `col:"subject"`
	Has    string `col:"object"`
	Things string `col:"detail"`
}

// UnpickedOf reads a caveat as such.
func UnpickedOf(c C) (u Unpicked, is bool) { return as[Unpicked](c), c.Topic == "argument" }

// PartialSource is of a source that was not read whole.
type PartialSource struct {
	Source string `col:"subject"`
	Status string `col:"object"`
	Reason string `col:"detail"`
}

// PartialSourceOf reads a caveat as such.
func PartialSourceOf(c C) (s PartialSource, is bool) {
	return as[PartialSource](c), c.Kind == "source-partial"
}

// Faulty is of a row whose value cannot be.
type Faulty struct {
	Row string `col:"subject"`
}

type throttling struct {
	GPU       string `col:"subject"`
	Reason    string `col:"object"`
	Throttled int64  `col:"item_count"`
	Samples   int64  `col:"of_count"`
}

// throttled is the kind of GPUs whose clocks were lowered in some samples.
func throttled(in string) kind {
	return together(func(c throttling, alike []throttling) string {
		reasons := names(where(alike, func(x throttling) bool { return x.GPU == c.GPU }), 9, func(x throttling) string { return x.Reason })
		return fmt.Sprintf("GPU %s was throttled (%s) in %.0f %% of %s: times are longer than at full clocks, see prof query throttling", c.GPU, reasons, 100*float64(c.Throttled)/float64(c.Samples), in)
	})
}

// faster says that something took less time under a profiler, by more than chance.
func faster(tool, mode, what string, slowdown float64) string {
	return fmt.Sprintf("under %s (%s) %s took %.0f %% less time than without a profiler, which is more than recordings differ by chance: something else differs between them",
		terms.SourceLabel(tool), mode, what, -100*slowdown)
}

// because adds a reason, if it has words.
func because(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}

// unmatchedProducts says why no matrix product of a stage is matched with the model's.
var unmatchedProducts = map[string]string{
	"ambiguous": "its kernels fit the model's layers in several ways",
	"model":     "the model has parts that are not matched",
	"sequence":  "too few calls match the model's layers by order and count",
	"tokens":    "the tokens of its passes are unknown: give --prefill and --decode to prof ingest",
}

// noLayers says why a pass cannot be divided into layers.
var noLayers = map[string]string{
	"attention": "it has no two attention kernels, and no modules or ranges name layers",
	"graph":     "CUDA graphs were traced as a whole: use --cuda-graph-trace=node",
	"layers":    "its kernels repeat, but not as often as the model has layers",
	"sequence":  "its sequence of kernels does not repeat from layer to layer, and no modules or ranges name layers",
}

// unlikeCaptures says why no stream capture in the traces gives the operators of replays.
var unlikeCaptures = map[string]string{
	"count":   "no stream capture in the traces launched as many kernels, copies and fills as they have",
	"kernels": "the stream captures in the traces that launched as many launched others, or in another order",
	"names":   "which kernels the stream captures launched is unknown for more than half: record an eager pass with the same inputs in the trace of the capture, with record_shapes=True",
	"several": "stream captures of different operators fit, or their branches run the same kernels for different operators",
	"order":   "some of their work starts at the same time, so its order is unknown",
}

// withoutRoof says why what operators must compute and move is unknown, by the column unknown of op_cost.
var withoutRoof = map[string]string{
	"no-inputs":      "their inputs were not recorded: record them with record_shapes=True",
	"several-inputs": "several stream captures fit their graph replays, with other inputs",
	"no-formula":     "there is no formula for them",
	"no-types":       "the types of their inputs were not recorded, as with emit_nvtx: record a trace of torch.profiler with record_shapes=True",
	"no-values":      "values of inputs that are no tensors were not recorded: record a trace with a newer PyTorch",
	"list-types":     "PyTorch records no types of tensors in a list (aten::cat, aten::index)",
	"scalar-type":    "an input without dimensions may be a tensor or a Python number, which has another type",
	"lengths":        "the lengths of the sequences are known only on the GPU",
	"routing":        "which experts work is known only on the GPU",
	"other-inputs":   "their inputs are not those that the formula knows",
	"host-copy":      "they copy to or from the host or another GPU",
	"no-peak":        "device_peak has no row for their GPU and precision",
	"precision":      "their inputs are in single precision, and kernel names do not say whether tensor cores multiplied them (TF32)",
}

// stalls says what a warp waits for, by Nsight Compute's name of the reason (its guide, Warp Stall Reasons).
var stalls = map[string]string{
	"barrier":            "waits for the other warps of its block at a barrier, as __syncthreads",
	"branch resolving":   "waits for the target of a branch",
	"dispatch stall":     "waits for the dispatcher, e.g. because of a register conflict",
	"drain":              "has ended and waits until its stores are written: stores of a warp that lie far apart take long",
	"gmma":               "waits for matrix instructions of its warp group (wgmma)",
	"imc miss":           "waits for constants or kernel arguments that are not in the constant cache",
	"lg throttle":        "waits because the queue of accesses to global and local memory is full: fewer and wider accesses help",
	"long scoreboard":    "waits for data from global, local, texture or surface memory: more loads in flight, better locality or shared memory help",
	"math pipe throttle": "waits because the arithmetic unit it needs is busy",
	"membar":             "waits at a memory fence",
	"mio throttle":       "waits because the queue of shared memory, special functions and dynamic branches is full: fewer and wider accesses help",
	"no instructions":    "waits for instructions: they are not in the instruction cache, as happens with large code or far jumps",
	"not selected":       "was ready, and another warp was issued: there are enough warps",
	"short scoreboard":   "waits for data from shared memory, or for a special function (MUFU)",
	"sleeping":           "sleeps (nanosleep)",
	"tex throttle":       "waits because the queue of texture accesses is full",
	"wait":               "waits the fixed time of the instruction before",
	"warpgroup arrive":   "waits for the other warps of its warp group",
}
