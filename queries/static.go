package queries

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/schema"
)

// staticQueries are the queries that Static asks.
var staticQueries = []string{"models", "model-bytes", "model-layers", "layer-flops", "activations"}

// StaticDefinitions are the relations that NewStatic needs in a warehouse that holds a model and nothing else.
func StaticDefinitions() ([]schema.Definition, error) { return DefinitionsFor(staticQueries...) }

// staticArgs returns the size as arguments of the queries.
func staticArgs(s judge.StaticSize, run string) Args {
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	a := Args{"run": run, "prefill": n(s.Prefill), "decode": n(s.Decode), "batch": n(s.Batch), "images": n(s.Pictures()), "crops": n(s.Crops),
		"convention": s.Convention, "mla": s.MLA, "head": s.Head, "context": s.Context}
	if s.FixedContext != nil {
		a["fixed_context"] = n(*s.FixedContext)
	}
	return a
}

// NewStatic computes it for the model of a run; dtype is the precision of all weights, "" that of the configuration.
func NewStatic(ctx context.Context, w *schema.Warehouse, run schema.Run, dtype string, size judge.StaticSize) (*judge.Static, error) {
	models := Args{"run": run.ID}
	if dtype != "" {
		models["dtype"] = dtype
	}
	// Most of the time goes into planning, which DuckDB does with one thread a query.
	a := NewAsker(w)
	f, err := a.AskAll(ctx, []Question{{Query: "layer-flops", Args: staticArgs(size, run.ID), Notes: frame.RowsOnly}, {Query: "models", Args: models}, {Query: "model-layers", Args: Args{"run": run.ID}}, {Query: "model-bytes", Args: Args{"run": run.ID}},
		{Query: "activations", Args: activationArgs(size, run.ID, dtype), Notes: frame.RowsOnly}})
	if err != nil {
		return nil, tooLarge(err)
	}
	flops := *f[0]
	if flops.Notes, err = a.Notes(ctx, staticArgs(size, run.ID), "model"); err != nil { // alone: a warehouse in memory has no stored ones
		return nil, err
	}
	s, err := judge.ReadStatic(size, dtype, judge.StaticAnswers{Run: run.Name, Flops: &flops, Models: f[1], Layers: f[2], Bytes: f[3], Activations: f[4], Stored: func(model int64, perParam float64) (*float64, error) {
		f, err := read(ctx, w, fmt.Sprintf(`SELECT CASE WHEN NOT m.is_unknown THEN m.plain_parameter_count * %g + m.packed_bytes END::DOUBLE AS bytes FROM model_size m WHERE m.run_id = %s AND _id_number(m.model_id) = %d`,
			perParam, schema.Quote(run.ID), model))
		if err != nil {
			return nil, err
		}
		rows, err := frame.Into[struct {
			Bytes *float64 `col:"bytes"`
		}](f)
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		return rows[0].Bytes, nil
	}})
	if err == nil && s.DTypeAssumed { // the configuration names no precision for these either
		known, err := a.Ask(ctx, "activations", activationArgs(size, run.ID, s.DType))
		if err != nil {
			return nil, err
		}
		return s, s.SetActivations(known)
	}
	return s, err
}

// activationArgs returns what the query of activations takes of the size.
func activationArgs(size judge.StaticSize, run, dtype string) Args {
	a := staticArgs(size, run)
	for _, name := range []string{"decode", "convention", "context", "fixed_context"} {
		delete(a, name)
	}
	if dtype != "" {
		a["dtype"] = dtype
	}
	return a
}

// tooLarge gives judge.ErrTooLarge in place of what DuckDB says of numbers that do not fit.
func tooLarge(err error) error {
	text := err.Error()
	if strings.Contains(text, "out of range for the destination type INT64") || strings.Contains(text, "Overflow in ") {
		return judge.ErrTooLarge
	}
	return err
}

// Workload is what a run's passes have in common; nil where they differ or nothing says.
type Workload struct {
	Prefill *int64 `col:"prefill_count"`
	Decode  *int64 `col:"decode_count"`
	Batch   *int64 `col:"batch_count"`
	Images  *int64 `col:"image_count"`
	Crops   *int64 `col:"crop_count"`
}

// WorkloadSize returns it, empty for a run without facts.
func WorkloadSize(ctx context.Context, w *schema.Warehouse, run string) (Workload, error) {
	f, err := read(ctx, w, fmt.Sprintf("FROM _workload_size(%s)", schema.Quote(run)))
	if err != nil {
		return Workload{}, err
	}
	rows, err := frame.Into[Workload](f)
	if err != nil || len(rows) == 0 {
		return Workload{}, err
	}
	return rows[0], nil
}
