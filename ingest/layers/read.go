package layers

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"prof/ingest/model"
)

// Version identifies what Read gives of a capture: it is raised with every change of how layers are found.
const Version = "1"

// The separators of rows and fields in what Read finds.
const rowEnd, fieldEnd = "\x1e", "\x1f"

// querier asks SQL.
type querier = func(ctx context.Context, statement string, args ...any) (*sql.Rows, error)

// pass is the kernels of one on a GPU.
type pass struct {
	id, device, graphs, forwards int64
	kernels                      []kernel
}

// reader reads the passes of a run.
type reader struct {
	query   querier
	run     string // as SQL
	letters map[string]byte
	stacks  map[string]place // by Python stack
	ranges  map[string]place // by set of ranges
	depth   int64
	passes  []*pass
}

// Read reads of each kind of timeline, stage and GPU of a run (as SQL) the measured pass whose kernels take the median time, and returns what finds the rows of _layer_row, without the connection: fields end with the character 31, rows with 30.
func Read(ctx context.Context, query func(ctx context.Context, statement string, args ...any) (*sql.Rows, error), run string) (func(ctx context.Context) (string, error), error) {
	r := &reader{query: query, run: run, letters: map[string]byte{}, stacks: map[string]place{}, ranges: map[string]place{}}
	return r.find, r.read(ctx)
}

