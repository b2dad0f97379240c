package dialect

import (
	"slices"
	"strings"
	"testing"
)

// TestScript: the statements of a small relation, of tables with files in one folder and in several, and without any.
func TestScript(t *testing.T) {
	r := Relation{Name: "fastest", Doc: "The fastest.", Columns: []string{"run_id", "n"}, Left: []string{"x"}, Body: `WITH one AS ( -- FROM nothing
    SELECT k.run_id, min(k.n) AS n FROM kernel k LEFT JOIN gap g ON g.n IS DISTINCT FROM other.n GROUP BY k.run_id
)
SELECT o.run_id, o.n FROM one o JOIN run r ON r.run_id = o.run_id`}
	if got := r.Tables(); !slices.Equal(got, []string{"gap", "kernel", "run"}) {
		t.Errorf("it is made of %v", got)
	}
	columns := []Column{{"run_id", "UUID"}, {"n", "BIGINT"}, {"at", "TIMESTAMP"}, {"list", "BIGINT[]"}, {"name", "VARCHAR"}}
	tables := []Table{
		{Name: "gap", Columns: columns},
		{Name: "kernel", Columns: columns, Files: []string{"s3://b/main/kernel/run_id=1/a.parquet", "s3://b/main/kernel/run_id=2/b{1}.parquet"}, Rows: 7},
		{Name: "run", Columns: columns, Files: []string{"/it's/main/run/a.parquet"}, Rows: 2},
	}
	for engine, want := range map[string][]string{
		"spark": {
			"-- head\n-- of two lines\n\n",
			"TEMPORARY VIEW gap AS SELECT CAST(NULL AS BINARY) AS run_id, CAST(NULL AS BIGINT) AS n, CAST(NULL AS TIMESTAMP_NTZ) AS at, CAST(NULL AS ARRAY<BIGINT>) AS list, CAST(NULL AS STRING) AS name WHERE 1 = 0;\n",
			"TEMPORARY VIEW kernel (run_id BINARY, n BIGINT, at TIMESTAMP_NTZ, list ARRAY<BIGINT>, name STRING) USING parquet OPTIONS (recursiveFileLookup 'true', path 's3a://b/main/kernel/{run_id=1/a.parquet,run_id=2/b\\\\{1\\\\}.parquet}');\n",
			`path '/it\'s/main/run/{a.parquet}')`,
			"    SELECT 'kernel' AS name, CAST(7 AS BIGINT) AS expected, count(*) AS found FROM kernel\n    UNION ALL SELECT 'run' AS name, CAST(2 AS BIGINT) AS expected, count(*) AS found FROM run\n) c;\n",
			"\n-- fastest: The fastest.\n-- Without x.\nCREATE OR REPLACE TEMPORARY VIEW fastest AS\nSELECT regexp_replace(lower(hex(q.run_id)), ",
		},
		"trino": {
			"CREATE OR REPLACE VIEW gap AS SELECT CAST(NULL AS UUID) AS run_id, CAST(NULL AS BIGINT) AS n, CAST(NULL AS TIMESTAMP(6)) AS at, CAST(NULL AS ARRAY(BIGINT)) AS list, CAST(NULL AS VARCHAR) AS name WHERE 1 = 0;\n",
			"CREATE TABLE kernel_files (run_id VARBINARY, n BIGINT, at TIMESTAMP(6), list ARRAY(BIGINT), name VARCHAR) WITH (format = 'PARQUET', external_location = 's3://b/main/kernel');\n",
			"CREATE OR REPLACE VIEW kernel AS SELECT CAST(run_id AS UUID) AS run_id, n, at, list, name FROM kernel_files WHERE \"$path\" IN (\n    's3://b/main/kernel/run_id=1/a.parquet',\n    's3://b/main/kernel/run_id=2/b{1}.parquet');\n",
			"external_location = '/it''s/main/run'", "'/it''s/main/run/a.parquet');\n",
			"CREATE OR REPLACE VIEW fastest AS\nSELECT CAST(q.run_id AS VARCHAR) AS run_id, q.n FROM (\nWITH one",
		},
	} {
		d := Engines()[slices.IndexFunc(Engines(), func(d *Dialect) bool { return d.Name == engine })]
		got, err := d.Script("head\nof two lines", []Relation{r}, tables)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks\n%s\nin\n%s", engine, w, got)
			}
		}
		if _, err := d.Script("", []Relation{r}, tables[1:]); err == nil || err.Error() != "there is no table gap" {
			t.Errorf("without a table: %v", err)
		}
	}
}

// TestOwn: what a relation is written in is what all engines read.
func TestOwn(t *testing.T) {
	list, err := Own()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		for _, s := range []string{"::", "//", `"`, "QUALIFY", "FILTER", "GROUP BY ALL", "median(", "arg_max", "avg(", "any_value", "ILIKE", "LIMIT"} {
			text := f.Body
			for { // without what is a template's
				before, rest, ok := strings.Cut(text, "{{")
				if strings.Contains(before, s) {
					t.Errorf("%s has %s, which not every engine reads, or reads alike", f.Name, s)
				}
				if !ok {
					break
				}
				_, text, _ = strings.Cut(rest, "}}")
			}
		}
	}
}
