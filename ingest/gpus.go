package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prof/internal/suggest"
	"prof/schema"
	"prof/schema/rundir"
)

// ownNumber begins the key of a fact: by which number a capture calls a GPU that has another one in the run, which follows.
const ownNumber = "device.number."

// member is a GPU as one source of a run knows it.
type member struct {
	source       int
	path, kind   string
	host, uuid   string // "" unknown
	rank         int    // -1 unknown
	begin, end   int64  // ns since 1970 of what was recorded; 0 unknown
	number       int    // in the rows
	own          int    // what the capture calls it
	pids         []any  // processes with work on it
	isUsed       bool   // it did work
	isMain       bool   // it did most of the source's work
	isStored     bool   // before this ingest: the number stays
	ofMachine    int    // GPUs of its machine, by its capture; 0 unknown
	seesAll      bool   // the source lists as many: what it calls this one is the machine's number
	isElsewhere  bool   // another GPU of the source proved to be none of those that have its number
	to           int    // its number in the run
	isRenumbered bool
}

// tellGPUsApart gives each GPU of the run one number: sources that call different GPUs by one number get others, and what several sources
// say of one GPU gets one.
func (in *ingester) tellGPUsApart(id string) error {
	if in.firstSource+len(in.result.Sources) < 2 || len(in.result.Sources) == 0 {
		return nil
	}
	members, err := in.members(id)
	if err != nil {
		return err
	}
	numberGPUs(members)
	var said []string
	for from, i := 0, 1; i <= len(members); i++ { // in the order of sources
		if i < len(members) && members[i].source == members[from].source {
			continue
		}
		numbers := map[int]int{}
		for _, m := range members[from:i] {
			if m.isRenumbered {
				numbers[m.number] = m.to
				said = append(said, fmt.Sprintf("%s calls GPU %d %d", m.path, m.to, m.own))
			}
		}
		if err := in.renumberGPUs(id, members[from].source, numbers); err != nil {
			return err
		}
		from = i
	}
	if len(said) > 0 {
		in.warn("GPUs of one number that are not the same GPU have other numbers in the run: " + suggest.List(said, 4))
	}
	return nil
}

// renumberGPUs changes the numbers of a source's GPUs, and stores what the capture calls them.
func (in *ingester) renumberGPUs(id string, source int, numbers map[int]int) error {
	if len(numbers) == 0 {
		return nil
	}
	if err := schema.RenumberDevices(in.ctx, in.conn, id, source, numbers); err != nil {
		return err
	}
	for own, to := range numbers {
		if _, err := in.conn.ExecContext(in.ctx, `INSERT INTO source_fact VALUES (?::UUID, ?, ?, ?)`, id, source, ownNumber+strconv.Itoa(to), strconv.Itoa(own)); err != nil {
			return err
		}
	}
	return nil
}

// members lists the GPUs of a run's captures, in the order of the sources.
func (in *ingester) members(id string) (out []*member, err error) {
	rows, err := in.conn.QueryContext(in.ctx, `WITH work AS (
			SELECT k.source_id, k.device_id, k.pid, sum(k.duration_ns)::DOUBLE AS ns FROM kernel k WHERE k.run_id = $1::UUID GROUP BY ALL
			UNION ALL SELECT g.source_id, g.device_id, g.pid, sum(g.duration_ns)::DOUBLE FROM graph_launch g WHERE g.run_id = $1::UUID AND g.mode = 'graph' GROUP BY ALL
			UNION ALL SELECT m.source_id, m.device_id, m.pid, 0 FROM memop m WHERE m.run_id = $1::UUID GROUP BY ALL
			UNION ALL SELECT n.source_id, n.device_id, n.pid, 0 FROM ncu_launch n WHERE n.run_id = $1::UUID GROUP BY ALL
		), used AS (
			SELECT w.source_id, w.device_id, list(DISTINCT w.pid) FILTER (w.pid > 0) AS pids, sum(w.ns) AS ns FROM work w WHERE w.device_id >= 0 GROUP BY ALL
		), described AS (
			SELECT d.source_id, d.device_id, any_value(d.uuid) AS uuid FROM device d WHERE d.run_id = $1::UUID GROUP BY ALL
		), said AS (
			SELECT p.source_id, any_value(p.rank_id) AS rank_id FROM process p WHERE p.run_id = $1::UUID GROUP BY p.source_id HAVING count(DISTINCT p.rank_id) = 1
		)
		SELECT s.source_id, s.path, s.kind, coalesce(lower(s.host), ''), coalesce(s.rank_id, r.rank_id, -1), coalesce(epoch_ns(s.started_at), 0), coalesce(epoch_ns(s.started_at) + s.duration_ns, 0),
			device_id, coalesce(TRY_CAST(f.value AS INTEGER), device_id), coalesce(lower(replace(d.uuid, 'GPU-', '')), ''), coalesce(u.pids, []), u.ns IS NOT NULL,
			coalesce(u.ns, -1) = max(coalesce(u.ns, -1)) OVER (PARTITION BY s.source_id) AND u.ns IS NOT NULL
		FROM used u FULL JOIN described d USING (source_id, device_id) JOIN source s ON s.run_id = $1::UUID AND s.source_id = coalesce(u.source_id, d.source_id) LEFT JOIN said r ON r.source_id = s.source_id
			LEFT JOIN source_fact f ON f.run_id = s.run_id AND f.source_id = s.source_id AND f.key = $2 || device_id
		ORDER BY s.source_id, device_id`, id, ownNumber)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	listed := map[int]int{}
	for rows.Next() {
		m := &member{}
		var pids any
		if err := rows.Scan(&m.source, &m.path, &m.kind, &m.host, &m.rank, &m.begin, &m.end, &m.number, &m.own, &m.uuid, &pids, &m.isUsed, &m.isMain); err != nil {
			return nil, err
		}
		m.pids, _ = pids.([]any)
		m.to, m.isStored = m.number, m.source <= in.firstSource
		if at := slices.IndexFunc(in.captures, func(c *capture) bool { return isInside(m.path, c.dir) }); at >= 0 { // each tool may call it otherwise
			m.host, m.ofMachine = cmp.Or(strings.ToLower(in.captures[at].run.Manifest.Host), m.host), len(in.captures[at].run.Manifest.Devices)
		}
		listed[m.source]++
		out = append(out, m)
	}
	for _, m := range out {
		m.seesAll = m.ofMachine > 0 && m.ofMachine == listed[m.source]
	}
	return out, rows.Err()
}

