package schema_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestReleasedMigrations holds that no migration changes once it is released, its comments included: a warehouse that had another text applied is refused.
// What is to change takes a migration of its own.
func TestReleasedMigrations(t *testing.T) {
	tag, err := exec.Command("git", "describe", "--tags", "--abbrev=0").Output()
	if err != nil {
		t.Skip("nothing is released yet: git has no tag")
	}
	changed, err := exec.Command("git", "diff", "--name-only", "--diff-filter=a", strings.TrimSpace(string(tag)), "--", "sql").Output()
	if err != nil || len(changed) > 0 {
		t.Errorf("changed since they were released: %s %v", changed, err)
	}
}
