package schema

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestKeptImage holds that a file that is not whole, or another, is not read, and that the newest are kept.
func TestKeptImage(t *testing.T) {
	dir := t.TempDir()
	if got := readImage(dir, "a"); got != nil {
		t.Errorf("read %q where nothing is", got)
	}
	content := []byte("content")
	if err := keepImage(dir, "a", content); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := readImage(dir, "a"); !slices.Equal(got, content) {
		t.Errorf("read %q", got)
	}
	other := map[string][]byte{"longer": append(slices.Clone(whole), 0), "empty": {}}
	for i := range whole {
		other[fmt.Sprintf("the first %d bytes", i)] = whole[:i]
		b := slices.Clone(whole)
		b[i] ^= 0x80
		other[fmt.Sprintf("another byte %d", i)] = b
	}
	for name, text := range other {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := readImage(dir, "a"); got != nil {
			t.Errorf("%s: read %q", name, got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "b"), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := readImage(dir, "b"); got != nil {
		t.Errorf("read the file of another version: %q", got)
	}
	for i := range mostImages + 1 {
		if err := keepImage(dir, fmt.Sprint(i), content); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"1", "2", "3", "4", "5", "6", "7", "8"}; !slices.Equal(names, want) {
		t.Errorf("there are %q, not %q", names, want)
	}
}
