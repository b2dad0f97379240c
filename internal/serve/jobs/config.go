package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/goccy/go-yaml/ast"

	"prof/capture/plan"
	"prof/internal/file"
)

// ConfigName is the file of a home that says what jobs may run.
const ConfigName = "serve.yaml"

// maxConfig bounds it.
const maxConfig = 1 << 20

// ErrConfig is wrapped by errors about what serve.yaml says.
var ErrConfig = errors.New("invalid settings")

// Config is what serve.yaml says.
type Config struct {
	Jobs      Limits
	Uploads   UploadLimits
	Templates []*Template // by name
}

// Limits bound the jobs.
type Limits struct {
	Queue   int           `yaml:"queue"`    // that wait
	Keep    int           `yaml:"keep"`     // that have ended and are still listed
	LogSize int64         `yaml:"log_size"` // of a job's log
	Timeout time.Duration `yaml:"timeout"`  // of a job whose template names none
	Grace   time.Duration `yaml:"grace"`    // from the interrupt that stops a job to SIGTERM
}

// UploadLimits bound the uploads.
type UploadLimits struct {
	Count  int           `yaml:"count"`   // that are there at once
	Size   int64         `yaml:"size"`    // of one file
	Free   int64         `yaml:"free"`    // of the disk that stay free
	MaxAge time.Duration `yaml:"max_age"` // from the last byte until what was not ingested is removed
}

type configFile struct {
	Jobs      Limits                  `yaml:"jobs"`
	Uploads   UploadLimits            `yaml:"uploads"`
	Templates map[string]templateFile `yaml:"templates"`
	Node      ast.Node                `yaml:"-"`
}

// DefaultConfig holds where serve.yaml says nothing else.
func DefaultConfig() Config {
	return Config{
		Jobs:    Limits{Queue: 16, Keep: 200, LogSize: 16 << 20, Timeout: 2 * time.Hour, Grace: 30 * time.Second},
		Uploads: UploadLimits{Count: 64, Size: 16 << 30, Free: 2 << 30, MaxAge: 24 * time.Hour},
	}
}

// ReadConfig reads serve.yaml; a file that is not there says nothing. A relative folder is below that of the file.
func ReadConfig(path string, options CaptureOptions) (Config, error) {
	c := DefaultConfig()
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err := onlyOurs(path); err != nil {
		return c, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	f := configFile{Jobs: c.Jobs, Uploads: c.Uploads}
	err := plan.ReadYAML(path, maxConfig, ErrConfig, &f, func() error {
		if err := f.check(); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(f.Templates)) {
			t, err := f.Templates[name].template(f.Node, name, filepath.Dir(path), options)
			if err != nil {
				return err
			}
			t.Timeout = cmp.Or(t.Timeout, f.Jobs.Timeout)
			c.Templates = append(c.Templates, t)
		}
		return nil
	})
	c.Jobs, c.Uploads = f.Jobs, f.Uploads
	return c, err
}

// onlyOurs refuses a file that another user could change: it names commands that this one runs.
func onlyOurs(path string) error {
	if err := file.NoLink(path); err != nil {
		return err
	}
	for _, p := range []string{path, filepath.Dir(path)} {
		st, err := os.Stat(p)
		if err != nil {
			return err
		}
		if st.Mode().Perm()&0o022 != 0 {
			return fmt.Errorf("%s: users other than its owner can change it, and with it what the server runs: chmod go-w %[1]s (if a team shares the home, keep the file elsewhere: --config)", p)
		}
		if sys, ok := st.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Getuid() && sys.Uid != 0 {
			return fmt.Errorf("%s: it belongs to another user, who could change what the server runs", p)
		}
	}
	return nil
}

// check finds limits that cannot be.
func (f *configFile) check() error {
	for _, l := range []struct {
		name string
		ok   bool
	}{
		{"jobs.queue: it must be from 1 to 10000", f.Jobs.Queue >= 1 && f.Jobs.Queue <= 10_000},
		{"jobs.keep: it must be from 1 to 100000", f.Jobs.Keep >= 1 && f.Jobs.Keep <= 100_000},
		{"jobs.log_size: it must be from 128KiB to 1GiB", f.Jobs.LogSize >= 128<<10 && f.Jobs.LogSize <= 1<<30},
		{"jobs.timeout: it must be more than 0", f.Jobs.Timeout > 0},
		{"jobs.grace: it must be from 0 to 1h", f.Jobs.Grace >= 0 && f.Jobs.Grace <= time.Hour},
		{"uploads.count: it must be from 1 to 10000", f.Uploads.Count >= 1 && f.Uploads.Count <= 10_000},
		{"uploads.size: it must be at least 1", f.Uploads.Size >= 1},
		{"uploads.free: it must be at least 0", f.Uploads.Free >= 0},
		{"uploads.max_age: it must be at least 1m", f.Uploads.MaxAge >= time.Minute},
	} {
		if !l.ok {
			return plan.YAMLErrorf(f.Node, "%s", l.name)
		}
	}
	return nil
}
