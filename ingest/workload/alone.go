package workload

import (
	"context"
	"fmt"
	"slices"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/internal/file"
)

// readAlone reads passes that ran without a profiler: those of a file that lists times of passes.
func readAlone(path, name string) (*Facts, error) {
	in, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f, err := Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(f.Process) > 0 || !slices.ContainsFunc(f.Passes, func(p Pass) bool { return !p.Each && (p.PrefillNs != nil || p.DecodeNs != nil || p.VisionNs != nil) }) {
		return nil, fmt.Errorf("%s: %w: it lists no times of passes (runs with prefill_ms, decode_ms or vision_ms)", name, ErrNoWorkload)
	}
	return f, nil
}

// IdentifyAlone checks that a file lists times of passes.
func IdentifyAlone(_ context.Context, path, name string) (*load.SourceInfo, error) {
	if _, err := readAlone(path, name); err != nil {
		return nil, err
	}
	return &load.SourceInfo{}, nil
}

// LoadAlone stores the passes of a file as those that ran without a profiler. Its model and its tokens say nothing of the passes that were traced.
func LoadAlone(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	f, err := readAlone(path, name)
	if err != nil {
		return nil, err
	}
	n, err := t.Append(ctx, "workload_alone", func(add rows.Add) error {
		for i, p := range f.Passes {
			if err := add(t.RunID, int32(t.SourceID), int32(i+1), p.Warmup, load.OrNull(p.Prefill), load.OrNull(p.Decode), batchOrNull(p.Batch), load.OrNull(p.Images), load.OrNull(p.Crops),
				load.OrNull(p.PrefillNs), load.OrNull(p.DecodeNs), load.OrNull(p.VisionNs), load.TextOrNull(p.Input)); err != nil {
				return err
			}
		}
		return nil
	})
	return &load.SourceInfo{Rows: n}, err
}
