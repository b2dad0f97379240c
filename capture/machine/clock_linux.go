package machine

import "golang.org/x/sys/unix"

// Monotonic is the time of CLOCK_MONOTONIC in nanoseconds, which all processes of a machine share.
func Monotonic() (int64, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano(), err
}
