// Command prof is the profiler's warehouse for people who make LLM inference fast.
package main

import (
	"os"

	"prof/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) }
