package page

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
)

// quotingForms are ends of names of files that quote console output and are none: documents and programs.
var quotingForms = []string{".md", ".rst", ".html", ".htm", ".xml", ".json", ".jsonl", ".ipynb", ".yaml", ".yml", ".toml", ".tex", ".py", ".sh", ".go", ".c", ".h", ".cc", ".cpp", ".cu", ".cuh", ".rs", ".js", ".ts"}

// Sniff reports whether a file is a CSV page of ncu or its console output, by its lower-case name without .gz and its beginning.
// What the profiled program printed may stand before, so that a beginning of 64 KiB is better than one of a few lines.
func Sniff(name string, head []byte) bool {
	if slices.Contains(quotingForms, filepath.Ext(name)) {
		return false
	}
	text, _ := io.ReadAll(asUTF8(bytes.NewReader(head)))
	if bytes.IndexByte(text, 0) >= 0 {
		return false
	}
	for line := range bytes.Lines(text) {
		if headerStart(line) >= 0 || isSessionHead(line) && bytes.HasPrefix(line, []byte(`"Launch Attribute"`)) {
			return true
		}
		for _, m := range consoleMarks {
			if bytes.HasPrefix(line, []byte(m.mark)) {
				return true
			}
		}
	}
	return false
}
