// Package schema is the warehouse itself: where it lives, how it is opened, its tables and migrations, and its runs.
package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"prof/internal/file"
	"prof/schema/rundir"
)

// HomeName is the folder that holds a project's warehouse and runs.
const HomeName = ".prof"

// warehouseFile is the DuckDB file inside a home.
const warehouseFile = "warehouse.duckdb"

// Home is the folder that holds a warehouse and the run directories.
type Home struct {
	Dir    string
	Shared bool  // if it is made, then for its user's group too
	Lake   *Lake // where the warehouse is, if not in Dir
}

// FindHome returns the home to use: override when set, else the nearest .prof folder in dir or above it, else dir/.prof,
// which need not exist yet.
//
// The address of a lake (LakePrefix) as override puts the warehouse there, and so does a config.yaml in the folder that names one.
func FindHome(dir, override string) (Home, error) {
	at := override
	if strings.HasPrefix(override, LakePrefix) {
		at = ""
	}
	h, err := findHome(dir, at)
	if err == nil && at != override {
		h.Lake = &Lake{Catalog: override}
		if err = h.Lake.check(); err == nil {
			err = h.Lake.settle(dir)
		}
	} else if err == nil {
		h.Lake, err = configured(filepath.Join(h.Dir, rundir.ConfigName))
	}
	if err == nil && strings.Contains(h.Dir, "?") {
		err = fmt.Errorf("%s: DuckDB takes what follows a ? for options: choose a home without one", h.Dir)
	}
	return h, err
}

func findHome(dir, override string) (Home, error) {
	if override != "" {
		abs, err := filepath.Abs(override)
		return Home{Dir: abs}, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Home{}, err
	}
	for d := dir; ; d = filepath.Dir(d) {
		if st, err := os.Stat(filepath.Join(d, HomeName)); err == nil && st.IsDir() {
			return Home{Dir: filepath.Join(d, HomeName)}, nil
		}
		if d == filepath.Dir(d) {
			return Home{Dir: filepath.Join(dir, HomeName)}, nil
		}
	}
}

// String is where the warehouse is, for people.
func (h Home) String() string {
	if h.Lake != nil {
		return h.Lake.String()
	}
	return h.Dir
}

// Warehouse is the path of the DuckDB file.
func (h Home) Warehouse() string { return filepath.Join(h.Dir, warehouseFile) }

// Temp is the folder for files that a running command needs: unpacked captures and what DuckDB spills. It is emptied when a
// writer starts, so its name must be one that nobody else uses: a home may be any folder of the user's.
func (h Home) Temp() string { return h.Warehouse() + ".tmp" }

// Exists reports whether the home has a warehouse; of a lake, opening it says that. An empty file is none: a process that was killed while making it left it.
func (h Home) Exists() bool {
	if h.Lake != nil {
		return true
	}
	st, err := os.Stat(h.Warehouse())
	return err == nil && st.Size() > 0
}

// Make creates the home on first use, for nobody else to read unless it is shared, with a .gitignore of its own, so that captures never enter a repository. A folder under
// another name that holds something already gets none: it would hide the user's own files from git.
func (h Home) Make() error {
	if err := file.MakeHome(h.Dir, h.Shared); err != nil {
		return fmt.Errorf("make the home %s: %w", h.Dir, err)
	}
	if filepath.Base(h.Dir) != HomeName {
		if entries, err := os.ReadDir(h.Dir); err != nil || len(entries) > 0 {
			return err
		}
	}
	ignore := filepath.Join(h.Dir, ".gitignore")
	if _, err := os.Stat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := file.Write(ignore, []byte("*\n")); err != nil {
			return fmt.Errorf("make the home %s: %w", h.Dir, err)
		}
	}
	return nil
}
