package schema

import (
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

func TestParseDDL(t *testing.T) {
	got, err := parseDDL("-- One thing.\n-- More of it.\nCREATE TABLE thing (\n    run_id UUID NOT NULL, -- the run\n    path INTEGER[] -- it's\n        -- a list\n);\n\n-- stray\n\nSELECT 1;\n")
	want := []ddlTable{{"thing", "One thing. More of it.", [][2]string{{"run_id", "the run"}, {"path", "it's a list"}}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	if text := comments(got); !strings.Contains(text, "COMMENT ON COLUMN thing.path IS 'it''s a list';\n") {
		t.Errorf("comments are %q", text)
	}
}

func TestParseDDLRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a column without a comment", "-- A.\nCREATE TABLE a (\n    run_id UUID NOT NULL\n);\n", "line 3: a column is written"},
		{"two columns in a line", "-- A.\nCREATE TABLE a (\n    x INTEGER, y INTEGER\n);\n", "line 3: a column is written"},
		{"a constraint", "-- A.\nCREATE TABLE a (\n    PRIMARY KEY (x)\n);\n", "line 3: a column is written"},
		{"a table without a comment", "CREATE TABLE a (\n    x INTEGER -- x\n);\n", "line 1: table a has no comment"},
		{"a comment that an empty line parts", "-- A.\n\nCREATE TABLE a (\n    x INTEGER -- x\n);\n", "line 3: table a has no comment"},
	} {
		if _, err := parseDDL(c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
}

func TestMigrationNumbers(t *testing.T) {
	file := &fstest.MapFile{Data: []byte("-- nothing\n")}
	got, err := migrations(fstest.MapFS{"sql/0001_a.sql": file, "sql/0002_b_c.sql": file})
	if err != nil || len(got) != 2 || got[1].version != 2 || got[1].name != "b_c" || got[1].checksum != checksum("-- nothing\n") {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, c := range []struct {
		files fstest.MapFS
		want  string
	}{
		{fstest.MapFS{"sql/0001_a.sql": file, "sql/0003_b.sql": file}, "sql/0003_b.sql: migrations are numbered"},
		{fstest.MapFS{"sql/0001_a.sql": file, "sql/0001_b.sql": file}, "sql/0001_b.sql: migrations are numbered"},
		{fstest.MapFS{"sql/0002_a.sql": file}, "sql/0002_a.sql: migrations are numbered"},
		{fstest.MapFS{"sql/1_a.sql": file}, "sql/1_a.sql: a migration is named"},
		{fstest.MapFS{"sql/0001_a.sql": file, "sql/notes.txt": file}, "sql/notes.txt: a migration is named"},
	} {
		if _, err := migrations(c.files); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
}

// TestMigrationFiles holds what each migration of ours must say: every table and column parsed, and nothing that DuckLake lacks.
func TestMigrationFiles(t *testing.T) {
	known, err := migrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(migrationFiles, "sql/*")
	if err != nil || len(names) != len(known) || len(known) == 0 {
		t.Errorf("%d files, %d migrations, %v", len(names), len(known), err)
	}
	for _, m := range known {
		tables, err := parseDDL(m.sql)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if n := strings.Count(m.sql, "CREATE TABLE"); n != len(tables) {
			t.Errorf("%s: %d of %d tables were understood", m.name, len(tables), n)
		}
		for _, line := range strings.Split(m.sql, "\n") {
			code, _, _ := strings.Cut(line, "--")
			for _, word := range []string{"SEQUENCE", "PRIMARY", "UNIQUE", "CHECK", "ENUM", "INDEX", "REFERENCES", "GENERATED", "DEFAULT", "HUGEINT", "DECIMAL", "FLOAT", "CREATE MACRO"} {
				if strings.Contains(code, word) {
					t.Errorf("%s: %s keeps the tables from moving to DuckLake, or its values from being exact: %s", m.name, word, line)
				}
			}
		}
	}
}

// TestFreeRunID: the id of a run whose base another run has is drawn again.
func TestFreeRunID(t *testing.T) {
	draws := []string{"taken", "other", "free"}
	id, err := freeRunID([]string{"other", "taken"}, func() (string, error) {
		next := draws[0]
		draws = draws[1:]
		return next, nil
	})
	if id != "free" || err != nil {
		t.Error(id, err)
	}
}
