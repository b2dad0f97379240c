// Package nsys reads what Nsight Systems captured: its .sqlite exports, its parquetdir exports and, where nsys is installed
// to export them, its reports. Load stores what else has the tables of an export.
//
// Reading goes in the order that attribution needs: NVTX ranges first, swept into timelines; then API calls, each put into
// the ranges open when it began; then device work, which finds its API call by process and correlation id and inherits those
// ranges. At last the gaps in which a GPU is idle are classified by the calls around them. What is kept to the end: 24 bytes for each launch
// that device work refers to, 8 for each API call, 24 for each piece of device work, see load.Room, and about 250 for each range; for operators
// see there.
package nsys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"prof/ingest/attribute"
	"prof/ingest/load"
	"prof/ingest/nsys/table"
	"prof/ingest/rows"
)

// ErrNotExport is wrapped by the error for a database that nsys did not write.
var ErrNotExport = errors.New("it has no table of Nsight Systems")

// workTables have the work of GPUs and what launches it; an export without any was not captured with CUDA.
var workTables = []string{kernelTable, memcpyTable, memsetTable, graphTable, runtimeTable}

// otherTables are some that every export has, or one with ranges.
var otherTables = []string{"META_DATA_EXPORT", "StringIds", "TARGET_INFO_SESSION_START_TIME", nvtxTable}

// ErrNoCUDA is wrapped by Load's error for an export in which no CUDA activity was traced.
var ErrNoCUDA = errors.New("the capture has no CUDA activity")

// loader reads one export into one source.
type loader struct {
	export  table.Export
	name    string
	target  *load.Target
	info    *load.SourceInfo
	strings *stringTable
	enums   map[string]map[int64]string

	ids      attribute.IDs
	ranges   *ranges
	launches *attribute.Launches
	execs    *attribute.Execs // nil where all device work names its launch
	nameless atomic.Bool      // some device work does not
	parents  map[deviceLaunch]int32
	stacks   *stacks
	deviceOf map[deviceKey]int32
	contexts contexts
	only     *int64 // globalPid of the one process that made API calls; nil where several did, or device work has its own

	calls     attribute.Calls
	short     attribute.ShortCalls
	unmet     attribute.Unmet
	overhead  attribute.Overhead
	workNames attribute.Labels
	streams   attribute.Streams

	work    []*attribute.WorkList
	replays []*replays
	parts   []part
	touched map[string]bool
	odd     load.Odd
}

// part is one row of source_part.
type part struct {
	table        string
	read, stored int64 // -1: not read
	reason       string
}

// Identify reads what an export says of the whole capture, cheaply, before it is loaded.
func Identify(ctx context.Context, e table.Export, name string) (*load.SourceInfo, error) {
	l := newLoader(e, name, nil)
	if err := l.readMeta(ctx); err != nil {
		return nil, err
	}
	switch {
	case l.hasAny(workTables):
		return l.info, nil
	case l.hasAny(otherTables):
		return nil, noCUDA(name)
	}
	return nil, fmt.Errorf("%s: %w", name, ErrNotExport)
}

func (l *loader) hasAny(bases []string) bool {
	return slices.ContainsFunc(bases, func(base string) bool { return l.table(base) != "" })
}

func noCUDA(name string) error {
	return fmt.Errorf("%s: %w: capture with `nsys profile --trace=cuda,nvtx`, and check its messages for the reason", name, ErrNoCUDA)
}

func newLoader(e table.Export, name string, t *load.Target) *loader {
	return &loader{export: e, name: name, target: t, info: &load.SourceInfo{}, strings: newStrings(e, name), enums: map[string]map[int64]string{},
		deviceOf: map[deviceKey]int32{}, touched: map[string]bool{}}
}