// numberGPUs decides which members are one GPU and gives each GPU its number: the one that it has where that is free, those that are stored, and the
// first ranks, before others.
func numberGPUs(members []*member) {
	order := slices.Clone(members)
	slices.SortStableFunc(order, func(a, b *member) int {
		return cmp.Or(-compareBool(a.isStored, b.isStored), -compareBool(a.rank >= 0, b.rank >= 0), cmp.Compare(a.rank, b.rank), cmp.Compare(a.source, b.source), -compareBool(a.isMain, b.isMain))
	})
	taken := map[int]bool{} // numbers that a source has for a GPU of its own
	for _, m := range members {
		taken[m.number] = true
	}
	gpus := map[int][]*member{}
	for i, m := range order {
		if !m.isStored {
			m.to = m.numberAmong(order[:i], gpus, taken)
		}
		if m.isRenumbered = m.to != m.number; m.isRenumbered {
			for _, o := range members {
				o.isElsewhere = o.isElsewhere || o.source == m.source && m.uuid == ""
			}
		}
		gpus[m.to], taken[m.to] = append(gpus[m.to], m), true
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// numberAmong is the number in the run of a GPU, after those before it have theirs.
func (m *member) numberAmong(before []*member, gpus map[int][]*member, taken map[int]bool) int {
	for _, is := range []func(*member) bool{
		func(o *member) bool { return m.uuid != "" && o.uuid == m.uuid },
		func(o *member) bool { return o.own == m.own && m.sharesProcess(o) },
		func(o *member) bool { return o.own == m.own && m.host != "" && o.host == m.host },
	} {
		for _, o := range before {
			if is(o) && m.mayBe(gpus[o.to]) {
				return o.to
			}
		}
	}
	if !m.isUsed && m.uuid == "" { // only described: nothing is told of it that another GPU's rows could be taken for
		return m.number
	}
	if len(gpus[m.number]) == 0 || !m.isElsewhere && m.mayBe(gpus[m.number]) {
		return m.number
	}
	node := m.number - m.number%rundir.NodeStride // its GPUs keep together
	if n := m.rank; n >= 0 && n < rundir.NodeStride && node == 0 && !taken[n] {
		return n
	}
	n := node
	for taken[n] {
		n++
	}
	return n
}

// mayBe reports whether nothing proves that a GPU is another one than that of all these.
func (m *member) mayBe(all []*member) bool {
	return !slices.ContainsFunc(all, m.isOther)
}

// isOther reports whether two members are different GPUs though they may have one number. A source that says so little that nothing proves either
// is taken to mean the GPU of that number, unless two processes that ran at once would then be on one GPU.
func (m *member) isOther(o *member) bool {
	switch {
	case m.source == o.source || m.number/rundir.NodeStride != o.number/rundir.NodeStride: // prof capture tells the nodes of a job apart
		return true
	case m.uuid != "" && o.uuid != "":
		return m.uuid != o.uuid
	case m.kind == o.kind && m.host != "" && o.host != "" && m.host != o.host: // other tools may call one machine by another name, as may the next container
		return true
	case m.seesAll && o.seesAll && m.host == o.host: // ranks may share one: by gloo, or by NCCL where NCCL_HOSTID makes two machines of one
		return m.own != o.own
	case !m.isMain || !o.isMain: // a process may use a GPU of another rank, such as by a copy
		return false
	case m.rank >= 0 && o.rank >= 0 && m.rank != o.rank: // ranks seldom share a GPU: NCCL refuses that
		return true
	case m.kind != o.kind || !m.isUsed || !o.isUsed || m.sharesProcess(o):
		return false
	}
	return m.begin != 0 && o.begin != 0 && m.begin < o.end && o.begin < m.end
}

// sharesProcess reports whether one process worked on both.
func (m *member) sharesProcess(o *member) bool {
	return m.kind == o.kind && slices.ContainsFunc(m.pids, func(pid any) bool { return slices.Contains(o.pids, pid) }) &&
		(m.host == o.host || m.host == "" || o.host == "") && !strings.EqualFold(m.path, o.path)
}
