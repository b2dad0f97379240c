package ingest

import (
	"cmp"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/ingest/workload"
)

// Facts are sources that say something of a run and captured nothing: a model's configuration, what a workload says of its passes.
// The same ones belong to many runs, and they may come after the captures.

// optionForm is the form of facts that came as options, optionPath what stands for their path, and optionText for it in a message.
const (
	optionForm = "options"
	optionPath = "(options)"
	optionText = "the facts in the options"
)

// formOf returns the format of a name.
func formOf(name string) Format {
	for _, f := range Formats() {
		if f.Name == name {
			return f
		}
	}
	return Format{}
}

// addFacts adds files that the user named as facts to the others, whatever they are called.
func (in *inputs) addFacts(o Options) error {
	for _, named := range []struct {
		form  string
		paths []string
	}{{configForm, o.Models}, {workloadForm, o.Workloads}} {
		for _, p := range named.paths {
			st, err := os.Stat(p)
			if err == nil && st.IsDir() && named.form == configForm {
				p = filepath.Join(p, configName)
				st, err = os.Stat(p)
			}
			if err != nil {
				return plainPathError(p, err)
			}
			if !st.Mode().IsRegular() {
				return fmt.Errorf("%s: it is not a file", p)
			}
			_, packed, err := readHead(p)
			if err != nil {
				return err
			}
			in.list = append(in.list, input{path: p, format: formOf(named.form), packed: packed})
		}
	}
	return in.dropTwice()
}

// dropTwice drops files that are listed twice. Of a folder that holds what the user named too, the latter stays.
func (in *inputs) dropTwice() error {
	seen := map[string]bool{}
	var kept []input
	for _, f := range slices.Backward(in.list) {
		key, err := filepath.Abs(f.path)
		if err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(key); err == nil {
			key = real
		}
		if !seen[key] {
			seen[key] = true
			kept = append(kept, f)
		}
	}
	slices.Reverse(kept)
	in.list = kept
	return nil
}

// split returns the inputs that are no facts, and the facts.
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

// storeFacts stores files of facts, and what options say.
func (in *ingester) storeFacts(facts []input) error {
	if err := in.each(facts); err != nil {
		return err
	}
	return in.optionFacts()
}

// isFactHeld reports whether the run holds facts of the same content already, and notes them.
func (in *ingester) isFactHeld(f input, h *hashing) (bool, error) {
	sum, err := h.wait()
	if err != nil {
		return false, err
	}
	return in.holds(f.path, sum, in.nodeOf(f))
}

// nodeKey is the fact that says which node of a job wrote facts of a workload: they are about its own processes alone.
const nodeKey = "job.node"

// nodeOf returns the node of a job that wrote facts of a workload; "" for facts about all nodes.
func (in *ingester) nodeOf(f input) string {
	if n := in.captures.of(f).node(); n != nil && f.format.Name == workloadForm {
		return strconv.Itoa(n.Rank)
	}
	return ""
}

// storeNode stores it.
func (in *ingester) storeNode(f input, info *load.SourceInfo) error {
	node := in.nodeOf(f)
	if node == "" {
		return nil
	}
	n, err := in.target.Append(in.ctx, "source_fact", func(add rows.Add) error {
		return add(in.target.RunID, int32(in.target.SourceID), nodeKey, node)
	})
	info.Rows += n
	return err
}

// holds reports whether the run holds facts of a content already; nodes that say the same say it each of itself.
func (in *ingester) holds(path, sum, node string) (bool, error) {
	var id int
	err := in.conn.QueryRowContext(in.ctx, `SELECT coalesce(max(source_id), 0) FROM source s WHERE run_id = ?::UUID AND sha256 = ?
		AND (? = '' OR ? IN (SELECT f.value FROM source_fact f WHERE f.run_id = s.run_id AND f.source_id = s.source_id AND f.key = ?)) AND `+in.readAlike(), in.target.RunID, sum, node, node, nodeKey).Scan(&id)
	if err != nil || id == 0 {
		return false, err
	}
	before := id <= in.firstSource
	if before {
		in.kept[id] = true
	}
	in.result.Repeated = append(in.result.Repeated, Repeat{Path: path, Run: in.o.Name, Had: before})
	return true, nil
}

// readAlike is a condition on a source s: its models were read for pictures of the size that is asked for, as a note says.
func (in *ingester) readAlike() string {
	if in.o.Load.Image == (load.ImageSize{}) {
		return "true"
	}
	return fmt.Sprintf(`NOT EXISTS (SELECT 1 FROM model m WHERE m.run_id = s.run_id AND m.source_id = s.source_id
		AND NOT EXISTS (SELECT 1 FROM model_note n WHERE n.run_id = m.run_id AND n.model_id = m.model_id AND starts_with(n.note, 'images of %v pixels')))`, in.o.Load.Image)
}

// imageOption returns the size of the pictures as it was asked for.
func (in *ingester) imageOption() string {
	if i := in.o.Load.Image; i != (load.ImageSize{}) {
		return fmt.Sprintf(" --image-size %dx%d", i.Width, i.Height)
	}
	return ""
}

// optionSum identifies what options say, as its content does a file.
func (in *ingester) optionSum() (string, error) {
	text, err := json.Marshal(in.o.Pass)
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:]), err
}

// optionFacts stores what options say of every pass.
func (in *ingester) optionFacts() error {
	if in.o.Pass == nil {
		return nil
	}
	sum, err := in.optionSum()
	if err != nil {
		return err
	}
	if held, err := in.holds(optionText, sum, ""); held || err != nil {
		return err
	}
	merged, err := in.withEarlier(*in.o.Pass)
	if err != nil {
		return err
	}
	f := input{path: optionPath, format: Format{Name: optionForm, Kind: workloadKind}}
	in.target.SourceID = in.firstSource + len(in.result.Sources) + 1
	rows, err := merged.Store(in.ctx, &in.target.Target, "")
	if err != nil {
		return err
	}
	info := &load.SourceInfo{Rows: rows}
	in.infos = append(in.infos, info)
	in.result.Sources = append(in.result.Sources, Source{Path: f.path, Kind: workloadKind, Rows: rows})
	return in.storeSource(f, info, 0, sum)
}

