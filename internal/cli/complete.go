package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/ingest/derive"
	"prof/queries"
	"prof/queries/judge"
	"prof/queries/judge/diff"
	"prof/render/compare"
	"prof/render/doc"
	"prof/render/report"
	"prof/schema"
	"prof/schema/terms"
)

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a shell's completion script",
		ArgsUsage: "bash|zsh|fish",
		Description: `  source <(prof completion bash)
  source <(prof completion zsh)
  prof completion fish > ~/.config/fish/completions/prof.fish`,
		Action: func(c *cli.Context) error {
			if err := exactArgs(c, 1, "bash, zsh or fish"); err != nil {
				return err
			}
			text, known := completionScripts[c.Args().First()]
			if !known {
				return usagef("no completion for %q, only for bash, zsh and fish", c.Args().First())
			}
			_, err := fmt.Fprint(p.out, text)
			return err
		},
	}
}

// completionScripts ask the program itself, see completeVerb. In bash, : and = part words; the script joins them again, and takes off
// what stands before the last one, which bash keeps.
var completionScripts = map[string]string{
	"bash": `_prof_complete() {
  local words=() word cur found glue= n=0 i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $n -gt 0 && ( $glue || $word == [:=]* ) ]]; then words[n-1]+=$word; else words[n++]=$word; fi
    if [[ $word == *[:=] ]]; then glue=1; else glue=; fi
  done
  cur=${words[n-1]}
  COMPREPLY=()
  while IFS=$'\t' read -r found _; do
    printf -v found %q "${found#"${cur%"${cur##*[:=]}"}"}"
    COMPREPLY+=("$found")
  done < <("${COMP_WORDS[0]}" ` + completeVerb + ` "${words[@]}" 2>/dev/null)
}
complete -o bashdefault -o default -F _prof_complete prof
`,
	"zsh": `#compdef prof
_prof_complete() {
  local -a found
  local word doc
  while IFS=$'\t' read -r word doc; do
    found+=("${word//:/\\:}${doc:+:$doc}")
  done < <("${(Q)words[1]}" ` + completeVerb + ` "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe prof found; else _files; fi
}
compdef _prof_complete prof
`,
	"fish": `function __prof_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l found ($words[1] ` + completeVerb + ` $words[2..-1] "$word" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path "$word"
    end
end
complete -c prof -f -a '(__prof_complete)'
`,
}

// completeVerb is what the completion scripts ask, with the words before the cursor and the one under it. The library's way, a last
// argument, would run the verb where -- stands before it.
const completeVerb = "__complete"

