//go:build !linux

package machine

// Monotonic is 0: times then count from when the machine started. CUDA runs on Linux.
func Monotonic() (int64, error) { return 0, nil }
