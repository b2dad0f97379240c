// Command repeat makes a large capture out of a small one, to measure on: `go run ./internal/repeat IN COPIES OUT`. IN is an export of Nsight Systems
// or a PyTorch trace, which OUT is too. The copies follow one another; with -ranks they are further ranks of the job, at the same time on GPUs of
// their own, and OUT of a trace has a * for the rank.
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
	isRanks := len(args) > 0 && args[0] == "-ranks"
	if isRanks {
		args = args[1:]
	}
	if len(args) != 3 {
		return errors.New("usage: repeat [-ranks] IN.sqlite[.gz] COPIES OUT.sqlite, or [-ranks] IN.json[.gz] COPIES OUT.json[.gz]")
	}
	copies, err := strconv.Atoi(args[1])
	if err != nil || copies < 1 {
		return fmt.Errorf("%q is no number of copies", args[1])
	}
	ofTrace, ofExport := exports.RepeatTraceFile, exports.Repeat
	if isRanks {
		ofTrace, ofExport = exports.RankTraceFiles, exports.Ranks
	}
	if strings.HasSuffix(strings.TrimSuffix(args[0], ".gz"), ".json") {
		if isRanks && !strings.Contains(args[2], "*") {
			return fmt.Errorf("%s has no * for the rank", args[2])
		}
		return ofTrace(args[2], args[0], copies)
	}
	tables, err := exports.ReadFile(args[0])
	if err != nil {
		return err
	}
	return ofExport(args[2], tables, copies)
}
