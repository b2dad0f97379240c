package terms

// Bound is what keeps a stage from being faster.
type Bound struct {
	Name    string // in SQL and JSON; that of the cause, where idle time of one cause is what bounds
	Label   string // in a cell
	Meaning string // for a reader who is new to it
}

// Bounds of stages.
var Bounds = []Bound{
	{"launch-bound", "launch-bound", "the GPU idles because the CPU launches work more slowly than the GPU completes it"},
	{"host", "host-bound", "the GPU idles while the CPU is busy outside CUDA"},
	{"wait", "waits for the GPU", "the GPU idles while the CPU waits for a result, allocates memory or loads code"},
	{"communication", "communication-bound", "GPUs exchange data instead of computing"},
	{"queued", "queue-bound", "the GPU pauses before work that was launched in time"},
	{"copies", "copy-bound", "data is copied while no kernel runs"},
	{"memory", "memory-bound", "time goes to reading weights and KV cache from GPU memory, not to arithmetic"},
	{"compute", "compute-bound", "the GPU's arithmetic units limit the speed"},
	{"busy", "GPU busy", "kernels take the time; which limit they meet is unknown: profile them with ncu"},
	{"mixed", "mixed", "kernels take the time, and no single limit applies to most of them"},
	{"late-gpu", "waits for another GPU", "one GPU arrives late at collectives, and the others wait for it"},
	{"unknown", "unknown", "the capture does not show it"},
}
