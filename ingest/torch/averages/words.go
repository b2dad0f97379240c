package averages

import "slices"

// nameParts are what the words of a column's name say.
type nameParts struct {
	self, total, time, memory bool
	derived                   bool    // a mean, a share, or a text made of another column
	processor                 string  // cpu, device, cuda, ...
	unit                      float64 // ns of a 1; 0 when not said
	bytes                     float64 // bytes of a 1; negative when the unit is one of 1000 or 1024; 0 when not said
	flops                     float64 // floating-point operations of a 1; 0 for another amount
	whole                     bool    // every word was understood
}

var (
	processors = []string{"cpu", "host", "device", "gpu", "cuda", "xpu", "privateuse1", "mtia", "hpu", "npu", "hip", "mps"}
	timeUnits  = map[string]float64{
		"ns": 1, "nsec": 1, "nanoseconds": 1, "us": 1e3, "usec": 1e3, "microseconds": 1e3, "ms": 1e6, "msec": 1e6, "milliseconds": 1e6,
		"s": 1e9, "sec": 1e9, "secs": 1e9, "seconds": 1e9,
	}
	byteUnits = map[string]float64{
		"b": 1, "byte": 1, "bytes": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": -1, "mb": -1, "gb": -1,
	}
	flopUnits = map[string]float64{
		"flop": 1, "flops": 1, "kflops": 1e3, "mflops": 1e6, "gflops": 1e9, "tflops": 1e12, "pflops": 1e15,
	}
	derivedWords = []string{"%", "pct", "percent", "percentage", "ratio", "share", "avg", "average", "mean", "median", "min", "max", "std", "str"}
)

func parseWords(words []string) nameParts {
	n := nameParts{whole: len(words) > 0}
	for _, w := range words {
		if !n.take(w) {
			n.whole = false
		}
	}
	return n
}

// take understands one word; false for one that says something else, or what another word said before.
func (n *nameParts) take(w string) bool {
	set := func(flag *bool) bool {
		was := *flag
		*flag = true
		return !was
	}
	value := func(to *float64, v float64) bool {
		was := *to
		*to = v
		return was == 0
	}
	switch w {
	case "self":
		return set(&n.self)
	case "total", "sum":
		return set(&n.total)
	case "time", "duration":
		return set(&n.time)
	case "mem", "memory":
		return set(&n.memory)
	case "usage":
		return n.memory
	case "count":
		return n.flops > 0
	}
	if slices.Contains(derivedWords, w) {
		n.derived = true
		return true
	}
	if slices.Contains(processors, w) {
		was := n.processor
		n.processor = w
		return was == ""
	}
	if v, ok := timeUnits[w]; ok {
		return value(&n.unit, v)
	}
	if v, ok := byteUnits[w]; ok {
		return value(&n.bytes, v)
	}
	if v, ok := flopUnits[w]; ok {
		return value(&n.flops, v)
	}
	return false
}
