package critical

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prof/ingest/attribute"
)

// Bounds of what is looked at for each process, in pieces of work, calls and ranges, each of which takes some us; a single process gets as much as two. Of a
// kind the step of median length is worth more than the slowest.
const (
	allItems  = 50_000 // of all steps
	moreItems = 15_000 // of all, up to which the slowest of a kind is looked at too
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
	waits         []waitCall
}

// waitCall is a call that makes a stream wait for an event.
type waitCall struct{ start, tid int64 }

// thread returns the index of a thread.
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
	held    map[string]holding           // by table
	family  map[int64]string             // of kernels
	shared  map[int64]bool               // kernels that are collectives
	kind    map[int64]attribute.CallKind // of API functions
	orders  map[int64]string             // API functions that order streams, with their names
	name    map[int64]int64              // of ranges: the least path with the same name
}

// row is a row as the driver gives it: in a third of the time that it takes to scan it into variables.
type row []any

func (r row) number(i int) number {
	switch v := r[i].(type) {
	case int64:
		return number{V: v, Valid: true}
	case int32:
		return number{V: int64(v), Valid: true}
	}
	return number{}
}

func (r row) int(i int) int64 { return r.number(i).V }

func (r row) text(i int) string {
	text, _ := r[i].(string)
	return text
}

func (r row) is(i int) bool { return r[i] == true }

