package load

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"prof/schema/rundir"
)

// Farthest bounds the times and amounts of a capture.
const Farthest = rundir.Farthest

// IsWallClock reports whether a clock can have shown a time: from 1970 to 2261, the years whose nanoseconds fit 64 bits.
func IsWallClock(t time.Time) bool { return t.UTC().Year() >= 1970 && t.UTC().Year() < 2262 }

// MaxDevices is more GPUs than one machine has. What takes time or memory for each is bounded by it.
const MaxDevices = 1 << 10

// Odd counts values of a source that are out of the range of what they stand for, by what they are. It is safe for concurrent use.
type Odd struct {
	mu     sync.Mutex
	counts map[string]oddCount
}

type oddCount struct {
	n     int64
	first any
}

// Add counts a value, which is left unknown.
func (o *Odd) Add(what string, value any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts == nil {
		o.counts = map[string]oddCount{}
	}
	c, known := o.counts[what]
	if !known {
		c.first = value
	}
	c.n++
	o.counts[what] = c
}

// Int32 returns a value that is from low to what a column of 32 bits holds; else it counts the value and ok is false.
func (o *Odd) Int32(what string, v, low int64) (small int32, ok bool) {
	if v >= low && v <= math.MaxInt32 {
		return int32(v), true
	}
	o.Add(what, v)
	return 0, false
}

// Warnings returns what was counted, a sentence each.
func (o *Odd) Warnings() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for _, what := range slices.Sorted(maps.Keys(o.counts)) {
		c := o.counts[what]
		out = append(out, fmt.Sprintf("%s: %d values are out of range and are left unknown, such as %v", what, c.n, c.first))
	}
	return out
}
