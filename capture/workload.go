package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"prof/capture/machine"
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

// WorkloadName is a short name for a command: that of its program, or of the script or module that an interpreter runs.
func WorkloadName(argv []string) string {
	if len(argv) == 0 {
		return "workload"
	}
	name := filepath.Base(argv[0])
	if rest := argv[1:]; strings.HasPrefix(name, "python") || name == "torchrun" || name == "bash" || name == "sh" {
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
