package table

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/render/typeset"
)

// JSON writes f as one object with the keys query, version, columns, rows, notes and caveats, which are what notes say as data: a
// kind and its figures. A row is an object with its keys in
// column order, in base units and full precision, one row a line, written as it comes. NULL, NaN and the infinities are null.
// With o.Texts, columns have their titles too, and beside rows stand texts: of each row the cells that people see other than as they are.
func JSON(w io.Writer, f *frame.Frame, o typeset.Options) error {
	if err := f.Check(); err != nil {
		return err
	}
	keys := uniqueKeys(f.Columns)
	var seen Table
	var scales []typeset.Scale
	if o.Texts {
		scales = scalesOf(f)
		seen = scaled(f, scales)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "{\"query\":%s,\"version\":%d,\n\"columns\":[", typeset.Quote(f.Query), f.Version)
	for j, c := range f.Columns {
		fmt.Fprintf(out, "%s\n{\"name\":%s,\"type\":%q,\"unit\":%s,\"doc\":%s",
			typeset.Comma(j), keys[j], typeName(c.Type), typeset.Quote(string(c.Unit)), typeset.Quote(c.Doc))
		if o.Texts {
			fmt.Fprintf(out, `,"title":%s,"is_code":%t,"scale":%s,"shown_in":%s`, typeset.Quote(seen.Columns[j].Title), seen.Columns[j].Code, typeset.Exact(scales[j].Div), typeset.Quote(scales[j].Name))
		}
		out.WriteString("}")
	}
	out.WriteString("],\n\"rows\":[")
	rows := 0
	err := f.Each(func(row []any) error {
		out.WriteString(typeset.Comma(rows) + "\n{")
		rows++
		for j, v := range row {
			out.WriteString(typeset.Comma(j) + keys[j] + ":" + typeset.JsonValue(v))
		}
		_, err := out.WriteString("}") // says what went wrong before, too
		return err
	})
	if err != nil { // what there is of the object shows that it has no end
		if err := out.Flush(); err != nil {
			return err
		}
		return err
	}
	if o.Texts {
		out.WriteString("],\n\"texts\":[")
		seen.writeTexts(out, f, keys)
	}
	out.WriteString("],\n\"notes\":[")
	for i, note := range f.Notes {
		out.WriteString(typeset.Comma(i) + "\n" + typeset.Quote(note))
	}
	out.WriteString("],\n\"caveats\":[")
	for i, c := range f.Caveats {
		fmt.Fprintf(out, "%s\n{\"topic\":%s,\"kind\":%s", typeset.Comma(i), typeset.Quote(c.Topic), typeset.Quote(c.Kind))
		for _, x := range caveat.Figures(c) {
			fmt.Fprintf(out, ",%q:%s", x.Column, typeset.JsonValue(x.Value))
		}
		out.WriteString("}")
	}
	out.WriteString("]}\n")
	return out.Flush()
}

// writeTexts writes what people see of each row but for what it is as it stands there: texts, and NULL. Names are cut as Markdown cuts them.
func (t Table) writeTexts(out *bufio.Writer, f *frame.Frame, keys []string) {
	short := t.names()
	for i, row := range t.Rows {
		out.WriteString(typeset.Comma(i) + "\n{")
		first := true
		for j, cell := range row {
			text := cell.Text
			if cell.Code {
				text = short[j](text)
			}
			if cell.Null || f.Rows[i][j] == text {
				continue
			}
			if !first {
				out.WriteByte(',')
			}
			first = false
			out.WriteString(keys[j] + ":" + typeset.Quote(text))
		}
		out.WriteByte('}')
	}
}

// Form is the table as JSON has it, like the answer of a query with its texts. marks say of which cells a reader sees a tone, and which are code.
func (t Table) Form() any {
	type row = map[string]any
	type column struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		Unit  string `json:"unit"`
		Doc   string `json:"doc"`
		Title string `json:"title"`
	}
	type form struct {
		Columns []column            `json:"columns"`
		Rows    []row               `json:"rows"`
		Texts   []map[string]string `json:"texts"`
		Marks   []map[string]string `json:"marks"`
	}
	f := form{Rows: []row{}, Texts: make([]map[string]string, len(t.Rows)), Marks: make([]map[string]string, len(t.Rows))}
	for i := range t.Rows {
		f.Rows, f.Texts[i], f.Marks[i] = append(f.Rows, row{}), map[string]string{}, map[string]string{}
	}
	names := t.names()
	for j, c := range t.Columns {
		x := column{cmp.Or(c.Name, c.Title), "text", "", c.Doc, c.Title}
		if c.Right {
			x.Type = "float"
		}
		for i, cells := range t.Rows {
			cell, text := cells[j], cells[j].Text
			if cell.Code {
				text = names[j](text)
			}
			switch {
			case cell.Value != "":
				f.Rows[i][x.Name] = json.Number(cell.Value)
			case cell.Text != "" && !cell.Null:
				f.Rows[i][x.Name] = cell.Text
			}
			if text != "" && text != f.Rows[i][x.Name] {
				f.Texts[i][x.Name] = text
			}
			if cell.Code {
				f.Marks[i][x.Name] = "code"
			}
			if cell.Tone != "" {
				f.Marks[i][x.Name] = string(cell.Tone)
			}
		}
		f.Columns = append(f.Columns, x)
	}
	return f
}

// uniqueKeys quotes the column names; a name that came before gets _1, _2 and so on, so that no value is lost.
func uniqueKeys(columns []frame.Column) []string {
	used := map[string]bool{}
	for _, c := range columns {
		used[typeset.Quote(c.Name)] = true
	}
	keys, taken := make([]string, len(columns)), map[string]bool{}
	for j, c := range columns {
		key := typeset.Quote(c.Name)
		for n := 1; taken[key] || key != typeset.Quote(c.Name) && used[key]; n++ {
			key = typeset.Quote(c.Name + "_" + strconv.Itoa(n))
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
