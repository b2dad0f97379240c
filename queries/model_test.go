package queries_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	ingestload "prof/ingest/load"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// countedFLOP is what PyTorch's FlopCounter counts in one stage; model is that less the product of the rotary table.
type countedFLOP struct{ Model int64 }

// measured is a fixture of testdata/model/decoder.json or encoder_decoder.json.
type measured struct {
	Name, Form string
	Config     json.RawMessage
	Params     int64
	Runs       []struct {
		Prompt, New, Batch int64
		Prefill, Decode    *countedFLOP
		All                *countedFLOP `json:"prefill_all_logits"`
	}
}

// modelsRun is a run of configurations as the models 1, 2, ...
func modelsRun(t *testing.T, configs ...[]byte) testkit.Run {
	t.Helper()
	r, dir := testkit.Run{Name: "models"}, t.TempDir()
	for i, text := range configs {
		path := filepath.Join(dir, fmt.Sprintf("%d.json", i))
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		r.Options.Models = append(r.Options.Models, path)
	}
	return r
}

// ofModels ingests configurations as the models 1, 2, ... of one run.
func ofModels(t *testing.T, w *schema.Warehouse, run string, configs ...[]byte) {
	t.Helper()
	o := ingest.Options{Name: run, Now: time.Now(), Load: ingestload.Options{Threads: 1}, Models: modelsRun(t, configs...).Options.Models}
	if _, err := ingest.Run(t.Context(), w, nil, o); err != nil {
		t.Fatal(err)
	}
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// stageFLOP adds up the operations of one stage, in the query that people ask.
func stageFLOP(t *testing.T, w *schema.Warehouse, stage string, args string) int64 {
	t.Helper()
	f, err := queries.Raw(t.Context(), w, fmt.Sprintf("SELECT sum(flop)::BIGINT FROM flops(%s) WHERE stage = '%s'", args, stage))
	if err != nil {
		t.Fatal(err)
	}
	n, _ := f.Rows[0][0].(int64)
	return n
}

// flopsOf asks flops for every run of every fixture, whose models are 1, 2, ... of the run "models", and gives operations by stage. It
// is one statement: each of some 350 would take a tenth of a second to plan.
func flopsOf(t *testing.T, w *schema.Warehouse, fixtures []measured, head string) [][]map[string]int64 {
	t.Helper()
	var cases []string
	out := make([][]map[string]int64, len(fixtures))
	for i, f := range fixtures {
		out[i] = make([]map[string]int64, len(f.Runs))
		for j, r := range f.Runs {
			out[i][j] = map[string]int64{}
			cases = append(cases, fmt.Sprintf("(%d, %d, %d, %d, %d)", i, j, r.Prompt, r.New, r.Batch))
		}
	}
	rows, err := queries.Raw(t.Context(), w, fmt.Sprintf(`SELECT c.i, c.j, f.stage, sum(f.flop)::BIGINT AS flop FROM (VALUES %s) c(i, j, prefill, decode, batch),
		LATERAL (SELECT stage, flop FROM flops('models', model := c.i + 1, prefill := c.prefill, decode := c.decode, batch := c.batch, head := '%s')) f GROUP BY ALL`,
		strings.Join(cases, ", "), head))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows.Rows {
		out[r[0].(int64)][r[1].(int64)][r[2].(string)] = r[3].(int64)
	}
	return out
}

// TestCountedFLOPs holds that parameters and FLOPs equal, to the last digit, what PyTorch counts of every family.
func TestCountedFLOPs(t *testing.T) {
	var file struct{ Fixtures []measured }
	readJSON(t, "../testdata/model/decoder.json", &file)
	decoders := file.Fixtures
	readJSON(t, "../testdata/model/encoder_decoder.json", &file)
	file.Fixtures = append(decoders, file.Fixtures...)
	var configs [][]byte
	for i, f := range file.Fixtures {
		file.Fixtures[i].Runs = sample.Of(f.Runs, 3)
		configs = append(configs, []byte(fmt.Sprintf("%s\n%*s", f.Config, len(configs), ""))) // no two alike
	}
	w := testkit.Warehouse(t, modelsRun(t, configs...))
	last, all := flopsOf(t, w, file.Fixtures, "last"), flopsOf(t, w, file.Fixtures, "all")
	for i, f := range file.Fixtures {
		for j, r := range f.Runs {
			for _, c := range []struct {
				what string
				got  map[string]int64
				in   string
				want *countedFLOP
			}{{"prefill", last[i][j], "prefill", r.Prefill}, {"prefill of all logits", all[i][j], "prefill", r.All}, {"decode", last[i][j], "decode", r.Decode}} {
				if got, ok := c.got[c.in]; c.want != nil && (!ok || got != c.want.Model) {
					t.Errorf("%s %s, %s of %d + %d tokens, batch %d: %d, want %d", f.Name, f.Form, c.what, r.Prompt, r.New, r.Batch, got, c.want.Model)
				}
			}
		}
	}
	f, err := queries.Raw(t.Context(), w, "SELECT model, parameter_count FROM models('models') ORDER BY model")
	if err != nil || len(f.Rows) != len(file.Fixtures) {
		t.Fatal(len(f.Rows), err)
	}
	for i, r := range f.Rows {
		if r[1] != file.Fixtures[i].Params {
			t.Errorf("%s: %v parameters, want %d", file.Fixtures[i].Name, r[1], file.Fixtures[i].Params)
		}
	}
}
