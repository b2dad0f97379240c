package ask

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"prof/internal/serve/places"
	"prof/queries"
	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
	"prof/schema"
)

// mostRows bounds the rows of a query's answer: they are in memory at once.
const mostRows = 200_000

// Query answers a query of a run, which any reference names; run is "" for a query that takes none. form is one of Forms. JSON has the
// statement too. With a limit, no more rows than that are given; 0 is none.
func (a *Asker) Query(ctx context.Context, q queries.Query, run string, args queries.Args, form string, limit int) (Answer, error) {
	args = maps.Clone(args)
	if q.TakesRun() {
		if args == nil {
			args = queries.Args{}
		}
		args["run"] = run
	}
	ofOne := q.TakesRun() && !ofSeveral(q)
	if ofOne {
		args["run"] = "" // whatever it is called
	}
	stmt, err := q.Statement(args)
	if err != nil {
		return Answer{}, err
	}
	key := fmt.Sprintf("query %s %d %s", form, limit, stmt)
	if ofOne {
		return a.makeOfRun(ctx, run, key, func(ctx context.Context, w *schema.Warehouse, of subject, out *bytes.Buffer) (string, error) {
			args := maps.Clone(args)
			args["run"] = of.id
			return answerTo(ctx, w, out, q, args, form, limit)
		})
	}
	return a.Make(ctx, key, func(ctx context.Context, w *schema.Warehouse, out *bytes.Buffer) (string, error) {
		return answerTo(ctx, w, out, q, args, form, limit)
	})
}

// ofSeveral reports whether a query that takes a run has rows of other runs too: those say which run they are of.
func ofSeveral(q queries.Query) bool {
	return slices.Contains(strings.Split(q.Key, ", "), "run_id")
}

// answerTo asks a query.
func answerTo(ctx context.Context, w *schema.Warehouse, out *bytes.Buffer, q queries.Query, args queries.Args, form string, limit int) (mediaType string, err error) {
	f, err := queries.NewAsker(w).Within(mostRows).Run(ctx, q, args)
	if err != nil {
		return "", err
	}
	for _, c := range f.Caveats {
		if u, is := caveat.UnpickedOf(c); is && u.Option == "stage "+args["stage"] {
			return "", fmt.Errorf("%w %q; it has %s", ErrUnknownStage, args["stage"], u.Has)
		}
	}
	isCut := limit > 0 && len(f.Rows) > limit
	if isCut {
		f.Notes = append(f.Notes, fmt.Sprintf("only the first %s of %s rows are here", typeset.Int(int64(limit)), typeset.Int(int64(len(f.Rows)))))
		f.Rows = f.Rows[:limit]
	}
	return write(out, w, f, form, isCut)
}

// write writes a frame, which nobody else may have.
func write(out *bytes.Buffer, w *schema.Warehouse, f *frame.Frame, form string, isCut bool) (mediaType string, err error) {
	for _, row := range f.Rows {
		hideIn(row, w)
	}
	for i, note := range f.Notes {
		f.Notes[i] = hide(note, w)
	}
	for i := range f.Caveats {
		for _, text := range []*string{&f.Caveats[i].Subject, &f.Caveats[i].Object, &f.Caveats[i].Detail} {
			*text = hide(*text, w)
		}
	}
	if !isJSON(form) {
		known, err := doc.AnswerForms().Named(form)
		if err != nil {
			return "", invalid("%v", err)
		}
		return mediaTypes[form], known.Write(out, f, typeset.Options{})
	}
	fmt.Fprintf(out, `{"sql":%s,"is_cut":%t,`, typeset.Quote(f.SQL), isCut)
	var rest bytes.Buffer
	if err := table.JSON(&rest, f, typeset.Options{Texts: form == textsForm}); err != nil {
		return "", err
	}
	out.Write(rest.Bytes()[len("{"):])
	return JSON, nil
}

// Forms are the forms of rows. texts is JSON with the text of each cell beside its value, for programs that show it to people.
var Forms = []any{"json", textsForm, "csv", table.ArrowForm}

