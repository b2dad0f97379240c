package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"prof/queries/frame"
	"prof/render/rendertest"
	"prof/render/typeset"
)

func exactFrame() *frame.Frame {
	f := &frame.Frame{Query: "exact", Version: 3, Columns: []frame.Column{
		rendertest.Column("text", frame.Text), rendertest.Column("total_ns", frame.Int), rendertest.Column("mean_ns", frame.Float), rendertest.Column("ok", frame.Bool),
	}}
	random := rand.New(rand.NewSource(3))
	whole := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1<<53 + 1}
	real := []float64{0, 1, -0.1, math.MaxFloat64, math.SmallestNonzeroFloat64, 1.0 / 3, 1e-5, 9.99e-6, 1e14, 1e15, 1e21, -1e-300}
	for range 1000 {
		whole = append(whole, int64(random.Uint64()))
		real = append(real, math.Float64frombits(random.Uint64()))
	}
	for i := range real {
		if math.IsNaN(real[i]) || math.IsInf(real[i], 0) {
			real[i] = 0
		}
		f.Rows = append(f.Rows, []any{rendertest.Hostile, whole[i%len(whole)], real[i], i%2 == 0})
	}
	f.Rows = append(f.Rows, []any{"a,\"b\"\nc", nil, nil, nil})
	return f
}

func TestCSVReadsBackExactly(t *testing.T) {
	f := exactFrame()
	var out bytes.Buffer
	if err := CSV(&out, f, typeset.Options{}); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(records[0], ","); got != "text,total_ns,mean_ns,ok" || len(records) != len(f.Rows)+1 {
		t.Fatalf("got %d records under %s", len(records), got)
	}
	for i, row := range f.Rows {
		for j, v := range row {
			if got := parse(t, f.Columns[j].Type, records[i+1][j]); got != v && v != rendertest.Hostile {
				t.Fatalf("row %d: %v reads back as %v from %s", i, v, got, records[i+1][j])
			}
		}
	}
}

