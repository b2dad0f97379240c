//go:build !linux || !cgo

package nvml

import (
	"fmt"
	"runtime"
)

// Open opens the driver's library, which prof knows how to use on Linux alone.
func Open() (Library, error) {
	return nil, fmt.Errorf("%w: prof samples GPUs only on Linux, and this is %s; the rest of the capture works", ErrNotFound, runtime.GOOS)
}
