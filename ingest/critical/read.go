package critical

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"prof/ingest/attribute"
)

// Bounds of what is looked at, in pieces of work, calls and ranges: a step takes some us for each. Of a kind the step of median length is worth more than the slowest.
const (
	allItems  = 100_000 // of all steps of a run
	moreItems = 30_000  // of all, up to which the slowest of a kind is looked at too
)

// number is an integer that may be unknown.
type number = sql.Null[int64]

// step is a row of _critical_window, with what happened in it.
type step struct {
	Timeline
	id, source    int64
	pid, returned number
	threads       map[int64]int32 // indices of Threads by tid
	tids          []int64         // of Threads
	isMedian      bool
	items         int64
	isLeft        bool // left out: too much happened in it
	hasRecords    bool
	records       []int64 // when events were recorded
}

// thread gives the index of a thread.
func (s *step) thread(tid int64) int32 {
	t, has := s.threads[tid]
	if !has {
		t = int32(len(s.Threads))
		s.threads[tid], s.tids, s.Threads = t, append(s.tids, tid), append(s.Threads, Thread{})
	}
	return t
}

// workName is what device work is called: a kernel, or else an operation.
type workName struct {
	kernel    int64
	operation string
}

type frameName struct {
	isOp bool
	id   int64
}

type streamName struct{ device, stream number }

// numbered numbers values from 0.
type numbered[T comparable] struct {
	all []T
	ids map[T]int32
}

func (n *numbered[T]) id(v T) int32 {
	if i, has := n.ids[v]; has {
		return i
	}
	if n.ids == nil {
		n.ids = map[T]int32{}
	}
	i := int32(len(n.all))
	n.ids[v], n.all = i, append(n.all, v)
	return i
}

// reader reads what happened in the steps of a run. What it numbers has the same number in all of them.
type reader struct {
	ctx     context.Context
	query   func(ctx context.Context, statement string, args ...any) (*sql.Rows, error)
	run     string // as SQL
	steps   []*step
	works   numbered[workName]
	frames  numbered[frameName]
	streams numbered[streamName]
	apis    numbered[int64]
	longest map[string]int64             // row of a table whose rows all have ends
	family  map[int64]string             // of kernels
	shared  map[int64]bool               // kernels that are collectives
	kind    map[int64]attribute.CallKind // of API functions
	orders  map[int64]bool               // API functions that order streams
	name    map[int64]int64              // of ranges: the least path with the same name
}

// each reads the rows of a query into variables, and does something with each row.
func (r *reader) each(query string, do func(), to ...any) error {
	rows, err := r.query(r.ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		do()
	}
	return rows.Err()
}

// read reads the steps that are asked for, and what happened in them.
func (r *reader) read() error {
	for _, read := range []func() error{r.readSteps, r.readLongest, r.pick, r.readNames, r.readEvents, r.readRecords, r.readSyncs, r.readWaits, r.readArrivals} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) readSteps() error {
	var s step
	var tid number
	return r.each(`SELECT w.step_id, w.source_id, w.pid, w.tid, w.start_ns, w.end_ns, w.returned_ns, w.is_median FROM _critical_window w ORDER BY w.step_id`, func() {
		now := s
		now.threads, now.Ending = map[int64]int32{}, OnNext
		if s.returned.Valid {
			now.Returned, now.Ending, now.Thread = s.returned.V, OnWork, now.thread(tid.V)
			if s.End == s.returned.V {
				now.Ending = OnThread
			}
		}
		r.steps = append(r.steps, &now)
	}, &s.id, &s.source, &s.pid, &tid, &s.Start, &s.End, &s.returned, &s.isMedian)
}

func (r *reader) readNames() error {
	r.family, r.shared, r.kind, r.orders, r.name = map[int64]string{}, map[int64]bool{}, map[int64]attribute.CallKind{}, map[int64]bool{}, map[int64]int64{}
	var id, least int64
	var text string
	var is bool
	err := r.each(`SELECT c.kernel_name_id, coalesce(c.family, ''), coalesce(c.role = 'collective', false) FROM kernel_class c WHERE c.run_id = `+r.run, func() { r.family[id], r.shared[id] = text, is }, &id, &text, &is)
	if err == nil {
		err = r.each(`SELECT n.api_name_id, n.name FROM api_name n WHERE n.run_id = `+r.run, func() { r.kind[id], r.orders[id] = attribute.KindOfCall(text), attribute.OrdersStreams(text) }, &id, &text)
	}
	if err == nil {
		err = r.each(`SELECT p.path_id, min(p.path_id) OVER (PARTITION BY p.name) FROM range_path p WHERE p.run_id = `+r.run, func() { r.name[id] = least }, &id, &least)
	}
	return err
}

// event is a row of a table of events.
type event struct {
	start          int64
	length, tid    number
	device, stream number
	launched, id   number
	took, api      number // of the launch
	text           sql.NullString
}

