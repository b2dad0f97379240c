//go:build linux || darwin

package machine

import (
	"fmt"
	"syscall"
)

// FreeBytes is the space that this user can still fill on the file system of a folder.
func FreeBytes(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
