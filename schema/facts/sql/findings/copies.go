package findings

import (
	"fmt"

	"prof/schema/say"
)

// copies are about copies and fills.
var copies = []Rule{
	{
		ID:        "pageable-copies",
		Title:     "Host-to-device copies from pageable memory",
		Bound:     AtMost,
		Saving:    "time of copies from pageable host memory to the device, capped at the part in which no kernel ran; where at least the threshold's share of the passes has such copies",
		Advice:    "copy from pinned memory (pin_memory, cudaHostAlloc) with non_blocking=True, once and before the pass; keep data that does not change on the device",
		Value:     0.5,
		Unit:      "ratio",
		Query:     "memops",
		Options:   "stage device source",
		Needs:     "timeline with kinds of memory",
		Reference: "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#pinned-memory",
		Figures:   pageableCopies{},
	},
	{
		ID:        "exposed-copies",
		Title:     "Copies and fills not overlapped with compute",
		Bound:     AtMost,
		Saving:    "time in which copies and fills ran and no kernel did, less what pageable-copies could save, where the rest is at least the threshold's share of the passes",
		Advice:    "keep data that is copied repeatedly on the GPU, copy less, use pinned memory where it is not, and overlap copies with kernels on another stream",
		Value:     0.05,
		Unit:      "ratio",
		Subject:   "operation",
		Query:     "memops",
		Options:   "stage device source",
		Needs:     "timeline",
		Reference: "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#asynchronous-and-overlapping-transfers-with-computation",
		Figures:   ExposedCopies{},
	},
}

type pageableCopies struct {
	passTimes
	CopyCount   int64    `json:"copy_count"`
	CopiedBytes *float64 `json:"copied_bytes"`
	CopiesNs    float64  `json:"copies_ns"`
	AloneNs     float64  `json:"alone_ns"` // of all copies, while no kernel ran
	CallNs      float64  `json:"call_ns"`
}

func (n pageableCopies) Words(x Found) string {
	in, beside := "", ""
	if x.Stage != "" {
		in = fmt.Sprintf(" in %s of %s", say.Whole(n.PassCount), say.Count(x.Passes, "pass", "passes"))
	}
	if n.AloneNs < n.CopiesNs {
		beside = fmt.Sprintf(" (%s of it while no kernel ran)", say.Time(n.AloneNs))
	}
	size := ""
	if n.CopiedBytes != nil {
		size = fmt.Sprintf(" (%.3f MB in total)", *n.CopiedBytes/1e6)
	}
	return fmt.Sprintf("%s from pageable memory%s%s take %s on the GPU%s and %s in their calls%s", say.Count(n.CopyCount, "copy", "copies"), in, size, say.Time(n.CopiesNs), beside,
		say.Time(n.CallNs), n.spreadOf(x, n.CopiesNs))
}

func (n pageableCopies) Copies(x Found) Copies {
	return Copies{"memcpy Host-to-Device", n.CopyCount, n.CopiesNs, n.CopiedBytes, float64(x.SavingNs) / n.AloneNs} // of the time in which nothing computes
}

// ExposedCopies are copies and fills while no kernel ran: the operation that takes most of their time.
type ExposedCopies struct {
	CopyCount   int64    `json:"copy_count"`
	PinnedCount int64    `json:"pinned_count"` // from or to pinned memory of the host
	CopiesNs    float64  `json:"copies_ns"`
	CopiedBytes *float64 `json:"copied_bytes"`
	AllNs       float64  `json:"all_ns"`
	sharedStreams
}

func (n ExposedCopies) Words(x Found) string {
	text, way := "mostly "+n.Copies(x).Text(), "from"
	if x.Subject == "memcpy Device-to-Host" {
		way = "into"
	}
	switch {
	case n.IsPinned():
		text += ", " + way + " pinned memory"
	case n.PinnedCount > 0:
		text += fmt.Sprintf(", %s of them %s pinned memory", say.Whole(n.PinnedCount), way)
	}
	return text + n.text(n.CopyCount, "")
}

// IsPinned reports whether all of the operation is from or to pinned memory of the host already.
func (n ExposedCopies) IsPinned() bool { return n.PinnedCount > 0 && n.PinnedCount == n.CopyCount }

func (n ExposedCopies) Copies(x Found) Copies {
	return Copies{x.Subject, n.CopyCount, n.CopiesNs, n.CopiedBytes, n.CopiesNs / n.AllNs}
}

// Copies is the operation that takes most of the time of a stage's copies and fills.
type Copies struct {
	Operation string // as memops has it; "" where it is not known
	Count     int64
	Ns        float64
	Bytes     *float64 // nil where sizes are not known
	Share     float64  // of the time of all copies and fills
}

// Text returns the figures of the operation: 450 calls, 1.84 s, 51.0 GB at 27.7 GB/s.
func (c Copies) Text() string {
	text := fmt.Sprintf("%s: %s, %s", c.Operation, say.Count(c.Count, "call", "calls"), say.Duration(c.Ns))
	if c.Bytes != nil && *c.Bytes > 0 && c.Ns > 0 {
		text += fmt.Sprintf(", %s at %s/s", say.Bytes(*c.Bytes), say.Bytes(1e9**c.Bytes/c.Ns))
	}
	return text
}
