package schema

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// Digest names what a warehouse has of a run: while it stays the same in a process, so do the answers about the run, however often the warehouse was written. What
// writes rows, and when, need not be known: each is hashed.
type Digest struct {
	Rows  string // of the run's rows, and of the rules and peaks that all runs share
	Names string // of its tags and baselines
}

// named are the tables of the names that people give runs.
var named = []string{"run_tag", "baseline"}

// digests returns the digests of all runs by id, or with an id that of one run. A gigabyte of rows takes about a second.
func (w *Warehouse) digests(ctx context.Context, runID string) (map[string]Digest, error) {
	tables, err := runTables(ctx, w.DB)
	if err != nil {
		return nil, err
	}
	if w.Home.Lake != nil { // what was pushed of each run, the lake knows
		tables = append([]string{"pushed_run", "derivation"}, named...)
	}
	of := ""
	if runID != "" {
		of = " WHERE run_id = " + Quote(runID) + "::UUID"
	}
	var parts []string
	for _, t := range tables {
		isName := slices.Contains(named, t)
		parts = append(parts, fmt.Sprintf("SELECT run_id, %t AS is_name, '%s ' || count(*) || ' ' || sum(hash(t)) AS digest FROM %[2]s t%s GROUP BY run_id", isName, t, of))
	}
	known, err := knownMigrations()
	if err != nil {
		return nil, err
	}
	shared, err := madeTables(known, func(t ddlTable) bool { return t.columns[0][0] != "run_id" })
	if err != nil {
		return nil, err
	}
	for _, t := range shared {
		parts = append(parts, fmt.Sprintf("SELECT NULL, false, '%s ' || count(*) || ' ' || coalesce(sum(hash(t)), 0) FROM %[1]s t", t))
	}
	rows, err := w.DB.QueryContext(ctx, "SELECT run_id::VARCHAR, is_name, md5(string_agg(digest, ' ' ORDER BY digest)) FROM ("+strings.Join(parts, "\nUNION ALL ")+") GROUP BY run_id, is_name")
	if err != nil {
		return nil, fmt.Errorf("digest of runs: %w", err)
	}
	defer rows.Close()
	out, ofShared := map[string]Digest{}, ""
	for rows.Next() {
		var id sql.NullString
		var isName bool
		var digest string
		if err := rows.Scan(&id, &isName, &digest); err != nil {
			return nil, fmt.Errorf("digest of runs: %w", err)
		}
		d := out[id.String]
		switch {
		case !id.Valid:
			ofShared = digest
			continue
		case isName:
			d.Names = digest
		default:
			d.Rows = digest
		}
		out[id.String] = d
	}
	for id, d := range out {
		d.Rows += ofShared
		out[id] = d
	}
	return out, rows.Err()
}
