// Command make writes the licences of the software of others in a build of prof, and its bill of materials, from the sources of the build:
// `go run ./internal/notices/make -licences FILE [-bill FILE -version 0.1.0] PROF`.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"prof/internal/notices"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("make", flag.ContinueOnError)
	licences := flags.String("licences", "", "the file for licences")
	bill := flags.String("bill", "", "the file for the bill of materials")
	version := flags.String("version", "", "the release")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *licences == "" || flags.NArg() != 1 || (*bill == "") != (*version == "") {
		return errors.New("usage: make -licences FILE [-bill FILE -version VERSION] PROF")
	}
	parts, err := notices.Of(flags.Arg(0))
	if err != nil {
		return err
	}
	if err := os.WriteFile(*licences, notices.Licences(parts), 0o644); err != nil || *bill == "" {
		return err
	}
	text, err := notices.Bill(*version, flags.Arg(0), parts)
	if err != nil {
		return err
	}
	return os.WriteFile(*bill, append(text, '\n'), 0o644)
}
