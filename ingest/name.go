package ingest

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"prof/internal/mask"
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
		err = fmt.Errorf("%w: %q; choose another --run; to add files to it, give them with --add; to make it anew, give all of its files with --replace, or `prof rm %s` first", schema.ErrNameTaken, in.o.Name, in.o.Name)
	}
	return err
}

// defaultName is the UTC time and the first file's short name.
func defaultName(now time.Time, path string) string {
	base := mask.Text(Stem(filepath.Base(filepath.Clean(path))))
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, base)
	return now.UTC().Format("20060102-150405") + "-" + strings.Trim(clean[:min(len(clean), mostNameCharacters/2)], "-.")
}

// mostNameCharacters bounds names of runs, which tables and paths hold.
const mostNameCharacters = 200

// isUnprintable says whether a character cannot be seen, moves a cursor or reorders a line.
func isUnprintable(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r != ' ' && unicode.IsSpace(r)
}

// CheckName refuses names that could not be told from other ways to name a run.
func CheckName(name string) error {
	switch {
	case schema.IsReference(name):
		return fmt.Errorf("run name %q: names that begin with @, tag: or baseline: are reserved", name)
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("run name %q: it looks like an option", name)
	case uuid.Validate(name) == nil:
		return fmt.Errorf("run name %q: it looks like a run id", name)
	case !utf8.ValidString(name):
		return fmt.Errorf("run name %q: it is not UTF-8", name)
	case utf8.RuneCountInString(name) > mostNameCharacters:
		return fmt.Errorf("run name %q...: it has %d characters, more than %d", string([]rune(name)[:20]), utf8.RuneCountInString(name), mostNameCharacters)
	case strings.TrimSpace(name) != name, strings.ContainsFunc(name, isUnprintable):
		return fmt.Errorf("run name %q: it must not begin or end with a space or contain control or format characters", name)
	case mask.Text(name) != name:
		return fmt.Errorf("run name %q: it looks like a secret", mask.Text(name))
	}
	return nil
}
