package table

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// CSV writes f in base units and full precision under its raw column names. NULL is an empty field. The notes are no data
// and are left out: the caller prints f.Notes elsewhere. With o.Safe texts are changed so that a spreadsheet takes none for a formula.
// Rows are written as they come; of those before an error none is left out.
func CSV(w io.Writer, f *frame.Frame, o typeset.Options) error {
	if err := f.Check(); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	record := make([]string, len(f.Columns))
	for j, c := range f.Columns {
		record[j] = strings.ToValidUTF8(c.Name, "\ufffd")
	}
	if err := writeRecord(w, out, record); err != nil {
		return err
	}
	err := f.Each(func(row []any) error {
		for j, v := range row {
			record[j] = csvField(v)
			if _, isText := v.(string); isText && o.Safe {
				record[j] = safe(record[j])
			}
		}
		return writeRecord(w, out, record)
	})
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return err
}

// writeRecord writes one line. A line of one empty field would be blank, and readers skip blank lines.
func writeRecord(w io.Writer, out *csv.Writer, record []string) error {
	if len(record) != 1 || record[0] != "" {
		return out.Write(record)
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\"\"\n")
	return err
}

// safe writes control characters out, and puts an apostrophe before a text that a spreadsheet would take for a formula.
// https://owasp.org/www-community/attacks/CSV_Injection
func safe(text string) string {
	text = typeset.Whole(text)
	if text == "" || !strings.ContainsRune("=+-@", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}

func csvField(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.ToValidUTF8(v, "\ufffd")
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return typeset.Exact(v)
	}
	return strings.ToValidUTF8(fmt.Sprint(v), "\ufffd")
}