func parse(t *testing.T, kind frame.Type, field string) (v any) {
	t.Helper()
	err := error(nil)
	switch {
	case field == "":
		return nil
	case kind == frame.Int:
		v, err = strconv.ParseInt(field, 10, 64)
	case kind == frame.Float:
		v, err = strconv.ParseFloat(field, 64)
	case kind == frame.Bool:
		v, err = strconv.ParseBool(field)
	default:
		v = field
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestExactFloat(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 1.5: "1.5", 1e-5: "0.00001", 9.9e-6: "9.9e-06", 123456789012345: "123456789012345", 1e15: "1e+15", -2.5e14: "-250000000000000",
		math.Inf(1): "Inf", math.Inf(-1): "-Inf",
	} {
		if got := typeset.Exact(v); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}

func TestCSVOfOneNullIsNoBlankLine(t *testing.T) {
	f := &frame.Frame{Columns: []frame.Column{rendertest.Column("a", frame.Int)}, Rows: [][]any{{rendertest.N(1)}, {nil}, {rendertest.N(2)}}}
	var out bytes.Buffer
	if err := CSV(&out, f, typeset.Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "a\n1\n\"\"\n2\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestSafeCSV keeps formulas out of spreadsheets, and numbers numbers.
func TestSafeCSV(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "ampere_gemm": "ampere_gemm", "a=b": "a=b", "-1.5e3": "-1.5e3", "+7": "+7", "-": "'-", "-lm": "'-lm",
		`=HYPERLINK("http://x")`: `'=HYPERLINK("http://x")`, "+A1": "'+A1", "@SUM(A1)": "'@SUM(A1)", "\t=A1": "\\t=A1", "a\x1b[2Jb": "a\\x1b[2Jb", "\u202ea": "\\u202ea",
	} {
		f := &frame.Frame{Columns: []frame.Column{rendertest.Column("a", frame.Text), rendertest.Column("b", frame.Int)}, Rows: [][]any{{text, rendertest.N(-1)}}}
		var safe, exact bytes.Buffer
		if err := errors.Join(CSV(&safe, f, typeset.Options{Safe: true}), CSV(&exact, f, typeset.Options{})); err != nil {
			t.Fatal(err)
		}
		for out, want := range map[*bytes.Buffer]string{&safe: want, &exact: text} {
			records, err := csv.NewReader(out).ReadAll()
			if err != nil || records[1][0] != want || records[1][1] != "-1" {
				t.Errorf("%q: got %q (%v), want %q", text, records, err, want)
			}
		}
	}
}

func TestJSONReadsBackExactly(t *testing.T) {
	f := exactFrame()
	f.Notes = []string{"<a> & \xff"}
	f.Caveats = []frame.Caveat{{Topic: "left-gaps", Kind: "left-out", Subject: "gap", Detail: "between", Count: 3, TimeNs: 1<<53 - 1, OfTimeNs: 1 << 60}, {Topic: "range", Kind: "no-samples", Stage: "not of its kind"}}
	var out bytes.Buffer
	if err := JSON(&out, f, typeset.Options{}); err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(out.Bytes()) || !strings.Contains(out.String(), `"<a> & `) {
		t.Errorf("notes are not as typed: %q", out.String()[out.Len()-60:])
	}
	var got struct {
		Query   string
		Version int
		Columns []struct{ Name, Type, Unit, Doc string }
		Rows    []map[string]any
		Notes   []string
		Caveats []map[string]any
	}
	decoder := json.NewDecoder(&out)
	decoder.UseNumber()
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if c := got.Columns[1]; got.Query != "exact" || got.Version != 3 || c.Name != "total_ns" || c.Type != "int" || c.Unit != "ns" ||
		c.Doc != "what total_ns means" || len(got.Rows) != len(f.Rows) || len(got.Notes) != 1 {
		t.Fatalf("got %+v", got.Columns)
	}
	if said, want := fmt.Sprint(got.Caveats), "[map[detail:between item_count:3 kind:left-out of_time_ns:1.152921504606847e+18 subject:gap time_ns:9.007199254740991e+15 topic:left-gaps] map[kind:no-samples topic:range]]"; said != want {
		t.Errorf("caveats are %s, want %s", said, want)
	}
	for i, row := range f.Rows {
		for j, v := range row {
			value := got.Rows[i][f.Columns[j].Name]
			if number, ok := value.(json.Number); ok {
				value = parse(t, f.Columns[j].Type, number.String())
			}
			if value != v {
				t.Fatalf("row %d: %v reads back as %v", i, v, value)
			}
		}
	}
}

func TestJSONOddValues(t *testing.T) {
	f := &frame.Frame{
		Columns: []frame.Column{{Name: "a", Type: frame.Float}, {Name: "a", Type: frame.Float}, {Name: "a_1"}, {Name: "a", Type: frame.Int}},
		Rows:    [][]any{{math.NaN(), math.Inf(-1), "x\u2028<", rendertest.N(1)}},
	}
	var out bytes.Buffer
	if err := JSON(&out, f, typeset.Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "{\"a\":null,\"a_2\":null,\"a_1\":\"x\\u2028<\",\"a_3\":1}"; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in\n%s", want, out.String())
	}
}

// TestTexts holds that JSON has what people see beside the values, where that is something else.
func TestTexts(t *testing.T) {
	f := &frame.Frame{Query: "texts", Version: 1, Rows: [][]any{{"void a::gemm<int>(int)", 1_500_000.0, int64(1234), true, "x"}, {"copy", nil, int64(2), nil, "a\tb"}}, Columns: []frame.Column{
		rendertest.Column("kernel", frame.Text), rendertest.Column("mean_ns", frame.Float), rendertest.Column("calls", frame.Int), rendertest.Column("ok", frame.Bool), rendertest.Column("note", frame.Text),
	}}
	var out bytes.Buffer
	if err := JSON(&out, f, typeset.Options{Texts: true}); err != nil {
		t.Fatal(err)
	}
	type column struct {
		Title  string
		IsCode bool `json:"is_code"`
		Scale  float64
		In     string `json:"shown_in"`
	}
	var got struct {
		Columns []column
		Texts   []map[string]string
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if want := []column{{"kernel", true, 1, ""}, {"mean (ms)", false, 1e6, "ms"}, {"calls", false, 1, ""}, {"ok", false, 1, ""}, {"note", false, 1, ""}}; !slices.Equal(got.Columns, want) {
		t.Errorf("columns %v, not %v", got.Columns, want)
	}
	for i, want := range []map[string]string{{"kernel": "gemm<int>", "mean_ns": "1.5", "calls": "1,234", "ok": "yes"}, {"calls": "2", "note": `a\tb`}} {
		if !maps.Equal(got.Texts[i], want) {
			t.Errorf("row %d is seen as %v, not %v", i, got.Texts[i], want)
		}
	}
}
