package judge

import "fmt"

// copyKinds is the operation that takes most of the time of a stage's copies and fills.
type copyKinds struct {
	operation string // as memops gives it; "" when not known
	calls     int64
	ns, bytes float64
	share     float64 // of the time of all copies and fills
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
	if c.bytes > 0 && c.ns > 0 {
		text += fmt.Sprintf(", %s at %s/s", bytesText(c.bytes), bytesText(1e9*c.bytes/c.ns))
	}
	return text
}

// text adds them to a sentence.
func (c copyKinds) text() string {
	if c.operation == "" {
		return ""
	}
	return "; most of that is " + c.evidence()
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

// copies are those of a finding of copies that no computing overlaps, or of copies from pageable memory.
func (x Finding) copies() copyKinds {
	n := x.Numbers
	if x.ID == "pageable-copies" {
		return copyKinds{"memcpy Host-to-Device", n.count("copy_count"), n.amount("copies_ns"), n.amount("copied_bytes"), float64(x.SavingNs) / n.amount("alone_ns")} // of the time in which nothing computes
	}
	return copyKinds{x.Subject, n.count("copy_count"), n.amount("copies_ns"), n.amount("copied_bytes"), n.amount("copies_ns") / n.amount("all_ns")}
}

// copiesOf gives the copies of a stage, where they take much of its time: those that could save most.
func (s *summariser) copiesOf(stage string) copyKinds {
	for _, x := range s.out.Findings {
		if (x.ID == "exposed-copies" || x.ID == "pageable-copies") && x.Stage == stage {
			return x.copies()
		}
	}
	return copyKinds{}
}
