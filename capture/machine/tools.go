package machine

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"prof/capture/envvar"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNoTool is wrapped by errors that say that a profiler is not on this machine.
var ErrNoTool = errors.New("not found")

// toolPlaces are the folders below which NVIDIA's packages put their profilers off the PATH, as patterns of the program's path.
var toolPlaces = map[string][]string{
	"nsys": {
		"/opt/nvidia/nsight-systems/*/bin/nsys",
		"/opt/nvidia/nsight-systems-cli/*/bin/nsys",
		"/opt/nvidia/nsight-systems*/bin/nsys",
		"/opt/nvidia/nsight-compute/*/host/target-linux-*/nsys", // ncu's package carries one, in images that have no other
		"/opt/nvidia/hpc_sdk/Linux_*/*/profilers/Nsight_Systems/bin/nsys",
		"/usr/local/cuda/bin/nsys",
		"/usr/local/cuda-*/bin/nsys",
	},
	"ncu": {
		"/opt/nvidia/nsight-compute/*/ncu",
		"/opt/nvidia/hpc_sdk/Linux_*/*/profilers/Nsight_Compute/ncu",
		"/usr/local/cuda/bin/ncu",
		"/usr/local/cuda-*/bin/ncu",
	},
}

// ToolOverride is the variable that names a profiler's path, above all else.
func ToolOverride(name string) string { return "PROF_" + strings.ToUpper(name) }

// toolPackage is what a user installs to get a profiler.
var toolPackage = map[string]string{"nsys": "nsight-systems-cli", "ncu": "nsight-compute"}

// FindTool returns the path of a profiler (nsys, ncu): the one that PROF_NSYS or PROF_NCU names, else the first on the PATH, else the
// newest in the places where NVIDIA's packages put it. Without one the error wraps ErrNoTool.
func (m Machine) FindTool(name string) (string, error) {
	if path := m.Getenv(ToolOverride(name)); path != "" {
		found, err := m.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("%s: %s=%s cannot be run: %w", name, ToolOverride(name), path, err)
		}
		return found, nil
	}
	path, err := m.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return path, err
	}
	if off := m.offPath(name); off != "" {
		return off, nil
	}
	return "", fmt.Errorf("%s: %w: it is neither on the PATH nor where NVIDIA's packages install it; see prof doctor", name, ErrNoTool)
}

// offPath returns the newest program in the well-known places, "" when there is none that can be run.
func (m Machine) offPath(name string) string {
	var found []string
	for _, pattern := range toolPlaces[name] {
		paths, err := m.Glob(pattern)
		if err != nil { // only a malformed pattern is one
			panic(err)
		}
		for _, p := range paths {
			if _, err := m.LookPath(p); err == nil && !slices.Contains(found, p) {
				found = append(found, p)
			}
		}
	}
	if len(found) == 0 {
		return ""
	}
	// The sort is stable: among paths of the same version, or none, the more particular place is first.
	slices.SortStableFunc(found, func(a, b string) int { return slices.Compare(pathVersion(b), pathVersion(a)) })
	return found[0]
}

var pathNumber = regexp.MustCompile(`\d+(?:\.\d+)+`)

// pathVersion is the last version in a path, nil when it has none. CUDA's own folders (cuda-13.0) count like the others' 2025.3.1:
// being smaller they come last, as they hold scripts that look for the profiler's own folder.
func pathVersion(path string) (version []int) {
	all := pathNumber.FindAllString(filepath.ToSlash(path), -1)
	if len(all) == 0 {
		return nil
	}
	for _, part := range strings.Split(all[len(all)-1], ".") {
		n, err := strconv.Atoi(part)
		if err != nil { // more digits than a version has
			return nil
		}
		version = append(version, n)
	}
	return version
}

func InstallAdvice(name string) string {
	if p := toolPackage[name]; p != "" {
		return fmt.Sprintf("install it (apt-get install %s, or NVIDIA's installer from https://developer.nvidia.com/tools-overview), or set %s to its path", p, ToolOverride(name))
	}
	return fmt.Sprintf("install it, or set %s to its path", ToolOverride(name))
}

// versionTimeout is far above what a tool takes to tell its version, from a slow file system too.
const versionTimeout = 20 * time.Second

var toolVersionText = regexp.MustCompile(`(?i)\bversion:?\s+v?(\d+(?:\.\d+)+\S*)`)

// ToolVersion returns the version that a profiler prints for --version, such as 2025.3.1.0.
func (m Machine) ToolVersion(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out, err := m.Run(ctx, Command{Argv: []string{path, "--version"}, Env: envvar.ForTool(m.Environ)})
	if err != nil {
		return "", fmt.Errorf("%s --version: %w%s", path, err, Said(out))
	}
	found := toolVersionText.FindSubmatch(out.Stdout)
	if found == nil {
		return "", fmt.Errorf("%s --version does not print a version: %s", path, firstLine(string(out.Stdout)))
	}
	return string(found[1]), nil
}
