// Package tracer builds the tracer of prof: a library that CUDA and NVTX load into a workload, which writes what the workload does in the format of
// docs/trace-format.md. Its source is C, because it is compiled against the CUPTI of the machine: the structs of CUPTI's records
// differ from version to version. CUPTI and its headers come with the CUDA toolkit and with the wheels of PyTorch and Triton.
package tracer

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"prof/internal/child"
	"prof/internal/file"
)

//go:embed source/tracer.c
var source []byte

// Version is that of the tracer, which the trace repeats.
const Version = "1"

// Errors that Build's errors wrap.
var (
	ErrNoHeaders  = errors.New("no headers of CUPTI")
	ErrNoCompiler = errors.New("no C compiler")
)

// Places are where a build may find what it needs, best first.
type Places struct {
	Compilers []string // paths of C compilers
	Includes  []string // folders with cupti.h
	Libraries []string // paths of libcupti
	Cache     string   // folder of built libraries
}

// Library is a built tracer.
type Library struct {
	Path    string
	Include string // folder of the headers
	CUPTI   string // path of libcupti for a workload that loads none; "" when none is known
}

// compileTimeout is far above the second that it takes.
const compileTimeout = 2 * time.Minute

// Build compiles the tracer with the first compiler and the first headers with which that works, or finds the one that it has built before.
func Build(ctx context.Context, p Places) (Library, error) {
	includes := withHeaders(p.Includes)
	switch {
	case len(includes) == 0:
		return Library{}, fmt.Errorf("%w: cupti.h comes with PyTorch's and Triton's wheels and with the CUDA toolkit (apt-get install cuda-cupti-dev-13-0)", ErrNoHeaders)
	case len(p.Compilers) == 0:
		return Library{}, fmt.Errorf("%w: install gcc, or set CC", ErrNoCompiler)
	}
	var failed []error
	for _, compiler := range p.Compilers {
		for _, include := range includes {
			path, err := build(ctx, p, compiler, include)
			if err == nil {
				return Library{Path: path, Include: include, CUPTI: first(p.Libraries)}, nil
			}
			if ctx.Err() != nil {
				return Library{}, ctx.Err()
			}
			failed = append(failed, fmt.Errorf("%s with the headers in %s: %w", compiler, include, err))
		}
	}
	return Library{}, fmt.Errorf("the tracer cannot be compiled: %w", errors.Join(failed...))
}

// withHeaders are the folders in which the headers are.
func withHeaders(folders []string) (out []string) {
	for _, dir := range folders {
		if isFile(filepath.Join(dir, "cupti.h")) {
			out = append(out, dir)
		}
	}
	return out
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

func first(paths []string) string {
	for _, p := range paths {
		if isFile(p) {
			return p
		}
	}
	return ""
}

// build returns the path of the library for a compiler and headers.
func build(ctx context.Context, p Places, compiler, include string) (string, error) {
	version, err := file.Read(filepath.Join(include, "cupti_version.h"), 1<<20)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, part := range [][]byte{source, version, []byte(compiler), []byte(include)} {
		fmt.Fprintf(sum, "%d\n", len(part))
		sum.Write(part)
	}
	path := filepath.Join(p.Cache, "tracer-"+hex.EncodeToString(sum.Sum(nil)[:8])+".so")
	if isFile(path) {
		return path, nil
	}
	if err := file.MakeDir(p.Cache); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(p.Cache, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "tracer.c"), filepath.Join(dir, "tracer.so")
	if err := file.Write(in, source); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, compileTimeout)
	defer cancel()
	argv := []string{compiler, "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-I", include}
	for _, other := range p.Includes { // wheels of CUDA 12 have each package's headers in a folder of its own
		argv = append(argv, "-I", other)
	}
	argv = append(argv, in, "-o", out, "-ldl", "-lpthread")
	if said, err := child.Run(ctx, child.Command{Argv: argv, Env: os.Environ()}); err != nil {
		return "", fmt.Errorf("%w: %s", err, firstError(string(said.Stderr)))
	}
	// Whoever builds it at the same time builds the same.
	return path, os.Rename(out, path)
}

// firstError is the line of a compiler's output that says why.
func firstError(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		if strings.Contains(line, "error") {
			return strings.TrimSpace(line)
		}
	}
	return lines[0]
}

// Options are what a trace is to hold and where it goes.
type Options struct {
	Dir        string // folder of the trace, a file for each process
	GraphNodes bool   // a record for each kernel of a CUDA graph; else one for each launch of a graph
	Base       int64  // time 0, in nanoseconds of CLOCK_MONOTONIC
	Window     Window
}

// Window says when a process is traced. The zero Window is from its start to its end. Outside a window CUPTI records nothing, and ranges only cost
// the time to remember them.
type Window struct {
	Range       string        // from the start of a range of this name, alone or with an index in brackets; "": not by a range
	Domain      string        // of that range; "" is the default one, * any
	After       int           // instances of the range before the window
	Instances   int           // of the range in the window; 0: to the end of the process
	ProfilerAPI bool          // from cudaProfilerStart to cudaProfilerStop
	Delay       time.Duration // from so long after time 0
	Duration    time.Duration // for so long; 0: to the end
	Switch      string        // while this file begins with SwitchOn; "": no such file
	Each        bool          // with Switch: each window has files of its own, in the folder that the switch names, see SwitchOn
}

// What a switch says, in its first line.
const (
	SwitchOn    = "on"    // trace; with Window.Each the folder of this window's files follows, after a space
	SwitchWatch = "watch" // trace nothing, but count kernel and graph launches into PID.launches in the folder of the trace, five times a second
	SwitchOff   = "off"
)

func (w Window) env() (env []string) {
	if w.Range != "" {
		env = append(env, "PROF_TRACE_RANGE="+w.Range, "PROF_TRACE_DOMAIN="+w.Domain, fmt.Sprintf("PROF_TRACE_AFTER=%d", w.After), fmt.Sprintf("PROF_TRACE_WINDOW=%d", w.Instances))
	}
	if w.ProfilerAPI {
		env = append(env, "PROF_TRACE_API=1")
	}
	if w.Delay > 0 {
		env = append(env, fmt.Sprintf("PROF_TRACE_DELAY=%d", w.Delay))
	}
	if w.Duration > 0 {
		env = append(env, fmt.Sprintf("PROF_TRACE_DURATION=%d", w.Duration))
	}
	if w.Switch != "" {
		env = append(env, "PROF_TRACE_SWITCH="+w.Switch)
	}
	if w.Each {
		env = append(env, "PROF_TRACE_EACH=1")
	}
	return env
}

// Env is what the environment of a workload must have so that it is traced.
func (l Library) Env(o Options) []string {
	env := []string{"CUDA_INJECTION64_PATH=" + l.Path, "NVTX_INJECTION64_PATH=" + l.Path, "PROF_TRACE_DIR=" + o.Dir, fmt.Sprintf("PROF_TRACE_BASE=%d", o.Base)}
	if !o.GraphNodes {
		env = append(env, "PROF_TRACE_GRAPH=graph")
	}
	if l.CUPTI != "" {
		env = append(env, "PROF_TRACE_CUPTI="+l.CUPTI)
	}
	return append(env, o.Window.env()...)
}
