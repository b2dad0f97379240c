package schema

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"prof/internal/mask"
)

// MostRunName bounds names of runs, in characters: tables and paths hold them.
const MostRunName = 200

// CheckRunName refuses names that read like another way to name a run.
func CheckRunName(name string) error {
	switch {
	case IsReference(name):
		return fmt.Errorf("run name %q: names that begin with @, tag: or baseline: are reserved", name)
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("run name %q: it looks like an option", name)
	case uuid.Validate(name) == nil:
		return fmt.Errorf("run name %q: it looks like a run id", name)
	case !utf8.ValidString(name):
		return fmt.Errorf("run name %q: it is not UTF-8", name)
	case utf8.RuneCountInString(name) > MostRunName:
		return fmt.Errorf("run name %q...: it has %d characters, more than %d", string([]rune(name)[:20]), utf8.RuneCountInString(name), MostRunName)
	case strings.TrimSpace(name) != name, strings.ContainsFunc(name, isUnprintable):
		return fmt.Errorf("run name %q: it must not begin or end with a space or contain control or format characters", name)
	case mask.Text(name) != name:
		return fmt.Errorf("run name %q: it looks like a secret", mask.Text(name))
	}
	return nil
}

// isUnprintable reports whether a character cannot be seen, moves a cursor or reorders a line.
func isUnprintable(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r != ' ' && unicode.IsSpace(r)
}
