package machine

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalName is the name of a signal, e.g. SIGSEGV.
func SignalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(s))
}

// SignalNumber is the number of a signal that signalName named.
func SignalNumber(name string) int {
	if n := unix.SignalNum(name); n != 0 {
		return int(n)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(name, "signal "))
	if err != nil {
		return 0
	}
	return n
}
