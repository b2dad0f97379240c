// Command wheel packs a build of prof as a wheel, which pip and uv install where there is no Go: `go run ./internal/wheel -version 0.1.0 -out dist
// PROF LICENSE...`. The wheel's name has the systems on which the build runs, as the build itself says.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// name is that of the package and of the command that it installs: prof is another's on PyPI.
const name = "profhouse"

// launcher is a second command of the package: docs, hints and completion say prof. Tools that install link to it from elsewhere.
const launcher = "#!/bin/sh\nexec \"$(dirname \"$(readlink -f \"$0\")\")/" + name + "\" \"$@\"\n"

const description = `One program without dependencies, called ` + "`" + name + "` and `prof`" + `. A capture in a browser, in a warehouse that is gone afterwards:

    ` + name + ` open report.sqlite

` + "`prof help`" + ` lists what else it does.
`

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("wheel", flag.ContinueOnError)
	version := flags.String("version", "", "the release")
	dir := flags.String("out", ".", "the folder for the wheel")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *version == "" || flags.NArg() < 2 {
		return errors.New("usage: wheel -version VERSION [-out DIR] PROF LICENSE")
	}
	platform, err := platformOf(flags.Arg(0))
	if err != nil {
		return fmt.Errorf("%s: %w", flags.Arg(0), err)
	}
	program, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return err
	}
	licences := map[string][]byte{}
	for _, file := range flags.Args()[1:] {
		if licences[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			return err
		}
	}
	wheel, err := pack(*version, platform, program, licences)
	if err != nil {
		return err
	}
	path := filepath.Join(*dir, fmt.Sprintf("%s-%s-py3-none-%s.whl", name, *version, platform))
	if err := os.WriteFile(path, wheel, 0o644); err != nil {
		return err
	}
	fmt.Fprintln(out, path)
	return nil
}

// pack returns the wheel: the two commands, what describes the package, its licences by file name, and the list of all these with their hashes.
func pack(version, platform string, program []byte, licences map[string][]byte) ([]byte, error) {
	metadata := "Metadata-Version: 2.4\nName: " + name + "\nVersion: " + version + "\n" +
		"Summary: Where an LLM's GPU time goes: a warehouse of captures of Nsight Systems, Nsight Compute and the PyTorch profiler\n" +
		"License-Expression: Apache-2.0\n"
	type file struct {
		path string
		mode os.FileMode
		text []byte
	}
	scripts, info := name+"-"+version+".data/scripts/", name+"-"+version+".dist-info/"
	files := []file{{scripts + name, 0o755, program}, {scripts + "prof", 0o755, []byte(launcher)}}
	for _, licence := range slices.Sorted(maps.Keys(licences)) {
		metadata += "License-File: " + licence + "\n"
		files = append(files, file{info + "licenses/" + licence, 0o644, licences[licence]})
	}
	metadata += "Description-Content-Type: text/markdown\n\n" + description
	files = append(files, file{info + "METADATA", 0o644, []byte(metadata)},
		file{info + "WHEEL", 0o644, []byte("Wheel-Version: 1.0\nGenerator: " + name + "\nRoot-Is-Purelib: false\nTag: py3-none-" + platform + "\n")})
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.text)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.path, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
	}
	record.WriteString(info + "RECORD,,\n")
	files = append(files, file{info + "RECORD", 0o644, []byte(record.String())})

	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)} // the same build gives the same wheel
		header.SetMode(f.mode)
		w, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
