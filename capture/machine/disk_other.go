//go:build !linux && !darwin

package machine

import (
	"fmt"
	"runtime"
)

// FreeBytes is not known on this system.
func FreeBytes(dir string) (int64, error) {
	return 0, fmt.Errorf("the free space of %s is unknown on %s", dir, runtime.GOOS)
}
