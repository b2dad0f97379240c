package averages

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// printed writes a table as key_averages().table() prints it: names and values to the right in columns as wide as the longest name and 12
// characters, two blanks after each, lines of dashes over and under the header and under the rows.
func printed(table [][]string) string {
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], 12, utf8.RuneCountInString(cell))
		}
	}
	line := func(cells []string) string {
		var b strings.Builder
		for i, cell := range cells {
			fmt.Fprintf(&b, "%*s  ", widths[i], cell)
		}
		return b.String() + "\n"
	}
	rule := make([]string, len(widths))
	for i, w := range widths {
		rule[i] = strings.Repeat("-", w)
	}
	out := line(rule) + line(table[0]) + line(rule)
	for _, row := range table[1:] {
		out += line(row)
	}
	return out + line(rule)
}

// markdown writes a table as Markdown.
func markdown(table [][]string) string {
	var b strings.Builder
	for i, row := range table {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" :---: |", len(row)) + "\n")
		}
	}
	return b.String()
}

// TestTextForms: the table that PyTorch printed of a real capture gives the same rows as text, as a comment, in a log, and as Markdown, as it does as CSV.
func TestTextForms(t *testing.T) {
	saved := unpacked(t, captures+"train.key_averages.table.csv.gz")
	table, err := csv.NewReader(bytes.NewReader(saved)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want, _ := readBytes(t, "saved.csv", saved)
	text := printed(table)
	comment := "# " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n# ") + "\n"
	log := "epoch 1, loss 0.5\n--- profile ---\n" + text + "Self CPU time total: 18.082ms\nSelf CUDA time total: 517.502us\n\nepoch 2\n"
	trimmed := strings.ReplaceAll(regexpTrail(text), "\n", "\r\n")
	for name, in := range map[string]string{"printed": text, "comment": comment, "log": log, "trimmed": trimmed, "markdown": "# Operators\n\n" + markdown(table) + "\nmore\n"} {
		if !Sniff(name, []byte(in)) {
			t.Errorf("%s is not recognised", name)
		}
		rows, res := readBytes(t, name, []byte(in))
		if got := lines(rows); !slices.Equal(got, lines(want)) {
			t.Errorf("%s gives %d rows, want %d:\n%s", name, len(got), len(want), strings.Join(got[:min(3, len(got))], "\n"))
		}
		if res.cut != "" {
			t.Errorf("%s: %s", name, res.cut)
		}
	}
}

// regexpTrail takes blanks at the ends of lines away, as editors do.
func regexpTrail(text string) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		out = append(out, strings.TrimRight(line, " "))
	}
	return strings.Join(out, "\n")
}

const small = `---------  ------------  ------------
     Name      Self CPU    # of Calls
---------  ------------  ------------
`

// TestTextRows: what a table in a text may hold besides, and what is said of it.
func TestTextRows(t *testing.T) {
	for name, c := range map[string]struct {
		in    string
		rows  []string
		notes []string
		cut   string
	}{
		"units": {small + "       a1       1.500us             2  \n       b2       2.000ms             3  \n       c3        1.250s             4\n" + small[:38] + "Self CPU time total: 1.252s\n",
			[]string{"a1 1500 2", "b2 2000000 3", "c3 1250000000 4"}, nil, ""},
		"cut names":  {small + "  aten::a...       1.500us             2  \n" + small[:38], []string{"aten::a... 1500 2"}, []string{"1 names are shortened"}, ""},
		"wide":       {small + "aten::a_long_name_of_an_op       1.500us             2  \n" + small[:38], []string{"aten::a_long_name_of_an_op 1500 2"}, nil, ""},
		"first rows": {small + "       a1       1.500us             2  \n" + small[:38] + "Self CPU time total: 3.000us\n", []string{"a1 1500 2"}, []string{"the rows have 50.0 % of the CPU time"}, ""},
		"cut":        {small + "       a1       1.500us             2  \n       b2       2.0", []string{"a1 1500 2"}, nil, "the file ends inside line 5"},
		"no end":     {small + "       a1       1.500us             2  \n", []string{"a1 1500 2"}, nil, "the file ends inside its table, after row 1"},
		"bars":       {"|op_name|self_cpu_us|calls|\n|---|---|---|\n|f<A|B>|1.5|2|\n|`g`|3|4|\n", []string{"f<A|B> 1500 2", "g 3000 4"}, nil, ""},
		"stack": {`---------  ------------  ------------  ---------------
     Name      Self CPU    # of Calls  Source Location
---------  ------------  ------------  ---------------
       a1       1.500us             2  a.py(1): f
                                       b.py(2): g

       b2       2.000us             2  c.py(3): h
---------  ------------  ------------  ---------------
`, []string{"a1 1500 2", "b2 2000 2"}, nil, ""},
	} {
		rows, res := readBytes(t, name, []byte(c.in))
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprint(r.name, " ", *r.amounts[selfCPU], " ", *r.amounts[countField]))
		}
		if !slices.Equal(got, c.rows) || !strings.HasPrefix(res.cut, c.cut) || c.cut == "" && res.cut != "" {
			t.Errorf("%s: %q, cut %q", name, got, res.cut)
		}
		for _, want := range c.notes {
			if !slices.ContainsFunc(res.warnings, func(w string) bool { return strings.Contains(w, want) }) {
				t.Errorf("%s warns %q, want %q", name, res.warnings, want)
			}
		}
		if len(c.notes) == 0 && slices.ContainsFunc(res.warnings, func(w string) bool { return strings.Contains(w, "shortened") || strings.Contains(w, "the rows have") }) {
			t.Errorf("%s warns %q", name, res.warnings)
		}
	}
}

// TestTextWrong: errors name the line.
func TestTextWrong(t *testing.T) {
	for in, want := range map[string]string{
		small + "       a1       1.500us             2  \n" + small[:38] + "\n" + small + "       a1       1.500us             2  \n" + small[:38]: "it has two tables, at lines 3 and 9",
		small + "       a1       1.500us\n" + small[:38]:                                 "no number of calls",
		small + "       a1  x  2  3  4  5  6  7  8  9  10  11  12  13 14\n" + small[:38]: "line 4: it does not fit the columns",
		"|op_name|self_cpu_us|calls|\n|---|---|---|\n|f|1.5|\n":                          "line 3: it has 2 cells, the header 3",
		"|op_name|self_cpu_us|calls|calls|\n|---|---|---|---|\n|f|1.5|1|1|\n":            "line 2: two columns are called \"calls\"",
		"|op_name|self_cpu_us|calls|\n|---|---|---|\n|f|fast|1|\n":                       "line 3: column \"self_cpu_us\": \"fast\" is not a number",
	} {
		if _, err := read(t.Context(), bytes.NewReader([]byte(in)), "x", func(*row) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

// TestSniffTexts: tables of other things, and those that prof writes itself, are none of key_averages().
func TestSniffTexts(t *testing.T) {
	for name, in := range map[string]string{
		"kernels":  "|kernel_name|total_ms|calls|mean_ms|device|\n| :---: | :---: | :---: | :---: | :---: |\n|k|1|1|1|x|\n",
		"prof's":   "| op_name | total_time_ms | cuda_time_ms | calls | mean_ms | self_cuda_ms | self_cuda_share | self_cpu_ms | kernels_and_copies |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n| a | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 |\n",
		"rule":     "a\n---  ---\nb\n---  ---\n",
		"markdown": "| name | calls |\n| --- | --- |\n| a | 1 |\n",
	} {
		if Sniff("x.md", []byte(in)) {
			t.Errorf("%s is taken for a table", name)
		}
	}
}
