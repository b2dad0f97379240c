package cli

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/schema"
)

func TestVersionAndHelp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	version := `prof version ` + regexp.QuoteMeta(release) + `\S* \(DuckDB ` + regexp.QuoteMeta(schema.DuckDBVersion()) + `\)\n`
	p.wantLike(0, version, "", "--version")
	p.wantLike(0, version, "", "-v")
	app, err := (&program{}).app()
	if err != nil {
		t.Fatal(err)
	}
	top := p.ok("help")
	if top != p.ok() || top != p.ok("--help") || top != p.ok("-h") {
		t.Error("help, --help, -h and no verb differ")
	}
	for _, v := range app.Commands {
		if v.Hidden {
			continue
		}
		if !strings.Contains(top, "\n   "+v.Name+" ") || v.Usage == "" {
			t.Errorf("help lacks %s", v.Name)
		}
		r := p.run("help", v.Name)
		if r.code != 0 || r.err != "" || !strings.Contains(r.out, "prof "+v.Name+" - "+v.Usage) {
			t.Errorf("help %s: %+v", v.Name, r)
		}
		_, after, _ := strings.Cut(r.out, "DESCRIPTION:")
		if !regexp.MustCompile(`(?m)^ {4,}(source <\()?prof ` + v.Name).MatchString(after) {
			t.Errorf("help %s has no example:\n%s", v.Name, r.out)
		}
		for line := range strings.Lines(after[max(0, strings.Index(after, "OPTIONS:")):]) {
			if len(line) > helpWidth+1 && v.Name != "query" {
				t.Errorf("help %s has a line of %d characters: %s", v.Name, len(line), line)
			}
		}
		if v.Name == "help" {
			r = result{0, top, ""}
		}
		p.want(r, v.Name, "--help")
		p.want(r, v.Name, "-h")
		p.want(r, v.Name, "x", "--home", "h", "-h")
	}
	if !strings.Contains(top, "PROF_WAIT") || !strings.Contains(top, "PROF_HOME") {
		t.Error("help lacks the environment's variables")
	}
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	before := state(p)
	for _, c := range []struct{ args, want string }{
		{"qury", "unknown verb \"qury\"; did you mean query?"},
		{"zzzzz", "unknown verb \"zzzzz\"; `prof` lists the verbs"},
		{"help zzzzz", "unknown verb \"zzzzz\"; `prof` lists the verbs"},
		{"help ingst", "unknown verb \"ingst\"; did you mean ingest?"},
		{"--zzz runs", "unknown option --zzz; see `prof`"},
		{"runs --home", "--home needs a value; see `prof`"},
		{"runs --format", "--format needs a value; see `prof help runs`"},
		{"runs --wide=perhaps", "invalid boolean value \"perhaps\" for -wide: parse error; see `prof help runs`"},
		{"runs x", "runs takes no arguments; see `prof help runs`"},
		{"runs --format yaml", "unknown format \"yaml\": use one of table, md, html, blocks, csv, json, arrow"},
		{"show a b", "show takes one run; to compare them: prof diff a b; see `prof help show`"},
		{"show --top 3", "unknown option --top; see `prof help show`"},
		{"rm -f a", "unknown option -f; did you mean --force?"},
		{"rm", "rm takes the runs to remove; see `prof help rm`"},
		{"tag a", "tag takes a run and key=value; see `prof help tag`"},
		{"tag a kv", "tag \"kv\": write it key=value, in UTF-8"},
		{"tag a k=v =v", "tag \"=v\": write it key=value, in UTF-8"},
		{"ingest", "ingest takes files or folders; see `prof help ingest`"},
		{"ingest --tag kv x", "tag \"kv\": write it key=value, in UTF-8"},
		{"ingest --run= x", "--run needs a name"},
		{"ingest --rum b x", "unknown option --rum; did you mean --run?"},
		{"query top-kernel", "no such query: \"top-kernel\"; did you mean top-kernels?"},
		{"query kernels", "no such query: \"kernels\"; did you mean top-kernels or line-kernels or large-kernels?"},
		{"query zzzzz", "no such query: \"zzzzz\"; `prof query` lists them"},
		{"query top-kernels a a", "top-kernels takes one run; see `prof query top-kernels -h`"},
		{"query top-kernels --run a --stag x", "unknown option --stag; did you mean --stage?"},
		{"query top-kernels --run a --nosuch 1", "query top-kernels takes no --nosuch; it takes --run --top --stage --device --by --with-ncu --warmup --source --format --wide --safe --out --explain --home --memory"},
		{"query ranges --run a --stage x", "query ranges takes no --stage; it takes --run --raw --device --top --source --format --wide --safe --out --explain --home --memory"},
		{"query runs --top 3", "query runs takes no --top; it takes --format --wide --safe --out --explain --home --memory"},
		{"query top-kernels --run a --top x", "invalid argument: --top \"x\" is not a whole number"},
		{"query top-kernels --run a --top 1.5", "invalid argument: --top \"1.5\" is not a whole number"},
		{"query top-kernels --run a --by x", "query top-kernels: invalid argument: --by is name, short or family"},
		{"query top-kernels --run a --format yaml", "unknown format \"yaml\": use one of table, md, html, blocks, csv, json, arrow, parquet"},
		{"query --format yaml", "unknown format \"yaml\": use one of table, md, html, blocks, csv, json, arrow"},
		{"completion", "completion takes bash, zsh or fish; see `prof help completion`"},
		{"completion tcsh", "no completion for \"tcsh\", only for bash, zsh and fish"},
		{"demo x", "demo takes no arguments; see `prof help demo`"},
	} {
		p.want(result{2, "", "prof: " + c.want + "\n"}, strings.Fields(c.args)...)
	}
	p.want(result{2, "", "prof: unknown format \"yaml\": use one of table, md, html, blocks, csv, json, arrow\n"}, "sql", "SELECT 1", "--format", "yaml")
	p.want(result{2, "", "prof: sql takes one statement: put it in quotes; see `prof help sql`\n"}, "sql", "SELECT", "1")
	if after := state(p); after != before {
		t.Errorf("the warehouse changed:\n%s\n%s", before, after)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	bash := p.ok("completion", "bash")
	if !strings.Contains(bash, "complete -o bashdefault -o default -F _prof_complete prof\n") {
		t.Errorf("bash: %s", bash)
	}
	zsh := p.ok("completion", "zsh")
	if !strings.HasPrefix(zsh, "#compdef prof\n") || !strings.Contains(zsh, "compdef _prof_complete prof\n") {
		t.Errorf("zsh: %s", zsh)
	}
	fish := p.ok("completion", "fish")
	if !strings.Contains(fish, "complete -c prof -f -a '(__prof_complete)'\n") {
		t.Errorf("fish: %s", fish)
	}
	for shell, text := range map[string]string{"bash": bash, "zsh": zsh, "fish": fish} {
		path := write(t, p.path("completion."+shell), []byte(text))
		if exe, err := exec.LookPath(shell); err != nil {
			t.Logf("%s is not installed: its script's syntax goes unchecked", shell)
		} else if out, err := exec.Command(exe, "-n", path).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s -n: %v: %s", shell, err, out)
		}
	}
	exe, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	p.ok("tag", "a", "gpu=h200")
	p.ok("baseline", "set", "main", "a")
	before := state(p)
	for line, want := range map[string]string{
		"prof query top-":                "top-kernels top-operators",
		"prof --home .prof query top-":   "top-kernels top-operators",
		"prof show tag : g":              "gpu=h200", // as bash parts the word
		"prof show --run = @":            "@latest",
		"prof check --baseline baseline": "baseline:main",
		// Nothing may be done while the user is still typing.
		"prof rm a -- ":                          "",
		"prof ingest --device-name Tesla":        "Tesla\\ T4 Tesla\\ V100-PCIE-16GB Tesla\\ V100-PCIE-32GB Tesla\\ V100-SXM2-16GB Tesla\\ V100-SXM2-32GB Tesla\\ V100S-PCIE-32GB",
		"prof ingest " + exported(t, node) + " ": "",
	} {
		words := strings.Split(line, " ")
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = "'" + w + "'"
		}
		script := "source completion.bash; COMP_WORDS=(" + strings.Join(quoted, " ") + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _prof_complete; echo \"${COMPREPLY[*]}\""
		cmd := p.command()
		cmd.Path, cmd.Args = exe, []string{"bash", "--norc", "-c", script}
		cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(built)+":"+os.Getenv("PATH"))
		if r := finish(t, cmd, cmd.Run); r.code != 0 || strings.TrimSpace(r.out) != want || r.err != "" {
			t.Errorf("%q: %+v, want %q", line, r, want)
		}
	}
	if after := state(p); after != before {
		t.Errorf("completion changed the warehouse:\n%s\n%s", before, after)
	}
	if got := listing(t, p.dir); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "generate") }) {
		t.Errorf("completion made %q", got)
	}
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	p := newStored(t, two)
	p.ok("baseline", "set", "main", "a")
	const runs = "llama a @latest baseline:main tag:gpu=h200"
	for line, want := range map[string]string{
		"r":                                       "report runs rm",
		"zzz":                                     "",
		"zzz ":                                    "",
		"help comp":                               "completion",
		"help query top-":                         "top-kernels top-operators",
		"query stage-":                            "stage-kernels stage-notes stage-samples",
		"query top-kernels ":                      runs,
		"query top-kernels a ":                    "",
		"query runs ":                             "",
		"query top-kernels --w":                   "--with-ncu --warmup --wide",
		"query top-kernels --run a --forma":       "--format",
		"query top-kernels --hom":                 "--home",
		"query top-kernels --sta":                 "--stage",
		"qu":                                      "query",
		"query top-kernels --format ":             "table md html blocks csv json arrow parquet",
		"query top-kernels -f j":                  "json",
		"query top-kernels --format=c":            "--format=csv",
		"query top-kernels a --stage ":            "prefill decode",
		"query top-kernels --stage pre":           "prefill",
		"query top-kernels --run=a --stage=dec":   "--stage=decode",
		"query top-kernels --run nosuch --stage ": "",
		"query top-kernels --source ":             "prof nsys rocprof torch xla proton nsys-stats proton-tree",
		"query top-kernels --top ":                "",
		"show ":                                   runs,
		"show --run l":                            "llama",
		"show -f ":                                "table md html blocks json",
		"explain ":                                runs,
		"report --file op":                        "operators.md",
		"report --section mb":                     "mbu",
		"diff a ":                                 runs,
		"diff a llama --format m":                 "md",
		"diff a llama --by st":                    "stage",
		"check --format j":                        "json junit",
		"check ":                                  runs,
		"trend --workload ":                       runs,
		"trend --stage d":                         "decode",
		"plot ":                                   "stages roofline samples timeline trend diff",
		"plot stages ":                            runs,
		"plot timeline a --stage ":                "prefill decode",
		"tag ":                                    runs,
		"tag a ":                                  "gpu=h200",
		"tag a k=v --home":                        "--home",
		"rm a ":                                   runs,
		"rm a --source ":                          "1",
		"baseline ":                               "set list rm",
		"baseline set main ":                      runs,
		"baseline rm ":                            "main",
		"model --format ":                         "table md html blocks json",
		"completion ":                             "bash zsh fish",
		"prune --protect ":                        "gpu=h200",
		"ingest ":                                 "",
		"ingest x --tag ":                         "gpu=h200",
		"ingest --workload ":                      "",
		"ingest --run l":                          "llama",
		"capture --run ":                          "",
		"capture -- ./x --r":                      "",
		"--home " + p.path("none") + " show ":     "",
		"--home":                                  "--home",
		"--home ":                                 "",
	} {
		r := p.run(append([]string{completeVerb}, strings.Split(line, " ")...)...)
		var got []string
		for _, l := range strings.Split(strings.TrimSpace(r.out), "\n") {
			text, doc, _ := strings.Cut(l, "\t")
			if got = append(got, text); len([]rune(doc)) > 70 {
				t.Errorf("%q: %s", line, l)
			}
		}
		if r.code != 0 || r.err != "" || strings.Join(got, " ") != want {
			t.Errorf("%q: %d %q %q, want %q", line, r.code, got, r.err, want)
		}
	}
	if got := p.ok(completeVerb, "query", "top-kernels", "--to"); got != "--top\tmaximum rows; 0 for all\n" {
		t.Errorf("what an option means: %q", got)
	}
	// A warehouse that would have to be written to first is not.
	p = newFilled(t)
	p.change("SELECT 1")
	before := read(t, p.path(".prof/warehouse.duckdb"))
	p.want(result{0, "", ""}, completeVerb, "show", "")
	if !bytes.Equal(before, read(t, p.path(".prof/warehouse.duckdb"))) {
		t.Error("completion brought the warehouse up to date")
	}
	p.ok("runs")
	if bytes.Equal(before, read(t, p.path(".prof/warehouse.duckdb"))) {
		t.Error("the warehouse was up to date")
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	temp := t.TempDir()
	p.env = []string{"TMPDIR=" + temp}
	r := p.run("demo")
	if r.code != 0 || r.err != "kernels: a handful of CUDA kernels with NVTX stages\ntwo-gpus: two processes on two GPUs: matmul and all-reduce\n"+
		"profiled: a two-layer Llama, its timeline and seven of its kernels under Nsight Compute\noperators: a two-layer Llama under the PyTorch profiler\nllama: a 1.5 B Llama that decodes by replaying a CUDA graph\n" {
		t.Errorf("demo: %d %q", r.code, r.err)
	}
	for _, want := range []string{"\nThe runs: prof runs\n", "\nStages of the Llama run, ", "\nIts kernels: ", "\nWhat bounds the kernels that Nsight Compute profiled: ", "\nWhich operators take the time of decode: ", "\nNext:\n  prof demo --keep playground\n"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("demo lacks %q", want)
		}
	}
	if got := append(listing(t, p.dir), listing(t, temp)...); len(got) != 0 {
		t.Errorf("demo left %q", got)
	}
	if !regexp.MustCompile(`(?s)\nllama .*\noperators .*\nprofiled .*\ntwo-gpus .*\nkernels `).MatchString(r.out) {
		t.Errorf("the runs of demo:\n%s", r.out)
	}
	// What is kept is there as soon as it is stored.
	cmd := p.command("demo", "--keep", "kept")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	finish(t, cmd, func() error {
		if err := cmd.Start(); err != nil {
			return err
		}
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "two-gpus: ") {
				cmd.Process.Signal(os.Interrupt)
			}
		}
		return cmd.Wait()
	})
	if got := p.ok("--home", "kept", "sql", "-f", "csv", "SELECT name FROM run ORDER BY created_at"); !strings.HasPrefix(got, "name\nkernels\n") {
		t.Errorf("kept: %q", got)
	}
	p.want(result{2, "", "prof: kept already has a warehouse; name another folder\n"}, "demo", "--keep", "kept")
	// What it says to try next works.
	testkit.CopyHome(t, p.path("playground"), testkit.Demo...)
	answers, next, _ := strings.Cut(r.out, "\nNext:\n")
	tried := 0
	for _, line := range strings.Split(next, "\n") {
		if !strings.HasPrefix(line, "  prof --home playground ") {
			continue
		}
		tried++
		line, quoted, _ := strings.Cut(strings.TrimSuffix(line, `"`), ` "`)
		args := strings.Fields(line)[1:]
		if quoted != "" {
			args = append(args, quoted)
		}
		if r := p.run(args...); r.code != 0 || strings.Count(r.out, "\n") < 4 {
			t.Errorf("%s: %+v", line, r)
		}
	}
	if tried != 6 {
		t.Errorf("%d commands to try next:\n%s", tried, next)
	}
	for _, want := range regexp.MustCompile(`prof (query|runs)[^\n]*`).FindAllString(answers, -1) {
		p.ok(append([]string{"--home", "playground"}, strings.Fields(want)[1:]...)...)
	}
}

// TestGroupedHelp holds that capture's help has each of its options once, under a heading, in lines of the width there is.
func TestGroupedHelp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for columns, most := range map[string]int{"40": 40, "60": 60, "80": 80, "400": helpWidth} {
		p.env = []string{"COLUMNS=" + columns}
		text := p.ok("help", "capture")
		_, options, found := strings.Cut(text, "\nWHAT TO RECORD:\n")
		if !found || widest(options) > most || most >= 80 && widest(text) > most {
			t.Errorf("COLUMNS=%s: lines of %d and %d:\n%s", columns, widest(text), widest(options), text)
		}
		for _, f := range flagsOf(captureGroups()) {
			if n := len(regexp.MustCompile(`(?m)^   (--[a-z-]+, )*--`+f.Names()[0]+`(,| |$)`).FindAllString(options, -1)); n != 1 {
				t.Errorf("COLUMNS=%s: --%s stands %d times", columns, f.Names()[0], n)
			}
		}
	}
}
