package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// TestBaseline: names are set, moved, listed and removed, and stand for their runs wherever a run is asked for.
func TestBaseline(t *testing.T) {
	t.Parallel()
	p := newStored(t, append(slices.Clone(filled), testkit.Run{Name: "b", Files: []string{"nsys/" + nccl}, TrueSums: true}))
	for _, args := range [][]string{{"baseline"}, {"baseline", "list"}} {
		p.wantLike(0, `\(no rows\)\nnote: no baseline is set: set one with prof baseline set NAME RUN\n`, "", args...)
	}
	p.want(result{1, "", "prof: no such run: no baseline is set; `prof baseline set main RUN` sets it\n"}, "show", "baseline:main")
	p.want(result{0, "", "baseline main is run a\n"}, "baseline", "set", "main", "a")
	p.want(result{0, "", "baseline rel/1.0 is run a\n"}, "baseline", "set", "rel/1.0", "baseline:main")
	p.want(result{0, "", "baseline main is run b, no longer a\n"}, "baseline", "set", "main", "@latest")
	p.want(result{0, "", "baseline main is run b\n"}, "baseline", "set", "main", "b")
	p.wantLike(0, `baseline,run,set_at,run_id\nmain,b,20[-0-9]+ [:0-9]+,[-0-9a-f]{36}\nrel/1\.0,a,20[-0-9]+ [:0-9]+,[-0-9a-f]{36}\n`, "", "baseline", "-f", "csv")
	if byName, byBaseline := p.ok("query", "devices", "--run", "a"), p.ok("query", "devices", "--run", "baseline:rel/1.0"); byName != byBaseline {
		t.Errorf("devices of run a:\n%s\nof the baseline:\n%s", byName, byBaseline)
	}
	p.want(result{1, "", "prof: no such run: there is no baseline \"mein\"; did you mean main?\n"}, "show", "baseline:mein")

	before := state(p)
	p.want(result{1, "", "prof: run a is the baseline rel/1.0: set that to another run first, or remove it with --force\n"}, "rm", "a", "b")
	p.want(result{1, "", "prof: run b is the baseline main: set that to another run first, or remove it with --force\n"}, "rm", "baseline:main")
	for args, want := range map[string]string{
		"baseline set main":       "baseline set takes a name and a run; see `prof help baseline`",
		"baseline rm":             "baseline rm takes one name; see `prof help baseline`",
		"baseline list all":       "baseline list takes no arguments; see `prof help baseline`",
		"baseline sett main a":    "baseline takes set, list or rm, not \"sett\"; did you mean set?",
		"baseline x":              "baseline takes set, list or rm, not \"x\"; see `prof help baseline`",
		"baseline set @latest a":  "baseline \"@latest\": a name is of letters, digits and _ . / + -, and begins with a letter, a digit or _, such as main or release/1.2",
		"baseline list -f yaml":   "unknown format \"yaml\": use one of table, md, html, blocks, csv, json, arrow",
		"baseline set main a b c": "baseline set takes a name and a run; see `prof help baseline`",
	} {
		p.want(result{2, "", "prof: " + want + "\n"}, strings.Fields(args)...)
	}
	p.want(result{1, "", "prof: no such run: \"c\"; did you mean a or b?\n"}, "baseline", "set", "main", "c")
	p.want(result{1, "", "prof: no such run: there is no baseline \"x\"; available: main, rel/1.0\n"}, "baseline", "rm", "x")
	if after := state(p); after != before {
		t.Errorf("the warehouse changed:\n%s\n%s", before, after)
	}

	p.want(result{0, "", "removed baseline rel/1.0; run a stays\n"}, "baseline", "rm", "rel/1.0")
	p.want(result{0, "", "removed b\n"}, "rm", "--force", "b")
	if got := p.sql("SELECT count(*) AS n FROM baseline"); got != "n\n0\n" {
		t.Errorf("of a run that was removed its name is left: %s", got)
	}
}

// TestBaselineIsKept: what makes a run of prof capture anew replaces it and leaves its name, and prune its captured files.
func TestBaselineIsKept(t *testing.T) {
	t.Parallel()
	p := newStored(t, capturedRuns)
	captured(t, p)
	folder := p.path(".prof/runs/repeats")
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(p.path("run"), folder); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(folder, "nsys/report-1.sqlite.gz")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "nsys/report-1.sqlite"), unpacked(t, kernels)) // prune would pack it
	p.ok("baseline", "set", "main", "repeats")
	id := p.sql("SELECT run_id, created_at FROM run ORDER BY ALL")
	p.wantLike(0, "repeats\n", `.*/nsys/report-1\.sqlite is already in the warehouse, as run repeats; nothing to do .*\n`, "ingest", folder)
	p.wantLike(0, "repeats\n", `\d+ rows from 2 sources, .*\n`, "ingest", "--replace", folder)
	if again := p.sql("SELECT run_id, created_at FROM run ORDER BY ALL"); again != id {
		t.Errorf("made anew the run is %s, and was %s", again, id)
	}
	if got := p.sql("SELECT count(*) AS n FROM kernel"); got != "n\n16\n" {
		t.Errorf("made anew the run has %s", got)
	}
	p.wantLike(0, `baseline,run,set_at,run_id\nmain,repeats,.*\n`, "", "baseline", "-f", "csv")
	before := listing(t, p.path(".prof/runs"))
	p.wantLike(0, "", `kept: repeats: it is the baseline main\ncompressed 0 and deleted 0 files; .*\n`, "prune", "--keep", "0")
	if after := listing(t, p.path(".prof/runs")); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("prune left %q of %q", after, before)
	}
	p.ok("baseline", "rm", "main")
	p.wantLike(0, `(compress repeats/.*\n)+`, `compressed [1-9].*\n`, "prune", "--keep", "0")
}
