package load

// Plan is what reading a file would do, as far as that is cheap to know.
type Plan struct {
	CaptureID string // as in SourceInfo
	Tables    []PlannedTable
}

// PlannedTable is a table of a file.
type PlannedTable struct {
	Name    string
	Rows    int64  // about how many would be read; -1 where it is skipped
	Skipped string // why it would not be read; "" where it is
}

// Work is the device work of a process: when it ran, how many pieces, and their time together.
type Work struct{ Start, End, Count, Sum int64 }
