package queries

import (
	"context"

	"prof/schema"
)

// SuiteRun is a run that prof capture --suite made. What the warehouse does not know is "".
type SuiteRun struct {
	Run, Entry              string // names, and that within the suite
	Status                  string // as capture.status
	WorkloadKey, OptionsKey string // hashes of command and folder, of options and inputs
}

// SuiteRuns returns the runs of a suite, the latest first.
func SuiteRuns(ctx context.Context, w *schema.Warehouse, suite string) ([]SuiteRun, error) {
	f, err := Raw(ctx, w, "SELECT x.run, x.entry, x.status, x.workload_key, x.options_key FROM _suite_run(suite := "+schema.Quote(suite)+") x ORDER BY x.at DESC, x.run_id DESC")
	if err != nil {
		return nil, plainError(err)
	}
	out := make([]SuiteRun, len(f.Rows))
	for i, row := range f.Rows {
		for at, into := range []*string{&out[i].Run, &out[i].Entry, &out[i].Status, &out[i].WorkloadKey, &out[i].OptionsKey} {
			*into, _ = row[at].(string)
		}
	}
	return out, nil
}
