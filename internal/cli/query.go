package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/internal/serve/ask"
	"prof/internal/suggest"
	"prof/queries"
	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/render/doc"
	"prof/schema"
)

// queryCommand has each query as a command of its own, with the options that it takes. They are hidden, since the description lists them
// by what they answer and not by the alphabet.
func (p *program) queryCommand() (*cli.Command, error) {
	all, err := queries.All()
	if err != nil {
		return nil, err
	}
	var subs []*cli.Command
	for i, q := range all {
		if !q.Private {
			subs = append(subs, p.queryNamed(q, i+1 == len(all) || all[i+1].Name != q.Name))
		}
	}
	list, err := catalogueText(catalogueWidth)
	if err != nil {
		return nil, err
	}
	return &cli.Command{
		Name:      "query",
		Usage:     "answer a named question; without a name, list them",
		ArgsUsage: "[NAME [RUN]]",
		Description: `  prof query                                      # the catalogue
  prof query top-kernels baseline --top 10
  prof query top-kernels -h                       # its options
  prof query stages --run @latest --format md
  prof query top-kernels --stage decode --by family
  prof query kernel-grids baseline --format parquet --out grids.parquet
  prof query top-kernels --explain                # its SQL and what its columns mean

A run is a name, an id, a unique prefix of either, a unique part of a name, @latest, @latest~N, tag:key=value or baseline:NAME; without one it is the newest.
NAME may carry a version: top-kernels.v1.

` + list,
		Flags:       outputFlags(),
		Subcommands: subs,
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return p.catalogue(c)
			}
			_, err := queries.Find(c.Args().First())
			return err
		},
	}, nil
}

// queryNamed is a query as a command. The newest of its versions goes by its bare name.
func (p *program) queryNamed(q queries.Query, newest bool) *cli.Command {
	version := fmt.Sprintf("%s.v%d", q.Name, q.Version)
	names := []string{q.Name, version}
	if !newest {
		names = names[1:]
	}
	for _, name := range slices.Clone(names) {
		if other := strings.ReplaceAll(name, "-", "_"); other != name {
			names = append(names, other)
		}
	}
	use := "prof query " + names[0]
	run := ""
	if q.TakesRun() {
		run = " baseline"
	}
	text := fmt.Sprintf("One row is %s.\n\n  %s%s\n", q.Grain, use, run)
	for _, example := range [][2]string{{"stage", "decode"}, {"top", "5"}} {
		if q.Takes(example[0]) {
			text += fmt.Sprintf("  %s%s --%s %s\n", use, run, example[0], example[1])
		}
	}
	text += fmt.Sprintf("  %s --explain   # its SQL and what its columns mean", use)
	args := ""
	if q.TakesRun() {
		args = " [RUN]"
	}
	return &cli.Command{
		Name: names[0], Aliases: names[1:], HelpName: use, Usage: q.Doc, UsageText: use + args + " [options]", Description: text, Hidden: true,
		OnUsageError: p.onUsageError,
		Flags: append(append(paramFlags(q), outputFlags(parquet+" (a file)")...),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "with --format parquet: the `FILE` to write"},
			&cli.BoolFlag{Name: "explain", Usage: "print the query's SQL and documentation instead of running it"}),
		Action: func(c *cli.Context) error { return p.query(c, q) },
	}
}

// paramFlags are the parameters of a query as options.
func paramFlags(q queries.Query) []cli.Flag {
	var out []cli.Flag
	for _, prm := range q.Params {
		name, byDefault := queries.FlagName(prm.Name), strings.Trim(prm.Default, "'")
		if byDefault == "NULL" {
			byDefault = ""
		}
		switch {
		case prm.Name == "run":
			out = append(out, runFlag("the newest"))
		case prm.Type == "BOOLEAN":
			out = append(out, &cli.BoolFlag{Name: name, Usage: prm.Doc})
		default:
			out = append(out, &cli.StringFlag{Name: name, Usage: prm.Doc, DefaultText: byDefault})
		}
	}
	return out
}

