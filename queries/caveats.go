package queries

import (
	"context"
	"fmt"
	"slices"

	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/schema"
)

// Notes returns what a reader of a query's rows must know of the run and capture in its arguments, of the given topics.
func (a *Asker) Notes(ctx context.Context, args Args, topics ...string) ([]string, error) {
	list, err := a.caveats(ctx, args, topics)
	if err != nil {
		return nil, err
	}
	_, notes, err := caveat.Word(list)
	return notes, err
}

// caveats returns it as data, in the order of the topics.
func (a *Asker) caveats(ctx context.Context, args Args, topics []string) ([]frame.Caveat, error) {
	var out []frame.Caveat
	for _, topic := range topics {
		list, err := a.about(ctx, topic, args)
		if err != nil {
			return nil, err
		}
		out = append(out, slices.DeleteFunc(slices.Clone(list), func(c frame.Caveat) bool { return c.Topic != topic })...)
	}
	return out, nil
}

// about returns the caveats of a topic, among others: those that were stored with the run, or where they depend on more arguments than the
// kind of capture, those of the relation of that topic. Of the same arguments they are asked once.
func (a *Asker) about(ctx context.Context, topic string, args Args) ([]frame.Caveat, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	stmt := storedCaveats(args)
	if q, own := named(all, "_caveat-"+topic); own {
		if lacking, err := a.lacking(ctx, q, args); err != nil || len(lacking) > 0 { // it is made of facts
			return nil, err
		}
		if stmt, err = q.Statement(q.taken(args)); err != nil {
			return nil, err
		}
		stmt = fmt.Sprintf("SELECT %s AS topic, * FROM (%s) ORDER BY ALL", schema.Quote(topic), stmt)
	}
	return once(a, a.known, stmt, func() ([]frame.Caveat, error) {
		f, err := read(ctx, a.w, stmt)
		if err != nil {
			return nil, plainError(err)
		}
		return caveatsOf(f), nil
	})
}

// storedCaveats is the SQL of those of a run that hold for the kind of capture that is asked for.
func storedCaveats(args Args) string {
	holds := "is_counted"
	if source, given := args["source"]; given {
		holds = "coalesce(capture = " + schema.Quote(source) + ", true)"
	}
	return fmt.Sprintf("SELECT * EXCLUDE (run_id, capture, is_counted) FROM caveat WHERE run_id = %s AND %s ORDER BY ALL", schema.Quote(args["run"]), holds)
}

// lacking are the caveats of runs without facts, whatever is asked of them: of the run that a query takes, or of all where its rows name runs.
func (a *Asker) lacking(ctx context.Context, q Query, args Args) ([]frame.Caveat, error) {
	if q.TakesRun() {
		return a.caveats(ctx, args, []string{caveat.Facts})
	}
	if !slices.ContainsFunc(q.Columns, func(c [2]string) bool { return c[0] == "run" }) {
		return nil, nil
	}
	stmt := fmt.Sprintf("SELECT c.topic, c.kind, r.name AS subject FROM caveat c JOIN run r USING (run_id) WHERE c.topic = %s ORDER BY ALL", schema.Quote(caveat.Facts))
	return once(a, a.known, stmt, func() ([]frame.Caveat, error) {
		f, err := read(ctx, a.w, stmt)
		if err != nil {
			return nil, err
		}
		return caveatsOf(f), nil
	})
}

// caveatsOf reads caveats from rows, which have those columns that they need.
func caveatsOf(f *frame.Frame) []frame.Caveat {
	out := make([]frame.Caveat, len(f.Rows))
	for i, row := range f.Rows {
		c := &out[i]
		texts := map[string]*string{"topic": &c.Topic, "kind": &c.Kind, "stage": &c.Stage, "subject": &c.Subject, "object": &c.Object, "detail": &c.Detail}
		counts := map[string]*int64{"item_count": &c.Count, "of_count": &c.OfCount}
		numbers := map[string]*float64{"time_ns": &c.TimeNs, "of_time_ns": &c.OfTimeNs, "ratio": &c.Ratio}
		for at, column := range f.Columns {
			switch v := row[at].(type) {
			case string:
				*texts[column.Name] = v
			case int64:
				*counts[column.Name] = v
			case float64:
				*numbers[column.Name] = v
			}
		}
	}
	return out
}

// faults returns what rows say is wrong with themselves, in a column of that name.
func faults(f *frame.Frame) []frame.Caveat {
	at := f.Index("fault")
	if at < 0 {
		return nil
	}
	var out []frame.Caveat
	for _, r := range f.Rows {
		if r[at] != nil {
			out = append(out, caveat.Make("fault", fmt.Sprint(r[at]), caveat.Faulty{Row: fmt.Sprint(r[0])}))
		}
	}
	return out
}

// taken returns those of the arguments that the query takes.
func (q Query) taken(args Args) Args {
	out := Args{}
	for _, p := range q.Params {
		if v, given := args[p.Name]; given {
			out[p.Name] = v
		}
	}
	return out
}
