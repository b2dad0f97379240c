//go:build !linux || !cgo

package capture

import (
	"fmt"
	"runtime"
)

// OpenNVML opens the driver's library, which prof knows how to use on Linux alone.
func OpenNVML() (NVML, error) {
	return nil, fmt.Errorf("%w: prof reads GPUs on Linux only, and this is %s; everything else of a capture is kept", ErrNoNVML, runtime.GOOS)
}
