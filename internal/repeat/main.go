// Command repeat makes a large capture out of a small one, to measure on: `go run ./internal/repeat IN COPIES OUT`. IN is an export of Nsight Systems
// or a PyTorch trace, which OUT is too.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"prof/internal/exports"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "repeat:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: repeat IN.sqlite[.gz] COPIES OUT.sqlite, or IN.json[.gz] COPIES OUT.json[.gz]")
	}
	copies, err := strconv.Atoi(args[1])
	if err != nil || copies < 1 {
		return fmt.Errorf("%q is no number of copies", args[1])
	}
	if strings.HasSuffix(strings.TrimSuffix(args[0], ".gz"), ".json") {
		return exports.RepeatTraceFile(args[2], args[0], copies)
	}
	tables, err := exports.ReadFile(args[0])
	if err != nil {
		return err
	}
	return exports.Repeat(args[2], tables, copies)
}