func (e *event) end() int64 {
	if !e.length.Valid {
		return attribute.Forever
	}
	return e.start + e.length.V
}

// table is a table of events, expressions for columns of an event ("" for NULL), and what to do with each.
type table struct {
	name                             string
	length, device, stream, id, text string
	isWork                           bool // it has columns of its launch
	where                            string
	take                             func(s *step, e *event)
}

func (r *reader) readEvents() error {
	for _, t := range []table{
		{name: "kernel", device: "x.device_id", stream: "x.stream_id", isWork: true, id: "x.kernel_name_id", take: r.kernel},
		{name: "memop", device: "x.device_id", stream: "x.stream_id", isWork: true, text: "x.operation", id: "CASE WHEN x.dst_memory IS DISTINCT FROM 'Device' AND x.dst_memory IS DISTINCT FROM 'Array' THEN 1 END", take: r.copy},
		{name: "graph_launch", device: "x.device_id", stream: "x.stream_id", isWork: true, where: " AND x.mode = 'graph'", take: r.replay},
		{name: "api_call", id: "x.api_name_id", take: r.call},
		{name: "nvtx_range", id: "x.path_id", where: " AND x.style <> 'start_end'", take: r.inRange},
		{name: "op", id: "x.op_name_id", take: r.inOp},
		{name: "profiler_overhead", take: r.busy},
	} {
		if err := r.readTable(t); err != nil {
			return fmt.Errorf("read %s: %w", t.name, err)
		}
	}
	return nil
}

// tables gives a SELECT for each step that is not left out: of a table's rows in its time, of its process, begun by its end and not over by its start.
func (r *reader) tables(columns, table, where string) string {
	return r.tablesSince(columns, table, where, func(s *step) int64 { return s.Start })
}

// tablesSince is tables with another start.
func (r *reader) tablesSince(columns, table, where string, since func(s *step) int64) string {
	var parts []string
	for i, s := range r.steps {
		pid := "x.pid IS NULL"
		if s.pid.Valid {
			pid = fmt.Sprintf("x.pid = %d", s.pid.V)
		}
		if !s.isLeft {
			parts = append(parts, fmt.Sprintf("SELECT %d AS step, %s FROM %s x WHERE x.run_id = %s AND x.source_id = %d AND %s AND x.start_ns <= %d AND coalesce(x.start_ns + x.duration_ns, %d) > %d%s%s",
				i, columns, table, r.run, s.source, pid, s.End, attribute.Forever, since(s), r.begun(table, since(s)), where))
		}
	}
	return strings.Join(parts, "\nUNION ALL ")
}

// readLongest reads how long the longest row of each table is, where all rows have an end: none that began before that is still going on.
func (r *reader) readLongest() error {
	r.longest = map[string]int64{}
	for _, table := range []string{"kernel", "memop", "graph_launch", "api_call", "op", "sync"} {
		var longest number
		if err := r.each(fmt.Sprintf("SELECT CASE WHEN count(x.duration_ns) = count(*) THEN max(x.duration_ns) END FROM %s x WHERE x.run_id = %s", table, r.run), func() {
			if longest.Valid {
				r.longest[table] = longest.V
			}
		}, &longest); err != nil {
			return err
		}
	}
	return nil
}

// begun is a condition that rows going on at a moment meet, by which DuckDB passes over most of a large table.
func (r *reader) begun(table string, at int64) string {
	if longest, is := r.longest[table]; is {
		return fmt.Sprintf(" AND x.start_ns >= %d", at-longest)
	}
	return ""
}

// pick leaves steps out in which too much happened: those of median length, in the order in which they are asked for, come first.
func (r *reader) pick() error {
	var at int
	var n int64
	for _, name := range []string{"kernel", "memop", "api_call", "nvtx_range", "op"} {
		if err := r.each(r.tables("count(*)", name, ""), func() { r.steps[at].items += n }, &at, &n); err != nil {
			return err
		}
	}
	all := int64(0)
	for _, isMedian := range []bool{true, false} {
		for _, s := range r.steps {
			if s.isMedian != isMedian {
				continue
			}
			most := int64(moreItems)
			if isMedian {
				most = allItems
			}
			if s.isLeft = all+s.items > most; !s.isLeft {
				all += s.items
			}
		}
	}
	return nil
}