func (p *program) completeCommand() *cli.Command {
	return &cli.Command{
		Name: completeVerb, Hidden: true, HideHelp: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			if len(words) == 0 {
				return nil
			}
			for _, found := range p.complete(c, words[:len(words)-1], words[len(words)-1]) {
				if _, err := fmt.Fprintln(p.out, found); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// complete returns what the word under the cursor may become, each with what it means behind a tab. None leaves it to the shell, which
// completes names of files.
func (p *program) complete(c *cli.Context, typed []string, word string) []string {
	if slices.Contains(typed, "--") {
		return nil // files, or the workload's own
	}
	_, rest := splitFlags(c.App.Flags, typed, true)
	cmd, _, left := named(c.App, rest)
	known := slices.Clone(c.App.Flags)
	if cmd != nil {
		known = slices.Concat(known, cmd.Flags, []cli.Flag{cli.HelpFlag})
	}
	var found []string
	before := ""
	switch name, value, hasValue := strings.Cut(word, "="); {
	case len(typed) > 0 && looksLikeFlag(typed[len(typed)-1]) && takesValue(known, typed[len(typed)-1]):
		found = p.completeValue(c, cmd, find(known, typed[len(typed)-1]), typed)
	case strings.HasPrefix(word, "-") && hasValue && find(known, name) != nil:
		found, word, before = p.completeValue(c, cmd, find(known, name), typed), value, name+"="
	case strings.HasPrefix(word, "-"):
		for _, f := range known {
			if flag := "--" + f.Names()[0]; !slices.Contains(found, flag) {
				found = append(found, flag+"\t"+f.(cli.DocGenerationFlag).GetUsage())
			}
		}
	case cmd == nil && len(rest) == 0:
		found = described(c.App.Commands, true)
	case cmd != nil:
		_, args := splitFlags(known, left, false)
		found = p.completeArgument(c, cmd, args, typed)
	}
	var out []string
	for _, f := range found {
		text, doc, _ := strings.Cut(f, "\t")
		if !strings.HasPrefix(text, word) || strings.ContainsAny(text, "\t\n") {
			continue
		}
		if text = before + text; doc != "" {
			text += "\t" + shortened(strings.ReplaceAll(strings.Join(strings.Fields(doc), " "), "`", ""), 70)
		}
		out = append(out, text)
	}
	return out
}

// described are commands with what they do.
func described(list []*cli.Command, hide bool) []string {
	var out []string
	for _, c := range list {
		if !hide || !c.Hidden {
			out = append(out, c.Name+"\t"+c.Usage)
		}
	}
	return out
}

// completeArgument returns what may stand as the next argument of a command.
func (p *program) completeArgument(c *cli.Context, cmd *cli.Command, args, typed []string) []string {
	n := len(args)
	switch {
	case cmd.Name == "help" && n == 0:
		return described(c.App.Commands, true)
	case len(cmd.Subcommands) > 0 && n == 0:
		return described(cmd.Subcommands, false)
	case cmd.Name == "help" && n == 1 && c.App.Command(args[0]) != nil:
		return described(c.App.Command(args[0]).Subcommands, false)
	case cmd.Name == "completion" && n == 0:
		return []string{"bash", "zsh", "fish"}
	case cmd.Name == "plot" && n == 0:
		var out []string
		for _, k := range plots() {
			out = append(out, k.name+"\t"+k.doc)
		}
		return out
	case cmd.Name == "baseline" && n == 0:
		return []string{"set", "list", "rm"}
	case cmd.Name == "baseline" && n == 1 && args[0] == "rm":
		return p.stored(c, typed, func(w *schema.Warehouse) ([]string, error) { return baselinesOf(c, w, "") })
	case cmd.Name == "tag" && n > 0:
		return p.stored(c, typed, func(w *schema.Warehouse) ([]string, error) { return tagsIn(c, w, "") })
	case cmd.Name == "tag", cmd.Name == "diff", cmd.Name == "plot", cmd.Name == "pack", cmd.Name == "rm", cmd.Name == "baseline" && n == 2 && args[0] == "set",
		n == 0 && cmd.Name != "ingest" && cmd.Name != "import" && cmd.Name != "capture" && cmd.Name != "model" && find(cmd.Flags, "run") != nil:
		return p.stored(c, typed, func(w *schema.Warehouse) ([]string, error) { return runsIn(c, w) })
	}
	return nil
}

// completeValue returns what may stand as the value of an option.
func (p *program) completeValue(c *cli.Context, cmd *cli.Command, flag cli.Flag, typed []string) []string {
	switch flag.Names()[0] {
	case "run", "baseline", "workload":
		if cmd.Name == "ingest" && flag.Names()[0] == "workload" || cmd.Name == "capture" {
			return nil // a file, and the name of a new run
		}
		return p.stored(c, typed, func(w *schema.Warehouse) ([]string, error) { return runsIn(c, w) })
	case "tag", "protect":
		return p.stored(c, typed, func(w *schema.Warehouse) ([]string, error) { return tagsIn(c, w, "") })
	case "stage":
		return p.stored(c, typed, func(w *schema.Warehouse) ([]string, error) { return stagesIn(c, w, runTyped(c, cmd, typed)) })
	case "format":
		return formsOf(cmd)
	case "file":
		var out []string
		for _, f := range report.Files() {
			out = append(out, f.Name+"\t"+f.Doc)
		}
		return out
	case "to":
		var out []string
		for _, f := range exportForms() {
			out = append(out, f.name+"\t"+f.doc)
		}
		return out
	case "section":
		if cmd.Name == "report" {
			return sectionIDs()
		}
	case "by":
		if cmd.Name == "diff" {
			return []string{string(diff.ByKernel), string(diff.ByFamily), string(diff.ByGrid), string(diff.ByStage), string(diff.ByOperator), string(diff.ByRange), string(diff.ByMetric), string(diff.ByTree)}
		}
	case "metric":
		switch cmd.Name {
		case "diff":
			return terms.StageTimes()
		case "trend":
			return slices.Concat(terms.NamesOf(terms.MeasuresIn(terms.Measures, terms.Trend)), terms.NamesOf(terms.ServingIn(terms.Trend)))
		}
	case "source":
		if cmd.Name == "rm" {
			return p.stored(c, typed, func(w *schema.Warehouse) ([]string, error) { return sourcesIn(c, w, runTyped(c, cmd, typed)) })
		}
		return terms.Timelines()
	case "device-name":
		return p.stored(c, typed, func(w *schema.Warehouse) ([]string, error) { return w.DevicesWithPeaks(c.Context) })
	}
	return nil
}

// formsOf are the forms that a verb writes.
func formsOf(cmd *cli.Command) []string {
	var out []string
	switch cmd.Name {
	case "diff":
		return compare.DiffForms().Names()
	case "trend":
		return compare.TrendForms().Names()
	case "check":
		return compare.GateForms().Names()
	case "show", "model":
		return answerForms().Names()
	default:
		for _, f := range doc.AnswerForms() {
			out = append(out, f.Name+"\t"+f.Doc)
		}
		if find(cmd.Flags, "out") != nil { // of a query
			out = append(out, parquet+"\tParquet file in base units and full precision")
		}
	}
	return out
}

// runTyped is the run that the words before the cursor name.
func runTyped(c *cli.Context, cmd *cli.Command, typed []string) string {
	known := slices.Concat(c.App.Flags, cmd.Flags)
	if run := valueTyped(cmd.Flags, typed, "run"); run != "" {
		return run
	}
	_, rest := splitFlags(c.App.Flags, typed, true)
	if _, _, left := named(c.App, rest); cmd.Name != "trend" {
		_, args := splitFlags(known, left, false)
		if cmd.Name == "plot" && len(args) > 0 { // what to draw stands before the run
			args = args[1:]
		}
		if len(args) > 0 {
			return args[0]
		}
	}
	return latest
}

// valueTyped is the value that an option has among the words.
func valueTyped(known []cli.Flag, typed []string, name string) string {
	value := ""
	for i, word := range typed {
		if f := find(known, word); f == nil || !looksLikeFlag(word) || f.Names()[0] != name {
			continue
		}
		if _, v, found := strings.Cut(word, "="); found {
			value = v
		} else if i+1 < len(typed) {
			value = typed[i+1]
		}
	}
	return value
}

// stored asks the warehouse for candidates. Where it cannot be asked at once and as it is, there are none: whoever types has not asked
// for anything yet.
func (p *program) stored(c *cli.Context, typed []string, ask func(w *schema.Warehouse) ([]string, error)) []string {
	if dir := valueTyped(c.App.Flags, typed, "home"); dir != "" {
		if err := c.Set("home", dir); err != nil {
			return nil
		}
	}
	home, err := p.home(c)
	if err != nil {
		return nil
	}
	w, err := schema.Open(c.Context, home, schema.Options{AsIs: true, Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		return nil
	}
	p.read = append(p.read, w)
	defer closing(w, &err)
	out, err := ask(w)
	if err != nil {
		return nil
	}
	return out
}

// runsIn are the names of runs, newest first, and the other ways to name one.
func runsIn(c *cli.Context, w *schema.Warehouse) ([]string, error) {
	runs, err := w.Runs(c.Context)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range runs {
		out = append(out, r.Name+"\t"+r.CreatedAt.UTC().Format("2006-01-02 15:04")+" "+r.Command)
	}
	bases, err := baselinesOf(c, w, schema.BaselinePrefix)
	if err != nil {
		return nil, err
	}
	tags, err := tagsIn(c, w, "tag:")
	return slices.Concat(out, []string{latest}, bases, tags), err
}

func baselinesOf(c *cli.Context, w *schema.Warehouse, prefix string) ([]string, error) {
	all, err := w.Baselines(c.Context)
	var out []string
	for _, b := range all {
		out = append(out, prefix+b.Name+"\trun "+b.Run.Name)
	}
	return out, err
}

// tagsIn are the tags of all runs, each once.
func tagsIn(c *cli.Context, w *schema.Warehouse, prefix string) ([]string, error) {
	runs, err := w.Runs(c.Context)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range runs {
		tags, err := w.Tags(c.Context, r)
		if err != nil {
			return nil, err
		}
		for _, t := range tags {
			if !slices.Contains(out, prefix+t) {
				out = append(out, prefix+t)
			}
		}
	}
	return out, nil
}

// stagesIn are the stages of a run.
func stagesIn(c *cli.Context, w *schema.Warehouse, ref string) ([]string, error) {
	list, err := rowsNamed(c.Context, w, judge.StageRows, ref)
	var out []string
	for _, r := range list {
		if !slices.Contains(out, r.Stage) {
			out = append(out, r.Stage)
		}
	}
	return out, err
}

// sourcesIn are the numbers of a run's sources, with their paths.
func sourcesIn(c *cli.Context, w *schema.Warehouse, ref string) ([]string, error) {
	list, err := rowsNamed(c.Context, w, judge.SourceRows, ref)
	var out []string
	for _, r := range list {
		out = append(out, fmt.Sprintf("%d\t%s", r.SourceID, r.Path))
	}
	return out, err
}
