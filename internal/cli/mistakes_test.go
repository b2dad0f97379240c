package cli

import (
	"fmt"
	"strings"
	"testing"
)

// TestMistakes holds that who errs as people do is told, in a line, what to type instead.
func TestMistakes(t *testing.T) {
	t.Parallel()
	p := newStored(t, two)
	write(t, p.path("report.qdrep"), []byte("NSYS"))
	write(t, p.path("report.nsys-rep"), []byte("NSYS"))
	write(t, p.path("x.sqlite"), unpacked(t, kernels))
	write(t, p.path("notes.txt"), []byte("a note"))
	write(t, p.path("empty/.keep"), nil)
	before := state(p)
	p.env = []string{"PATH=" + p.path("empty")} // no nsys
	const noNsys = "only nsys can read its reports, and it is not installed here; on a machine that has it, run `nsys export --type sqlite --output report.sqlite %[1]s` and ingest that file"
	for _, c := range []struct {
		args string // words with | between
		code int
		want string
	}{
		// Verbs.
		{"explian", 2, `unknown verb "explian"; did you mean explain?`},
		{"top-kernels|llama", 2, `unknown verb "top-kernels"; it is a query: prof query top-kernels`},
		{"top_kernels", 2, `unknown verb "top_kernels"; it is a query: prof query top-kernels`},
		{"tpo-kernels", 2, `unknown verb "tpo-kernels"; did you mean prof query top-kernels?`},
		{"stats|report.nsys-rep", 2, `unknown verb "stats"; see prof query`},
		{"profile|python3|x.py", 2, `unknown verb "profile"; see prof capture`},
		{"compare|a|llama", 2, `unknown verb "compare"; see prof diff`},
		{"x.sqlite", 2, `unknown verb "x.sqlite"; to look at a file or folder: prof open x.sqlite; to store it: prof ingest x.sqlite`},
		{"help|stages", 2, `unknown verb "stages"; it is a query: prof query stages`},
		// Order.
		{"--run|llama|query|stages", 2, "--run belongs after the verb: prof query stages --run llama"},
		{"--format|csv|--wide|runs", 2, "--format belongs after the verb: prof runs --format csv --wide"},
		{"query|--stage|decode", 2, "--stage is an option of a query: name the query first; `prof query` lists them"},
		{"capture|python3|x.py", 2, "write the command after --, as in: prof capture -- python3 run.py"},
		{"sql|FROM|kernel", 2, "sql takes one statement: put it in quotes; see `prof help sql`"},
		// Queries and their options.
		{"query|stage|llama", 2, `no such query: "stage"; did you mean stages or stage-notes or input-stages?`},
		{"query|top-kernels.v99", 2, `no such query: "top-kernels.v99"; this prof has top-kernels v4`},
		{"query|top-kernels|--stgae|decode", 2, "unknown option --stgae; did you mean --stage?"},
		{"query|top-kernels|--limit|5", 2, "query top-kernels takes no --limit; it takes --run --top --stage --device --by --with-ncu --warmup --source --format --wide --safe --out --explain --home --memory"},
		{"query|top-kernels|--top|ten", 2, `invalid argument: --top "ten" is not a whole number`},
		{"query|top-kernels|--run", 2, "--run needs a value; see `prof query top-kernels -h`"},
		{"query|top-kernels|llama|--by|nmae", 2, "query top-kernels: invalid argument: --by is name, short or family"},
		{"query|top-kernels|llama|-f|yaml", 2, `unknown format "yaml": use one of table, md, html, blocks, csv, json, arrow, parquet`},
		{"query|top-kernels|llama|-f|markdown", 2, `unknown format "markdown": did you mean md? (one of table, md, html, blocks, csv, json, arrow, parquet)`},
		{"query|runs|llama", 2, "query runs covers all runs and takes no argument; see `prof query runs -h`"},
		// Stages.
		{"query|top-kernels|llama|--stage|decod", 2, `the run has no stage "decod"; it has decode, prefill, (none); did you mean decode?`},
		{"explain|llama|--stage|Prefil", 2, `the run has no stage "Prefil"; it has decode, prefill, (none); did you mean prefill?`},
		{"diff|llama|a|--stage|decod", 1, `compare llama with a: nothing to compare: neither side has a stage "decod"; the runs have decode, prefill; did you mean decode?`},
		// Runs.
		{"show|lama", 1, `no such run: "lama"; did you mean llama?`},
		{"query|stages|--run|lama", 1, `no such run: "lama"; did you mean llama?`},
		{"query|stages|a|--run|llama", 2, "two runs are given, a and --run llama; stages takes one"},
		{"show|a|--run|llama", 2, "two runs are given, a and --run llama; show takes one"},
		{"tag|a|k=v|--run|llama", 2, "two runs are given, a and --run llama; tag takes one"},
		{"show|a|llama", 2, "show takes one run; to compare them: prof diff a llama; see `prof help show`"},
		{"report|--run|@lastest", 1, `no such run: "@lastest"; write @latest or @latest~N`},
		{"diff|llama|x.sqlite", 1, `x.sqlite is a file, not a run; to store it first: prof diff llama "$(prof ingest x.sqlite)"`},
		{"show|x.sqlite", 1, `x.sqlite is a file, not a run; to store it first: prof show "$(prof ingest x.sqlite)"`},
		{"query|stages|--run|x.sqlite", 1, `x.sqlite is a file, not a run; to store it first: prof query stages "$(prof ingest x.sqlite)"`},
		{"plot|diff|llama|x.sqlite", 1, `x.sqlite is a file, not a run; to store it first: prof plot diff llama "$(prof ingest x.sqlite)"`},
		{"show|tag:gpu=h100", 1, "no such run: none is tagged gpu=h100"},
		{"diff|llama", 2, "diff takes two runs or more, the base first; see `prof help diff`"},
		{"tag|llama|gpu", 2, `tag "gpu": write it key=value, in UTF-8`},
		{"rm|a|--run|llama", 2, "two runs are given, a and --run llama; rm takes one"},
		{"rm", 2, "rm takes the runs to remove; see `prof help rm`"},
		// Files.
		{"ingest", 2, "ingest takes files or folders; see `prof help ingest`"},
		{"ingest|nosuch.sqlite", 1, "nosuch.sqlite: there is no such file or folder"},
		{"ingest|report.qdrep", 1, "report.qdrep: " + fmt.Sprintf(noNsys, "report.qdrep")},
		{"ingest|report.nsys-rep", 1, "report.nsys-rep: " + fmt.Sprintf(noNsys, "report.nsys-rep")},
		{"ingest|empty", 1, "empty: nothing to ingest in the folder (files checked: 1)"},
		{"ingest|notes.txt", 1, `notes.txt: no known format: it seems to be text that begins "a note", without a table of a profiler; give the profiler's own file` + formats},
		{"report|a|--file|report.htm", 2, `a report has no file "report.htm"; did you mean report.html or report.md?`},
		{"completion|powershell", 2, `no completion for "powershell", only for bash, zsh and fish`},
	} {
		run := p.run
		if strings.HasPrefix(c.args, "ingest|report.") { // whether there is nsys is of the process
			run = p.process
		}
		r := run(strings.Split(c.args, "|")...)
		if r != (result{c.code, "", "prof: " + c.want + "\n"}) {
			t.Errorf("prof %s:\ngot  %d %q %q\nwant %d %q", strings.ReplaceAll(c.args, "|", " "), r.code, r.out, r.err, c.code, c.want)
		}
	}
	p.env = nil
	if after := state(p); after != before {
		t.Errorf("the warehouse changed:\n%s\n%s", before, after)
	}
}