// readTable reads the events of a table.
func (r *reader) readTable(t table) error {
	or := func(column string) string {
		if column == "" {
			return "NULL"
		}
		return column
	}
	launch := "NULL AS launched, NULL AS took, NULL AS api"
	if t.isWork {
		launch = "x.launch_start_ns AS launched, x.launch_duration_ns AS took, x.launch_name_id AS api"
	}
	query := r.tables(fmt.Sprintf("x.start_ns, x.duration_ns, x.tid, %s AS device, %s AS stream, %s, %s AS id, %s AS label", or(t.device), or(t.stream), launch, or(t.id), or(t.text)), t.name, t.where)
	if query == "" {
		return nil
	}
	var at int
	var e event
	return r.each(query+"\nORDER BY ALL", func() { t.take(r.steps[at], &e) }, &at, &e.start, &e.length, &e.tid, &e.device, &e.stream, &e.launched, &e.took, &e.api, &e.id, &e.text)
}

func (r *reader) work(s *step, e *event, cause Cause, name workName) *Work {
	w := Work{Start: e.start, End: e.end(), Thread: None, Stream: r.streams.id(streamName{e.device, e.stream}), Name: r.works.id(name), Cause: cause}
	if e.tid.Valid && e.launched.Valid {
		w.Thread, w.LaunchStart = s.thread(e.tid.V), e.launched.V
		r.launch(s, w.Thread, e)
	}
	s.Works = append(s.Works, w)
	return &s.Works[len(s.Works)-1]
}

// launch takes the call that launched a piece of work: api_call has calls of 5 us or longer only. Calls of the step that are there too, and those of
// many nodes of a graph, are one for the graph of the step.
func (r *reader) launch(s *step, thread int32, e *event) {
	calls := &s.Threads[thread].Calls
	if n := len(*calls); !e.took.Valid || !e.api.Valid || e.launched.V+e.took.V <= s.Start || n > 0 && (*calls)[n-1].Start == e.launched.V {
		return
	}
	*calls = append(*calls, APICall{Start: e.launched.V, End: e.launched.V + e.took.V, Kind: r.kind[e.api.V], API: r.apis.id(e.api.V), For: Mark{None, e.launched.V}})
}

func (r *reader) sortCalls() {
	for _, s := range r.steps {
		for i := range s.Threads {
			slices.SortStableFunc(s.Threads[i].Calls, func(a, b APICall) int { return cmp.Compare(a.Start, b.Start) })
		}
	}
}

func (r *reader) kernel(s *step, e *event) {
	cause := Kernel
	if r.shared[e.id.V] {
		cause = Collective
	}
	r.work(s, e, cause, workName{kernel: e.id.V})
}

func (r *reader) copy(s *step, e *event) {
	r.work(s, e, Copy, workName{operation: e.text.String}).IsBack = e.id.Valid
}

func (r *reader) replay(s *step, e *event) { r.work(s, e, Replay, workName{operation: "graph replay"}) }

func (r *reader) call(s *step, e *event) {
	if r.orders[e.id.V] && e.length.Valid && attribute.IsShort(e.length.V, 0) { // of other short calls there are no rows
		return
	}
	th := &s.Threads[s.thread(e.tid.V)]
	th.Calls = append(th.Calls, APICall{Start: e.start, End: e.end(), Kind: r.kind[e.id.V], API: r.apis.id(e.id.V), For: Mark{None, e.start}})
}

func (r *reader) inRange(s *step, e *event) {
	th := &s.Threads[s.thread(e.tid.V)]
	th.Frames = append(th.Frames, Frame{e.start, e.end(), r.frames.id(frameName{false, r.name[e.id.V]})})
}

func (r *reader) inOp(s *step, e *event) {
	th := &s.Threads[s.thread(e.tid.V)]
	th.Frames = append(th.Frames, Frame{e.start, e.end(), r.frames.id(frameName{true, e.id.V})})
}

func (r *reader) busy(s *step, e *event) {
	th := &s.Threads[s.thread(e.tid.V)]
	th.Busy = append(th.Busy, Span{e.start, e.end()})
}

// launched is when the first of the step's work was launched: what held it back was called after that.
func (s *step) launched() int64 {
	at := s.Start
	for i := range s.Works {
		at = min(at, s.Works[i].launched())
	}
	return at
}

// readSyncs reads synchronisations: of a stream with an event, or of a thread with a stream or an event.
func (r *reader) readSyncs() error {
	r.sortCalls()
	query := r.tablesSince("x.start_ns, x.tid, x.device_id, x.stream_id, x.kind, x.record_device_id, x.record_stream_id, x.record_start_ns", "sync", "", (*step).launched)
	if query == "" {
		return nil
	}
	var at int
	var start int64
	var tid, device, stream, recordDevice, recordStream, recorded number
	var kind string
	err := r.each(query+"\nORDER BY ALL", func() {
		s := r.steps[at]
		event := Mark{None, s.recorded(start)}
		if recordStream.Valid {
			event = Mark{r.streams.id(streamName{recordDevice, recordStream}), start}
			if recorded.Valid {
				event.At = recorded.V
			}
		}
		switch kind := strings.ToLower(kind); {
		case strings.Contains(kind, "stream wait"):
			if stream.Valid {
				s.Waits = append(s.Waits, EventWait{Stream: r.streams.id(streamName{device, stream}), Thread: None, At: start, For: event})
			}
		case !tid.Valid:
		case strings.Contains(kind, "stream sync"):
			if stream.Valid {
				s.awaits(s.thread(tid.V), start, Mark{r.streams.id(streamName{device, stream}), start})
			}
		case strings.Contains(kind, "event sync"):
			s.awaits(s.thread(tid.V), start, event)
		}
	}, &at, &start, &tid, &device, &stream, &kind, &recordDevice, &recordStream, &recorded)
	if err != nil {
		return fmt.Errorf("read sync: %w", err)
	}
	return nil
}