func (p *program) query(c *cli.Context, q queries.Query) (err error) {
	args := queryArgs(c, q)
	if q.TakesRun() {
		if ref, given, err := whichRun(c); err != nil {
			return err
		} else if given {
			args["run"] = ref
		}
	} else if c.NArg() > 0 {
		return usagef("query %s covers all runs and takes no argument; see `%s -h`", q.Name, c.Command.HelpName)
	}
	if c.Bool("explain") {
		return p.explain(q, args)
	}
	if err := toFile(c); err != nil {
		return err
	}
	if err := p.peakFromEnv(q, args); err != nil {
		return err
	}
	if err := checkArgs(q, args); err != nil { // before anything is opened
		return err
	}
	w, err := p.open(c, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	note := rowNote(q, args)
	f, err := p.answer(c, w, q, args)
	if err != nil {
		return err
	}
	if note != "" && c.String("format") == "table" && len(f.Rows) > 0 {
		f.Notes = append(f.Notes, note)
	}
	if c.String("format") == parquet {
		return p.writeAnswer(c, w, f)
	}
	return p.print(c, f)
}

// toFile returns what is wrong with the form of an answer and the file that it is to go to.
func toFile(c *cli.Context) error {
	switch form := c.String("format"); {
	case form == parquet && c.String("out") == "":
		return usagef("--format parquet writes a file: name it with --out FILE")
	case form == parquet:
		return nil
	case c.IsSet("out"):
		return usagef("--out needs --format parquet; other forms go to stdout")
	default:
		if _, err := doc.AnswerForms().Named(form, parquet); err != nil {
			return &usageError{err}
		}
		return nil
	}
}

// writeAnswer writes an answer into a file, and its notes to stderr.
func (p *program) writeAnswer(c *cli.Context, w *schema.Warehouse, f *frame.Frame) error {
	out := c.String("out")
	if err := queries.WriteParquet(c.Context, w, f, p.path(out)); err != nil {
		return err
	}
	p.notes(f.Notes)
	fmt.Fprintln(p.err, "wrote "+out)
	return nil
}

// peakEnv is the variable that stands in for --peak, in 10^12 operations a second.
const peakEnv = "PROF_PEAK_TFLOPS"

// peakFromEnv takes the peak of a GPU from the environment where a query asks for one and none was given, and says so.
func (p *program) peakFromEnv(q queries.Query, args queries.Args) error {
	text := p.getenv(peakEnv)
	if _, given := args["peak"]; given || text == "" || !q.Takes("peak") {
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && v < 1e9) {
		return usagef("%s is %q, want the peak of one GPU in TFLOP/s, e.g. 989.4", peakEnv, text)
	}
	args["peak"] = strconv.FormatFloat(v*1e12, 'g', -1, 64)
	fmt.Fprintf(p.err, "prof: the peak is %s TFLOP/s by %s\n", text, peakEnv)
	return nil
}

// queryArgs returns the parameters set on the command line, but for the run.
func queryArgs(c *cli.Context, q queries.Query) queries.Args {
	args := queries.Args{}
	for _, prm := range q.Params {
		if flag := queries.FlagName(prm.Name); prm.Name != "run" && c.IsSet(flag) {
			args[prm.Name] = fmt.Sprint(c.Value(flag))
		}
	}
	return args
}

// runArgs are the arguments of queries of a run, with those options of the names that are set.
func runArgs(c *cli.Context, run schema.Run, names ...string) queries.Args {
	args := queries.Args{"run": run.ID}
	for _, name := range names {
		if c.IsSet(name) {
			args[name] = fmt.Sprint(c.Value(name))
		}
	}
	return args
}

func checkArgs(q queries.Query, args queries.Args) error {
	probe := maps.Clone(args)
	if _, given := probe["run"]; q.TakesRun() && !given {
		probe["run"] = latest
	}
	_, err := q.Statement(probe)
	return err
}

// answer runs a query on the run that its arguments mean, by default the newest.
func (p *program) answer(c *cli.Context, w *schema.Warehouse, q queries.Query, args queries.Args) (*frame.Frame, error) {
	if q.TakesRun() {
		ref, given := args["run"]
		run, err := p.resolve(c, w, ref, given)
		if err != nil {
			return nil, err
		}
		args["run"] = run.ID // an id makes the scans' filter a constant
	}
	f, err := queries.Run(c.Context, w, q, args)
	if err != nil {
		return nil, err
	}
	return f, unknownStage(f, args["stage"])
}

// unknownStage is the error where a frame is empty since the run has no stage of that name.
func unknownStage(f *frame.Frame, stage string) error {
	for _, v := range f.Caveats {
		if u, is := caveat.UnpickedOf(v); is && u.Option == "stage "+stage {
			return usagef("%w %q; it has %s%s", ask.ErrUnknownStage, stage, u.Has, nearest(stage, strings.Split(u.Has, ", ")))
		}
	}
	return nil
}

// nearest is what a message ends in that has listed what there is.
func nearest(word string, names []string) string {
	if near := suggest.Nearest(word, names); len(near) > 0 {
		return "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return ""
}

func (p *program) catalogue(c *cli.Context) error {
	if c.String("format") == "table" {
		text, err := catalogueText(min(p.width(), catalogueWidth))
		if err == nil {
			_, err = fmt.Fprint(p.out, text)
		}
		if err == nil {
			_, err = fmt.Fprintln(p.err, "\nprof query NAME [RUN]; `prof query NAME -h` shows its options, `prof query NAME --explain` its SQL and columns")
		}
		return err
	}
	all, err := queries.Catalogue()
	if err != nil {
		return err
	}
	f := &frame.Frame{Query: "catalogue", Columns: []frame.Column{{Name: "query"}, {Name: "version", Type: frame.Int}, {Name: "gives"}, {Name: "options"}, {Name: "domain"}}}
	for _, q := range all {
		var opts []string
		for _, prm := range q.Params {
			opts = append(opts, "--"+queries.FlagName(prm.Name))
		}
		f.Rows = append(f.Rows, []any{q.Name, int64(q.Version), q.Doc, strings.Join(opts, " "), q.Domain})
	}
	return p.print(c, f)
}

// catalogueWidth is how wide the catalogue gets: a line that goes on is not read.
const catalogueWidth = 100

// catalogueText lists the queries by what they answer, one line each.
func catalogueText(width int) (string, error) {
	all, err := queries.Catalogue()
	if err != nil {
		return "", err
	}
	longest := 0
	for _, q := range all {
		longest = max(longest, len(q.Name))
	}
	var out strings.Builder
	for i, g := range queries.Groups() {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(g.Title + "\n")
		for _, q := range all {
			if q.Domain == g.Domain {
				fmt.Fprintf(&out, "  %-*s  %s\n", longest, q.Name, shortened(q.Doc, width-longest-4))
			}
		}
	}
	return out.String(), nil
}

// shortened cuts a sentence to a width, behind a part of it that says enough, else between words.
func shortened(text string, width int) string {
	text = strings.TrimSuffix(text, ".")
	runes := []rune(text)
	if len(runes) <= width || width < 20 {
		return text
	}
	part, word, depth := 0, 0, 0
	for i, r := range runes[:width-1] {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth == 0 && strings.ContainsRune(".:;", r) && runes[i+1] == ' ':
			part = i
		case r == ' ':
			word = i
		}
	}
	if part > width/2 {
		return string(runes[:part])
	}
	return strings.TrimRight(string(runes[:word]), ",:;.") + " …"
}

func (p *program) explain(q queries.Query, args queries.Args) error {
	if _, given := args["run"]; q.TakesRun() && !given {
		args["run"] = latest
	}
	text, err := q.Text(args)
	if err == nil {
		_, err = fmt.Fprint(p.out, text)
	}
	return err
}
