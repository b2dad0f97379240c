package schema_test

import (
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
)

var update = flag.Bool("update", false, "make the image of an empty warehouse anew")

// TestImage holds that the image of an empty warehouse is what migrations and definitions make: go test ./schema -run TestImage -update
// makes it anew.
func TestImage(t *testing.T) {
	home := schema.Home{Dir: t.TempDir()}
	o := schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}, FromScratch: true}
	w, err := schema.Open(t.Context(), home, o)
	if err != nil {
		t.Fatal(err)
	}
	done(t, w) // a definition reads differently before it has been written and read
	if w, err = schema.Open(t.Context(), home, o); err != nil {
		t.Fatal(err)
	}
	want := everything(t, w)
	done(t, w)
	if *update {
		writeImage(t, home)
		t.Skip("made anew: run the test again")
	}
	o.FromScratch = false
	began := time.Now().UTC()
	if w, err = schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, o); err != nil {
		t.Fatal(err)
	}
	got := everything(t, w)
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("the image has\n%.300s\nwhere migrations make\n%.300s", got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("the image has %d things, migrations make %d", len(got), len(want))
	}
	if now := texts(t, w, `SELECT count(*) FROM schema_version WHERE applied_at >= ?`, began); !slices.Equal(now, []string{"0"}) {
		t.Error("the image is out of date, and was brought up to date when it was opened: go test ./schema -run TestImage -update")
	}
	testLakeImage(t, w)
	done(t, w)
}

// definitions list the views and macros of a warehouse.
var definitions = []string{
	`SELECT view_name, sql, coalesce(comment, '') FROM duckdb_views() WHERE NOT internal ORDER BY ALL`,
	`SELECT function_name, function_type, parameters::VARCHAR, coalesce(macro_definition, ''), coalesce(comment, '') FROM duckdb_functions() WHERE NOT internal AND function_type LIKE '%macro' ORDER BY ALL`,
}

// testLakeImage holds that the image for lakes has the views and macros of a warehouse, and no table.
func testLakeImage(t *testing.T, w *schema.Warehouse) {
	packed, err := os.ReadFile("lake.duckdb.zst")
	if err != nil {
		t.Fatal(err)
	}
	unpack, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unpack.Close()
	image, err := unpack.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "warehouse.duckdb")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	of := &schema.Warehouse{DB: db}
	if n := texts(t, of, `SELECT count(*) FROM duckdb_tables() WHERE NOT internal`); !slices.Equal(n, []string{"0"}) {
		t.Errorf("the image for lakes has %s tables", n)
	}
	for _, stmt := range definitions {
		if got, want := texts(t, of, stmt), texts(t, w, stmt); len(want) < 10 || !slices.Equal(got, want) {
			t.Error("the image for lakes is out of date: go test ./schema -run TestImage -update")
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
		`FROM stage_rule ORDER BY ALL`, `FROM kernel_rule ORDER BY ALL`, `FROM device_peak ORDER BY ALL`, `FROM device_alias ORDER BY ALL`, `FROM sm_rate ORDER BY ALL`,
	} {
		out = append(out, texts(t, w, stmt)...)
	}
	if len(out) < 1000 {
		t.Fatalf("only %d things are looked at", len(out))
	}
	return out
}

// writeImage packs the warehouse of a home as the image.
func writeImage(t *testing.T, home schema.Home) {
	t.Helper()
	file, err := os.ReadFile(home.Warehouse())
	if err != nil {
		t.Fatal(err)
	}
	writePacked(t, "empty.duckdb.zst", file)
	db, err := sql.Open("duckdb", home.Warehouse())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(droppedTables(t, db), "CHECKPOINT") {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if file, err = os.ReadFile(home.Warehouse()); err != nil {
		t.Fatal(err)
	}
	writePacked(t, "lake.duckdb.zst", file)
}

// droppedTables are the statements that drop all tables of a warehouse, on which a lake puts its own.
func droppedTables(t *testing.T, db *sql.DB) []string {
	t.Helper()
	rows, err := db.Query(`SELECT 'DROP TABLE ' || table_name FROM duckdb_tables() WHERE NOT internal ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func writePacked(t *testing.T, name string, file []byte) {
	t.Helper()
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	defer pack.Close()
	if err := os.WriteFile(name, pack.EncodeAll(file, nil), 0o644); err != nil {
		t.Fatal(err)
	}
}
