package manifest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/schema/rundir"
)

// TestRead holds what a run.json may say of its passes and devices, and that an error names the place.
func TestRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), rundir.ManifestName)
	pass := func(id, name, more string) string {
		return fmt.Sprintf(`{"pass": %s, "name": %q, "tool": "nsys", "status": "ok"%s}`, id, name, more)
	}
	const plain = `, "repeat": 1, "started_at": "2025-01-02T03:04:05Z"`
	first := pass("1", "nsys-1", plain+`, "artifacts": ["nsys/a.sqlite", "nsys/a.nsys-rep"]`)
	for _, c := range []struct{ passes, devices, want string }{
		{first, `{"device": 0}, {"device": 2147483647}`, ""},
		{pass("2147483647", "a", `, "repeat": 2147483647, "started_at": "2025-01-02T03:04:05Z", "duration_ns": 0, "workload_ns": 0, "exit_code": -2147483648`), "", ""},
		{pass("1", "a", plain+`, "exit_code": 2147483647, "artifacts": ["a.sqlite", "a.sqlite.zst"]`), "", ""},
		{first + "," + pass("2", "nsys-2", plain+`, "artifacts": ["nsys/b.sqlite"]`), "", ""},
		{pass("1", "ncu-1", `, "repeat": 1, "started_at": "2025-01-02T03:04:05Z", "status": "not_run", "argv": []`), "", ""},
		{pass("0", "a", plain), "", "passes[0].pass is 0, want numbers from 1 to 2147483647, each once"},
		{first + "," + pass("2147483648", "a", plain), "", "passes[1].pass is 2147483648"},
		{first + "," + pass("4294967297", "a", plain), "", "passes[1].pass is 4294967297"}, // 1 in 32 bits
		{first + "," + pass("1", "a", plain), "", "passes[1].pass is 1"},
		{first + "," + pass("2", "", plain), "", "passes[1] has no name"},
		{first + "," + pass("2", "nsys-1", plain), "", `passes[1].name is "nsys-1", as of passes[0]`},
		{first + "," + pass("2", "a", plain+`, "artifacts": ["b", "nsys/a.sqlite"]`), "", `passes[1].artifacts[1] is "nsys/a.sqlite", which recording 1 names too`},
		{first + "," + pass("2", "a", plain+`, "artifacts": ["nsys/../nsys/a.sqlite.gz"]`), "", `passes[1].artifacts[0] is "nsys/../nsys/a.sqlite.gz", which recording 1 names too`},
		{pass("1", "a", plain+`, "artifacts": ["../a"]`), "", `passes[0] names "../a", which is not inside its folder`},
		{first + "," + pass("2", "a", `, "repeat": 1`), "", "passes[1] has no started_at"},
		{pass("1", "a", `, "repeat": 1, "started_at": "0001-01-01T00:00:00Z"`), "", "passes[0] has no started_at"},
		{pass("1", "a", `, "repeat": 1, "started_at": "9999-01-01T00:00:00Z"`), "", "passes[0].started_at is 9999-01-01T00:00:00Z, want a time from 1970 to 2261"},
		{pass("1", "a", `, "started_at": "2025-01-02T03:04:05Z"`), "", "passes[0].repeat is 0"},
		{pass("1", "a", `, "repeat": 2147483648, "started_at": "2025-01-02T03:04:05Z"`), "", "passes[0].repeat is 2147483648"},
		{pass("1", "a", plain+`, "duration_ns": -1`), "", "passes[0].duration_ns is -1"},
		{pass("1", "a", plain+`, "workload_ns": -9223372036854775808`), "", "passes[0].workload_ns is -9223372036854775808"},
		{pass("1", "a", plain+`, "artifact_bytes": -5`), "", "passes[0].artifact_bytes is -5"},
		{pass("1", "a", plain+`, "exit_code": 4294967296`), "", "passes[0].exit_code is 4294967296"}, // 0 in 32 bits
		{pass("1", "a", plain+`, "exit_code": -2147483649`), "", "passes[0].exit_code is -2147483649"},
		{first, `{"device": 0}, {"device": 0}`, "devices[1].device is 0, want numbers from 0 to 2147483647, each once"},
		{first, `{"device": -1}`, "devices[0].device is -1"},
		{first, `{"device": 0}, {"device": 4294967296}`, "devices[1].device is 4294967296"},
	} {
		text := fmt.Sprintf(`{"version": 1, "prof_version": "9", "run": "x", "started_at": "2025-01-02T03:04:05Z", "passes": [%s], "devices": [%s]}`, c.passes, c.devices)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Read(file, "x/run.json")
		switch {
		case c.want == "" && (err != nil || len(r.Manifest.Passes) == 0):
			t.Errorf("%s: %v", text, err)
		case c.want != "" && (!errors.Is(err, rundir.ErrManifest) || !strings.Contains(err.Error(), "x/run.json: ") || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", text, err, c.want)
		}
	}
}

// TestReadKept holds what a run.json may say of kept files.
func TestReadKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), rundir.ManifestName)
	for kept, want := range map[string]string{
		`{"path": "out/a b.json", "pass": 1, "size_bytes": 0}, {"path": "b", "pass": 1, "reason": "why"}`: "",
		`{"path": "a", "pass": 1}, {"path": "a", "pass": 1}`:                                              `kept[1].path is "a", want paths inside the working folder, each once`,
		`{"path": "../a", "pass": 1}`:                                                                     `kept[0].path is "../a"`,
		`{"path": "", "pass": 1}`:                                                                         `kept[0].path is ""`,
		`{"path": "a", "pass": 2}`:                                                                        `kept[0].pass is 2, and there is no such recording`,
		`{"path": "a", "pass": 1, "size_bytes": -1}`:                                                      `kept[0].size_bytes is -1`,
		`{"path": "a", "pass": 1, "size_bytes": "1k"}`:                                                    `size_bytes`,
	} {
		text := fmt.Sprintf(`{"version": 1, "prof_version": "9", "run": "x", "started_at": "2025-01-02T03:04:05Z", "kept": [%s],
			"passes": [{"pass": 1, "name": "nsys-1", "tool": "nsys", "status": "ok", "repeat": 1, "started_at": "2025-01-02T03:04:05Z"}]}`, kept)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path, "x/run.json")
		if (err == nil) != (want == "") || err != nil && (!errors.Is(err, rundir.ErrManifest) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", kept, err, want)
		}
	}
}
