package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"prof/capture/machine"
	"slices"
	"strings"
)

// CheckWorkload finds before anything is run that it could not be.
func CheckWorkload(m machine.Machine, argv []string, dir string) error {
	if len(argv) == 0 {
		return fmt.Errorf("%w: no command was given; write it after --, as in: prof capture -- python3 run.py", ErrNoWorkload)
	}
	name := argv[0]
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		st, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: %s does not exist", ErrNoWorkload, argv[0])
		case err != nil:
			return fmt.Errorf("%w: %w", ErrNoWorkload, err)
		case st.IsDir() || st.Mode()&0o111 == 0:
			return fmt.Errorf("%w: %s is not executable", ErrNoWorkload, argv[0])
		}
		return nil
	}
	if _, err := m.WithDefaults().LookPath(name); err != nil {
		return fmt.Errorf("%w: %s is not on the PATH", ErrNoWorkload, name)
	}
	return nil
}

// MissingScript is the script that an interpreter or a launcher of ranks is to run, as the command line has it, where that is not there; "" where it is, or
// where none is named by a path. A program may look for it elsewhere, so that only the workload itself knows.
func MissingScript(argv []string, dir string) string {
	at := slices.IndexFunc(argv, runsScripts) // behind wrappers, as in numactl -N 0 python3 run.py
	if at < 0 {
		return ""
	}
	for _, a := range argv[at+1:] {
		if a == "-m" || a == "-c" {
			return ""
		}
		if ext := filepath.Ext(a); strings.HasPrefix(a, "-") || ext != ".py" && ext != ".sh" {
			continue
		}
		path := a
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return a
		}
		return ""
	}
	return ""
}

// runsScripts reports whether a program runs the script that its arguments name.
func runsScripts(program string) bool {
	name := filepath.Base(program)
	return strings.HasPrefix(name, "python") || name == "torchrun" || name == "bash" || name == "sh"
}

// WorkloadName is a short name for a command: that of its program, or of the script or module that an interpreter runs.
func WorkloadName(argv []string) string {
	if len(argv) == 0 {
		return "workload"
	}
	name := filepath.Base(argv[0])
	if rest := argv[1:]; runsScripts(name) {
		for i, a := range rest {
			if a == "-m" && i+1 < len(rest) {
				return rest[i+1]
			}
			if a == "-c" {
				break
			}
			if !strings.HasPrefix(a, "-") && strings.ContainsRune(filepath.Base(a), '.') {
				base := filepath.Base(a)
				return strings.TrimSuffix(base, filepath.Ext(base))
			}
		}
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// isPipe reports whether a stdin is a pipe or socket that somebody may have written to.
func isPipe(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0
}
