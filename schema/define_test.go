package schema_test

import "testing"

// TestUsersRelationsStay holds that a table or view of the user's that bears a query's name neither stops an update of the
// definitions nor is replaced by it.
func TestUsersRelationsStay(t *testing.T) {
	home := fresh(t)
	change(t, home, `DROP VIEW runs`, `CREATE TABLE runs (mine VARCHAR)`, `INSERT INTO runs VALUES ('kept')`,
		`DROP MACRO TABLE stages`, `CREATE MACRO stages(x) AS TABLE SELECT x AS mine`, `DELETE FROM schema_version WHERE version = 0`)
	w := open(t, home, false, nil)
	defer done(t, w)
	if got := texts(t, w, `SELECT mine FROM runs`); len(got) != 1 || got[0] != "kept" {
		t.Errorf("the user's table holds %q", got)
	}
	if got := texts(t, w, `SELECT mine FROM stages('too')`); len(got) != 1 || got[0] != "too" {
		t.Errorf("the user's macro gives %q", got)
	}
	if got := texts(t, w, `SELECT run FROM runs_v1`); len(got) != 0 {
		t.Errorf("the query gives %q", got)
	}
}
