//go:build !linux

package capture

// monotonic is 0: times then count from when the machine started. CUDA runs on Linux.
func monotonic() (int64, error) { return 0, nil }
