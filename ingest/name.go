package ingest

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

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
	return now.UTC().Format("20060102-150405") + "-" + strings.Trim(clean[:min(len(clean), schema.MostRunName/2)], "-.")
}
