package ingest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"prof/ingest/load"
)

// Facts are sources that say something of a run and captured nothing: a model's configuration, what a workload says of its passes.
// The same ones belong to many runs, and they may come after the captures.

// optionForm is the form of facts that came as options.
const optionForm = "options"

// formOf gives the format of a name.
func formOf(name string) Format {
	for _, f := range Formats() {
		if f.Name == name {
			return f
		}
	}
	return Format{}
}

// addFacts puts files that the user named as facts before the others, whatever they are called.
func (in *inputs) addFacts(o Options) error {
	for _, named := range []struct {
		form  string
		paths []string
	}{{configForm, o.Models}, {workloadForm, o.Workloads}} {
		for _, p := range named.paths {
			if st, err := os.Stat(p); err != nil {
				return plainPathError(p, err)
			} else if !st.Mode().IsRegular() {
				return fmt.Errorf("%s: it is no file", p)
			}
			_, gz, err := readHead(p)
			if err != nil {
				return err
			}
			in.list = append(in.list, input{path: p, format: formOf(named.form), gz: gz})
		}
	}
	// A folder may hold what the user named too.
	seen := map[string]bool{}
	var kept []input
	for i := len(in.list) - 1; i >= 0; i-- {
		key, err := filepath.Abs(in.list[i].path)
		if err != nil {
			return err
		}
		if !seen[key] {
			seen[key] = true
			kept = append([]input{in.list[i]}, kept...)
		}
	}
	in.list = kept
	return nil
}

// split gives the inputs that are no facts, and the facts.
func split(list []input) (captures, facts []input) {
	for _, f := range list {
		if f.format.Facts {
			facts = append(facts, f)
		} else {
			captures = append(captures, f)
		}
	}
	return captures, facts
}

