package judge

import "prof/schema/facts/sql/findings"

// copyWords are what a kind of copy does, in the words of a sentence, and what may spare it: also where the memory of the host is pinned already.
var copyWords = map[string]struct{ verb, meaning, advice, pinned string }{
	"memcpy Host-to-Device": {"copies from CPU memory", "host-to-device copies run while no kernel does",
		"keep data that is copied repeatedly on the GPU (offloaded weights), copy from pinned memory, and overlap copies with kernels on another stream",
		"keep data that is copied repeatedly on the GPU (offloaded weights), and overlap copies with kernels on another stream"},
	"memcpy Device-to-Host": {"copies to CPU memory", "device-to-host copies run while no kernel does",
		"copy back less data and less often, into pinned memory, and overlap it with kernels on another stream",
		"copy back less data and less often, and overlap it with kernels on another stream"},
	"memcpy Device-to-Device": {"copies within its memory", "copies within GPU memory run while no kernel does",
		"avoid copies of whole tensors (cat, contiguous, clone, reordering a cache), or fuse them into the kernels that use the data", ""},
	"memcpy Peer-to-Peer": {"copies between GPUs", "GPU-to-GPU copies run while no kernel does",
		"keep data on the GPU that uses it, and overlap copies with kernels on another stream", ""},
	"memset": {"fills memory", "memory is filled while no kernel runs",
		"allocate without filling (torch.empty instead of torch.zeros), and let the kernels that write the memory fill it", ""},
}

// copyKinds is the operation that takes most of the time of a stage's copies and fills, in words.
type copyKinds findings.Copies

func (c copyKinds) verb() string {
	if w, is := copyWords[c.Operation]; is && c.Share >= clearShare {
		return w.verb
	}
	return "copies or fills memory"
}

func (c copyKinds) meaning() string {
	if c.Share >= clearShare {
		return copyWords[c.Operation].meaning
	}
	return ""
}

// text adds them to a sentence.
func (c copyKinds) text() string {
	if c.Operation == "" {
		return ""
	}
	return "; most of that is " + findings.Copies(c).Text()
}

// copiesOf returns the copies of a stage, where they take much of its time: those that could save most.
func (s *summariser) copiesOf(stage string) copyKinds {
	for _, x := range s.out.Findings {
		if n, is := x.Figures.(interface {
			Copies(findings.Found) findings.Copies
		}); is && x.Stage == stage {
			return copyKinds(n.Copies(x.found()))
		}
	}
	return copyKinds{}
}