// awaits notes what the calls of a thread that wait at a moment wait for.
func (s *step) awaits(thread int32, at int64, mark Mark) {
	calls := s.Threads[thread].Calls
	n := upTo(calls, at, func(c APICall) int64 { return c.Start })
	for n--; n >= 0 && calls[n].End >= at; n-- {
		if calls[n].Kind == attribute.WaitCall {
			calls[n].For = mark
		}
	}
}

// readWaits reads the calls that make a stream wait for an event, of captures without synchronisations: they do not say which stream.
func (r *reader) readWaits() error {
	return r.readCalls(attribute.StreamWaitCall, "x.source_id NOT IN (SELECT y.source_id FROM sync y WHERE y.run_id = "+r.run+")", func(s *step, start, tid int64) {
		if thread, has := s.threads[tid]; has {
			s.Waits = append(s.Waits, EventWait{Stream: None, Thread: thread, At: start, For: Mark{None, s.recorded(start)}})
		}
	})
}

// readRecords reads the calls that record events, of captures that have all of them: runs of an older prof have not the short ones, and HIP's tracer has none.
func (r *reader) readRecords() error {
	named := fmt.Sprintf(`JOIN api_name n ON n.run_id = x.run_id AND n.api_name_id = x.api_name_id AND contains(n.name, '%s') WHERE x.run_id = %s`, attribute.EventRecordCall, r.run)
	var source int64
	hasAll := map[int64]bool{}
	err := r.each("SELECT DISTINCT x.source_id FROM api_call x "+named+" AND x.source_id NOT IN (SELECT x.source_id FROM api_sum x "+named+")", func() { hasAll[source] = true }, &source)
	if err != nil {
		return err
	}
	for _, s := range r.steps {
		s.hasRecords = hasAll[s.source]
	}
	return r.readCalls(attribute.EventRecordCall, "true", func(s *step, start, _ int64) { s.records = append(s.records, start) })
}

// recorded is when an event that was waited for at a moment was recorded at the latest: by the last call before that records events.
func (s *step) recorded(at int64) int64 {
	if !s.hasRecords {
		return at
	}
	n, _ := slices.BinarySearch(s.records, at)
	if n == 0 {
		return never
	}
	return s.records[n-1]
}

// readCalls reads the calls of some functions that may have held back work of the steps.
func (r *reader) readCalls(function, where string, take func(s *step, start, tid int64)) error {
	query := r.tablesSince("x.start_ns, x.tid", "api_call", fmt.Sprintf(" AND x.api_name_id IN (SELECT n.api_name_id FROM api_name n WHERE n.run_id = %s AND contains(n.name, '%s')) AND %s", r.run, function, where), (*step).launched)
	if query == "" {
		return nil
	}
	var at int
	var start, tid int64
	if err := r.each(query+"\nORDER BY ALL", func() { take(r.steps[at], start, tid) }, &at, &start, &tid); err != nil {
		return fmt.Errorf("read api_call: %w", err)
	}
	return nil
}

// readArrivals reads when the last rank had come to each collective that waited for it, by the source's own clock.
func (r *reader) readArrivals() error {
	var at int
	var device, start, wait int64
	var parts []string
	for i, s := range r.steps {
		if s.pid.Valid && !s.isLeft {
			parts = append(parts, fmt.Sprintf("SELECT %d AS step, w.device_id, w.own_start_ns, w.wait_ns FROM rank_wait w WHERE w.run_id = %s AND w.source_id = %d AND w.pid = %d AND w.wait_ns > 0 AND w.own_start_ns BETWEEN %d AND %d", i, r.run, s.source, s.pid.V, s.Start, s.End))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	type place struct {
		step          int
		device, start int64
	}
	waits := map[place]int64{}
	err := r.each(strings.Join(parts, "\nUNION ALL "), func() { waits[place{at, device, start}] = wait }, &at, &device, &start, &wait)
	for i, s := range r.steps {
		for k := range s.Works {
			w := &s.Works[k]
			if wait, has := waits[place{i, r.streams.all[w.Stream].device.V, w.Start}]; has && w.Cause == Collective {
				w.Came = w.Start + wait
			}
		}
	}
	return err
}
