package render

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"prof/queries/frame"
)

// CSV writes f in base units and full precision under its raw column names. NULL is an empty field. The notes are no data
// and are left out: the caller prints f.Notes elsewhere.
func CSV(w io.Writer, f *frame.Frame, _ Options) error {
	if err := check(f); err != nil {
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
	for _, row := range f.Rows {
		for j, v := range row {
			record[j] = csvField(v)
		}
		if err := writeRecord(w, out, record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
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
		return exactFloat(v)
	}
	return strings.ToValidUTF8(fmt.Sprint(v), "\ufffd")
}

// exactFloat gives the shortest text that reads back as v, without an exponent where a spreadsheet might stumble over one.
func exactFloat(v float64) string {
	size := math.Abs(v)
	if size == 0 || size >= 1e-5 && size < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+")
}
