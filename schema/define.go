package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"prof/schema/facts/sql/findings"
	"prof/schema/seed"
)

// Definition is one view or table macro that the program installs in the warehouse. Definitions are code: they are
// dropped and built again whenever the set's checksum differs.
type Definition struct {
	Name    string   // as in SQL
	Params  []string // of a table macro, as declared: `run`, `top := 20`; nil for a view
	Body    string   // the SELECT
	Doc     string   // comment on the relation
	Columns [][2]string
	Scalar  bool // the body is an expression, and the definition a scalar macro
}

// Definitions are the views and macros of a program.
type Definitions interface {
	// Checksum identifies them; it is asked each time a warehouse is opened, the definitions only where they must be installed.
	Checksum() (string, error)
	Definitions() ([]Definition, error)
}

// IsMacro reports whether the definition takes parameters.
func (d Definition) IsMacro() bool { return d.Params != nil }

// define is the statement that makes it.
func (d Definition) define() string {
	params := strings.Join(d.Params, ", ")
	switch {
	case d.Scalar:
		return fmt.Sprintf("CREATE OR REPLACE MACRO %s(%s) AS (\n%s);", d.Name, params, d.Body)
	case d.IsMacro():
		return fmt.Sprintf("CREATE OR REPLACE MACRO %s(%s) AS TABLE\n%s;", d.Name, params, d.Body)
	}
	return fmt.Sprintf("CREATE OR REPLACE VIEW %s AS\n%s;", d.Name, d.Body)
}

