package capture

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalName is the name of a signal, e.g. SIGSEGV.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(s))
}

// signalNumber is the number of a signal that signalName named.
func signalNumber(name string) int {
	if n := unix.SignalNum(name); n != 0 {
		return int(n)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(name, "signal "))
	if err != nil {
		return 0
	}
	return n
}
