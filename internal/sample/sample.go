// Package sample gives tests some of their cases, which take seconds, in place of all, which take minutes. CI has all, with the flag -whole
// or, since not every package has it, with PROF_TEST_WHOLE in the environment.
package sample

import (
	"flag"
	"os"
)

// Whole reports whether tests try all of their cases.
var Whole = flag.Bool("whole", os.Getenv("PROF_TEST_WHOLE") != "", "try all cases, as CI does, in place of some")

// Of returns every nth of the cases, the first one among them, or all of them with -whole, and with -update where a test has that flag.
func Of[T any](cases []T, n int) []T {
	if update := flag.Lookup("update"); *Whole || update != nil && update.Value.String() == "true" {
		return cases
	}
	var some []T
	for i := 0; i < len(cases); i += n {
		some = append(some, cases[i])
	}
	return some
}
