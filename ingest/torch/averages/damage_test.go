package averages

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

const good = `"key": "a", "count": 1, "self_cpu_time_total": 1`

// TestErrors: what cannot be right is an error that says where and what.
func TestErrors(t *testing.T) {
	head := "key,count,self_cpu_time_total,device_time_total,flops\n"
	for _, c := range [][3]string{
		{"NaN in JSON", `[{` + good + `}, {"key": "b", "count": NaN}]`, "file: byte 75, after row 1: NaN is not a JSON number; write None instead"},
		{"Infinity in JSON", `[{` + good + `, "flops": -Infinity}]`, "after row 0: -Infinity is not a JSON number"},
		{"NaN as a text", head + "a,1,1,1,1\nb,1,NaN,1,1\n", `file: line 3: column "self_cpu_time_total": "NaN" is not a number`},
		{"infinity as a text", head + "a,1,1,inf,1\n", `file: line 2: column "device_time_total": "inf" is not a number`},
		{"too large for a double", head + "a,1,1,1e400,1\n", `"1e400" is not a number`},
		{"more calls than can be", head + "a,1e18,1,1,1\n", `column "count": 1e+18 is out of range`},
		{"a negative count", `[{` + good + `}, {"key": "b", "count": -2, "self_cpu_time_total": 1}]`, `file: row 2 (byte 53): column "count": "-2" is negative`},
		{"half a call", head + "a,0.5,1,1,1\n", `"0.5" is not a whole number`},
		{"no count", head + "a,,1,1,1\n", `file: line 2: "a" has no number of calls`},
		{"no name", head + ",1,1,1,1\n", `file: line 2: the row has no operator name`},
		{"a name that is a number of lists", `[{` + good + `}, {"key": ["b"], "count": 1}]`, `row 2 (byte 53): column "key": the name of an operator is text`},
		{"a time that is a list", `[{"key": "a", "count": 1, "self_cpu_time_total": [1]}]`, `column "self_cpu_time_total": it is not a number`},
		{"a word", head + "a,1,many,1,1\n", `"many" is not a number`},
		{"a unit of something else", head + "a,1,3 KB,1,1\n", `"3 KB" is not a number`},
		{"a row that is not an object", `[{` + good + `}, 5]`, "file: byte 54: row 2 is not an object"},
		{"damaged JSON", `[{` + good + `}, {"key" "b"}]`, "file: byte 60, after row 1: the JSON is damaged: invalid character '\"' after object name (expecting ':')"},
		{"a key twice", `[{` + good + `, "key": "b"}]`, "duplicate"},
		{"two tables", `{"cpu": [{` + good + `}], "cuda": [{` + good + `}]}`, `it has two tables, "cpu" and "cuda": save each in a separate file`},
		{"two arrays", `[{` + good + `}] [{` + good + `}]`, "byte 54: more data follows the table"},
		{"a number after rows", `{` + good + `} 5`, "it is neither an object nor an array of objects"},
		{"too many values in a line", head + "a,1,1,1,1,1\nb,1,1,1,1\n", "file: line 2: wrong number of fields; are names with commas quoted?"},
		{"too many values in the last line", head + "a,1,1,1,1\nf(int, float),1,1,1,1\n", "file: line 3: wrong number of fields; are names with commas quoted?"},
		{"too few values in a line", head + "a,1,1\nb,1,1,1,1\n", "file: line 2: wrong number of fields"},
		{"a quote inside a value", head + "a\"b,1,1,1,1\nb,1,1,1,1\n", `file: line 2: bare "`},
		{"two columns of one name", "key,count,self_cpu_us,self_cpu_us\na,1,1,1\n", `line 1: two columns are called "self_cpu_us"`},
		{"cut before a row is whole", `[{"key": "a", "count": 1, "self_cpu_time_total": 1`, "file: the file ends inside its first row: was it cut off?"},
		{"another file", `{"a": 1}`, errNotTable.Error()},
		{"an empty file", ``, errNotTable.Error()},
		{"a value of megabytes", `[{` + good + `, "stack": "` + strings.Repeat("x", maxValue+1<<16) + `"}]`, "a value is longer than 16 MiB"},
		{"a quote that is never closed", head + "\"" + strings.Repeat("x\n", maxValue/2+1<<16), "a value is longer than 16 MiB"},
	} {
		rows, res, err := readText(t, c[1])
		if err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v (%d rows, %+v), want %s", c[0], err, len(rows), res, c[2])
		}
	}
	many := `[{` + good
	for i := range maxColumns {
		many += `, "` + strings.Repeat("x", i+1) + `": 1`
	}
	if _, _, err := readText(t, many+"}]"); err == nil || !strings.Contains(err.Error(), "more than 1000 columns") {
		t.Error(err)
	}
}

// TestCut cuts tables at every byte: the rows that are whole are given as they were, and the loss is said.
func TestCut(t *testing.T) {
	for _, in := range []string{
		`[{` + good + `}, {"key": "b", "count": 12, "self_cpu_time_total": 34.5}, {"key": "c", "count": 56, "self_cpu_time_total": 7}]`,
		`{"model": "x", "rows": [{` + good + `}, {"key": "b", "count": 12, "self_cpu_time_total": 34.5}], "end": [{"x": 1}]}`,
		"{" + good + "}\n{\"key\": \"b\", \"count\": 12, \"self_cpu_time_total\": 34.5}\n",
		"key,self_cpu_time_total,count\na,1,1\n\"b, c\",34.5,12\n\"d \"\"e\"\"\",7,56\n",
	} {
		whole, _, err := readText(t, in)
		if err != nil || len(whole) < 2 {
			t.Fatal(whole, err)
		}
		partial := 0
		for n := range len(in) {
			rows, res, err := readText(t, in[:n])
			if err != nil { // before the first row is whole
				if len(rows) > 0 {
					t.Errorf("%q gives %d rows and %v", in[:n], len(rows), err)
				}
				continue
			}
			last := len(rows) - 1
			if len(res.warnings) > 0 && strings.Contains(strings.Join(res.warnings, " "), "no newline") {
				rows = rows[:last] // its last value may be cut
			}
			if len(rows) > len(whole) || !slices.Equal(rows, whole[:len(rows)]) {
				t.Errorf("%q gives %q", in[:n], rows)
			}
			if res.cut != "" {
				partial++
			}
			told := res.cut != "" || len(res.warnings) > 0 || strings.HasSuffix(strings.TrimRight(in[:n], "\r\n"), "}") || in[n-1] == '\n'
			if len(rows) < len(whole) && !told {
				t.Errorf("%q says nothing of its loss", in[:n])
			}
		}
		if partial < 20 {
			t.Errorf("%d cuts were noticed", partial)
		}
	}
}

// TestCancelled: a reading ends with its context.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rows := 0
	in := "key,count,self_cpu_time_total\n" + strings.Repeat("a,1,1\n", 5000)
	_, err := read(ctx, strings.NewReader(in), "file", func(*row) error { rows++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || rows > 2000 {
		t.Error(rows, err)
	}
	stop := errors.New("stop")
	if _, err := read(t.Context(), strings.NewReader(in), "file", func(*row) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}
