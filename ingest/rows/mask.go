package rows

import (
	"slices"

	"prof/internal/mask"
)

// exact are the columns of texts that are stored as they are. All others are masked as they are stored, whatever their reader did: a reader
// cannot forget to. Readers mask what they number or cut by its text, before they do.
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

// isExact reports whether a column's texts are stored as they are.
func isExact(table, column string) bool { return slices.Contains(exact[table], column) }

// MaskRow masks the texts of a row of those columns, as they are stored. A fact's name can say that its value is a secret.
func MaskRow(table string, columns []string, row []any) {
	for i, column := range columns {
		text, isText := row[i].(string)
		if !isText || isExact(table, column) {
			continue
		}
		if key, hasKey := row[max(0, i-1)].(string); hasKey && column == "value" && columns[max(0, i-1)] == "key" {
			row[i] = mask.Value(key, text)
			continue
		}
		row[i] = mask.Stored(text)
	}
}

// Masked returns which columns of a table are masked as they are stored.
func Masked(table string, columns []Column) []bool {
	out := make([]bool, len(columns))
	for i, c := range columns {
		out[i] = c.Type == Varchar && !isExact(table, c.Name)
	}
	return out
}
