//go:build lake

package laketest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
)

// open opens the warehouse of a machine in this process, for reading.
func (m machine) open() *schema.Warehouse {
	m.t.Helper()
	return m.openAs(schema.Options{})
}

func (m machine) openAs(o schema.Options) *schema.Warehouse {
	m.t.Helper()
	o.Defs, o.Facts = queries.Relations{}, derive.Facts{}
	home, err := schema.FindHome(m.dir, m.home)
	if err == nil && home.Lake != nil {
		home.Lake.Access, err = schema.ReadLakeAccess("", func(name string) string {
			for _, kv := range m.env {
				if value, is := strings.CutPrefix(kv, name+"="); is {
					return value
				}
			}
			return ""
		})
	}
	if err != nil {
		m.t.Fatal(err)
	}
	w, err := schema.Open(m.t.Context(), home, o)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		if err := w.Close(); err != nil {
			m.t.Error(err)
		}
	})
	return w
}

// cells are the answer of a query as text, its cells and what is said about them, and how many rows it has.
func cells(w *schema.Warehouse, q queries.Query, args queries.Args, t *testing.T) (text string, rows int) {
	f, err := queries.Run(t.Context(), w, q, args)
	if errors.Is(err, queries.ErrBadArgument) {
		return err.Error(), 0
	}
	if err != nil {
		t.Errorf("query %s of %s: %v", q.Name, args["run"], err)
		return "", 0
	}
	var out bytes.Buffer
	for _, r := range f.Rows {
		fmt.Fprintf(&out, "%v\n", r)
	}
	fmt.Fprintf(&out, "%v\n", f.Notes)
	return out.String(), len(f.Rows)
}

// testQueries compares all queries, each of the first run of which it says something.
func testQueries(t *testing.T, lake, file machine) {
	lake.t, file.t = t, t
	a, b := lake.open(), file.open()
	all, err := queries.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	for _, q := range all {
		runs := []string{""}
		if q.TakesRun() {
			runs = []string{"llama", "torch", "kernels", "nccl"}
		}
		rows, of, want := 0, "", ""
		for i := 0; i < len(runs) && rows == 0; i++ {
			of = runs[i]
			want, rows = cells(b, q, argsOf(of), t)
		}
		got, _ := cells(a, q, argsOf(of), t)
		same(t, "query "+q.Name+" of "+of, got, want)
		if rows > 0 {
			answered++
		}
	}
	if answered < 80 {
		t.Errorf("only %d queries had rows to compare", answered)
	}
}

func argsOf(run string) queries.Args {
	if run == "" {
		return nil
	}
	return queries.Args{"run": run}
}

// TestAccess holds that keys come from where nobody sees them, and that roles of PostgreSQL are kept.
func TestAccess(t *testing.T) {
	s := newSite(t)
	m := s.machine(s.lake)
	for _, c := range []struct{ home, want string }{
		{s.lake + " password=x", "must not have a password"},
		{"ducklake:postgres:postgresql://alice:x@127.0.0.1/testaccess", "must not have a password"},
		{"ducklake:" + m.dir + "/none.ducklake", "prof lake init"},
		{"ducklake:postgres:host=127.0.0.1 port=1 dbname=testaccess", "does not answer: "},
		{"ducklake:mysql:db=team", "prof takes postgres"},
		{"ducklake:", "write ducklake:postgres:"},
		{strings.Replace(s.lake, "dbname="+s.database, "dbname=none", 1), `database "none" does not exist`},
		{strings.Replace(s.lake, "dbname="+s.database, "dbname=postgres", 1), "prof lake init"},
	} {
		bad := m
		bad.home = c.home
		if r := bad.run("runs"); r.code == 0 || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "alice:x") || strings.Count(r.err, "\n") > 2 {
			t.Errorf("%s: exit %d, %s", c.home, r.code, r.err)
		}
	}
	// The keys from a file.
	bare := m
	bare.env = nil
	secret := ""
	for _, kv := range m.env {
		if strings.HasPrefix(kv, "AWS_") {
			secret += kv + "\n"
		} else {
			bare.env = append(bare.env, kv)
		}
	}
	if err := os.MkdirAll(filepath.Join(m.dir, ".prof"), 0o700); err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(m.dir, "keys")
	for path, text := range map[string]string{keys: secret, filepath.Join(m.dir, ".prof", "config.yaml"): "warehouse:\n  catalog: \"" + s.lake + "\"\n  secret: " + keys + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r := bare.run("runs"); r.code == 0 || !strings.Contains(r.err, "AWS_ACCESS_KEY_ID") {
		t.Errorf("without keys: exit %d, %s%s", r.code, r.out, r.err)
	}
	bare.home = ""
	if r := bare.run("runs"); r.code == 0 || !strings.Contains(r.err, "chmod 600") {
		t.Errorf("with keys that others can read: exit %d, %s%s", r.code, r.out, r.err)
	}
	if err := os.Chmod(keys, 0o600); err != nil {
		t.Fatal(err)
	}
	bare.ok("ingest", "--run", "sums", bare.sums("sums", 7))
	if out := bare.ok("runs", "--format", "csv"); !strings.Contains(out, "sums") {
		t.Errorf("the run is not there:\n%s", out)
	}
	if out := bare.ok("doctor", "--lake"); strings.Contains(out, secretKey) || strings.Count(out, "ok") < 5 {
		t.Errorf("doctor says\n%s", out)
	}
	// As docs/lake.md says.
	for _, statement := range []string{
		`CREATE ROLE prof_read; GRANT USAGE ON SCHEMA public TO prof_read; GRANT SELECT ON ALL TABLES IN SCHEMA public TO prof_read; ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO prof_read`,
		`CREATE ROLE prof_write IN ROLE prof_read; GRANT CREATE ON SCHEMA public TO prof_write; GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO prof_write; ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT INSERT, UPDATE, DELETE ON TABLES TO prof_write;
			ALTER DEFAULT PRIVILEGES FOR ROLE prof_write IN SCHEMA public GRANT SELECT ON TABLES TO prof_read`,
		`CREATE USER alice IN ROLE prof_read; CREATE USER ci IN ROLE prof_write; ALTER ROLE ci IN DATABASE ` + s.database + ` SET role = prof_write`,
	} {
		s.psql(s.database, statement)
	}
	reader, writer := m, m
	reader.home, writer.home = strings.Replace(s.lake, "user=prof", "user=alice", 1), strings.Replace(s.lake, "user=prof", "user=ci", 1)
	if out := reader.ok("runs", "--format", "csv"); !strings.Contains(out, "sums") {
		t.Errorf("a reader sees\n%s", out)
	}
	if r := reader.run("tag", "sums", "a=b"); r.code == 0 || !strings.Contains(r.err, "does not let this user write") || len(r.err) > 300 {
		t.Errorf("a reader writes: exit %d, %s", r.code, r.err)
	}
	writer.ok("tag", "sums", "a=b")
	writer.ok("ingest", "--run", "more", writer.sums("more", 8))
	m.ok("lake", "maintain", "--keep", "1h")
	writer.ok("ingest", "--run", "third", writer.sums("third", 9))
	writer.ok("tag", "sums", "a=b")
	if out := reader.ok("sql", "--format", "csv", "SELECT name, value FROM run LEFT JOIN run_tag USING (run_id) ORDER BY name"); out != "name,value\nmore,\nsums,b\nthird,\n" {
		t.Errorf("a reader sees\n%s", out)
	}
}
