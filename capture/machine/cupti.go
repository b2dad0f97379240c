package machine

import (
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"prof/capture/envvar"
	"prof/capture/tracer"
)

//go:embed cupti_places.py
var cuptiPlaces string

// placesMark begins the line that cuptiPlaces prints.
const placesMark = "prof-cupti-places "

// toolkits are folders of the CUDA toolkit, as patterns.
var toolkits = []string{"/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda"}

// BuildTracer builds prof's own tracer for a workload: against the CUPTI of its Python, or else that of a CUDA toolkit.
func (m Machine) BuildTracer(ctx context.Context, argv []string, dir string) (tracer.Library, error) {
	p := m.cuptiOfPython(ctx, argv, dir)
	folders, patterns := []string{}, toolkits
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if v := m.Getenv(name); v != "" {
			folders = append(folders, v)
		}
	}
	if len(folders) > 0 { // as the user wants it
		patterns = nil
	}
	for _, pattern := range patterns {
		found, err := m.Glob(pattern)
		if err != nil { // only a malformed pattern is one
			panic(err)
		}
		folders = append(folders, found...)
	}
	for _, f := range folders {
		p.Includes = append(p.Includes, filepath.Join(f, "include"), filepath.Join(f, "extras", "CUPTI", "include"))
		for _, pattern := range []string{"lib64/libcupti.so", "extras/CUPTI/lib64/libcupti.so", "targets/*/lib/libcupti.so"} {
			found, err := m.Glob(filepath.Join(f, pattern))
			if err != nil {
				panic(err)
			}
			p.Libraries = append(p.Libraries, found...)
		}
	}
	for _, name := range []string{m.Getenv("CC"), "cc", "gcc", "clang"} {
		if name == "" {
			continue
		}
		if path, err := m.LookPath(name); err == nil {
			p.Compilers = append(p.Compilers, path)
			break
		}
	}
	p.Cache = TracerCache()
	return m.Build(ctx, p)
}

// TracerCache is the folder of built tracers.
func TracerCache() string {
	cache, err := os.UserCacheDir()
	if err != nil { // a user without a home
		cache = os.TempDir()
	}
	return filepath.Join(cache, "prof")
}

// cuptiOfPython asks the interpreter of a workload where the wheels of PyTorch and Triton keep CUPTI. Without such an interpreter there is none.
func (m Machine) cuptiOfPython(ctx context.Context, argv []string, dir string) (p tracer.Places) {
	path, _, err := m.findPython(argv, dir)
	if err != nil {
		return p
	}
	ctx, cancel := context.WithTimeout(ctx, pythonTimeout)
	defer cancel()
	out, err := m.Run(ctx, Command{Argv: []string{path, "-c", cuptiPlaces}, Env: envvar.ForTool(m.Environ), Dir: dir})
	if err != nil {
		return p
	}
	for line := range strings.Lines(string(out.Stdout)) {
		if text, ok := strings.CutPrefix(line, placesMark); ok && json.Unmarshal([]byte(text), &p) != nil {
			return tracer.Places{}
		}
	}
	return p
}
