package queries

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/schema"
	"prof/schema/terms"
)

// Errors that this package's errors wrap.
var (
	ErrUnknownQuery = errors.New("no such query")
	ErrBadArgument  = frame.ErrBadArgument
	ErrNotReadOnly  = errors.New("only reading is allowed")
	ErrTooManyRows  = errors.New("the answer is too long")
)

// Statement is the SQL that gives the query's rows in any DuckDB client.
func (q Query) Statement(args Args) (string, error) {
	if err := q.check(args); err != nil {
		return "", err
	}
	if len(q.Params) == 0 {
		return "FROM " + q.Relation(), nil
	}
	var list []string
	for _, p := range q.Params {
		v, given := args[p.Name]
		if !given {
			if p.Default == "" {
				return "", fmt.Errorf("%w: %s needs --%s", ErrBadArgument, q.Name, FlagName(p.Name))
			}
			continue
		}
		lit, err := literal(p, v)
		if err != nil {
			return "", err
		}
		if p.Default != "" {
			lit = p.Name + " := " + lit
		}
		list = append(list, lit)
	}
	relation := q.Relation()
	if q.TakesRun() && !isRunID.MatchString(args["run"]) {
		relation = q.alias()
	}
	return fmt.Sprintf("%sFROM %s(%s)", q.selection(args), relation, strings.Join(list, ", ")), nil
}

// isRunID matches the id of a run, which relations with a version take; any other reference is resolved by their aliases.
var isRunID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// selection leaves out the optional columns that were not asked for; "" selects all.
func (q Query) selection(args Args) string {
	var left []string
	for _, o := range q.Optional {
		if asked, err := strconv.ParseBool(args[o[1]]); err != nil || !asked {
			left = append(left, o[0])
		}
	}
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("SELECT * EXCLUDE (%s) ", strings.Join(left, ", "))
}

// FlagName is the option of the command line that sets a parameter, without its dashes.
func FlagName(param string) string { return strings.ReplaceAll(param, "_", "-") }

func (q Query) check(args Args) error {
	for name := range args {
		known := false
		var names []string
		for _, p := range q.Params {
			known = known || p.Name == name
			names = append(names, "--"+FlagName(p.Name))
		}
		if !known {
			if len(names) == 0 {
				return fmt.Errorf("%w: %s takes no --%s", ErrBadArgument, q.Name, FlagName(name))
			}
			return fmt.Errorf("%w: %s takes no --%s; it takes %s", ErrBadArgument, q.Name, FlagName(name), strings.Join(names, " "))
		}
	}
	return nil
}

// unknownDevice is what the warehouse numbers work by whose GPU the capture does not say.
const unknownDevice = -1

func literal(p Param, v string) (string, error) {
	switch p.Type {
	case "BIGINT":
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return "", fmt.Errorf("%w: --%s %q is not a whole number", ErrBadArgument, FlagName(p.Name), v)
		}
		if n < 0 && !(p.Name == "device" && n == unknownDevice) && !strings.HasSuffix(p.Name, "_time") {
			return "", fmt.Errorf("%w: --%s %q is below 0", ErrBadArgument, FlagName(p.Name), v)
		}
		return strconv.FormatInt(n, 10), nil
	case "DOUBLE":
		x, err := parseScaled(v)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return "", fmt.Errorf("%w: --%s %q is not a number", ErrBadArgument, FlagName(p.Name), v)
		}
		return strconv.FormatFloat(x, 'f', -1, 64), nil
	case "BOOLEAN":
		b, err := strconv.ParseBool(v)
		if err != nil {
			return "", fmt.Errorf("%w: --%s %q is neither true nor false", ErrBadArgument, FlagName(p.Name), v)
		}
		return strconv.FormatBool(b), nil
	}
	return schema.Quote(v), nil
}

// parseScaled reads a number, which may end in k, M, G, T or P for 10^3, 10^6, ...: 989.4T.
func parseScaled(text string) (float64, error) {
	if at := strings.IndexAny(text, "kMGTP"); at > 0 && at == len(text)-1 {
		return strconv.ParseFloat(text[:at]+map[byte]string{'k': "e3", 'M': "e6", 'G': "e9", 'T': "e12", 'P': "e15"}[text[at]], 64)
	}
	return strconv.ParseFloat(text, 64)
}

// Run runs a query on a run that is named by any reference; the statement shown has its id.
func Run(ctx context.Context, w *schema.Warehouse, q Query, args Args) (*frame.Frame, error) {
	return NewAsker(w).Run(ctx, q, args)
}

