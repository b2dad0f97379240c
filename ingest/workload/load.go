package workload

import (
	"cmp"
	"context"
	"fmt"

	"prof/ingest/load"
	"prof/ingest/model"
	"prof/ingest/rows"
	"prof/internal/file"
	"prof/internal/mask"
)

// Identify knows no more of a file than that it holds facts of a workload: it does not name its capture.
func Identify(context.Context, string, string) (*load.SourceInfo, error) {
	return &load.SourceInfo{}, nil
}

// Load stores the facts of a file as one source of the target's run. Errors are those of Read, with the file's name before them.
func Load(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	in, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f, err := Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	stored, refused, err := f.store(ctx, t, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if f.Reported != nil {
		n, err := f.Reported.Store(ctx, t, "metrics")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		stored += n
	}
	info := &load.SourceInfo{Rows: stored, Warnings: f.Warnings}
	return info, f.describe(ctx, t, refused)
}

// Store stores the facts as rows of the target's source and gives their number. A model is called what the facts call it, else what
// its configuration does, else name; where all are "", its family. A configuration that cannot be read becomes a warning, since the
// passes are good without it.
func (f *Facts) Store(ctx context.Context, t *load.Target, name string) (stored int64, err error) {
	stored, _, err = f.store(ctx, t, name)
	return stored, err
}

// store also gives why the configuration was refused; nil when it was not.
func (f *Facts) store(ctx context.Context, t *load.Target, name string) (stored int64, refused, err error) {
	modelID, stored, refused, err := f.storeModel(ctx, t, name)
	if err != nil {
		return stored, nil, err
	}
	run, source := t.RunID, int32(t.SourceID)
	n, err := t.Append(ctx, "workload", func(add rows.Add) error {
		return add(run, source, modelID, load.OrNull(f.Warmup), load.TextOrNull(f.Capture))
	})
	if err != nil {
		return stored, refused, err
	}
	stored += n
	n, err = t.Append(ctx, "workload_process", func(add rows.Add) error {
		for i, p := range f.Process {
			if err := add(run, source, int32(i+1), int32(p.PID), orNull32(p.Rank), orNull32(p.World), orNull32(p.Parallel)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return stored, refused, err
	}
	stored += n
	n, err = t.Append(ctx, "source_fact", func(add rows.Add) error {
		for _, v := range f.Versions {
			if err := add(run, source, "workload."+v.Name, v.Version); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return stored, refused, err
	}
	stored += n
	n, err = t.Append(ctx, "workload_pass", func(add rows.Add) error {
		for i, p := range f.Passes {
			var id, process any
			if !p.Each {
				id = int32(i + 1)
			}
			if p.Process > 0 {
				process = int32(p.Process)
			}
			if err := add(run, source, id, p.Warmup, load.OrNull(p.Prefill), load.OrNull(p.Decode), batchOrNull(p.Batch), load.OrNull(p.Images), load.OrNull(p.Crops),
				load.OrNull(p.PrefillNs), load.OrNull(p.DecodeNs), load.OrNull(p.VisionNs), load.TextOrNull(p.Input), process); err != nil {
				return err
			}
		}
		return nil
	})
	return stored + n, refused, err
}

// storeModel stores the model of the configuration; id is NULL where there is none, or where it was refused.
func (f *Facts) storeModel(ctx context.Context, t *load.Target, name string) (id any, stored int64, refused, err error) {
	if f.Config == nil {
		return nil, 0, nil, nil
	}
	image := cmp.Or(t.Options.Image, f.Image)
	m, refused := model.FromFields(f.Config, model.Options{Assume: t.Options.Assume, Image: image})
	if refused != nil {
		f.Warnings = append(f.Warnings, fmt.Sprintf("its config: %v; MFU needs a model: give one with --model CONFIG.json", refused))
		return nil, 0, refused, nil
	}
	for _, w := range m.Warnings() {
		f.Warnings = append(f.Warnings, "its config: "+w)
	}
	called := mask.Text(cmp.Or(f.Model, m.Name, name))
	key := model.Key(m, called)
	if known, ok := t.Run.Models[key]; ok { // each pass of a capture tells of the same one
		return known, 0, nil, nil
	}
	modelID, stored, err := model.Store(ctx, t, m, called)
	if t.Run.Models == nil {
		t.Run.Models = map[string]int32{}
	}
	t.Run.Models[key] = modelID
	return modelID, stored, nil, err
}

// describe stores what became of the parts of the file, and its warnings.
func (f *Facts) describe(ctx context.Context, t *load.Target, refused error) error {
	run, source := t.RunID, int32(t.SourceID)
	_, err := t.Append(ctx, "source_part", func(add rows.Add) error {
		passes := int64(len(f.Passes))
		if err := add(run, source, "passes", passes, passes, nil); err != nil || f.Config == nil {
			return err
		}
		if refused != nil {
			return add(run, source, "config", int64(1), int64(0), refused.Error())
		}
		return add(run, source, "config", int64(1), int64(1), nil)
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "diagnostic", func(add rows.Add) error {
		for _, w := range f.Warnings {
			if err := add(run, source, "ingest", "warning", nil, nil, w); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func batchOrNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func orNull32(n *int64) any {
	if n == nil {
		return nil
	}
	return int32(*n)
}
