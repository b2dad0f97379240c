package schema

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// ForgetImages makes this process look for kept files again, as another process would.
func ForgetImages() {
	images.Lock()
	defer images.Unlock()
	images.known, images.told = nil, false
}

// LakeImage is the file with the views and macros for a lake.
func LakeImage(ctx context.Context, o Options, dir string) ([]byte, error) {
	return image(ctx, lakeImage, o, dir)
}

// WithMigration adds a migration to those of the program until the test ends.
func WithMigration(t *testing.T, text string) {
	known, err := knownMigrations()
	if err != nil {
		t.Fatal(err)
	}
	before := knownMigrations
	t.Cleanup(func() { knownMigrations = before })
	next := migration{version: len(known) + 1, name: "news", sql: text, checksum: checksum(text)}
	knownMigrations = func() ([]migration, error) { return append(slices.Clone(known), next), nil }
}

// arrived are the tables of a run that is here, as if they came from elsewhere.
func arrived(ctx context.Context, q SQL, runID string) (a arrival, s sound, err error) {
	tables, err := captured(ctx, q)
	if err != nil {
		return a, s, err
	}
	counts, err := countRows(ctx, q, "", tables, runID)
	if err != nil {
		return a, s, err
	}
	columns, err := columnsOf(ctx, q, tables)
	a = arrival{tables: tables, columns: columns, counts: counts, rows: func(table string) (string, error) { return rowsOf("", table, runID), nil }}
	return a, sound{runID: runID, columns: columns, most: map[[2]string]int64{}, owners: map[string][2]int64{}}, err
}

// CheckSound holds the rows of a run that is here as if they came from elsewhere.
func CheckSound(ctx context.Context, q SQL, runID string) error {
	a, s, err := arrived(ctx, q, runID)
	if err != nil {
		return err
	}
	for _, t := range a.tables {
		if a.counts[t] > 0 {
			err = errors.Join(err, s.checkRows(ctx, q, t))
		}
	}
	if err != nil {
		return err
	}
	if err := s.checkTies(ctx, q, a.tables, a.counts); err != nil {
		return err
	}
	found, err := texts(q.QueryContext(ctx, "SELECT concat_ws(' ', f.kind, f.source_id, f.device_id, f.work_count) FROM ("+strings.ReplaceAll(workFaults, "$run", Quote(runID)+"::UUID")+") f"))
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("more than the ingest found: %q", found)
	}
	return err
}

// Secrets are the texts of a run that is here that would be masked if they came from elsewhere.
func Secrets(ctx context.Context, q SQL, runID string) ([]string, error) {
	a, _, err := arrived(ctx, q, runID)
	if err != nil {
		return nil, err
	}
	m, err := a.findSecrets(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []string
	for t, columns := range m.texts {
		for c, texts := range columns {
			for _, x := range texts {
				out = append(out, t+"."+c+": "+x.text+" as "+x.shown)
			}
		}
	}
	return out, nil
}

// clean are the tables of a run that is here, with what their checks know.
func clean(ctx context.Context, q SQL, runID string) (a arrival, s sound, err error) {
	a, s, err = arrived(ctx, q, runID)
	for _, t := range a.tables {
		if err == nil && a.counts[t] > 0 {
			err = s.checkRows(ctx, q, t)
		}
	}
	return a, s, err
}

// checkAgain holds the rows of a table that has changed, and what they are tied to.
func checkAgain(ctx context.Context, q SQL, a arrival, clean sound, table string) error {
	s := clean
	s.most, s.owners = maps.Clone(clean.most), maps.Clone(clean.owners)
	if err := s.checkRows(ctx, q, table); err != nil {
		return err
	}
	return s.checkTies(ctx, q, a.tables, a.counts)
}

// Checks gives a check of a run that is here and sound, for a table of which rows have changed then.
func Checks(ctx context.Context, q SQL, runID string) (func(q SQL, table string) error, error) {
	a, s, err := clean(ctx, q, runID)
	if err == nil {
		err = s.checkTies(ctx, q, a.tables, a.counts)
	}
	return func(q SQL, table string) error { return checkAgain(ctx, q, a, s, table) }, err
}

// Spoil are values that columns of a run's tables cannot have, by table and column. check holds the rows of the table once they have one.
func Spoil(ctx context.Context, q SQL, runID string, spoil func(table, column, value string, check func(q SQL) error)) error {
	a, clean, err := clean(ctx, q, runID)
	if err != nil {
		return err
	}
	far := fmt.Sprint(IDBase(runID) + MaxIDs)
	for _, t := range a.tables {
		if a.counts[t] == 0 {
			continue
		}
		alone := func(q SQL) error {
			s := clean
			s.most, s.owners = maps.Clone(clean.most), maps.Clone(clean.owners)
			return s.checkRows(ctx, q, t)
		}
		whole := func(q SQL) error { return checkAgain(ctx, q, a, clean, t) }
		for _, c := range a.columns[t] {
			switch {
			case strings.Contains(beyond(t, c, false), "< 0"), strings.Contains(beyond(t, c, false), "BETWEEN 0"):
				spoil(t, c.name, "-1", alone)
			case beyond(t, c, false) != "" && c.kind == "DOUBLE":
				spoil(t, c.name, "'nan'::DOUBLE", alone)
			case Words(t, c.name) != nil:
				spoil(t, c.name, "'evil'", alone)
			case idOwner(t, c.name) == "" || isKey(t, c.name) && idOwner(t, c.name) == t:
			case strings.HasSuffix(c.kind, "[]"):
				spoil(t, c.name, "list_append("+c.name+", "+far+")", whole)
			default:
				spoil(t, c.name, far, whole)
			}
			if c.name == "source_id" && t != "source" {
				spoil(t, c.name, "77", whole)
			}
		}
	}
	return nil
}
