package schema_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"prof/internal/testkit"
	"prof/schema/seed"
)

// TestUsersRelationsStay holds that a table or view of the user's that bears a query's name neither stops an update of the
// definitions nor is replaced by it.
func TestUsersRelationsStay(t *testing.T) {
	home := fresh(t)
	change(t, home, `DROP VIEW runs`, `CREATE TABLE runs (mine VARCHAR)`, `INSERT INTO runs VALUES ('kept')`,
		`DROP MACRO TABLE stages`, `CREATE MACRO stages(x) AS TABLE SELECT x AS mine`, `DELETE FROM schema_version WHERE version = 0`)
	w := open(t, home, false, nil)
	defer done(t, w)
	if got := testkit.Rows(t, w, `SELECT mine FROM runs`); len(got) != 1 || got[0] != "kept" {
		t.Errorf("the user's table holds %q", got)
	}
	if got := testkit.Rows(t, w, `SELECT mine FROM stages('too')`); len(got) != 1 || got[0] != "too" {
		t.Errorf("the user's macro gives %q", got)
	}
	if got := testkit.Rows(t, w, `SELECT run FROM runs_v1`); len(got) != 0 {
		t.Errorf("the query gives %q", got)
	}
}

// TestPeaks holds that the warehouse has the built-in peaks as they are, that an update of them replaces what is there, and that
// it leaves the user's rows.
func TestPeaks(t *testing.T) {
	home := fresh(t)
	users := []string{"Mine|dram||~|1e+12|measured|a run|2026-01-31"}
	change(t, home, `INSERT INTO device_peak VALUES ('user', 'Mine', 'dram', '', NULL, 1e12, 'measured', 'a run', DATE '2026-01-31')`,
		`DELETE FROM device_peak WHERE origin = 'builtin' AND resource = 'dram'`, `UPDATE device_peak SET flop_per_s = 1 WHERE origin = 'builtin'`,
		`INSERT INTO device_peak VALUES ('builtin', 'Gone', 'dram', '', NULL, 1, '', '', DATE '2026-01-31')`,
		`DELETE FROM schema_version WHERE version = 0`)
	peaks, err := seed.Peaks()
	if err != nil {
		t.Fatal(err)
	}
	var builtin []string
	for _, p := range peaks {
		flop, bytes := any(p.FlopPerS), any(p.BytesPerS)
		if p.Resource == "dram" {
			flop = "~"
		} else {
			bytes = "~"
		}
		builtin = append(builtin, fmt.Sprintf("%s|%s|%s|%v|%v|%s|%s|%s", p.Device, p.Resource, p.Accumulate, flop, bytes, p.Doc, p.Reference,
			p.CheckedOn.Format(time.DateOnly)))
	}
	slices.Sort(builtin)
	w := open(t, home, false, nil)
	defer done(t, w)
	for origin, want := range map[string][]string{"builtin": builtin, "user": users} {
		got := testkit.Rows(t, w, `SELECT device, resource, accumulate, flop_per_s, bytes_per_s, doc, reference, checked_on::VARCHAR FROM device_peak WHERE origin = ?`, origin)
		slices.Sort(got)
		same(t, origin, got, want)
	}
	if len(builtin) < 10 {
		t.Errorf("there are only %d built-in peaks", len(builtin))
	}
}