// withEarlier adds what options said of the run before, where these say nothing of it.
func (in *ingester) withEarlier(now workload.Facts) (*workload.Facts, error) {
	pass := slices.Clone(now.Passes)
	var before workload.Pass
	var warmup, batch *int64
	err := in.conn.QueryRowContext(in.ctx, `SELECT p.prefill_count, p.decode_count, p.batch_count, p.image_count, p.crop_count, w.warmup_count
		FROM workload w JOIN source s USING (run_id, source_id) LEFT JOIN workload_pass p USING (run_id, source_id)
		WHERE run_id = ?::UUID AND s.form = ? ORDER BY source_id DESC LIMIT 1`, in.target.RunID, optionForm).Scan(&before.Prefill, &before.Decode, &batch, &before.Images, &before.Crops, &warmup)
	if errors.Is(err, sql.ErrNoRows) {
		return &now, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range pass {
		p := &pass[i]
		p.Prefill, p.Decode, p.Images, p.Crops = cmp.Or(p.Prefill, before.Prefill), cmp.Or(p.Decode, before.Decode), cmp.Or(p.Images, before.Images), cmp.Or(p.Crops, before.Crops)
		if p.Batch == 0 && batch != nil {
			p.Batch = *batch
		}
	}
	now.Passes, now.Warmup = pass, cmp.Or(now.Warmup, warmup)
	return &now, nil
}

// sum returns the hash of a file's content.
func (in *ingester) sum(f input) (string, error) {
	h := startHash(in.ctx, f, in.o.Load.TempDir)
	defer h.stop()
	return h.wait()
}

// isFactsRun notes that a run of these facts alone is there already, where no other name was asked for.
func (in *ingester) isFactsRun(captures, facts []input) (bool, error) {
	if len(captures) > 0 || !in.o.OwnName {
		return false, nil
	}
	var sums, paths []string
	for _, f := range facts {
		sum, err := in.sum(f)
		if err != nil {
			return false, err
		}
		sums, paths = append(sums, sum), append(paths, f.path)
	}
	if in.o.Pass != nil {
		sum, err := in.optionSum()
		if err != nil {
			return false, err
		}
		sums, paths = append(sums, sum), append(paths, optionText)
	}
	slices.Sort(sums)
	var run string
	err := in.conn.QueryRowContext(in.ctx, `SELECT coalesce(max(x.name), '') FROM (SELECT r.name FROM run r JOIN source s USING (run_id) WHERE `+in.readAlike()+` GROUP BY r.run_id, r.name
		HAVING string_agg(s.sha256, ',' ORDER BY s.sha256) = ?) x`, strings.Join(slices.Compact(sums), ",")).Scan(&run)
	if err != nil || run == "" {
		return false, err
	}
	for _, p := range paths {
		in.result.Repeated = append(in.result.Repeated, Repeat{Path: p, Run: run, Had: true})
	}
	return true, nil
}

// warnAlone says that a run of a name that the user gave has no captures: a benchmark of an engine tells of a run by itself.
func (in *ingester) warnAlone(captures, facts []input) {
	if len(captures) == 0 && !in.o.OwnName && len(in.captures) == 0 && !slices.ContainsFunc(facts, func(f input) bool { return f.format.Kind == servingKind }) {
		in.warn(fmt.Sprintf("there was no run %s: the new one has facts but no capture; to add captures: prof ingest --run %s --add FILE", in.o.Name, in.o.Name))
	}
}

// leaveFacts says that facts were left out because their captures are in the warehouse already, unless they are there too.
func (in *ingester) leaveFacts(facts []input) error {
	if len(in.result.Repeated) == 0 {
		return nil
	}
	run := in.result.Repeated[0].Run
	has := func(where, value string) (bool, error) {
		var n int
		err := in.conn.QueryRowContext(in.ctx, `SELECT count(*) FROM source s JOIN run r USING (run_id) WHERE r.name = ? AND `+where+` = ?`, run, value).Scan(&n)
		return n > 0, err
	}
	for _, f := range facts {
		sum, err := in.sum(f)
		if err != nil {
			return err
		}
		if held, err := has(in.readAlike()+" AND s.sha256", sum); err != nil {
			return err
		} else if held {
			continue
		}
		what := "to add it"
		if other, err := has("s.form", f.format.Name); err != nil {
			return err
		} else if other {
			what = "to replace what the run has"
		}
		if f.format.Name == runForm {
			in.warn(fmt.Sprintf("%s was not stored, because its captures are already in run %s; to store that run again from its folder: prof ingest --replace --run %s %s", f.path, run, run, filepath.Dir(f.path)))
			continue
		}
		option := map[string]string{configForm: "--model ", workloadForm: "--workload "}[f.format.Name]
		in.warn(fmt.Sprintf("%s was not stored, because its captures are already in run %s; %s: prof ingest --run %s %s", f.path, run, what, run, option+f.path+in.imageOption()))
	}
	if in.o.Pass == nil {
		return nil
	}
	sum, err := in.optionSum()
	if err != nil {
		return err
	}
	if held, err := has("s.sha256", sum); held || err != nil {
		return err
	}
	in.warn(fmt.Sprintf(optionText+" were not stored, because the captures are already in run %s; to add them, give the options with --run %s and no captures", run, run))
	return nil
}
