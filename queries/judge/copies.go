package judge

import (
	"fmt"
	"strings"
)

// copyKinds is the operation that takes most of the time of a stage's copies and fills; warm-up is in it.
type copyKinds struct {
	operation string // as memops gives it; "" when not asked
	calls     int64
	ns        float64
	bytes     *float64 // nil when not recorded
	rate      *float64 // bytes a second
	share     float64  // of the time of all copies and fills
}

// copyWords are what a kind of copy does, in the words of a sentence, and what may spare it.
var copyWords = map[string]struct{ verb, meaning, advice string }{
	"memcpy Host-to-Device": {"gets data from the CPU's memory", "data is copied from the CPU's memory to the GPU's while nothing is computed",
		"keep on the GPU what is copied again and again (weights that are offloaded), copy from pinned memory, and copy on another stream while kernels run"},
	"memcpy Device-to-Host": {"sends data to the CPU's memory", "data is copied from the GPU's memory to the CPU's while nothing is computed",
		"copy back less and less often, into pinned memory, and on another stream while kernels run"},
	"memcpy Device-to-Device": {"copies data within its memory", "data is copied within the GPU's memory while nothing is computed",
		"avoid copies of whole tensors (cat, contiguous, clone, reordering a cache), or do them in the kernels that use them"},
	"memcpy Peer-to-Peer": {"copies data between GPUs", "data is copied from one GPU to another while nothing is computed",
		"keep data on the GPU that uses it, and copy on another stream while kernels run"},
	"memset": {"fills memory", "memory is filled while nothing is computed",
		"allocate without filling (torch.empty in place of torch.zeros), and let the kernels that write fill"},
}

func (c copyKinds) verb() string {
	if w, is := copyWords[c.operation]; is && c.share >= clearShare {
		return w.verb
	}
	return "copies or fills memory"
}

func (c copyKinds) meaning() string {
	if c.share >= clearShare {
		return copyWords[c.operation].meaning
	}
	return ""
}

// evidence gives the figures of the operation: 450 calls, 1.84 s, 51.0 GB at 27.7 GB/s.
func (c copyKinds) evidence() string {
	text := fmt.Sprintf("%s: %s, %s", c.operation, countText(c.calls, "call", "calls"), DurationText(c.ns))
	if c.bytes != nil && c.rate != nil {
		text += fmt.Sprintf(", %s at %s/s", bytesText(*c.bytes), bytesText(*c.rate))
	}
	return text
}

// text adds them to a sentence.
func (c copyKinds) text() string {
	if c.operation == "" {
		return ""
	}
	return fmt.Sprintf("; most of that is %s, warm-up included", c.evidence())
}

// bytesText gives a size with three digits in decimal units: 51.0 GB.
func bytesText(n float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	at := 0
	for at < len(units)-1 && n >= 999.5 {
		n, at = n/1e3, at+1
	}
	switch {
	case at == 0 || n >= 99.95:
		return fmt.Sprintf("%.0f %s", n, units[at])
	case n >= 9.995:
		return fmt.Sprintf("%.1f %s", n, units[at])
	}
	return fmt.Sprintf("%.2f %s", n, units[at])
}

// copiesOf reads memops of a stage, where it was asked: where copies take much of the time.
func (s *summariser) copiesOf(stage string) (copyKinds, error) {
	list, err := s.rows(copiesKey(stage), "operation", "calls", "total_ns", "share_ratio", "total_bytes", "rate_bytes_per_s")
	if err != nil || len(list) == 0 {
		return copyKinds{}, err
	}
	r := list[0] // by time
	return copyKinds{r.Text("operation"), r.Count("calls"), r.Amount("total_ns"), r.Number("total_bytes"), r.Number("rate_bytes_per_s"), r.Amount("share_ratio")}, nil
}

// copyAdvice is what to do about copies that take much of the time of a stage while nothing is computed, which no finding is about.
func (s *summariser) copyAdvice() ([]Advice, error) {
	var out []Advice
	for _, stage := range s.judged() {
		key := keyOf(stage.Stage)
		if stage.Bound != CopyBound && stage.Next != CopyBound {
			continue
		}
		c, err := s.copiesOf(key)
		if err != nil {
			return nil, err
		}
		words, is := copyWords[c.operation]
		if !is {
			continue
		}
		gpu := s.parts[key][0]
		ns := gpu.named("copy").total
		a := Advice{Rule: "exposed-copies", Stage: stage.Stage, Title: "Copies and fills that no computing overlaps", Text: words.advice, Bound: "at most", SavingNs: int64(ns), SpanNs: int64(gpu.span), ShareRatio: ns / gpu.span,
			Command: s.command("memops", "stage", strings.TrimSuffix(key, wholeCapture), "device", fmt.Sprint(gpu.device))}
		a.setNumber(gpu.passes)
		a.Why = a.Number + ": mostly " + c.evidence()
		out = append(out, a)
	}
	return out, nil
}