// each does something with each row of a query; "" has none.
func (r *reader) each(query string, do func(row)) error {
	if query == "" {
		return nil
	}
	rows, err := r.query(r.ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, to := make(row, len(columns)), make([]any, len(columns))
	for i := range values {
		to[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		do(values)
	}
	return rows.Err()
}

// read reads the steps that are asked for, and what happened in them.
func (r *reader) read() error {
	for _, read := range []func() error{r.readSteps, r.readHeld, r.pick, r.readNames, r.readEvents, r.readAll, r.readSyncs, r.takeWaits, r.readArrivals} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) readSteps() error {
	return r.each(`SELECT w.step_id, w.source_id, w.pid, w.tid, w.start_ns, w.end_ns, w.returned_ns, w.is_median FROM _critical_window w ORDER BY w.step_id`, func(x row) {
		s := &step{id: x.int(0), source: x.int(1), pid: x.number(2), returned: x.number(6), isMedian: x.is(7), threads: map[int64]int32{}}
		s.Start, s.End, s.Ending = x.int(4), x.int(5), OnNext
		if s.returned.Valid {
			s.Returned, s.Ending, s.Thread = s.returned.V, OnWork, s.thread(x.int(3))
			if s.End == s.returned.V {
				s.Ending = OnThread
			}
		}
		r.steps = append(r.steps, s)
	})
}

func (r *reader) readNames() error {
	r.family, r.shared, r.kind, r.orders, r.name = map[int64]string{}, map[int64]bool{}, map[int64]attribute.CallKind{}, map[int64]string{}, map[int64]int64{}
	least := map[string]int64{}
	err := r.each(`SELECT c.kernel_name_id, c.family, c.role = 'collective' FROM kernel_class c WHERE c.run_id = `+r.run, func(x row) { r.family[x.int(0)], r.shared[x.int(0)] = x.text(1), x.is(2) })
	if err == nil {
		err = r.each(`SELECT n.api_name_id, n.name FROM api_name n WHERE n.run_id = `+r.run, func(x row) {
			id, name := x.int(0), x.text(1)
			if r.kind[id] = attribute.KindOfCall(name); attribute.OrdersStreams(name) {
				r.orders[id] = name
			}
		})
	}
	if err == nil && r.held["nvtx_range"].rows > 0 {
		err = r.each(`SELECT p.path_id, p.name FROM range_path p WHERE p.run_id = `+r.run+` ORDER BY p.path_id`, func(x row) {
			if _, has := least[x.text(1)]; !has {
				least[x.text(1)] = x.int(0)
			}
			r.name[x.int(0)] = least[x.text(1)]
		})
	}
	return err
}

// event is a row of a table of events: after its step, its start, duration and thread the columns of the table.
type event struct {
	start, end int64
	tid        number
	row
}

// worked are the columns of work, from the fifth of an event on.
const worked = "x.device_id, x.stream_id, x.launch_start_ns, x.launch_duration_ns, x.launch_name_id"

// ownWork is the place of the first column behind them.
const ownWork = ownColumn + 5

// ownColumn is the place of the first column of a table in an event.
const ownColumn = 4

func (r *reader) readEvents() error {
	for _, t := range []struct {
		name, columns, where string
		since                func(s *step) int64
		take                 func(s *step, e *event)
	}{
		{name: "kernel", columns: worked + ", x.kernel_name_id", take: r.kernel},
		{name: "memop", columns: worked + ", CASE WHEN x.dst_memory IS DISTINCT FROM 'Device' AND x.dst_memory IS DISTINCT FROM 'Array' THEN 1 END, x.operation", take: r.copy},
		{name: "graph_launch", columns: worked, where: " AND x.mode = 'graph'", take: r.replay},
		{name: "api_call", columns: "x.api_name_id", where: r.called(), since: (*step).launched, take: r.call},
		{name: "nvtx_range", columns: "x.path_id", where: " AND x.style <> 'start_end'", take: r.inRange},
		{name: "op", columns: "x.op_name_id", take: r.inOp},
		{name: "profiler_overhead", columns: "NULL", take: r.busy},
	} {
		if t.since == nil {
			t.since = (*step).start
		}
		query := r.tables("x.start_ns, x.duration_ns, x.tid, "+t.columns, t.name, t.where, t.since)
		if query != "" {
			query += "\nORDER BY ALL"
		}
		if err := r.each(query, func(x row) {
			e := event{start: x.int(1), end: attribute.Forever, tid: x.number(3), row: x}
			if length := x.number(2); length.Valid {
				e.end = e.start + length.V
			}
			t.take(r.steps[x.int(0)], &e)
		}); err != nil {
			return fmt.Errorf("read %s: %w", t.name, err)
		}
	}
	return nil
}

// called is a condition on calls from the first launch of a step on: those before the step are of use only where they order streams.
func (r *reader) called() string {
	ids := "NULL"
	for id := range r.orders {
		ids += fmt.Sprintf(", %d", id)
	}
	return fmt.Sprintf(" AND (coalesce(x.start_ns + x.duration_ns, %d) > $start OR x.api_name_id IN (%s))", attribute.Forever, ids)
}

func (s *step) start() int64 { return s.Start }

// rowsToJoin is how many rows of a table are joined to the steps of their process in the time, 0.4 ms, that one more SELECT takes to plan.
const rowsToJoin = 100_000

// tables selects, for each step that is not left out, a table's rows in its time: of its process, begun by its end and not over since a moment. In a further condition $start is its start.
// A table with few rows is read once and joined to the steps; of one with many each step has a SELECT of its own, for which DuckDB passes over most of it.
func (r *reader) tables(columns, table, where string, since func(s *step) int64) string {
	type process struct {
		source int64
		pid    number
	}
	held, steps, of, most := r.held[table], int64(0), map[process]int64{}, int64(0)
	for _, s := range r.steps {
		if p := (process{s.source, s.pid}); !s.isLeft {
			of[p]++
			steps, most = steps+1, max(most, of[p])
		}
	}
	if held.rows == 0 || steps == 0 {
		return ""
	}
	where = fmt.Sprintf(" AND coalesce(x.start_ns + x.duration_ns, %d) > $since%s", attribute.Forever, where)
	isJoined := held.rows*most <= rowsToJoin*steps
	var parts []string
	for i, s := range r.steps {
		if s.isLeft {
			continue
		}
		if isJoined {
			pid := "NULL::INTEGER"
			if s.pid.Valid {
				pid = strconv.FormatInt(s.pid.V, 10)
			}
			parts = append(parts, fmt.Sprintf("(%d, %d, %s, %d, %d, %d)", i, s.source, pid, since(s), s.Start, s.End))
			continue
		}
		pid, begun := "x.pid IS NULL", ""
		if s.pid.Valid {
			pid = fmt.Sprintf("x.pid = %d", s.pid.V)
		}
		if held.longest.Valid { // none that began before that is still going on
			begun = fmt.Sprintf(" AND x.start_ns >= %d", since(s)-held.longest.V)
		}
		parts = append(parts, fmt.Sprintf("SELECT %d AS step, %s FROM %s x WHERE x.run_id = %s AND x.source_id = %d AND %s AND x.start_ns <= %d%s%s", i, columns, table, r.run, s.source, pid, s.End, begun,
			strings.NewReplacer("$since", strconv.FormatInt(since(s), 10), "$start", strconv.FormatInt(s.Start, 10)).Replace(where)))
	}
	if !isJoined {
		return strings.Join(parts, "\nUNION ALL ")
	}
	return fmt.Sprintf("SELECT w.step, %s FROM %s x JOIN (VALUES %s) w(step, source_id, pid, since, start, until) ON w.source_id = x.source_id AND w.pid IS NOT DISTINCT FROM x.pid AND x.start_ns <= w.until WHERE x.run_id = %s%s",
		columns, table, strings.Join(parts, ", "), r.run, strings.NewReplacer("$since", "w.since", "$start", "w.start").Replace(where))
}

// holding is what a table holds of the run.
type holding struct {
	rows    int64
	longest number // row; of tables whose rows all have ends
}

// readHeld reads how many rows tables have, and how long the longest is.
func (r *reader) readHeld() error {
	r.held = map[string]holding{}
	var parts []string
	for _, table := range []string{"kernel", "memop", "graph_launch", "api_call", "nvtx_range", "op", "profiler_overhead", "sync"} {
		parts = append(parts, fmt.Sprintf("SELECT '%s', count(*), CASE WHEN count(x.duration_ns) = count(*) THEN max(x.duration_ns) END FROM %s x WHERE x.run_id = %s", table, table, r.run))
	}
	return r.each(strings.Join(parts, "\nUNION ALL "), func(x row) { r.held[x.text(0)] = holding{x.int(1), x.number(2)} })
}

// processes returns how many processes the steps come from, at least two: each rank of a large job gets as much as each of two.
func (r *reader) processes() int64 {
	type process struct {
		source int64
		pid    number
	}
	seen := map[process]bool{}
	for _, s := range r.steps {
		seen[process{s.source, s.pid}] = true
	}
	return max(2, int64(len(seen)))
}

// pick leaves steps out in which too much happened: those of median length, in the order in which they are asked for, come first.
func (r *reader) pick() error {
	tables := []string{"kernel", "memop", "api_call", "nvtx_range", "op"}
	most, bound := int64(0), r.processes()
	for _, name := range tables {
		most += r.held[name].rows * int64(len(r.steps))
	}
	if most <= bound*moreItems {
		return nil
	}
	for _, name := range tables {
		query := r.tables("count(*)", name, "", (*step).start)
		if query != "" {
			query += "\nGROUP BY ALL"
		}
		if err := r.each(query, func(x row) { r.steps[x.int(0)].items += x.int(1) }); err != nil {
			return err
		}
	}
	all := int64(0)
	for _, isMedian := range []bool{true, false} {
		for _, s := range r.steps {
			if s.isMedian != isMedian {
				continue
			}
			most := bound * moreItems
			if isMedian {
				most = bound * allItems
			}
			if s.isLeft = all+s.items > most; !s.isLeft {
				all += s.items
			}
		}
	}
	return nil
}

func (r *reader) work(s *step, e *event, cause Cause, name workName) *Work {
	w := Work{Start: e.start, End: e.end, Thread: None, Stream: r.streams.id(streamName{e.number(ownColumn), e.number(ownColumn + 1)}), Name: r.works.id(name), Cause: cause}
	if launched := e.number(ownColumn + 2); e.tid.Valid && launched.Valid {
		w.Thread, w.LaunchStart = s.thread(e.tid.V), launched.V
		r.launch(s, w.Thread, launched.V, e.number(ownColumn+3), e.number(ownColumn+4))
	}
	s.Works = append(s.Works, w)
	return &s.Works[len(s.Works)-1]
}

// launch takes the call that launched a piece of work: api_call has calls of 5 us or longer only. Calls of the step that are there too, and those of
// many nodes of a graph, are one for the graph of the step.
func (r *reader) launch(s *step, thread int32, launched int64, took, api number) {
	calls := &s.Threads[thread].Calls
	if n := len(*calls); !took.Valid || !api.Valid || launched+took.V <= s.Start || n > 0 && (*calls)[n-1].Start == launched {
		return
	}
	*calls = append(*calls, APICall{Start: launched, End: launched + took.V, Kind: r.kind[api.V], API: r.apis.id(api.V), For: Mark{None, launched}})
}

func (r *reader) sortCalls() {
	for _, s := range r.steps {
		for i := range s.Threads {
			slices.SortStableFunc(s.Threads[i].Calls, func(a, b APICall) int { return cmp.Compare(a.Start, b.Start) })
		}
	}
}

func (r *reader) kernel(s *step, e *event) {
	cause, name := Kernel, e.int(ownWork)
	if r.shared[name] {
		cause = Collective
	}
	r.work(s, e, cause, workName{kernel: name})
}

func (r *reader) copy(s *step, e *event) {
	r.work(s, e, Copy, workName{operation: e.text(ownWork + 1)}).IsBack = e.number(ownWork).Valid
}

func (r *reader) replay(s *step, e *event) { r.work(s, e, Replay, workName{operation: "graph replay"}) }

func (r *reader) call(s *step, e *event) {
	id := e.int(ownColumn)
	name, orders := r.orders[id]
	if strings.Contains(name, attribute.EventRecordCall) {
		s.records = append(s.records, e.start)
	}
	if strings.Contains(name, attribute.StreamWaitCall) {
		s.waits = append(s.waits, waitCall{e.start, e.tid.V})
	}
	if e.end <= s.Start || orders && e.end < attribute.Forever && attribute.IsShort(e.end-e.start, 0) { // of other short calls there are no rows
		return
	}
	th := &s.Threads[s.thread(e.tid.V)]
	th.Calls = append(th.Calls, APICall{Start: e.start, End: e.end, Kind: r.kind[id], API: r.apis.id(id), For: Mark{None, e.start}})
}

func (r *reader) inRange(s *step, e *event) {
	th := &s.Threads[s.thread(e.tid.V)]
	th.Frames = append(th.Frames, Frame{e.start, e.end, r.frames.id(frameName{false, r.name[e.int(ownColumn)]})})
}

func (r *reader) inOp(s *step, e *event) {
	th := &s.Threads[s.thread(e.tid.V)]
	th.Frames = append(th.Frames, Frame{e.start, e.end, r.frames.id(frameName{true, e.int(ownColumn)})})
}

func (r *reader) busy(s *step, e *event) {
	th := &s.Threads[s.thread(e.tid.V)]
	th.Busy = append(th.Busy, Span{e.start, e.end})
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
	query := r.tables("x.start_ns, x.tid, x.device_id, x.stream_id, x.kind, x.record_device_id, x.record_stream_id, x.record_start_ns", "sync", "", (*step).launched)
	if query == "" {
		return nil
	}
	err := r.each(query+"\nORDER BY ALL", func(x row) {
		s, start, tid, device, stream := r.steps[x.int(0)], x.int(1), x.number(2), x.number(3), x.number(4)
		event := Mark{None, s.recorded(start)}
		if recordStream := x.number(7); recordStream.Valid {
			event = Mark{r.streams.id(streamName{x.number(6), recordStream}), start}
			if recorded := x.number(8); recorded.Valid {
				event.At = recorded.V
			}
		}
		switch kind := strings.ToLower(x.text(5)); {
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
	})
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

// readAll reads which sources have all calls that record events, and which have synchronisations. Runs of an older prof have not the short calls, and HIP's tracer has none.
func (r *reader) readAll() error {
	var ids []string
	for id, name := range r.orders {
		if strings.Contains(name, attribute.EventRecordCall) {
			ids = append(ids, strconv.FormatInt(id, 10))
		}
	}
	isIn := func(list map[int64]bool) func(row) { return func(x row) { list[x.int(0)] = true } }
	hasAll, hasSyncs := map[int64]bool{}, map[int64]bool{}
	if len(ids) > 0 {
		named := fmt.Sprintf("WHERE x.run_id = %s AND x.api_name_id IN (%s)", r.run, strings.Join(ids, ", "))
		if err := r.each("SELECT DISTINCT x.source_id FROM api_call x "+named+" AND x.source_id NOT IN (SELECT x.source_id FROM api_sum x "+named+")", isIn(hasAll)); err != nil {
			return err
		}
	}
	if r.held["sync"].rows > 0 {
		if err := r.each("SELECT DISTINCT x.source_id FROM sync x WHERE x.run_id = "+r.run, isIn(hasSyncs)); err != nil {
			return err
		}
	}
	for _, s := range r.steps {
		if s.hasRecords = hasAll[s.source]; hasSyncs[s.source] {
			s.waits = nil
		}
	}
	return nil
}

// takeWaits takes the calls that make a stream wait for an event, of captures without synchronisations: they do not say which stream.
func (r *reader) takeWaits() error {
	for _, s := range r.steps {
		for _, w := range s.waits {
			if thread, has := s.threads[w.tid]; has {
				s.Waits = append(s.Waits, EventWait{Stream: None, Thread: thread, At: w.start, For: Mark{None, s.recorded(w.start)}})
			}
		}
	}
	return nil
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

// readArrivals reads when the last rank had come to each collective that waited for it, by the source's own clock.
func (r *reader) readArrivals() error {
	var parts []string
	for i, s := range r.steps {
		isShared := func(w Work) bool { return w.Cause == Collective }
		if s.pid.Valid && slices.ContainsFunc(s.Works, isShared) {
			parts = append(parts, fmt.Sprintf("SELECT %d AS step, w.device_id, w.own_start_ns, w.wait_ns FROM rank_wait w WHERE w.run_id = %s AND w.source_id = %d AND w.pid = %d AND w.wait_ns > 0 AND w.own_start_ns BETWEEN %d AND %d", i, r.run, s.source, s.pid.V, s.Start, s.End))
		}
	}
	type place struct{ step, device, start int64 }
	waits := map[place]int64{}
	err := r.each(strings.Join(parts, "\nUNION ALL "), func(x row) { waits[place{x.int(0), x.int(1), x.int(2)}] = x.int(3) })
	for i, s := range r.steps {
		for k := range s.Works {
			w := &s.Works[k]
			if wait, has := waits[place{int64(i), r.streams.all[w.Stream].device.V, w.Start}]; has && w.Cause == Collective {
				w.Came = w.Start + wait
			}
		}
	}
	return err
}
