package rows

import "prof/internal/mask"

// MaskRow masks the texts of a row of those columns, as they are stored: all of them, whatever their reader did, since a reader cannot forget to
// then. Readers mask what they number or cut by its text, before they do.
func MaskRow(table string, columns []string, row []any) {
	for i, column := range columns {
		text, isText := row[i].(string)
		if !isText {
			continue
		}
		key := ""
		if i > 0 && columns[i-1] == "key" {
			key, _ = row[i-1].(string)
		}
		row[i] = mask.Cell(table, column, key, text)
	}
}

// Masked returns which columns of a table are masked as they are stored.
func Masked(table string, columns []Column) []bool {
	out := make([]bool, len(columns))
	for i, c := range columns {
		out[i] = c.Type == Varchar && !mask.IsExact(table, c.Name)
	}
	return out
}
