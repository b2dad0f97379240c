package terms

// Bound is what keeps a stage from being faster.
type Bound struct {
	Name    string // in SQL and JSON; that of the cause, where idle time of one cause is what bounds
	Label   string // in a cell
	Says    string // in a sentence, of the stage
	Meaning string // for a reader who is new to it
}

// Bounds of stages.
var Bounds = []Bound{
	{"launch-bound", "launch-bound", "is launch-bound", "the GPU idles because the CPU launches work more slowly than the GPU completes it"},
	{"host", "host-bound", "is host-bound", "the GPU idles while the CPU is busy outside CUDA"},
	{"wait", "waits for the GPU", "waits for the GPU", "the GPU idles while the CPU waits for a result, allocates memory or loads code"},
	{"communication", "communication-bound", "is communication-bound", "GPUs exchange data instead of computing"},
	{"queued", "queue-bound", "is queue-bound", "the GPU pauses while work waits in its queue"},
	{"copies", "copy-bound", "is copy-bound", "data is copied while no kernel runs"},
	{"memory", "memory-bound", "is memory-bound", "time goes to reading weights and KV cache from GPU memory, not to arithmetic"},
	{"compute", "compute-bound", "is compute-bound", "the GPU's arithmetic units limit the speed"},
	{"busy", "GPU busy", "keeps the GPU busy", "kernels take most of the time"},
	{"mixed", "GPU busy, several limits", "keeps the GPU busy", "kernels take the time, and no single limit applies to most of them"},
	{"late-gpu", "waits for another GPU", "waits for another GPU", "one GPU arrives late at collectives, and the others wait for it"},
	{"unknown", "unknown", "has an unknown bound", "the capture does not show it"},
}

// BoundNamed returns a bound; ok reports whether there is one of that name.
func BoundNamed(name string) (b Bound, ok bool) {
	for _, b := range Bounds {
		if b.Name == name {
			return b, true
		}
	}
	return Bound{}, false
}
