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
	"memcpy Host-to-Device": {"copies from CPU memory", "host-to-device copies run while no kernel does",
		"keep data that is copied repeatedly on the GPU (offloaded weights), copy from pinned memory, and overlap copies with kernels on another stream"},
	"memcpy Device-to-Host": {"copies to CPU memory", "device-to-host copies run while no kernel does",
		"copy back less data and less often, into pinned memory, and overlap it with kernels on another stream"},
	"memcpy Device-to-Device": {"copies within its memory", "copies within GPU memory run while no kernel does",
		"avoid copies of whole tensors (cat, contiguous, clone, reordering a cache), or fuse them into the kernels that use the data"},
	"memcpy Peer-to-Peer": {"copies between GPUs", "GPU-to-GPU copies run while no kernel does",
		"keep data on the GPU that uses it, and overlap copies with kernels on another stream"},
	"memset": {"fills memory", "memory is filled while no kernel runs",
		"allocate without filling (torch.empty instead of torch.zeros), and let the kernels that write the memory fill it"},
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

// evidence returns the figures of the operation: 450 calls, 1.84 s, 51.0 GB at 27.7 GB/s.
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

// bytesText returns a size with three digits in decimal units: 51.0 GB.
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

// copiesOf returns the copies of a stage, where they take much of its time: those that could save most.
func (s *summariser) copiesOf(stage string) copyKinds {
	for _, x := range s.out.Findings {
		if n, is := x.Figures.(interface{ copies(Finding) copyKinds }); is && x.Stage == stage {
			return n.copies(x)
		}
	}
	return copyKinds{}
}
