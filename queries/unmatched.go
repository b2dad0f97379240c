package queries

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"prof/internal/suggest"
	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/schema"
	"prof/schema/terms"
)

// choice is an argument that picks rows, and what a run has to pick from.
type choice struct {
	param, what string
	from        string // a relation with the column x; %[1]s is the run, %[2]s its counted sources, %[3]s all kinds of timelines
	how         pick
}

// pick is how an argument picks.
type pick uint8

const (
	equals   pick = iota // one of the values
	contains             // every value that contains it
	fits                 // every value that fits one of its globs
	near                 // likewise of more names than can be listed
)

// countedPaths are the paths of the ranges that the counted sources and the profiled launches lie in.
const countedPaths = "(SELECT path_id FROM nvtx_range WHERE run_id = %[1]s AND source_id IN %[2]s UNION SELECT unnest(p.lineage) FROM ncu_launch l JOIN range_path p USING (run_id, path_id) WHERE l.run_id = %[1]s)"

const operatorNames = "(SELECT name AS x FROM op_name WHERE run_id = %[1]s UNION SELECT name FROM op_average WHERE run_id = %[1]s AND kind = 'cpu')"

// choices lists the arguments that pick rows. Of those that pick by a part of a name, what there is cannot be told from what was
// picked without asking, so that nothing picked is enough of a reason to list them.
// Relations that name the sources which a query counts.
const (
	timelines = "_timeline"
	operators = "_operator-source"
)

var choices = []choice{
	{"source", "captures", "(SELECT DISTINCT kind AS x FROM source WHERE run_id = %[1]s AND kind IN (%[3]s))", equals},
	{"stage", "stages", "(SELECT DISTINCT stage AS x FROM path_stage WHERE run_id = %[1]s AND stage IS NOT NULL AND path_id IN " + countedPaths + " UNION SELECT '(none)')", equals},
	{"device", "GPUs", "(SELECT DISTINCT device_id::VARCHAR AS x FROM (SELECT run_id, source_id, device_id FROM kernel UNION ALL SELECT run_id, source_id, device_id FROM memop UNION ALL SELECT run_id, source_id, device_id FROM device) WHERE run_id = %[1]s AND source_id IN %[2]s)", equals},
	{"range", "ranges, among others,", "(SELECT DISTINCT name AS x FROM range_path WHERE run_id = %[1]s AND path_id IN " + countedPaths + ")", equals},
	{"severity", "severities", "(SELECT DISTINCT severity AS x FROM diagnostic WHERE run_id = %[1]s)", equals},
	{"findings", "findings of the severities", "(SELECT DISTINCT severity AS x FROM ncu_rule WHERE run_id = %[1]s UNION SELECT '(all)')", equals},
	{"pass", "passes", "(SELECT DISTINCT name AS x FROM capture_pass WHERE run_id = %[1]s)", equals},
	{"launch", "profiled launches", "(SELECT concat(_id_number(min(launch_id)) - 1, ' to ', _id_number(max(launch_id)) - 1) AS x FROM ncu_launch WHERE run_id = %[1]s HAVING count(*) > 0)", contains},
	{"section", "sections", "(SELECT DISTINCT section AS x FROM ncu_section WHERE run_id = %[1]s)", contains},
	{"kernel", "profiled kernels", "(SELECT DISTINCT k.short_name AS x FROM ncu_launch l JOIN kernel_name k USING (run_id, kernel_name_id) WHERE l.run_id = %[1]s)", contains},
	{"step", "steps with a critical path", "(SELECT DISTINCT step::VARCHAR AS x FROM _critical_step(%[1]s))", equals},
	{"line", "lines, among others,", "(SELECT DISTINCT line AS x FROM stack_line WHERE run_id = %[1]s AND own_stack_id = stack_id)", fits},
	{"operator", "operators", operatorNames, near},
	{"root", "operators", operatorNames, near},
	{"metric", "metrics, among others,", "(SELECT DISTINCT m.name AS x FROM ncu_metric_name m WHERE m.run_id = %[1]s AND (m.name LIKE '%%\\_\\_throughput.avg.pct%%' ESCAPE '\\' OR m.name IN ('gpu__time_duration.sum', 'dram__bytes_read.sum', 'dram__bytes_write.sum', 'sm__warps_active.avg.pct_of_peak_sustained_active')))", fits},
}

// unmatched says of each argument that picks rows what it could have picked, when it picked none.
func unmatched(ctx context.Context, w *schema.Warehouse, q Query, args Args) ([]frame.Caveat, error) {
	counts := q.counts
	counted, err := counted(counts, args)
	if err != nil {
		return nil, err
	}
	var out []frame.Caveat
	for _, c := range choices {
		value, given := args[c.param]
		if !given || c.param == "source" && counts == operators { // the topic operators says it
			continue
		}
		from := fmt.Sprintf(c.from, "_run_id("+schema.Quote(args["run"])+")", counted, terms.Quoted(terms.Timelines()))
		stmt := "SELECT x FROM " + from + " ORDER BY x = '(none)', x"
		if c.how == near {
			stmt = fmt.Sprintf("SELECT x FROM %[1]s WHERE NOT EXISTS (SELECT 1 FROM %[1]s y WHERE _fits(y.x, %[2]s)) ORDER BY NOT contains(lower(x), trim(lower(%[2]s), '* ')), jaro_winkler_similarity(lower(x), lower(%[2]s)) DESC, x LIMIT 8", from, schema.Quote(value))
		}
		f, err := read(ctx, w, stmt)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, r := range f.Rows {
			names = append(names, r[0].(string))
		}
		if len(names) == 0 || c.how == equals && slices.Contains(names, value) {
			continue
		}
		if c.how == contains { // more than are listed, maybe: what was likely meant comes first
			if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(strings.ToLower(name), strings.ToLower(value)) }) {
				continue
			}
			first := suggest.Nearest(value, names)
			names = append(first, slices.DeleteFunc(names, func(name string) bool { return slices.Contains(first, name) })...)
		}
		kind := map[pick]string{fits: "no-name-fits", near: "no-operator-fits"}[c.how]
		out = append(out, caveat.Make("argument", cmp.Or(kind, "nothing-picked"), caveat.Unpicked{Option: FlagName(c.param) + " " + value, Has: suggest.List(names, 12), Things: c.what}))
	}
	return out, nil
}

// needsNoTimeline reports whether rows may come from elsewhere, so that no timeline is no reason why there are none.
func (q Query) needsNoTimeline() bool {
	return q.counts == operators || slices.ContainsFunc(q.Notes, func(topic string) bool { return topic == "ncu" || topic == "region" || topic == "capture" })
}

// countsOf names the relation of the sources that a query counts.
func countsOf(q Query) string {
	if slices.Contains(q.Notes, "operators") {
		return operators
	}
	return timelines
}

// capturesOf are the kinds of captures that a query chooses among; nil where it does not.
func capturesOf(q Query) []string {
	switch {
	case !q.Takes("source"):
		return nil
	case q.counts == operators:
		return terms.OperatorKinds()
	}
	return terms.Timelines()
}

// counted is the SQL of the sources that a query with these arguments counts.
func counted(relation string, args Args) (string, error) {
	all, err := All()
	if err != nil {
		return "", err
	}
	q, found := named(all, relation)
	if !found {
		return "", fmt.Errorf("%w: %s", ErrUnknownQuery, relation)
	}
	stmt, err := q.Statement(q.taken(args))
	return "(SELECT source_id FROM (" + stmt + "))", err
}