// create makes it with its comments.
func (d Definition) create() string {
	kind := "VIEW"
	if d.Scalar {
		kind = "MACRO"
	} else if d.IsMacro() {
		kind = "MACRO TABLE"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nCOMMENT ON %s %s IS %s;\n", d.define(), kind, d.Name, Quote(d.Doc))
	if kind != "VIEW" {
		return b.String()
	}
	for _, c := range d.Columns {
		fmt.Fprintf(&b, "COMMENT ON COLUMN %s.%s IS %s;\n", d.Name, c[0], Quote(c[1]))
	}
	return b.String()
}

// installedSum identifies the definitions and all built-in rows together.
func installedSum(defs Definitions) (string, error) {
	sum, err := defs.Checksum()
	if err != nil {
		return "", err
	}
	rules, err := seed.Source()
	return checksum(sum + rules + fmt.Sprintf("%+v", findings.Rules)), err
}

// install makes the definitions, which must be dropped before, and all built-in rows anew; the user's rows stay.
func install(ctx context.Context, tx *sql.Tx, of Definitions, sum string) error {
	defs, err := of.Definitions()
	if err != nil {
		return err
	}
	// What still bears such a name is the user's own; it stays, and the query has its name with the version.
	users, err := texts(tx.QueryContext(ctx, `SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views() WHERE NOT internal
		UNION SELECT function_name FROM duckdb_functions() WHERE NOT internal AND function_type IN ('macro', 'table_macro')`))
	if err != nil {
		return err
	}
	for _, d := range defs {
		if slices.Contains(users, d.Name) {
			continue
		}
		if _, err := tx.ExecContext(ctx, d.create()); err != nil {
			return fmt.Errorf("define %s: %w", d.Name, err)
		}
	}
	if err := seedAll(ctx, tx); err != nil {
		return err
	}
	return replaceRecord(ctx, tx, definitionsVersion, "definitions", sum)
}

// seedAll makes all built-in rows anew; the user's stay.
func seedAll(ctx context.Context, tx *sql.Tx) error {
	for _, seed := range []func(context.Context, *sql.Tx) error{seedRules, seedPeaks, seedDevices, seedFindings} {
		if err := seed(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// dropDefinitions removes what an earlier prof installed; a user's own relations have no comment that starts with our mark.
func dropDefinitions(ctx context.Context, tx *sql.Tx) error {
	drops, err := texts(tx.QueryContext(ctx, `
		SELECT 'DROP VIEW ' || view_name FROM duckdb_views() WHERE NOT internal AND starts_with(comment, ?)
		UNION ALL
		SELECT DISTINCT CASE function_type WHEN 'macro' THEN 'DROP MACRO ' ELSE 'DROP MACRO TABLE ' END || function_name FROM duckdb_functions()
		WHERE NOT internal AND function_type IN ('macro', 'table_macro') AND starts_with(comment, ?)`, DocMark, DocMark))
	if err != nil {
		return err
	}
	for _, s := range drops {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// DocMark begins the comment of every relation that prof installs.
const DocMark = "prof: "

func seedRules(ctx context.Context, tx *sql.Tx) error {
	kernel, stage, err := seed.Rules()
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM kernel_rule WHERE origin = 'builtin'; DELETE FROM stage_rule WHERE origin = 'builtin'`); err != nil {
		return err
	}
	k := batch{table: "kernel_rule", columns: 7}
	for _, r := range kernel {
		if err := k.add(ctx, tx, "builtin", r.Priority, r.Pattern, r.Family, r.Role, r.Library, r.Doc); err != nil {
			return err
		}
	}
	st := batch{table: "stage_rule", columns: 7}
	for _, r := range stage {
		if err := st.add(ctx, tx, "builtin", r.Priority, r.Kind, r.Stage, r.Domain, r.Pattern, r.Doc); err != nil {
			return err
		}
	}
	return errors.Join(k.flush(ctx, tx), st.flush(ctx, tx))
}

func seedPeaks(ctx context.Context, tx *sql.Tx) error {
	peaks, err := seed.Peaks()
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM device_peak WHERE origin = 'builtin'`); err != nil {
		return err
	}
	b := batch{table: "device_peak", columns: 9}
	for _, p := range peaks {
		if err := b.add(ctx, tx, "builtin", p.Device, p.Resource, p.Accumulate, rateOrNull(p.FlopPerS), rateOrNull(p.BytesPerS),
			p.Doc, p.Reference, p.CheckedOn); err != nil {
			return err
		}
	}
	return b.flush(ctx, tx)
}

// seedDevices writes what goes with the peaks: other names of their devices, and what a multiprocessor does in a clock cycle.
func seedDevices(ctx context.Context, tx *sql.Tx) error {
	aliases, err := seed.Aliases()
	if err != nil {
		return err
	}
	rates, err := seed.SMRates()
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM device_alias WHERE origin = 'builtin'; DELETE FROM sm_rate WHERE origin = 'builtin'`); err != nil {
		return err
	}
	a := batch{table: "device_alias", columns: 4}
	for _, d := range aliases {
		if err := a.add(ctx, tx, "builtin", d.Alias, d.Device, d.Doc); err != nil {
			return err
		}
	}
	s := batch{table: "sm_rate", columns: 7}
	for _, r := range rates {
		if err := s.add(ctx, tx, "builtin", r.ComputeCapability, r.Device, r.Resource, r.Accumulate, r.FlopPerCycle, r.Reference); err != nil {
			return err
		}
	}
	return errors.Join(a.flush(ctx, tx), s.flush(ctx, tx))
}

func seedFindings(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM finding_rule`); err != nil {
		return err
	}
	b := batch{table: "finding_rule", columns: 13}
	for _, r := range findings.Rules {
		var value any
		if r.Unit != "" {
			value = r.Value
		}
		if err := b.add(ctx, tx, r.ID, r.Title, r.Bound, r.Saving, r.Advice, value, orNull(r.Unit), orNull(r.Subject), r.Query, orNull(r.Options), orNull(r.Detail), r.Needs, r.Reference); err != nil {
			return err
		}
	}
	return b.flush(ctx, tx)
}

func rateOrNull(perS float64) any {
	if perS == 0 {
		return nil
	}
	return perS
}
