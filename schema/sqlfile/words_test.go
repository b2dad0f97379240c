package sqlfile

import (
	"testing"
	"testing/fstest"
)

// TestText: a file has columns, conditions and documentation of each part or cause from the words, and only a file of SQL.
func TestText(t *testing.T) {
	files := fstest.MapFS{}
	for text, want := range map[string]string{
		"SELECT 1":                            "SELECT 1",
		"{{range .Split}}{{.Column}} {{end}}": "launch_ns launch_delay_ns launch_latency_ns ",
		"{{range without .Causes \"wait\" \"call\" \"host\"}}{{.Name}} {{end}}": "launch-bound profiler queued unknown ",
		"{{quote \"GPU's\"}}": "'GPU''s'",
		"{{range $i, $p := .Work}}{{inc $i}} {{end}}{{len .Parts}}": "1 2 3 4 5 6 15",
	} {
		files["f.sql"] = &fstest.MapFile{Data: []byte(text)}
		if got, err := Text(files, "f.sql"); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	files["f.sql"] = &fstest.MapFile{Data: []byte("{{range .Clouds}}{{end}}")}
	if got, err := Text(files, "f.sql"); err == nil {
		t.Errorf("no error, but %q", got)
	}
	files["f.go"] = &fstest.MapFile{Data: []byte("{{c}}")}
	if got, err := Text(files, "f.go"); err != nil || got != "{{c}}" {
		t.Errorf("%q, %v", got, err)
	}
}