// attachTo finds the run that facts alone are given for: one that is there already. "" when a new run is to be made.
func (in *ingester) attachTo(captures []input) (id string, err error) {
	if len(captures) > 0 || in.o.OwnName {
		return "", nil
	}
	err = in.conn.QueryRowContext(in.ctx, `SELECT run_id::VARCHAR FROM run WHERE name = ?`, in.o.Name).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// attach stores facts with a run that is there already, in place of those it had of the same kind.
func (in *ingester) attach(id string, facts []input) error {
	if len(in.o.Tags) > 0 {
		return fmt.Errorf("run %s is there already: tag it with `prof tag %s KEY=VALUE`", in.o.Name, in.o.Name)
	}
	var last sql.NullInt32
	var models sql.NullInt32
	err := in.conn.QueryRowContext(in.ctx, `SELECT (SELECT max(source_id) FROM source WHERE run_id = ?::UUID), (SELECT max(model_id) FROM model WHERE run_id = ?::UUID)`, id, id).Scan(&last, &models)
	if err != nil {
		return err
	}
	in.firstSource, in.shared.ModelID = int(last.Int32), models.Int32
	in.seen = map[string]string{}
	for _, f := range facts {
		if err := in.source(f); err != nil {
			return err
		}
	}
	if err := in.optionFacts(); err != nil {
		return err
	}
	if len(in.result.Sources) == 0 {
		in.result.Repeated = append(in.result.Repeated, Repeat{Path: facts[0].path, Run: in.o.Name})
		return nil
	}
	if err := in.replaceFacts(id, last.Int32); err != nil {
		return err
	}
	in.result.Made, in.result.Attached = true, true
	in.result.Run.ID, in.result.Run.Name = id, in.o.Name
	return in.aimFacts(id)
}

// replaceFacts deletes the facts that a run had up to a source, of the kinds that it has newer ones of.
func (in *ingester) replaceFacts(id string, last int32) error {
	old := `(SELECT o.source_id FROM source o WHERE o.run_id = ?::UUID AND o.source_id <= ? AND EXISTS
		(SELECT 1 FROM source n WHERE n.run_id = o.run_id AND n.source_id > ? AND n.kind = o.kind))`
	for _, stmt := range []string{
		`DELETE FROM model_layer WHERE run_id = ?::UUID AND model_id IN (SELECT m.model_id FROM model m WHERE m.run_id = model_layer.run_id AND m.source_id IN ` + old + `)`,
		`DELETE FROM model_note WHERE run_id = ?::UUID AND model_id IN (SELECT m.model_id FROM model m WHERE m.run_id = model_note.run_id AND m.source_id IN ` + old + `)`,
		`DELETE FROM model WHERE run_id = ?::UUID AND source_id IN ` + old,
		`DELETE FROM workload WHERE run_id = ?::UUID AND source_id IN ` + old,
		`DELETE FROM workload_pass WHERE run_id = ?::UUID AND source_id IN ` + old,
		`DELETE FROM source_part WHERE run_id = ?::UUID AND source_id IN ` + old,
		`DELETE FROM diagnostic WHERE run_id = ?::UUID AND source_id IN ` + old,
		`DELETE FROM source WHERE run_id = ?::UUID AND source_id IN ` + old,
	} {
		r, err := in.conn.ExecContext(in.ctx, stmt, id, id, last, last)
		if err != nil {
			return err
		}
		if strings.HasPrefix(stmt, "DELETE FROM source WHERE") {
			if n, err := r.RowsAffected(); err == nil && n > 0 {
				in.warn(fmt.Sprintf("in place of %d file(s) of the same kind that run %s had", n, in.o.Name))
			}
		}
	}
	return nil
}

// isFactHeld says whether the run holds facts of the same content already.
func (in *ingester) isFactHeld(h *hashing) (bool, error) {
	sum, err := h.wait()
	if err != nil {
		return false, err
	}
	return in.holds(sum)
}

func (in *ingester) holds(sum string) (bool, error) {
	var n int
	err := in.conn.QueryRowContext(in.ctx, `SELECT count(*) FROM source WHERE run_id = ?::UUID AND sha256 = ?`, in.target.RunID, sum).Scan(&n)
	return n > 0, err
}

// optionFacts stores what options say of every pass.
func (in *ingester) optionFacts() error {
	if in.o.Pass == nil {
		return nil
	}
	text, err := json.Marshal(in.o.Pass)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(text)
	sum := hex.EncodeToString(digest[:])
	if held, err := in.holds(sum); held || err != nil {
		return err
	}
	f := input{path: "(options)", format: Format{Name: optionForm, Kind: workloadKind}}
	in.target.SourceID = in.firstSource + len(in.result.Sources) + 1
	rows, err := in.o.Pass.Store(in.ctx, in.target, "")
	if err != nil {
		return err
	}
	info := &load.SourceInfo{Rows: rows}
	in.infos = append(in.infos, info)
	in.result.Sources = append(in.result.Sources, Source{Path: f.path, Kind: workloadKind, Rows: rows})
	return in.storeSource(f, info, 0, sum)
}

// aimFacts says which timelines each workload's facts are about: where several files of facts lie beside captures of several
// kinds, those of the capture with the same stem, else of the same folder.
func (in *ingester) aimFacts(id string) error {
	rows, err := in.conn.QueryContext(in.ctx, `SELECT source_id, kind, path FROM source WHERE run_id = ?::UUID AND kind IN ('nsys', 'torch', ?) AND form <> ? ORDER BY source_id`,
		id, workloadKind, optionForm)
	if err != nil {
		return err
	}
	defer rows.Close()
	type one struct {
		id         int
		kind, path string
	}
	var facts, timelines []one
	for rows.Next() {
		var s one
		if err := rows.Scan(&s.id, &s.kind, &s.path); err != nil {
			return err
		}
		if s.kind == workloadKind {
			facts = append(facts, s)
		} else {
			timelines = append(timelines, s)
		}
	}
	if err := rows.Err(); err != nil || len(facts) < 2 {
		return err
	}
	for _, f := range facts {
		kind, best := "", 0
		for _, t := range timelines {
			if n := nearness(f.path, t.path); n > best {
				kind, best = t.kind, n
			}
		}
		if kind == "" {
			in.warn(fmt.Sprintf("%s: which capture it is about is not clear from its name or folder; it is taken for all of the run's", f.path))
			continue
		}
		if _, err := in.conn.ExecContext(in.ctx, `UPDATE workload SET capture = ? WHERE run_id = ?::UUID AND source_id = ?`, kind, id, f.id); err != nil {
			return err
		}
	}
	return nil
}

// nearness says how much the names of facts and of a capture have in common: 2 the stem, 1 the folder, 0 neither.
func nearness(facts, capture string) int {
	base := strings.TrimSuffix(strings.TrimSuffix(stem(facts), "workload"), "metrics")
	switch {
	case strings.TrimRight(base, "._-") == stem(capture):
		return 2
	case filepath.Dir(facts) == filepath.Dir(capture):
		return 1
	}
	return 0
}

// leftFacts says that facts were left out because their captures are in the warehouse already.
func (in *ingester) leftFacts(facts []input) {
	if len(facts) == 0 && in.o.Pass == nil || len(in.result.Repeated) == 0 {
		return
	}
	run := in.result.Repeated[0].Run
	for _, f := range facts {
		var n int
		err := in.conn.QueryRowContext(context.WithoutCancel(in.ctx), `SELECT count(*) FROM source s JOIN run r USING (run_id) WHERE r.name = ? AND s.kind = ?`, run, f.format.Kind).Scan(&n)
		if err == nil && n == 0 {
			option := "--" + map[string]string{configForm: "model", workloadForm: "workload"}[f.format.Name]
			in.warn(fmt.Sprintf("%s was not stored, since its captures are in run %s; to add it: prof ingest --run %s %s %s", f.path, run, run, option, f.path))
		}
	}
	if in.o.Pass != nil {
		in.warn(fmt.Sprintf("what the options say of the passes was not stored, since the captures are in run %s; to add it, give the options with --run %s alone", run, run))
	}
}
