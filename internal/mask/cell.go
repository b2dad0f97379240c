package mask

import "slices"

// exact are the columns of texts that are stored as they are. All others are masked where they enter the warehouse: by an ingest, an import or out of a
// lake.
var exact = map[string][]string{
	"kernel_name":     {"name", "short_name"},
	"kernel_symbol":   {"symbol"},
	"api_name":        {"name"},
	"ncu_metric_name": {"name", "unit"},
	"ncu_launch":      {"symbol"},
	"ncu_function":    {"symbol"},
	"ncu_source_file": {"sha256"},
	"range_path":      {"name", "path"}, // of names that are masked; joined, one could look like the name of the next
	"source":          {"path", "sha256"},
	"stage_execution": {"path"}, // as of range_path
	"capture_input":   {"sha256"},
	"capture_kept":    {"sha256"},
}

// IsExact reports whether a column's texts are stored as they are.
func IsExact(table, column string) bool { return slices.Contains(exact[table], column) }

// Cell is a text as a column stores it. key is the text of the column before, where that is called key: it can say that a value is a secret.
func Cell(table, column, key, text string) string {
	switch {
	case IsExact(table, column):
		return text
	case column == "value" && key != "":
		return Value(key, text)
	}
	return Stored(text)
}
