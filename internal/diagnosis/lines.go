package diagnosis

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// lines is a table of text, of which each row is an event without a time.
type lines struct{ name string }

// lineRow is one line of a table. Nothing of it changes but whether it is there.
type lineRow struct{ text string }

// Row is the table of the rows of a text.
const Row = "row"

// isRow tells rows from heads, rules and sums.
var isRow = regexp.MustCompile(`^[^-].*\s?[,\s]\d`)

// Lines reads a table of text: as CSV, or as PyTorch's profiler prints it.
func Lines(data []byte, name string) *Capture {
	c := &Capture{file: lines{name}}
	for line := range strings.Lines(string(data)) {
		e := &Event{Kind: Mark, row: lineRow{line}}
		if isRow.MatchString(line) && !strings.Contains(line, "time total") {
			e.Kind, e.Table = Work, Row
		}
		c.Events = append(c.Events, e)
	}
	return c
}

func (f lines) clone() file { return f }

func (f lines) write(dir, _ string, events []*Event) ([]string, error) {
	var text strings.Builder
	for _, e := range events {
		text.WriteString(e.row.(lineRow).text)
	}
	path := filepath.Join(dir, f.name)
	return []string{path}, os.WriteFile(path, []byte(text.String()), 0o644)
}

func (r lineRow) clone() row         { return r }
func (lineRow) setTimes(*Event)      {}
func (lineRow) setName(string)       {}
func (lineRow) setBlocks(int64)      {}
func (lineRow) setPageable()         {}
func (lineRow) setCorrelation(int64) {}
func (lineRow) setThread(int64)      {}
func (lineRow) blocks() int64        { return 0 }