// each scans each row of a query, in which %s is the run, and does something with it.
func (r *reader) each(ctx context.Context, query string, do func(), to ...any) error {
	rows, err := r.query(ctx, strings.ReplaceAll(query, "%s", r.run))
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

func (r *reader) read(ctx context.Context) error {
	var id, role, family, name string
	if err := r.each(ctx, `SELECT n.kernel_name_id::VARCHAR, coalesce(c.role, ''), coalesce(c.family, ''), n.name FROM kernel_name n LEFT JOIN kernel_class c ON c.run_id = n.run_id AND c.kernel_name_id = n.kernel_name_id
		WHERE n.run_id = %s`, func() { r.letters[id] = letterOf(role, family, name) }, &id, &role, &family, &name); err != nil {
		return err
	}
	if err := r.each(ctx, `SELECT p.stack_id::VARCHAR, p.module_path FROM python_stack p WHERE p.run_id = %s AND p.module_path IS NOT NULL`, func() { r.stacks[id] = placeOf(name) }, &id, &name); err != nil {
		return err
	}
	if err := r.each(ctx, `SELECT q.range_context_id::VARCHAR, q.names FROM (
			SELECT c.range_context_id, string_agg(n.name, ' > ' ORDER BY p.depth, n.start_ns, n.range_id) AS names
			FROM range_context c JOIN nvtx_range n ON n.run_id = %s AND n.range_id = c.range_id JOIN range_path p ON p.run_id = %s AND p.path_id = n.path_id
			WHERE c.run_id = %s AND EXISTS (SELECT 1 FROM range_path l WHERE l.run_id = %s AND regexp_matches(l.name, '(?i)(layer|block)s?[._\[ :#-]|\bh\.#'))
			GROUP BY c.range_context_id) q`, func() { r.ranges[id] = placeOf(name) }, &id, &name); err != nil {
		return err
	}
	if err := r.each(ctx, `SELECT coalesce(sum(l.layer_count), 0)::BIGINT FROM layer_cost l JOIN model_size m ON m.run_id = %s AND m.model_id = l.model_id AND m.is_counted
		WHERE l.run_id = %s AND l.part = 'decoder' AND l.kind = 'attention'`, func() {}, &r.depth); err != nil {
		return err
	}
	var rangeID, device, graphs, forwards int64
	var text string
	return r.each(ctx, `WITH pass AS (
			SELECT p.range_id, d.device_id, d.graph_count, CASE WHEN p.basis IS NULL THEN 0 WHEN p.prompt_token_count > 0 THEN 1 ELSE coalesce(p.step_count, 0) END AS forward_count
			FROM stage_pass p JOIN timeline t ON t.run_id = %s AND t.source_id = p.source_id JOIN range_device d ON d.run_id = %s AND d.range_id = p.range_id
			WHERE p.run_id = %s AND NOT p.is_warmup AND p.lost_count = 0 AND d.kernel_count > 0
			QUALIFY row_number() OVER (PARTITION BY t.kind, p.stage, d.device_id ORDER BY d.kernel_sum_ns, p.range_id) = (count(*) OVER (PARTITION BY t.kind, p.stage, d.device_id) + 1) // 2
		)
		SELECT p.range_id, k.device_id, any_value(p.graph_count), any_value(p.forward_count), string_agg(concat_ws(',', k.kernel_name_id, k.duration_ns, coalesce(k.stack_id, 0), k.range_context_id,
			coalesce(v.note IN ('vision', 'sam', 'clip', 'siglip', 'vit', 'projector'), false)::INTEGER), ';' ORDER BY k.start_ns, k.stream_id, k.kernel_name_id, k.duration_ns)
		FROM kernel k
		JOIN pass_context x ON x.run_id = %s AND x.range_context_id = k.range_context_id
		JOIN pass p ON p.range_id = x.range_id AND p.device_id = k.device_id
		LEFT JOIN path_stage v ON v.run_id = %s AND v.path_id = k.path_id
		WHERE k.run_id = %s
		GROUP BY p.range_id, k.device_id ORDER BY p.range_id, k.device_id`, func() {
		p := &pass{id: rangeID, device: device, graphs: graphs, forwards: forwards}
		for line := range strings.SplitSeq(text, ";") {
			p.kernels = append(p.kernels, r.kernel(line))
		}
		r.passes = append(r.passes, p)
	}, &rangeID, &device, &graphs, &forwards, &text)
}

// kernel reads one. Where Python functions are known, their modules say where it is, else ranges.
func (r *reader) kernel(line string) kernel {
	var k kernel
	nth, stack := 0, ""
	for field := range strings.SplitSeq(line, ",") {
		switch nth++; nth {
		case 1:
			k.letter = r.letters[field]
		case 2:
			k.ns, _ = strconv.ParseInt(field, 10, 64)
		case 3:
			stack = field
		case 4:
			if k.place = r.stacks[stack]; k.stack == "" && r.ranges[field].stack != "" || !k.known {
				k.place = r.ranges[field]
			}
		case 5:
			k.isVision = field == "1"
		}
	}
	return k
}

// find finds the rows.
func (r *reader) find(ctx context.Context) (string, error) {
	var out strings.Builder
	for _, p := range r.passes {
		p.write(&out, int(r.depth))
	}
	return out.String(), ctx.Err()
}

// sum is what kernels add up to.
type sum struct{ count, ns int64 }

// key is what they are added up by.
type key struct {
	layer int // -1 outside layers
	part  string
}

// compare orders by layer, those outside last.
func (k key) compare(l key) int {
	return cmp.Or(cmp.Compare(uint(k.layer), uint(l.layer)), cmp.Compare(k.part, l.part))
}

// write writes the rows of a pass.
func (p *pass) write(out *strings.Builder, depth int) {
	f := found{unknown: whole}
	if p.graphs == 0 {
		f = find(p.kernels, depth, int(p.forwards))
	}
	sums, texts, times := map[key]*sum{}, map[int]*strings.Builder{}, map[int]int64{}
	for i, k := range p.kernels {
		at := key{layer: -1}
		if f.unknown == "" {
			at = key{f.layer[i], f.part[i]}
		}
		if sums[at] == nil {
			sums[at] = &sum{}
		}
		sums[at].count++
		sums[at].ns += k.ns
		if at.layer >= 0 {
			if texts[at.layer] == nil {
				texts[at.layer] = &strings.Builder{}
			}
			texts[at.layer].WriteByte(k.letter)
			times[at.layer] += k.ns
		}
	}
	equal, ratio := groups(texts, times)
	names := map[int]string{}
	for _, list := range equal {
		for _, layer := range list {
			names[layer] = model.LayerNames(list)
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(sums), key.compare) {
		layer, off := "", ""
		if at.layer >= 0 {
			layer = strconv.Itoa(at.layer)
		}
		if x, has := ratio[at.layer]; has {
			off = strconv.FormatFloat(x, 'g', -1, 64)
		}
		for _, field := range []string{fmt.Sprint(p.id), fmt.Sprint(p.device), layer, names[at.layer], off, at.part, fmt.Sprint(f.passes), fmt.Sprint(sums[at].count), fmt.Sprint(sums[at].ns), f.basis, f.unknown} {
			out.WriteString(field + fieldEnd)
		}
		out.WriteString(rowEnd)
	}
}
