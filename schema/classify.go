package schema

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"prof/schema/names"
	"slices"
	"strings"
)

// rulesAsText are the rules in the warehouse as far as facts follow from them. DuckDB would take longer to sort and hash them.
const rulesAsText = `SELECT concat_ws(chr(9), origin, priority, pattern, family, role, library) FROM %[1]skernel_rule
	UNION ALL SELECT concat_ws(chr(9), origin, priority, kind, stage, domain, pattern) FROM %[1]sstage_rule
	UNION ALL SELECT concat_ws(chr(9), finding_id, value) FROM %[1]sfinding_rule`

// derivedBy identifies what facts follow from besides the captures: their definitions, which sum identifies, the rules in the warehouse and the
// shared spelling. in is the catalog of the rules, with a dot, where it is not the first.
func derivedBy(ctx context.Context, q querier, in, sum string) (string, error) {
	rules, err := texts(q.QueryContext(ctx, fmt.Sprintf(rulesAsText, in)))
	if err != nil {
		return "", err
	}
	slices.Sort(rules)
	return md5Of(sum + md5Of(strings.Join(append([]string{names.SpellingVersion}, rules...), "\n"))), nil
}

func md5Of(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// SQL is what classification needs of a connection or transaction.
type SQL interface {
	Execer
	querier
}

type kernelMatch struct {
	names.Pattern
	origin                string
	priority              int
	family, role, library string
}

type stageMatch struct {
	names.Pattern
	kind, stage, domain string
}

// Rules are the warehouse's rules, compiled and in order of trial: the user's before the built-in ones, then by priority.
type Rules struct {
	kernel []kernelMatch
	stage  []stageMatch
	bad    []string // what is wrong with the user's rules that were left out
}

// LoadRules reads the rules. A rule of the user's that cannot be used is left out, so that one slip in a pattern does not lock
// the warehouse; Open says which.
func LoadRules(ctx context.Context, q SQL) (*Rules, error) { return loadRules(ctx, q, "true") }

// badRules returns what is wrong with rules of the user's. Few have any, and to see that takes a third of the time of reading them.
func badRules(ctx context.Context, q querier) ([]string, error) {
	const own = "origin <> 'builtin'"
	has, err := texts(q.QueryContext(ctx, `SELECT origin FROM kernel_rule WHERE `+own+` UNION ALL SELECT origin FROM stage_rule WHERE `+own))
	if err != nil || len(has) == 0 {
		return nil, err
	}
	rules, err := loadRules(ctx, q, own)
	if err != nil {
		return nil, err
	}
	return rules.bad, nil
}

func loadRules(ctx context.Context, q querier, where string) (*Rules, error) {
	r := &Rules{}
	if err := r.loadKernel(ctx, q, where); err != nil {
		return nil, err
	}
	return r, r.loadStage(ctx, q, where)
}

func (r *Rules) loadKernel(ctx context.Context, q querier, where string) error {
	rows, err := q.QueryContext(ctx, `SELECT origin, priority, pattern, family, role, library FROM kernel_rule WHERE `+where+`
		ORDER BY origin = 'builtin', priority, pattern`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var k kernelMatch
		var expr string
		if err := rows.Scan(&k.origin, &k.priority, &expr, &k.family, &k.role, &k.library); err != nil {
			return err
		}
		if k.Pattern, err = names.Compile(expr); err == nil && k.family == "" {
			err = errors.New("its family is empty")
		}
		if err == nil {
			r.kernel = append(r.kernel, k)
		} else if err := r.leaveOut("kernel_rule", k.origin, k.priority, expr, err); err != nil {
			return err
		}
	}
	return rows.Err()
}

var stageKinds = []string{"stage", "note", "warmup"}

func (r *Rules) loadStage(ctx context.Context, q querier, where string) error {
	rows, err := q.QueryContext(ctx, `SELECT kind, stage, domain, pattern, priority, origin FROM stage_rule WHERE `+where+`
		ORDER BY origin = 'builtin', priority, pattern`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var s stageMatch
		var expr, origin string
		var priority int
		if err := rows.Scan(&s.kind, &s.stage, &s.domain, &expr, &priority, &origin); err != nil {
			return err
		}
		if s.Pattern, err = names.Compile("(?i)" + expr); err == nil && !slices.Contains(stageKinds, s.kind) {
			err = fmt.Errorf("its kind is %q, not %s", s.kind, strings.Join(stageKinds, ", "))
		}
		if err == nil && s.stage == "" {
			err = errors.New("its stage is empty")
		}
		if err == nil {
			r.stage = append(r.stage, s)
		} else if err := r.leaveOut("stage_rule", origin, priority, expr, err); err != nil {
			return err
		}
	}
	return rows.Err()
}

// leaveOut notes a rule that cannot be used; of a built-in one that is an error of the program.
func (r *Rules) leaveOut(table, origin string, priority int, expr string, err error) error {
	if origin == "builtin" {
		return fmt.Errorf("%s builtin %d: %w", table, priority, err)
	}
	r.bad = append(r.bad, fmt.Sprintf("a %s of yours is left out: %v; mend it, or DELETE FROM %s WHERE origin = %s AND priority = %d AND pattern = %s",
		table, err, table, Quote(origin), priority, Quote(expr)))
	return nil
}

// kernelOf returns the first rule that matches a demangled name, nil when none does.
func (r *Rules) kernelOf(name string) *kernelMatch {
	lower := names.Lower(name)
	for i := range r.kernel {
		if r.kernel[i].Match(name, lower) {
			return &r.kernel[i]
		}
	}
	return nil
}

// stageOf returns what the rules of each kind say of a normalised range name. A range that marks a warm-up is no stage.
func (r *Rules) stageOf(domain, name string) (stage, note string, warmup bool) {
	var found [3]string
	lower := names.Lower(name)
	for _, s := range r.stage {
		k := slices.Index(stageKinds, s.kind)
		if found[k] == "" && (s.domain == "" || s.domain == domain) && s.Match(name, lower) {
			found[k] = s.stage
		}
	}
	return found[0], found[1], found[2] != ""
}

// Classify applies the rules to the names and paths of a run and spells its kernels' names. It has no classes yet.
func (r *Rules) Classify(ctx context.Context, q SQL, runID string) error {
	kernels, err := kernelsOf(ctx, q, runID)
	if err != nil {
		return err
	}
	if err := r.classifyKernels(ctx, q, runID, kernels); err != nil {
		return err
	}
	if err := spellKernels(ctx, q, runID, kernels); err != nil {
		return err
	}
	return r.classifyPaths(ctx, q, runID)
}

type kernelName struct {
	id   int64
	name string
}

func kernelsOf(ctx context.Context, q SQL, runID string) ([]kernelName, error) {
	rows, err := q.QueryContext(ctx, `SELECT kernel_name_id, name FROM kernel_name WHERE run_id = ?::UUID ORDER BY ALL`, runID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []kernelName
	for rows.Next() {
		var k kernelName
		if err := rows.Scan(&k.id, &k.name); err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, rows.Err()
}

func (r *Rules) classifyKernels(ctx context.Context, q SQL, runID string, kernels []kernelName) error {
	b := batch{table: "kernel_class", columns: 7}
	for _, n := range kernels {
		row := []any{runID, n.id, nil, nil, nil, nil, nil}
		if k := r.kernelOf(n.name); k != nil {
			row = []any{runID, n.id, k.family, k.role, orNull(k.library), k.origin, k.priority}
		}
		if err := b.add(ctx, q, row...); err != nil {
			return err
		}
	}
	return b.flush(ctx, q)
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// spellKernels fills kernel_spelling for a run.
func spellKernels(ctx context.Context, q SQL, runID string, kernels []kernelName) error {
	b := batch{table: "kernel_spelling", columns: 3}
	for _, k := range kernels {
		if err := b.add(ctx, q, runID, k.id, names.Spelling(k.name)); err != nil {
			return err
		}
	}
	return b.flush(ctx, q)
}

// classifyPaths fills path_stage. A path inherits from its prefixes: the stage of the outermost range that is one, the note of
// the innermost, and warm-up from any.
func (r *Rules) classifyPaths(ctx context.Context, q SQL, runID string) error {
	found, err := r.labelPaths(ctx, q, runID)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(found, labelRows) {
		if err := storeLabels(ctx, q, runID, some); err != nil {
			return err
		}
	}
	_, err = q.ExecContext(ctx, `INSERT INTO path_stage SELECT run_id, path_id, NULL, NULL, NULL, NULL, false FROM range_path p
		WHERE run_id = $1::UUID AND NOT EXISTS (SELECT 1 FROM path_stage s WHERE s.run_id = $1::UUID AND s.path_id = p.path_id)`, runID)
	return err
}

// pathLabel is what the rules say of a path; "" and 0 stand for nothing.
type pathLabel struct {
	Path, StagePath, NotePath int64
	Stage, Note               string
	Warmup                    bool
}

// labelPaths returns the paths of which the rules say something.
func (r *Rules) labelPaths(ctx context.Context, q SQL, runID string) (found []pathLabel, err error) {
	rows, err := q.QueryContext(ctx, `SELECT path_id, coalesce(lineage[-2], 0), domain, name FROM range_path WHERE run_id = ?::UUID ORDER BY path_id`, runID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	labels := map[int64]pathLabel{}
	for rows.Next() { // a parent's id is lower than its children's
		var id, parent int64
		var domain, name string
		if err := rows.Scan(&id, &parent, &domain, &name); err != nil {
			return nil, err
		}
		l := labels[parent]
		stage, note, warmup := r.stageOf(domain, name)
		if l.Stage == "" && stage != "" {
			l.Stage, l.StagePath = stage, id
		}
		if note != "" {
			l.Note, l.NotePath = note, id
		}
		l.Warmup = l.Warmup || warmup
		if l != (pathLabel{}) {
			l.Path = id
			labels[id] = l
			found = append(found, l)
		}
	}
	return found, rows.Err()
}

// labelRows is how many labels one statement stores.
const labelRows = 10_000

// storeLabels stores labels. They come as one text: a parameter for each value, as in batch, takes twenty times as long, and there may be a
// million paths.
func storeLabels(ctx context.Context, q Execer, runID string, labels []pathLabel) error {
	text, err := json.Marshal(labels)
	if err != nil {
		return err
	}
	_, err = q.ExecContext(ctx, `INSERT INTO path_stage SELECT ?::UUID, l.Path, nullif(l.Stage, ''), nullif(l.StagePath, 0), nullif(l.Note, ''), nullif(l.NotePath, 0), l.Warmup
		FROM (SELECT unnest(from_json(?, '[{"Path": "BIGINT", "Stage": "VARCHAR", "StagePath": "BIGINT", "Note": "VARCHAR", "NotePath": "BIGINT", "Warmup": "BOOLEAN"}]')) AS l)`, runID, string(text))
	return err
}

// batch inserts rows many at a time: a statement a row would cost more than the rows.
type batch struct {
	table   string
	columns int
	args    []any
}

const batchRows = 200

func (b *batch) add(ctx context.Context, q Execer, row ...any) error {
	b.args = append(b.args, row...)
	if len(b.args) >= batchRows*b.columns {
		return b.flush(ctx, q)
	}
	return nil
}

func (b *batch) flush(ctx context.Context, q Execer) error {
	n := len(b.args) / b.columns
	if n == 0 {
		return nil
	}
	one := "(" + strings.TrimSuffix(strings.Repeat("?, ", b.columns), ", ") + ")"
	values := strings.TrimSuffix(strings.Repeat(one+", ", n), ", ")
	_, err := q.ExecContext(ctx, "INSERT INTO "+b.table+" VALUES "+values, b.args...)
	b.args = b.args[:0]
	return err
}
