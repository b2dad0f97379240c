package ingest

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"prof/schema"
)

// checkFree refuses a run name that is in use; a name of our own making gets a number behind it instead.
func (in *ingester) checkFree() error {
	for base, i := in.o.Name, 2; in.o.OwnName; i++ {
		var n int
		if err := in.conn.QueryRowContext(in.ctx, `SELECT count(*) FROM run WHERE name = ?`, in.o.Name).Scan(&n); err != nil || n == 0 {
			return err
		}
		in.o.Name = fmt.Sprintf("%s-%d", base, i)
	}
	var n int
	err := in.conn.QueryRowContext(in.ctx, `SELECT count(*) FROM run WHERE name = ?`, in.o.Name).Scan(&n)
	if err == nil && n > 0 {
		err = fmt.Errorf("%w: %q; choose another --run; to add files to it, give all of its files with --replace; or `prof rm %s` first", schema.ErrNameTaken, in.o.Name, in.o.Name)
	}
	return err
}

// defaultName is the UTC time and the first file's short name.
func defaultName(now time.Time, path string) string {
	base := Stem(filepath.Base(filepath.Clean(path)))
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, base)
	return now.UTC().Format("20060102-150405") + "-" + strings.Trim(clean, "-.")
}

// checkName refuses names that could not be told from other ways to name a run.
func checkName(name string) error {
	switch {
	case schema.IsReference(name):
		return fmt.Errorf("run name %q: names that begin with @, tag: or baseline: are reserved", name)
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("run name %q: it looks like an option", name)
	case uuid.Validate(name) == nil:
		return fmt.Errorf("run name %q: it looks like a run id", name)
	case !utf8.ValidString(name):
		return fmt.Errorf("run name %q: it is not UTF-8", name)
	case strings.TrimSpace(name) != name, strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7F }):
		return fmt.Errorf("run name %q: it must not begin or end with a space or contain control characters", name)
	}
	return nil
}