// Run is the function of that name, with caveats that were asked before.
func (a *Asker) Run(ctx context.Context, q Query, args Args) (*frame.Frame, error) {
	stmt, err := q.Statement(args)
	if err != nil {
		return nil, err
	}
	if ref := args["run"]; q.TakesRun() && !isRunID.MatchString(ref) {
		named, err := a.w.Resolve(ctx, ref)
		if err != nil {
			return nil, err
		}
		args = maps.Clone(args)
		args["run"] = named.ID
		if stmt, err = q.Statement(args); err != nil {
			return nil, err
		}
	}
	if kinds := capturesOf(q); kinds != nil && args["source"] != "" && !slices.Contains(kinds, args["source"]) {
		return nil, fmt.Errorf("query %s: %w: --source is %s", q.Name, ErrBadArgument, terms.Or(kinds))
	}
	f, err := readWithin(ctx, a.w, stmt, a.most)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", q.Name, plainError(err))
	}
	f.Query, f.Version, f.SQL = q.Name, q.Version, stmt
	docs := map[string]string{}
	for _, c := range q.Columns {
		docs[c[0]] = c[1]
	}
	for i := range f.Columns {
		f.Columns[i].Doc = docs[f.Columns[i].Name]
	}
	topics := q.topics()
	lacking, err := a.lacking(ctx, q, args)
	if err != nil {
		return nil, err
	}
	list := faults(f)
	if len(f.Rows) == 0 && q.TakesRun() {
		if len(lacking) > 0 { // whatever else is said of no rows would be made of facts
			f.Caveats, f.Notes, err = caveat.Word(lacking)
			return f, err
		}
		if list, err = unmatched(ctx, a.w, q, args); err != nil {
			return nil, err
		}
		if len(list) == 0 && !q.needsNoTimeline() {
			topics = append([]string{noTimeline}, topics...)
		}
	}
	about, err := a.caveats(ctx, args, topics)
	if err != nil {
		return nil, err
	}
	f.Caveats, f.Notes, err = caveat.Word(slices.Concat(lacking, list, about))
	return f, err
}

// noTimeline is the topic of caveats on queries without rows.
const noTimeline = "timeline"

// topics are those of the caveats on its rows. Whatever a query counts, what is missing from its sources is missing from it.
func (q Query) topics() []string {
	if len(q.Notes) == 0 {
		return nil
	}
	return append(slices.Clone(q.Notes), "source")
}

// plainError takes DuckDB's mark off an error that a query raises itself about its arguments.
func plainError(err error) error {
	text := err.Error()
	if i := strings.Index(text, "ARGUMENT: "); i >= 0 {
		return fmt.Errorf("%w: %s", ErrBadArgument, text[i+len("ARGUMENT: "):])
	}
	return err
}

func read(ctx context.Context, w *schema.Warehouse, stmt string) (*frame.Frame, error) {
	return readWithin(ctx, w, stmt, math.MaxInt)
}

// readWithin reads at most so many rows.
func readWithin(ctx context.Context, w *schema.Warehouse, stmt string, most int) (*frame.Frame, error) {
	rows, err := w.DB.QueryContext(ctx, stmt)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return scan(rows, most)
}

// scan turns a result into a Frame.
func scan(rows *sql.Rows, most int) (*frame.Frame, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	names, kinds := make([]string, len(types)), make([]string, len(types))
	cells, into := make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		names[i], kinds[i], into[i] = t.Name(), t.DatabaseTypeName(), &cells[i]
	}
	n := 0
	return fill(names, kinds, func() ([]any, error) {
		if !rows.Next() {
			return nil, rows.Err()
		}
		if n++; n > most {
			return nil, fmt.Errorf("%w: it has more than %d rows; ask for fewer", ErrTooManyRows, most)
		}
		return cells, rows.Scan(into...)
	})
}

// fill makes a Frame of columns of the given DuckDB types; next gives one row after another, which it may write over, and then nil.
func fill(names, kinds []string, next func() ([]any, error)) (*frame.Frame, error) {
	f := newFrame(names, kinds)
	_, err := take(f, kinds, next, func() bool { return true })
	if err != nil {
		return nil, err
	}
	return f, nil
}

func newFrame(names, kinds []string) *frame.Frame {
	f := &frame.Frame{}
	for i, name := range names {
		f.Columns = append(f.Columns, frame.Column{Name: name, Type: typeOf(kinds[i]), Unit: frame.UnitOf(name)})
	}
	return f
}

// take puts rows into a Frame as long as it may have more; isLast says that there are none left.
func take(f *frame.Frame, kinds []string, next func() ([]any, error), mayHaveMore func() bool) (isLast bool, err error) {
	for !isLast && mayHaveMore() {
		cells, err := next()
		if err != nil {
			return false, err
		}
		if isLast = cells == nil; isLast {
			break
		}
		row := make([]any, len(cells))
		for i, c := range cells {
			row[i] = value(c, kinds[i])
		}
		f.Rows = append(f.Rows, row)
	}
	for i := range f.Columns {
		exact(f, i)
	}
	return isLast, nil
}

