package schema_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/ingest/load"
	"prof/internal/testkit"
	"prof/schema"
)

// ruledFile is the file of such a home.
var ruledFile []byte

// ruled makes a home with one run of two kernels and a few nested ranges; nothing in it is classified yet.
func ruled(t *testing.T) schema.Home {
	t.Helper()
	home := fresh(t)
	if ruledFile != nil {
		if err := os.WriteFile(home.Warehouse(), ruledFile, 0o600); err != nil {
			t.Fatal(err)
		}
		return home
	}
	w := open(t, home, true, nil)
	addRun(t, w, idA, "r", time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	testkit.Exec(t, w, `INSERT INTO kernel_name VALUES (?::UUID, 1, 'nvjet_sm90_tst_64x8', 'nvjet_sm90_tst_64x8', 1), (?::UUID, 2, 'zz_fused(int)', 'zz_fused', 2)`, idA, idA)
	testkit.Exec(t, w, `INSERT INTO range_path VALUES
		(?::UUID, 1, 1, '', 'warmup', [1], 'warmup'),
		(?::UUID, 2, 2, '', 'prefill', [1, 2], 'warmup > prefill'),
		(?::UUID, 3, 1, '', 'prefill', [3], 'prefill'),
		(?::UUID, 4, 2, '', 'vision', [3, 4], 'prefill > vision'),
		(?::UUID, 5, 3, '', 'clip', [3, 4, 5], 'prefill > vision > clip'),
		(?::UUID, 6, 2, 'mine', 'decode_step[#]', [3, 6], 'prefill > decode_step[#]'),
		(?::UUID, 7, 1, '', 'other', [7], 'other')`, idA, idA, idA, idA, idA, idA, idA)
	done(t, w)
	var err error
	if ruledFile, err = os.ReadFile(home.Warehouse()); err != nil {
		t.Fatal(err)
	}
	return home
}

// labels returns the stage, note and warm-up of each path, and the family of each kernel, as a reader finds them.
func labels(t *testing.T, home schema.Home) (paths, kernels, talk []string) {
	t.Helper()
	w := open(t, home, false, func(m string) { talk = append(talk, m) })
	defer done(t, w)
	return testkit.Rows(t, w, `SELECT path_id, coalesce(stage, '-'), coalesce(stage_path_id, 0), coalesce(note, '-'), coalesce(note_path_id, 0), is_warmup
			FROM path_stage ORDER BY path_id`),
		testkit.Rows(t, w, `SELECT kernel_name_id, coalesce(family, '-'), coalesce(library, '-'), coalesce(rule_origin, '-') FROM kernel_class ORDER BY ALL`), talk
}

var builtinPaths = []string{"1|-|0|-|0|true", "2|prefill|2|-|0|true", "3|prefill|3|-|0|false", "4|prefill|3|vision|4|false",
	"5|prefill|3|clip|5|false", "6|prefill|3|-|0|false", "7|-|0|-|0|false"}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestBuiltinRules(t *testing.T) {
	paths, kernels, talk := labels(t, ruled(t))
	same(t, "paths", paths, builtinPaths)
	same(t, "kernels", kernels, []string{"1|cublas nvjet|cuBLAS|builtin", "2|-|-|-"})
	same(t, "talk", talk, nil)
}

// TestUserRules holds that a user's rows take effect on the next open, before the built-in ones, and go the same way.
func TestUserRules(t *testing.T) {
	home := ruled(t)
	labels(t, home)
	change(t, home, `INSERT INTO kernel_rule VALUES ('user', 2, 'zz|nvjet', 'second', 'gemm', '', ''), ('user', 1, '^zz_', 'mine', 'gemm', 'own', '')`,
		`INSERT INTO stage_rule VALUES ('user', 1, 'stage', 'PREFILL', '', '^PreFill$', ''), ('user', 1, 'note', 'tower', '', '^vision$', ''),
			('user', 1, 'warmup', 'x', '', '^other$', ''), ('user', 5, 'stage', 'step', 'mine', '^decode', ''), ('user', 5, 'stage', 'never', 'else', '^decode', '')`)
	paths, kernels, talk := labels(t, home)
	same(t, "paths", paths, []string{"1|-|0|-|0|true", "2|PREFILL|2|-|0|true", "3|PREFILL|3|-|0|false", "4|PREFILL|3|tower|4|false",
		"5|PREFILL|3|clip|5|false", "6|PREFILL|3|-|0|false", "7|-|0|-|0|true"})
	same(t, "kernels", kernels, []string{"1|second|-|user", "2|mine|own|user"})
	same(t, "talk", talk, nil)
	change(t, home, `DELETE FROM kernel_rule WHERE origin = 'user'; DELETE FROM stage_rule WHERE origin = 'user'`)
	paths, kernels, _ = labels(t, home)
	same(t, "paths again", paths, builtinPaths)
	same(t, "kernels again", kernels, []string{"1|cublas nvjet|cuBLAS|builtin", "2|-|-|-"})
}

// TestManyPaths: paths are labelled many at a time, with stages of any text.
func TestManyPaths(t *testing.T) {
	home := ruled(t)
	change(t, home, `INSERT INTO range_path SELECT run_id, i, 1, '', 'many', [i], 'many' FROM run, range(8, 20008) r(i)`, `INSERT INTO stage_rule VALUES ('user', 1, 'stage', 'é"\<', '', '^many$', '')`)
	w := open(t, home, false, nil)
	defer done(t, w)
	same(t, "paths", testkit.Rows(t, w, `SELECT stage, count(*), count(*) FILTER (stage_path_id = path_id AND note IS NULL AND NOT is_warmup) FROM path_stage WHERE path_id > 7 GROUP BY stage`), []string{`é"\<|20000|20000`})
}

// TestBadRules holds that a slip in a rule neither locks the warehouse nor passes in silence, and that the rules beside it work.
func TestBadRules(t *testing.T) {
	home := ruled(t)
	change(t, home, `INSERT INTO kernel_rule VALUES ('user', 1, '(zz', 'mine', 'gemm', '', ''), ('user', 2, 'zz', '', 'gemm', '', ''), ('user', 3, '^zz_', 'good', 'gemm', '', '')`,
		`INSERT INTO stage_rule VALUES ('user', 4, 'stage', 'x', '', '*', ''), ('user', 5, 'Stage', 'x', '', '.', ''), ('user', 6, 'stage', '', '', '.', '')`)
	want := []string{
		`a kernel_rule of yours is left out: error parsing regexp: missing closing ): ` + "`(zz`" + `; mend it, or DELETE FROM kernel_rule WHERE origin = 'user' AND priority = 1 AND pattern = '(zz'`,
		`a kernel_rule of yours is left out: its family is empty; mend it, or DELETE FROM kernel_rule WHERE origin = 'user' AND priority = 2 AND pattern = 'zz'`,
		`a stage_rule of yours is left out: error parsing regexp: missing argument to repetition operator: ` + "`*`" + `; mend it, or DELETE FROM stage_rule WHERE origin = 'user' AND priority = 4 AND pattern = '*'`,
		`a stage_rule of yours is left out: its kind is "Stage", not stage, note, warmup; mend it, or DELETE FROM stage_rule WHERE origin = 'user' AND priority = 5 AND pattern = '.'`,
		`a stage_rule of yours is left out: its stage is empty; mend it, or DELETE FROM stage_rule WHERE origin = 'user' AND priority = 6 AND pattern = '.'`,
	}
	for range 2 { // said on every open, not only on the one that applies the rules
		paths, kernels, talk := labels(t, home)
		same(t, "paths", paths, builtinPaths)
		same(t, "kernels", kernels, []string{"1|cublas nvjet|cuBLAS|builtin", "2|good|-|user"})
		same(t, "talk", talk, want)
	}
	var remedies []string
	for _, m := range want { // the remedy that each message names is one
		_, remedy, _ := strings.Cut(m, "or DELETE")
		remedies = append(remedies, "DELETE"+remedy)
	}
	change(t, home, remedies...)
	_, _, talk := labels(t, home)
	same(t, "talk after the remedies", talk, nil)
}

// TestEngineRanges holds that the built-in rules know the ranges of inference engines by the names that the warehouse keeps.
func TestEngineRanges(t *testing.T) {
	home := ruled(t)
	w := open(t, home, true, nil)
	names := [][2]string{
		{"step[EXTEND bs=4 toks=512]", "prefill"}, {"step[DECODE bs=64]", "decode"}, {"step[MIXED bs=2]", "mixed"}, {"execute_new_2_cached_0", "prefill"}, {"execute_new_0_cached_7", "cached"}, {"execute_new_2_cached_7", "mixed"}, {"execute_context_0(0)_generation_4(4)", "decode"},
		{"decode_step[17]", "decode"}, {"LLM@prefill", "prefill"}, {"decoder.layers.3", "-"}, {"predecode", "-"},
	}
	testkit.Exec(t, w, `DELETE FROM range_path`)
	for i, n := range names {
		testkit.Exec(t, w, `INSERT INTO range_path VALUES (?::UUID, ?, 1, '', ?, [?], '')`, idA, i+1, load.Normalise(n[0]), i+1)
	}
	testkit.Exec(t, w, `DELETE FROM derivation`)
	done(t, w)
	paths, _, _ := labels(t, home)
	for i, n := range names {
		if stage := strings.Split(paths[i], "|")[1]; stage != n[1] {
			t.Errorf("%s, kept as %s, is %s, not %s", n[0], load.Normalise(n[0]), stage, n[1])
		}
	}
}

// TestSpellingRows holds that every kernel name of a run has its spelling: in a warehouse that an older prof spelled, on its next
// opening, even for reading, and again when the spelling has changed; and that otherwise nothing is made anew.
func TestSpellingRows(t *testing.T) {
	want := []string{"1|nvjet_sm90_tst_64x8", "2|zz_fused(int)", "3|k<128>"}
	named := ruled(t)
	change(t, named, `INSERT INTO kernel_name SELECT run_id, 3, 'void a::b::k<(int)128>(const T1 *)', 'k', 3 FROM run`, `DELETE FROM schema_version WHERE version = -1`)
	done(t, open(t, named, true, nil))
	for name, c := range map[string]struct {
		older []string
		want  []string
	}{
		"another spelling": {[]string{`UPDATE kernel_spelling SET spelling = 'x'`, `UPDATE schema_version SET checksum = 'older' WHERE version = -1`}, want},
		"current":          {[]string{`UPDATE kernel_spelling SET spelling = 'x'`}, []string{"1|x", "2|x", "3|x"}},
	} {
		home := schema.Home{Dir: t.TempDir()}
		if err := os.CopyFS(home.Dir, os.DirFS(named.Dir)); err != nil {
			t.Fatal(err)
		}
		change(t, home, c.older...)
		w := open(t, home, false, nil)
		same(t, name, testkit.Rows(t, w, `SELECT kernel_name_id & 134217727, spelling FROM kernel_spelling ORDER BY kernel_name_id`), c.want)
		done(t, w)
	}
}
