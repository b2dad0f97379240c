package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMany: files beside run.json that hold more than any capture leaves are refused before they are decoded.
func TestMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.json")
	environment := func(path string) error { _, err := readEnvironment(path); return err }
	times := func(path string) error { _, err := readTimes(path); return err }
	for _, c := range []struct {
		read       func(string) error
		text, says string
	}{
		{environment, `{"a":[` + strings.Repeat("[],", 1<<18) + `[]]}`, "more than 262144 values"},
		{times, `{"pid":1,"paths":[` + strings.Repeat("[],", maxValues) + `[]]}`, "more than 4000000 values"},
		{times, `{"pid":1,"executions":[` + strings.Repeat("[],", maxRows) + `[]]}`, "more than 200000 executions"},
		{times, `{"pid":1,"memory":[` + strings.Repeat("[],", maxRows) + `[]]}`, "more than 200000 executions"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.read(path); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.30s...: the error is %v, want %q", c.text, err, c.says)
		}
	}
}