const textsForm = "texts"

func isJSON(form string) bool { return mediaTypes[form] == JSON }

var mediaTypes = map[string]string{"json": JSON, textsForm: JSON, "csv": CSV, table.ArrowForm: "application/vnd.apache.arrow.file"}

func hideIn(row []any, w *schema.Warehouse) {
	for i, cell := range row {
		if text, ok := cell.(string); ok {
			row[i] = hide(text, w)
		}
	}
}

// Bounds of SQL that programs send.
const (
	SQLTime   = 30 * time.Second
	SQLRows   = 10_000
	sqlBytes  = 16 << 20
	SQLLength = 100_000
)

// Statement is SQL of a program, which only reads.
type Statement struct {
	SQL   string
	Limit int    // rows at most
	Form  string // one of Forms
}

// Runner runs a statement on a warehouse where it can take no more memory and time than it may; RunStatement says what it writes. Its error wraps
// ErrInvalid where the author of the statement can mend it.
type Runner func(ctx context.Context, w *schema.Warehouse, s Statement, out *bytes.Buffer) error

// SQL answers a statement that only reads, with at most limit rows.
func (a *Asker) SQL(ctx context.Context, text string, limit int, form string) (Answer, error) {
	s := Statement{text, limit, form}
	if limit < 1 || limit > SQLRows {
		return Answer{}, invalid("limit %d: it is 1 to %d", limit, SQLRows)
	}
	waiting, cancel := context.WithTimeout(ctx, AnswerTime)
	defer cancel()
	leave, err := a.sql.Wait(waiting, places.Client(ctx))
	if err != nil {
		if ctx.Err() == nil {
			err = &reworded{fmt.Sprintf("other statements took longer than %s: ask again when they are done", AnswerTime), err}
		}
		return Answer{}, err
	}
	defer leave()
	return a.makeEachTime(ctx, func(ctx context.Context, w *schema.Warehouse, out *bytes.Buffer) (kind string, err error) {
		within, cancel := context.WithTimeout(ctx, SQLTime)
		defer cancel()
		if err = a.runner(within, w, s, out); err != nil && within.Err() != nil && ctx.Err() == nil {
			err = invalid("the statement was stopped after %s", SQLTime)
		}
		return mediaTypes[form], err
	})
}

// RunStatement runs a statement in this process and writes its rows, with JSON the statement too.
func RunStatement(ctx context.Context, w *schema.Warehouse, s Statement, out *bytes.Buffer) error {
	err := queries.Stream(ctx, w, s.SQL, queries.Part{Rows: s.Limit, Bytes: sqlBytes}, func(f *frame.Frame) (err error) {
		if n := len(f.Rows); n > 0 && textIn(f.Rows[n-1]) > sqlBytes { // the last row is there however large it is
			return invalid("a row has more than %d MB: ask for a part of its texts", sqlBytes>>20)
		}
		isCut := false
		if f.Rest != nil {
			row, err := f.Rest()
			if err != nil {
				return err
			}
			if isCut, f.Rest = row != nil, nil; isCut && !isJSON(s.Form) {
				return invalid("the answer has more than %d rows or %d MB: give it a LIMIT, or ask for json, which is cut and says so", s.Limit, sqlBytes>>20)
			}
		}
		if isCut {
			f.Notes = append(f.Notes, fmt.Sprintf("only the first %s rows are here", typeset.Int(int64(len(f.Rows)))))
		}
		_, err = write(out, w, f, s.Form, isCut)
		return err
	})
	if err == nil || errors.Is(err, ErrInvalid) {
		return err
	}
	text, _, _ := strings.Cut(hide(err.Error(), w), "\n\nPossible solutions") // which are settings
	return &reworded{text, errors.Join(ErrInvalid, err)}                      // whatever is wrong with a statement, its author can mend
}

// textIn is how many bytes the texts of a row have.
func textIn(row []any) (size int) {
	for _, cell := range row {
		text, _ := cell.(string)
		size += len(text)
	}
	return size
}
