package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"prof/queries/frame"
)

// JSON writes f as one object with the keys query, version, columns, rows and notes. A row is an object with its keys in
// column order, in base units and full precision, one row a line. NULL, NaN and the infinities are null.
func JSON(w io.Writer, f *frame.Frame, _ Options) error {
	if err := check(f); err != nil {
		return err
	}
	keys := uniqueKeys(f.Columns)
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "{\"query\":%s,\"version\":%d,\n\"columns\":[", quote(f.Query), f.Version)
	for j, c := range f.Columns {
		fmt.Fprintf(out, "%s\n{\"name\":%s,\"type\":%q,\"unit\":%s,\"doc\":%s}",
			comma(j), keys[j], typeName(c.Type), quote(string(c.Unit)), quote(c.Doc))
	}
	out.WriteString("],\n\"rows\":[")
	for i, row := range f.Rows {
		out.WriteString(comma(i) + "\n{")
		for j, v := range row {
			out.WriteString(comma(j) + keys[j] + ":" + jsonValue(v))
		}
		out.WriteString("}")
	}
	out.WriteString("],\n\"notes\":[")
	for i, note := range f.Notes {
		out.WriteString(comma(i) + "\n" + quote(note))
	}
	out.WriteString("]}\n")
	return out.Flush()
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// uniqueKeys quotes the column names; a name that came before gets _1, _2 and so on, so that no value is lost.
func uniqueKeys(columns []frame.Column) []string {
	used := map[string]bool{}
	for _, c := range columns {
		used[quote(c.Name)] = true
	}
	keys, taken := make([]string, len(columns)), map[string]bool{}
	for j, c := range columns {
		key := quote(c.Name)
		for n := 1; taken[key] || key != quote(c.Name) && used[key]; n++ {
			key = quote(c.Name + "_" + strconv.Itoa(n))
		}
		keys[j], taken[key] = key, true
	}
	return keys
}

func typeName(t frame.Type) string {
	switch t {
	case frame.Int:
		return "int"
	case frame.Float:
		return "float"
	case frame.Bool:
		return "bool"
	}
	return "text"
}

func jsonValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "null"
		}
		return exactFloat(v)
	}
	return quote(fmt.Sprint(v))
}

// quote gives s as a JSON string of valid UTF-8, without the escapes that only HTML needs.
func quote(s string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil { // a string cannot fail
		return `""`
	}
	return string(bytes.TrimRight(out.Bytes(), "\n"))
}
