package schema_test

import (
	"os"
	"path/filepath"
	"testing"

	"prof/schema"
)

func TestFindHome(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b", "c")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	check := func(why, dir, override, want string) {
		t.Helper()
		h, err := schema.FindHome(dir, override)
		if err != nil || h.Dir != want {
			t.Errorf("%s: %s, %v; want %s", why, h.Dir, err, want)
		}
	}
	check("none yet", deep, "", filepath.Join(deep, ".prof"))
	if err := os.Mkdir(filepath.Join(root, ".prof"), 0o755); err != nil {
		t.Fatal(err)
	}
	check("above", deep, "", filepath.Join(root, ".prof"))
	if err := os.WriteFile(filepath.Join(root, "a", ".prof"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	check("a file of that name is none", deep, "", filepath.Join(root, ".prof"))
	if err := os.Mkdir(filepath.Join(root, "a", "b", ".prof"), 0o755); err != nil {
		t.Fatal(err)
	}
	check("the nearest", deep, "", filepath.Join(root, "a", "b", ".prof"))
	check("override", deep, filepath.Join(root, "x"), filepath.Join(root, "x"))
}

func TestHomeMake(t *testing.T) {
	h := schema.Home{Dir: filepath.Join(t.TempDir(), "new", schema.HomeName)}
	ignore := filepath.Join(h.Dir, ".gitignore")
	for range 2 {
		if err := h.Make(); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(ignore); err != nil || string(text) != "*\n" {
		t.Errorf(".gitignore holds %q, %v", text, err)
	}
	if h.Exists() {
		t.Error("a home without a warehouse exists")
	}
	if err := os.WriteFile(ignore, []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := h.Make(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(ignore); err != nil || string(text) != "mine\n" {
		t.Errorf("the user's .gitignore became %q, %v", text, err)
	}
}