// Load stores an export as one source of the target's run.
func Load(ctx context.Context, e table.Export, name string, t *load.Target) (info *load.SourceInfo, err error) {
	restore := t.Lean(rows.RoomOfTexts)
	defer func() { err = errors.Join(err, restore()) }()
	l := newLoader(e, name, t)
	defer func() { err = errors.Join(err, t.Room.Close()) }()
	l.calls.Room, l.short.Room, l.unmet.Room = t.Room, t.Room, t.Room
	l.ids = attribute.NextIDs(t.Run)
	if n, ok := e.(table.Noted); ok {
		l.info.Warnings = n.Notes()
	}
	steps := []func(context.Context) error{
		l.readMeta, l.readEnums, l.storeFacts, l.storeDevices, l.storeProcesses, l.storeThreads, l.storeStreams,
		l.readRanges, l.readStacks, l.storeCollectives, l.storeRuntime, l.findExecs, l.findParents, l.storeKernels, l.storeMemops, l.storeGraphTrace, l.storeSync, l.storeReplays,
		l.storeGraphNodes, l.storeLibraries, l.storeOSRT, l.storeOverhead, l.storeMemory, l.storeMetrics, l.storeOperators, l.finishRanges, l.storeDiagnostics, l.storeParts,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return l.info, nil
}

// finishRanges adds up the device work by range, classifies idle time, and stores ranges and sums.
func (l *loader) finishRanges(ctx context.Context) error {
	l.launches.Linked()
	s := attribute.Source{Work: l.work, Lines: l.ranges.lines, Labels: &l.workNames, Streams: &l.streams, Waits: l.unmet.Waits(), Calls: &l.calls, Overhead: &l.overhead, Caller: l.caller}
	var sums *attribute.Sums
	done := make(chan *attribute.Account, 1)
	go func() {
		var account *attribute.Account
		sums, account = attribute.AccountFor(s, len(l.ranges.spans))
		done <- account
	}()
	err := l.storeRanges(ctx)
	account := <-done
	if err != nil {
		return err
	}
	if err := l.ids.StoreAccount(ctx, l.target, account, s, l.threadID); err != nil {
		return err
	}
	l.work, l.launches = nil, nil
	return l.ids.Store(ctx, l.target, l.name, l.ranges.lines, sums)
}

// threadID returns the process and the thread of a number in the launch table.
func (l *loader) threadID(thread int32) (pid, tid int32) {
	key := l.launches.Threads.Key(thread)
	return pidOf(key), tidOf(key)
}

// caller returns the call of a row of the launch table.
func (l *loader) caller(row int32) attribute.Caller {
	c, _ := l.launches.Get(row)
	return attribute.Caller{Thread: c.Thread, Node: c.Node, Start: c.Start, End: c.Start + l.launches.DurationOf(row)}
}

func (l *loader) sourceID() any { return int32(l.target.SourceID) }

// table finds a table by its base name: as such, or the highest _V2, _V3, ... of it. "" when the export has none.
func (l *loader) table(base string) string {
	name := ""
	if l.export.Has(base) {
		name = base
	}
	for v := 2; v <= 9; v++ {
		if n := fmt.Sprintf("%s_V%d", base, v); l.export.Has(n) {
			name = n
		}
	}
	if name != "" {
		l.touched[name] = true
	}
	return name
}

// part notes what became of a table.
func (l *loader) part(base string, read, stored int64, reason string) {
	l.parts = append(l.parts, part{l.table(base), read, stored, reason})
	l.info.Rows += stored
	if strings.Contains(reason, "before they start") || strings.Contains(reason, "have no thread") || strings.Contains(reason, outOfRange) || strings.Contains(reason, unknownBodies) {
		l.info.Warnings = append(l.info.Warnings, fmt.Sprintf("%s: %s", l.table(base), reason))
	}
}

// skip notes a table that is there but not stored.
func (l *loader) skip(base, reason string) {
	if name := l.table(base); name != "" {
		l.parts = append(l.parts, part{name, -1, -1, reason})
	}
}

// scanInto prepares a table of the export as rows for a table of the warehouse.
func (l *loader) scanInto(ctx context.Context, name string, wants []table.Want, cols []rows.Column) (*scanRows, error) {
	scan, err := l.export.Scan(ctx, name, wants)
	if err != nil {
		return nil, err
	}
	r := &scanRows{cols: cols, scan: scan}
	if p := l.target.Options.Progress; p != nil {
		r.report = func(done, total int64) { p(name, done, total) }
	}
	return r, nil
}

// eventTables are the tables whose rows Load stores one by one or as sums.
var eventTables = []string{nvtxTable, runtimeTable, kernelTable, memcpyTable, memsetTable, graphTable, syncTable, eventTable, graphNodeTable,
	"CUDNN_EVENTS", "CUBLAS_EVENTS", osrtTable, "PROFILER_OVERHEAD", metricsTable, memoryTable}

// Plan returns what Load would read.
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
