package findings

import (
	"fmt"

	"prof/schema/say"
	"prof/schema/terms"
)

// pauseRules are about what stops the launching thread.
var pauseRules = []Rule{
	{
		ID:        "gc-pauses",
		Title:     "GPU idle: Python's garbage collector",
		Bound:     AtMost,
		Saving:    "idle time outside CUDA calls in the longest gaps while Python collects garbage",
		Advice:    "call gc.collect() and gc.freeze() after warm-up, and gc.disable() around the passes or collect between them; make fewer objects in a step",
		Subject:   "range",
		Query:     "pass-accounting",
		Options:   "stage device source",
		Detail:    "gaps",
		Needs:     "timeline with ranges of collections (prof capture --auto-stages, PyTorch, TensorRT-LLM)",
		Reference: "https://docs.python.org/3/library/gc.html#gc.freeze",
		Figures:   gcPauses{},
	},
	{
		ID:        "gil-wait",
		Title:     "GPU idle: the launching thread waits for Python's lock (GIL)",
		Bound:     AtMost,
		Saving:    "idle time outside CUDA calls in the longest gaps while the thread that launches next waits for the GIL, less that of gc-pauses and compilations",
		Advice:    "move Python work of other threads (preparing inputs, logging, HTTP) into another process, or into code that gives the lock back; make them wait in calls instead of polling; a shorter sys.setswitchinterval shortens each wait",
		Subject:   "range",
		Query:     "pass-accounting",
		Options:   "stage device source",
		Detail:    "gaps",
		Needs:     "timeline of Nsight Systems with the GIL traced (prof capture --nsys-trace cuda,nvtx,python-gil)",
		Reference: "https://docs.python.org/3/library/sys.html#sys.setswitchinterval",
		Figures:   gilWait{},
	},
	{
		ID:        "code-loading",
		Title:     "GPU idle: code compiled or loaded",
		Bound:     AtMost,
		Saving:    "idle time in the longest gaps inside compilations (torch.compile, as PyTorch or prof capture marks them), inside calls that load code, and inside launches of 100 us or longer, which load it first",
		Advice:    "run every shape once before the pass; mark sizes that change as dynamic, so that they are not compiled anew; keep compiled code in a cache; load all code at the start: CUDA_MODULE_LOADING=EAGER",
		Subject:   "function or range",
		Query:     "pass-accounting",
		Options:   "stage device source",
		Detail:    "api-calls",
		Needs:     "timeline, for compilations with ranges that name them",
		Reference: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#lazy-loading",
		Figures:   codeLoading{},
	},
	{
		ID:        "allocator-calls",
		Title:     "GPU idle: CUDA calls that allocate or free memory",
		Bound:     AtMost,
		Saving:    "idle time inside calls that allocate, map or free memory, in the longest gaps",
		Advice:    "warm up the largest shapes first and reuse buffers; with PyTorch leave memory free for its cache and set PYTORCH_ALLOC_CONF=expandable_segments:True, so that blocks can grow",
		Subject:   "function",
		Query:     "pass-accounting",
		Options:   "stage device source",
		Detail:    "api-calls",
		Needs:     "timeline",
		Reference: "https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-alloc-conf",
		Figures:   allocatorCalls{},
	},
}

// pauses are what the GPU waited for, with what the other rules of causes know: null where it is of another rule, or not known.
type pauses struct {
	passTimes
	CallCount   int64    `json:"call_count"` // of the function or range that it waited for longest
	CallsNs     float64  `json:"calls_ns"`
	AllCount    int64    `json:"all_count"`
	FailedCount *int64   `json:"failed_count"`
	RetryCount  *int64   `json:"retry_count"`
	GotBytes    *float64 `json:"got_bytes"`
	GivenBytes  *float64 `json:"given_bytes"`
	BlockBytes  *float64 `json:"block_bytes"`
	HolderTID   *int64   `json:"holder_tid"`
	HeldNs      *float64 `json:"held_ns"`
	ApartKind   string   `json:"apart_kind,omitempty"` // the kind of timeline that recorded it, where that is not the one that is counted
	sampledLine
}

// most returns what of a cause the GPU waited for longest: a function or range, and how often.
func (n pauses) most(x Found, one, several string) string {
	text := fmt.Sprintf("%s, %s in idle gaps", say.Count(n.CallCount, one, several), say.Time(n.CallsNs))
	if n.AllCount > n.CallCount {
		return fmt.Sprintf("most in %s: %s; %s in all", x.Subject, text, say.Whole(n.AllCount))
	}
	return x.Subject + ": " + text
}

// sampledLine is the line of the user's own code in which a thread was by most samples of Python.
type sampledLine struct {
	Line        string `json:"line,omitempty"`
	LineCount   int64  `json:"line_count,omitempty"`
	SampleCount int64  `json:"sample_count,omitempty"`
}

func (l sampledLine) text(what string) string {
	if l.Line == "" {
		return ""
	}
	return fmt.Sprintf("; %sin %s by %d of %s", what, l.Line, l.LineCount, say.Count(l.SampleCount, "sample", "samples"))
}

type gcPauses struct{ pauses }

func (n gcPauses) Words(x Found) string {
	return fmt.Sprintf("GPU idle %s while Python collects garbage%s; %s", x.saved(), n.spread(x), n.most(x, "collection", "collections")) + n.text("")
}

type gilWait struct{ pauses }

func (n gilWait) Words(x Found) string {
	text := fmt.Sprintf("GPU idle %s while the thread that launches next waits for Python's lock (the GIL)%s; %s, %s in idle gaps", x.saved(), n.spread(x), say.Count(n.AllCount, "wait", "waits"), say.Time(n.CallsNs))
	if n.HeldNs != nil && n.HolderTID != nil && *n.HeldNs > 0 {
		text += fmt.Sprintf("; of the other threads, thread %d held the lock longest, for %s", *n.HolderTID, say.Time(*n.HeldNs)) + n.text("it was ")
	}
	if n.ApartKind != "" {
		text += fmt.Sprintf("; this is of the recording of %s, and other findings may name the same time", terms.SourceLabel(n.ApartKind))
	}
	return text
}

type codeLoading struct{ pauses }

func (n codeLoading) Words(x Found) string {
	return fmt.Sprintf("GPU idle %s while code is compiled or loaded%s; %s", x.saved(), n.spread(x), n.most(x, "time", "times"))
}

type allocatorCalls struct{ pauses }

func (n allocatorCalls) Words(x Found) string {
	text := fmt.Sprintf("GPU idle %s while memory is allocated or freed%s; %s", x.saved(), n.spread(x), n.most(x, "call", "calls"))
	if n.FailedCount != nil && *n.FailedCount > 0 {
		text += fmt.Sprintf("; %s failed: memory ran out, and what was free had to be given back first", say.Count(*n.FailedCount, "call", "calls"))
	}
	switch {
	case n.GotBytes != nil && n.GivenBytes != nil:
		text += fmt.Sprintf("; CUDA gave %s and took back %s in them", say.Bytes(*n.GotBytes), say.Bytes(*n.GivenBytes))
	case n.BlockBytes != nil:
		text += "; PyTorch needed them for blocks of " + say.Bytes(*n.BlockBytes)
	}
	if n.RetryCount != nil && *n.RetryCount > 0 {
		text += fmt.Sprintf("; in %s memory was freed and then allocated, as PyTorch does when it runs out and gives its cache back", say.Count(*n.RetryCount, "gap", "gaps"))
	}
	return text
}
