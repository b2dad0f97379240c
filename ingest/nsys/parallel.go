package nsys

import (
	"errors"
	"sync"
	"sync/atomic"

	"prof/ingest/nsys/table"
)

// inParallel reads a whole scan with some goroutines. newWorker gives each its result and what to do with a batch of a morsel.
func inParallel[R any](scan table.Scan, workers int, newWorker func() (R, func(morsel int, b *table.Batch) error)) ([]R, error) {
	workers = max(1, min(workers, scan.Morsels()))
	results, errs := make([]R, workers), make([]error, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			var each func(morsel int, b *table.Batch) error
			results[w], each = newWorker()
			errs[w] = readMorsels(scan, &next, each)
		})
	}
	wg.Wait()
	return results, errors.Join(errs...)
}

func readMorsels(scan table.Scan, next *atomic.Int64, each func(morsel int, b *table.Batch) error) error {
	c := scan.Open()
	defer c.Close()
	var b table.Batch
	for m := next.Add(1) - 1; m < int64(scan.Morsels()); m = next.Add(1) - 1 {
		if err := table.EachBatch(c, int(m), &b, func(b *table.Batch) error { return each(int(m), b) }); err != nil {
			return err
		}
	}
	return nil
}