// exact makes a column text when a whole number or decimal in it fits neither an int64 nor, exactly, a float64.
func exact(f *frame.Frame, col int) {
	c := &f.Columns[col]
	if c.Type == frame.Text || !slices.ContainsFunc(f.Rows, func(r []any) bool { _, text := r[col].(string); return text }) {
		return
	}
	c.Type = frame.Text
	for _, r := range f.Rows {
		if r[col] != nil {
			r[col] = fmt.Sprint(r[col])
		}
	}
}

func typeOf(name string) frame.Type {
	switch {
	case strings.HasSuffix(name, "[]"):
		return frame.Text
	case strings.HasPrefix(name, "DECIMAL"), name == "DOUBLE", name == "FLOAT":
		return frame.Float
	case strings.HasSuffix(name, "INTEGER"), strings.HasSuffix(name, "INT"):
		return frame.Int
	case name == "BOOLEAN":
		return frame.Bool
	}
	return frame.Text
}

// value brings what the driver gives for a DuckDB type into one of a Frame's types.
func value(v any, name string) any {
	switch x := v.(type) {
	case nil:
		return nil
	case int64, string, bool, float64:
		return x
	case int8:
		return int64(x)
	case int16:
		return int64(x)
	case int32:
		return int64(x)
	case uint8:
		return int64(x)
	case uint16:
		return int64(x)
	case uint32:
		return int64(x)
	case uint64:
		if x > math.MaxInt64 {
			return strconv.FormatUint(x, 10)
		}
		return int64(x)
	case float32:
		return float64(x)
	case *big.Int:
		if !x.IsInt64() {
			return x.String()
		}
		return x.Int64()
	case duckdb.Decimal:
		f, text := x.Float64(), x.String()
		if strconv.FormatFloat(f, 'f', int(x.Scale), 64) != text && strconv.FormatFloat(f, 'f', -1, 64) != text {
			return text
		}
		return f
	case time.Time:
		return timeText(x, name)
	case []any, map[string]any, duckdb.Map, duckdb.OrderedMap:
		if text, err := json.Marshal(inJSON(x)); err == nil {
			return string(text)
		}
	case []byte:
		if name == "UUID" && len(x) == 16 {
			u := duckdb.UUID(x[:16])
			return u.String()
		}
		return string(x)
	}
	return fmt.Sprint(v)
}

// timeText is a time as DuckDB writes it: those that are not finite, years before the first and those past 9999 too. Of others, UTC goes without saying.
func timeText(x time.Time, kind string) string {
	switch kind {
	case "TIME":
		return x.Format("15:04:05.999999")
	case "TIMETZ":
		if _, offset := x.Zone(); offset%3600 != 0 {
			return x.Format("15:04:05.999999-07:00")
		}
		return x.Format("15:04:05.999999-07")
	}
	x = x.UTC()
	for i, most := range [...]int64{math.MaxInt64, -math.MaxInt64} { // DuckDB's, of each unit and of days
		if x.Equal(time.Unix(0, most)) || x.Equal(time.UnixMicro(most)) || x.Equal(time.UnixMilli(most)) || x.Equal(time.Unix(most, 0)) || x.Equal(time.Unix(most/(1<<32)*86400, 0)) {
			return "-infinity"[1-i:]
		}
	}
	day, clock := "2006-01-02", " 15:04:05.999999"
	switch kind {
	case "DATE":
		clock = ""
	case "TIMESTAMP_NS":
		clock += "999"
	}
	if year := x.Year(); year <= 0 {
		return fmt.Sprintf("%04d", 1-year) + x.Format("-01-02 (BC)"+clock)
	}
	return x.Format(day + clock)
}

// inJSON is a list or a struct as JSON can have it: what a number of it lacks there is null, a time a text.
func inJSON(v any) any {
	switch x := v.(type) {
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
	case float32:
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
	case time.Time:
		if text := timeText(x, "TIMESTAMP_NS"); x.Year() < 1 || x.Year() > 9999 || strings.HasSuffix(text, "infinity") {
			return text
		}
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = inJSON(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for name, e := range x {
			out[name] = inJSON(e)
		}
		return out
	case duckdb.OrderedMap:
		if _, err := json.Marshal(x); err == nil {
			return x
		}
		out := map[string]any{}
		for i, e := range x.Values() {
			out[fmt.Sprint(inJSON(x.Keys()[i]))] = inJSON(e)
		}
		return out
	}
	return v
}
