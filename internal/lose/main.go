// Command lose writes a capture that lost records, or has them wrong, as profilers lose them; package internal/loss says which kinds there are.
// The same seed loses the same.
//
//	go run ./internal/lose -part 0.1 -out lossy.sqlite work-window testdata/graph/node.sqlite.gz
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"prof/internal/diagnosis"
	"prof/internal/exports"
	"prof/internal/loss"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "lose:", err)
		os.Exit(1)
	}
}

func run() error {
	l := loss.Loss{}
	flag.Float64Var(&l.Part, "part", 0.1, "the `PART` of the records that is lost, one at least")
	flag.StringVar(&l.In, "in", "", "lose only work launched in ranges whose names match `RE`, and its launches")
	flag.Uint64Var(&l.Seed, "seed", 0, "`NUMBER` that all chance follows from")
	out := flag.String("out", "", "`FOLDER` for the files (default: the kind's name)")
	traces := flag.Bool("traces", false, "write an export as prof's tracer would have")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "lose [options] KIND FILE...: loses records of an export of Nsight Systems (SQLite), of PyTorch traces, one a rank, or of a table of text")
		flag.PrintDefaults()
		for _, k := range loss.Kinds {
			fmt.Fprintf(os.Stderr, "  %-18s %s\n", k.Name, k.Text)
		}
	}
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		return errors.New("a kind and a file are needed")
	}
	l.Kind = flag.Arg(0)
	c, err := read(flag.Args()[1:])
	if err != nil {
		return err
	}
	n, err := l.Put(c)
	if err != nil {
		return err
	}
	if *out == "" {
		*out = l.Kind
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	b := loss.Base{}
	if *traces {
		b.Form = loss.Traces
	}
	files, err := b.Write(c, *out)
	if err != nil {
		return err
	}
	fmt.Printf("%d records lost or spoilt: %s\n", n, strings.Join(files, " "))
	return nil
}

func read(paths []string) (*diagnosis.Capture, error) {
	files, names := map[string][]byte{}, []string{}
	for _, path := range paths {
		data, err := exports.Unpack(path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(path), ".gz")
		files[name], names = data, append(names, name)
	}
	switch filepath.Ext(names[0]) {
	case ".json":
		return diagnosis.Trace(files, names...)
	case ".csv", ".txt":
		return diagnosis.Lines(files[names[0]], names[0]), nil
	}
	return diagnosis.Export(files[names[0]], names[0])
}
