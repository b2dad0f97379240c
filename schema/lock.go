package schema

import (
	"fmt"
	"regexp"
	"strings"
)

// LockedError says that another process holds the warehouse.
type LockedError struct {
	File    string
	Program string // as DuckDB names it; may be empty
	PID     string // may be empty
}

// Holder names the process that holds the warehouse.
func (e *LockedError) Holder() string {
	if e.PID == "" {
		return "another process"
	}
	return strings.TrimSpace(fmt.Sprintf("process %s %s", e.PID, e.Program))
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is in use by %s: try again when it has finished", e.File, e.Holder())
}

// DuckDB's text: Could not set lock on file "X": Conflicting lock is held in /bin/prof (PID 28837).
var lockText = regexp.MustCompile(`Conflicting lock is held in (.*?) ?\(PID (\d+)\)`)

// asLocked reads DuckDB's error about a file held by another process; nil for every other error and for none.
func asLocked(err error, home Home) *LockedError {
	if err == nil || !strings.Contains(err.Error(), "Could not set lock on file") {
		return nil
	}
	e := &LockedError{File: home.Warehouse()}
	if m := lockText.FindStringSubmatch(err.Error()); m != nil {
		e.Program, e.PID = strings.Trim(m[1], `"`), m[2]
		if e.Program != "" {
			e.Program = "(" + e.Program + ")"
		}
	}
	return e
}

func isPermission(err error) bool {
	t := strings.ToLower(err.Error()) // Go writes it so, DuckDB with a capital
	return strings.Contains(t, "permission denied") || strings.Contains(t, "read-only file system")
}