// TestRunByArgumentOrOption holds that a run is named in either way, in both where they agree, and that the newest one is said on stderr.
func TestRunByArgumentOrOption(t *testing.T) {
	t.Parallel()
	p := reading(t, two)
	for _, verb := range []string{"query stages", "query top-kernels --top 3 -f csv", "show", "show --facts", "explain", "explain -f json", "report --out -", "check --rule stage.*.launches<=100000"} {
		words := strings.Fields(verb)
		want := p.run(append(words, "llama")...)
		if want.code != 0 || want.out == "" || strings.Contains(want.err, "newest") {
			t.Errorf("%s llama: %d %q", verb, want.code, want.err)
		}
		for _, more := range []string{"--run llama", "--run=llama", "llama --run llama"} {
			if got := p.run(append(words, strings.Fields(more)...)...); got != want {
				t.Errorf("%s %s: %+v\nwant %+v", verb, more, got, want)
			}
		}
		if strings.HasPrefix(verb, "check") {
			if got := p.run(words...); got.code != 0 || got.err != "" || !strings.Contains(got.out, "llama (latest)") {
				t.Errorf("%s: %+v", verb, got)
			}
		} else if got := p.run(words...); got != (result{0, want.out, "run llama (newest)\n" + want.err}) {
			t.Errorf("%s: %d %q\n%s\nwant %q\n%s", verb, got.code, got.err, got.out, want.err, want.out)
		}
	}
	p = newStored(t, two)
	p.want(result{0, "", "tagged a\n"}, "tag", "--run", "a", "k=v")
	p.want(result{0, "", "tagged a\n"}, "tag", "a", "k=v", "--run", "a")
	p.want(result{0, "", "baseline main is run llama\n"}, "baseline", "set", "main", "--run", "llama")
	p.want(result{0, "", "removed a\n"}, "rm", "--run", "a")
}
