package machine

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"prof/capture/envvar"
	"prof/internal/file"
)

// Python is the interpreter of a workload and the versions of what decides how it computes. A package that is not installed is not
// in Packages.
type Python struct {
	Path      string            `json:"path"`
	FoundBy   string            `json:"found_by"` // where the interpreter was named
	Version   string            `json:"version"`
	TorchCUDA string            `json:"torch_cuda,omitempty"` // CUDA that torch was built with
	Packages  map[string]string `json:"packages"`
}

// pythonTimeout is for an interpreter that starts from a slow file system; installed packages are looked up, none is imported.
const pythonTimeout = 10 * time.Second

//go:embed python_versions.py
var pythonVersions string

// PythonMark begins the line that pythonVersions prints: a site's own start-up code may print too.
const PythonMark = "prof-python-versions "

var pythonName = regexp.MustCompile(`^(?:python|pypy)[0-9.]*(?:\.exe)?$`)

// ReadPython asks the interpreter that a workload runs in. No such interpreter is an error, as is one that does not answer.
func (m Machine) ReadPython(ctx context.Context, argv []string, dir string) (*Python, error) {
	path, by, err := m.findPython(argv, dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pythonTimeout)
	defer cancel()
	out, err := m.Run(ctx, Command{Argv: []string{path, "-c", pythonVersions}, Env: envvar.ForTool(m.Environ), Dir: dir})
	if err != nil {
		return nil, fmt.Errorf("%s (%s): %w%s", path, by, err, Said(out))
	}
	lines := bufio.NewScanner(bytes.NewReader(out.Stdout))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), PythonMark); ok {
			p := Python{Path: path, FoundBy: by}
			if err := json.Unmarshal([]byte(text), &p); err != nil {
				return nil, fmt.Errorf("%s (%s): read its list of packages: %w", path, by, err)
			}
			return &p, nil
		}
	}
	return nil, fmt.Errorf("%s (%s): it did not list its packages", path, by)
}

// findPython finds the interpreter of a workload: the first word of the command line that is one, so that wrappers as in
// numactl -N 0 python3 run.py are seen through; else that of the script that is run, by its first line; else python3.
func (m Machine) findPython(argv []string, dir string) (path, by string, err error) {
	for _, word := range argv {
		if word == "--" || !pythonName.MatchString(filepath.Base(word)) {
			continue
		}
		if path, err := m.lookIn(word, dir); err == nil {
			return path, "the workload's command", nil
		}
	}
	if len(argv) > 0 {
		if script, err := m.lookIn(argv[0], dir); err == nil {
			if name := interpreter(script); name != "" {
				if path, err := m.lookIn(name, dir); err == nil {
					return path, "the first line of " + script, nil
				}
			}
		}
	}
	path, err = m.LookPath("python3")
	if err != nil {
		return "", "", errors.New("neither the workload's command nor the PATH has a Python")
	}
	return path, "the PATH, because the workload's command names none", nil
}

// lookIn finds a program as a shell in a folder does.
func (m Machine) lookIn(name, dir string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return m.LookPath(name)
}

// execPython is how pip writes the first lines of a script whose interpreter's path a #! line cannot hold.
var execPython = regexp.MustCompile(`(?m)^'''exec' "?([^"\n]+?)"? "\$0"`)

// interpreter is the Python that a script's first line names, "" when it names none.
func interpreter(script string) string {
	head, err := readHead(script)
	if err != nil || !strings.HasPrefix(head, "#!") {
		return ""
	}
	if found := execPython.FindStringSubmatch(head); found != nil {
		return found[1]
	}
	line, _, _ := strings.Cut(head[2:], "\n")
	for _, word := range strings.Fields(line) { // also /usr/bin/env -S NAME
		if pythonName.MatchString(filepath.Base(word)) {
			return word
		}
	}
	return ""
}

// readHead reads the beginning of a program, which may be large.
func readHead(path string) (string, error) {
	f, err := file.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1024))
	return string(text), err
}
