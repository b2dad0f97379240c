package schema_test

import (
	"context"
	"database/sql"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
)

// setCache gives the process another cache folder, as if it had just begun.
func setCache(t *testing.T, dir string) {
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir) // macOS has it below
	schema.ForgetImages()
	t.Cleanup(schema.ForgetImages)
}

// keptImages are the paths of the kept files.
func keptImages(t *testing.T) []string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(cache, "prof/empty/*"))
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// newHome opens a new home, and says when its warehouse was made.
func newHome(t *testing.T, o schema.Options) (w *schema.Warehouse, made time.Time) {
	t.Helper()
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { done(t, w) })
	if err := w.DB.QueryRow(`SELECT max(applied_at) FROM schema_version`).Scan(&made); err != nil {
		t.Fatal(err)
	}
	return w, made
}

// TestImage holds that a home that begins with a kept warehouse has all that one has that migrations and definitions have made, and is private.
func TestImage(t *testing.T) {
	setCache(t, t.TempDir())
	o := schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}, Talk: func(m string) { t.Error(m) }}
	began := time.Now().UTC()
	w, made := newHome(t, o)
	if made.Before(began) {
		t.Fatal("nothing was made")
	}
	want := everything(t, w)
	kept := keptImages(t)
	if len(kept) != 1 {
		t.Fatalf("kept: %q", kept)
	}
	for path, want := range map[string]os.FileMode{kept[0]: 0o600, filepath.Dir(kept[0]): 0o700 | os.ModeDir} {
		if st, err := os.Stat(path); err != nil || st.Mode() != want {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}
	schema.ForgetImages()
	began = time.Now().UTC()
	w, made = newHome(t, o)
	if !made.Before(began) {
		t.Error("the kept file was not used")
	}
	got := everything(t, w)
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("what is kept has\n%.300s\nwhere migrations make\n%.300s", got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("what is kept has %d things, migrations make %d", len(got), len(want))
	}
	testLakeImage(t, o, w)
}

// TestDamagedImage holds that a kept file with another bit is made anew.
func TestDamagedImage(t *testing.T) {
	setCache(t, t.TempDir())
	o := schema.Options{Write: true, Defs: few{}, Facts: none{}, Talk: func(m string) { t.Error(m) }}
	newHome(t, o)
	kept := keptImages(t)
	whole, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	text := slices.Clone(whole)
	text[len(text)/2] ^= 1
	if err := os.WriteFile(kept[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	schema.ForgetImages()
	began := time.Now().UTC()
	w, made := newHome(t, o)
	if made.Before(began) {
		t.Error("a damaged file was used")
	}
	if got := texts(t, w, `FROM one`); !slices.Equal(got, []string{"1"}) {
		t.Errorf("made anew: %q", got)
	}
	if again, err := os.ReadFile(kept[0]); err != nil || slices.Equal(again, text) || len(again) != len(whole) {
		t.Errorf("the damaged file is still there: %v", err)
	}
}

// TestImageNotKept opens a home where nothing can be kept: it costs a note.
func TestImageNotKept(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := t.TempDir()
	folder := filepath.Join(open, "prof/empty")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"": "defined", plain: "not a directory", open: "others can write to"} {
		setCache(t, dir)
		var said []string
		o := schema.Options{Write: true, Defs: few{}, Facts: none{}, Talk: func(m string) { said = append(said, m) }}
		began := time.Now().UTC()
		for range 2 {
			w, made := newHome(t, o)
			if got := texts(t, w, `FROM one`); made.Before(began) || !slices.Equal(got, []string{"1"}) {
				t.Errorf("cache %q: made %v, and has %q", dir, made, got)
			}
		}
		if len(said) != 1 || !strings.Contains(said[0], want) {
			t.Errorf("cache %q: said %q, want %q once", dir, said, want)
		}
	}
}

// none are no facts.
type none struct{}

func (none) Tables() ([]schema.Table, error)                  { return nil, nil }
func (none) Checksum() (string, error)                        { return "none", nil }
func (none) Derive(context.Context, schema.SQL, string) error { return nil }
func (none) Lack(context.Context, schema.SQL, string) error   { return nil }

// TestImageOfMany has processes make and keep the file at once.
func TestImageOfMany(t *testing.T) {
	const homeEnv = "PROF_TEST_NEW_HOME"
	o := schema.Options{Write: true, Defs: few{}, Facts: none{}, Talk: func(m string) { t.Error(m) }}
	if dir := os.Getenv(homeEnv); dir != "" {
		w, err := schema.Open(t.Context(), schema.Home{Dir: dir}, o)
		if err != nil {
			t.Fatal(err)
		}
		done(t, w)
		return
	}
	setCache(t, t.TempDir())
	var all []*osexec.Cmd
	for range 3 {
		c := osexec.Command(os.Args[0], "-test.run=^TestImageOfMany$")
		c.Env = append(os.Environ(), homeEnv+"="+t.TempDir())
		c.Stdout = t.Output()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	if kept := keptImages(t); len(kept) != 1 {
		t.Errorf("kept: %q", kept)
	}
	began := time.Now().UTC()
	if w, made := newHome(t, o); !made.Before(began) || !slices.Equal(texts(t, w, `FROM one`), []string{"1"}) {
		t.Error("the kept file was not used")
	}
}

// definitions list the views and macros of a warehouse.
var definitions = []string{
	`SELECT view_name, sql, coalesce(comment, '') FROM duckdb_views() WHERE NOT internal ORDER BY ALL`,
	`SELECT function_name, function_type, parameters::VARCHAR, coalesce(macro_definition, ''), coalesce(comment, '') FROM duckdb_functions() WHERE NOT internal AND function_type LIKE '%macro' ORDER BY ALL`,
}

// testLakeImage holds that the file for lakes has the views and macros of a warehouse, and no table.
func testLakeImage(t *testing.T, o schema.Options, w *schema.Warehouse) {
	content, err := schema.LakeImage(t.Context(), o, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "warehouse.duckdb")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	of := &schema.Warehouse{DB: db}
	if n := texts(t, of, `SELECT count(*) FROM duckdb_tables() WHERE NOT internal`); !slices.Equal(n, []string{"0"}) {
		t.Errorf("the file for lakes has %s tables", n)
	}
	for _, stmt := range definitions {
		if got, want := texts(t, of, stmt), texts(t, w, stmt); len(want) < 10 || !slices.Equal(got, want) {
			t.Error("the file for lakes has other views and macros")
		}
	}
}

// everything lists what a warehouse without runs holds.
func everything(t *testing.T, w *schema.Warehouse) []string {
	t.Helper()
	var out []string
	for _, stmt := range []string{
		`SELECT table_name, coalesce(comment, '') FROM duckdb_tables() WHERE NOT internal ORDER BY ALL`,
		`SELECT table_name, column_name, column_index, data_type, is_nullable, coalesce(comment, '') FROM duckdb_columns() WHERE NOT internal ORDER BY ALL`,
		definitions[0], definitions[1],
		`SELECT version, name, checksum FROM schema_version ORDER BY ALL`,
		`FROM stage_rule ORDER BY ALL`, `FROM kernel_rule ORDER BY ALL`, `FROM device_peak ORDER BY ALL`, `FROM device_alias ORDER BY ALL`, `FROM sm_rate ORDER BY ALL`, `FROM finding_rule ORDER BY ALL`,
	} {
		out = append(out, texts(t, w, stmt)...)
	}
	if len(out) < 1000 {
		t.Fatalf("only %d things are looked at", len(out))
	}
	return out
}
