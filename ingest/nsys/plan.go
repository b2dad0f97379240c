package nsys

import (
	"context"
	"strings"

	"prof/ingest/load"
	"prof/ingest/nsys/table"
)

// eventTables are the tables whose rows Load stores one by one or as sums.
var eventTables = []string{nvtxTable, runtimeTable, kernelTable, memcpyTable, memsetTable, graphTable, syncTable, eventTable, graphNodeTable,
	"CUDNN_EVENTS", "CUBLAS_EVENTS", osrtTable, "PROFILER_OVERHEAD", metricsTable, memoryTable}

// Plan says what Load would read.
func Plan(ctx context.Context, e table.Export, path string, o load.Options) (*load.Plan, error) {
	info, err := Identify(ctx, e, path)
	if err != nil {
		return nil, err
	}
	p := &load.Plan{CaptureID: info.CaptureID}
	l := newLoader(e, path, nil)
	for _, base := range eventTables {
		name := l.table(base)
		if name == "" {
			continue
		}
		if base == osrtTable && !o.WithOSRT {
			p.Tables = append(p.Tables, load.PlannedTable{Name: name, Rows: -1, Skipped: osrtSkipped})
			continue
		}
		scan, err := e.Scan(ctx, name, nil)
		if err != nil {
			return nil, err
		}
		p.Tables = append(p.Tables, load.PlannedTable{Name: name, Rows: scan.Rows()})
	}
	for _, name := range e.Tables() {
		if reason := knownUnused[name]; reason != "" && !strings.HasPrefix(reason, "only ") {
			p.Tables = append(p.Tables, load.PlannedTable{Name: name, Rows: -1, Skipped: reason})
		}
	}
	return p, nil
}
