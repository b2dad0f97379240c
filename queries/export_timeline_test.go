package queries

import "context"

// NewSmallTimeline is NewTimeline with an index of another size: items of a track that stand alone, items of a bin, and rows read at once.
func NewSmallTimeline(ctx context.Context, a *Asker, run, source string, alone, bin, part int) (*Timeline, error) {
	return newTimeline(ctx, a, run, source, indexSize{alone, bin, part})
}
