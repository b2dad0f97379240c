package machine

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"prof/internal/golden"
)

// TestFindPython: the interpreter is the one that the workload runs in.
func TestFindPython(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"direct": "#!/opt/v/bin/python3.11\nimport x\n", "env": "#!/usr/bin/env -S python3 -u\n", "shell": "#!/bin/sh\nexec true\n", "binary": "\x7fELF",
		"long": "#!/bin/sh\n'''exec' \"/a b/bin/python\" \"$0\" \"$@\"\n' '''\n",
	} {
		golden.Write(t, filepath.Join(dir, name), text)
	}
	known := map[string]string{"python3": "/usr/bin/python3", "/opt/v/bin/python3.11": "/opt/v/bin/python3.11", "/a b/bin/python": "/a b/bin/python",
		filepath.Join(dir, "v/bin/python"): filepath.Join(dir, "v/bin/python")}
	for _, name := range []string{"direct", "env", "shell", "binary", "long"} {
		known[name] = filepath.Join(dir, name)
	}
	m := Machine{LookPath: func(name string) (string, error) {
		if p, ok := known[name]; ok {
			return p, nil
		}
		return "", exec.ErrNotFound
	}}.WithDefaults()
	for argv, want := range map[string][2]string{
		"python3 run.py":                {"/usr/bin/python3", "the workload's command"},
		"v/bin/python run.py":           {filepath.Join(dir, "v/bin/python"), "the workload's command"},
		"numactl -N 0 python3 run.py":   {"/usr/bin/python3", "the workload's command"},
		"direct --x":                    {"/opt/v/bin/python3.11", "the first line of " + filepath.Join(dir, "direct")},
		"env":                           {"/usr/bin/python3", "the first line of " + filepath.Join(dir, "env")},
		"long":                          {"/a b/bin/python", "the first line of " + filepath.Join(dir, "long")},
		"shell":                         {"/usr/bin/python3", "the PATH, because the workload's command names none"},
		"binary":                        {"/usr/bin/python3", "the PATH, because the workload's command names none"},
		"python3.99 run.py":             {"/usr/bin/python3", "the PATH, because the workload's command names none"},
		"":                              {"/usr/bin/python3", "the PATH, because the workload's command names none"},
		"pythonic-server --port python": {"/usr/bin/python3", "the PATH, because the workload's command names none"},
	} {
		path, by, err := m.findPython(strings.Fields(argv), dir)
		if err != nil || path != want[0] || by != want[1] {
			t.Errorf("%q: %s, %s, %v", argv, path, by, err)
		}
	}
}

// TestPythonVersions asks a real interpreter, which must not import torch, nor take a module of the workload's folder for Python's.
func TestPythonVersions(t *testing.T) {
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	site := t.TempDir()
	golden.Write(t, filepath.Join(site, "torch/__init__.py"), "raise SystemExit('torch was imported')\n")
	golden.Write(t, filepath.Join(site, "torch/version.py"), "from typing import Optional\n__version__ = '9.8.7+cu1'\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n")
	golden.Write(t, filepath.Join(site, "transformers-5.1.dist-info/METADATA"), "Metadata-Version: 2.1\nName: transformers\nVersion: 5.1\n")
	golden.Write(t, filepath.Join(site, "sitecustomize.py"), "print('a site that talks', end='')\n")
	dir := t.TempDir()
	golden.Write(t, filepath.Join(dir, "json.py"), "raise SystemExit('the workload folder was imported')\n")
	m := Machine{}.WithDefaults()
	m.Environ = append(m.Environ, "PYTHONPATH="+site)
	py, err := m.ReadPython(t.Context(), []string{path, "run.py"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if py.Packages["torch"] != "9.8.7+cu1" || py.TorchCUDA != "13.0" || py.Packages["transformers"] != "5.1" || !strings.HasPrefix(py.Version, "3.") || py.Path != path {
		t.Errorf("%+v", py)
	}
	broken := Machine{}.WithDefaults()
	broken.Environ = append(broken.Environ, "PYTHONHOME=/nowhere")
	if py, err := broken.ReadPython(t.Context(), []string{path}, dir); py != nil || err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a broken interpreter: %+v, %v", py, err)
	}
}
