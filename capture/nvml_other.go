//go:build !linux || !cgo

package capture

import (
	"fmt"
	"runtime"
)

// OpenNVML opens the driver's library, which prof knows how to use on Linux alone.
func OpenNVML() (NVML, error) {
	return nil, fmt.Errorf("%w: prof samples GPUs only on Linux, and this is %s; the rest of the capture works", ErrNoNVML, runtime.GOOS)
}
