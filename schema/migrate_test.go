package schema_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMigrationTexts holds that no migration changes once warehouses have it, their comments and those of columns included: a warehouse that had another
// text applied is refused. What is to change takes a migration of its own, whose line goes into testdata/migrations.sha256, as sha256sum writes it.
func TestMigrationTexts(t *testing.T) {
	known, err := os.ReadFile("testdata/migrations.sha256")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("sql/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%x  %s\n", sha256.Sum256(text), filepath.Base(file))
		now.WriteString(line)
		if !strings.Contains(string(known), line) {
			t.Errorf("not as applied, or new: %s", line)
		}
	}
	if now.String() != string(known) && !t.Failed() {
		t.Error("a migration is gone")
	}
}
