package cli

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/internal/suggest"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

func (p *program) queryCommand() (*cli.Command, error) {
	flags, err := paramFlags()
	if err != nil {
		return nil, err
	}
	return &cli.Command{
		Name:      "query",
		Usage:     "answer a named question; without a name, list them",
		ArgsUsage: "[NAME]",
		Description: `  prof query                                      # the catalogue
  prof query top-kernels --run baseline --top 10
  prof query stages --run @latest --format md
  prof query top-kernels --stage decode --by family
  prof query top-kernels --explain                # its SQL and what its columns mean

A run is a name, an id, a unique prefix of either, @latest, @latest~N, tag:key=value or baseline:NAME; without --run it is @latest.
NAME may carry a version: top-kernels.v1.`,
		Flags: append(append(flags, outputFlags()...),
			&cli.BoolFlag{Name: "explain", Usage: "print the query's SQL and documentation in place of running it"}),
		Action:       p.query,
		BashComplete: completeQueries,
	}, nil
}

// paramFlags makes a flag of each parameter that any query takes.
func paramFlags() ([]cli.Flag, error) {
	all, err := queries.Catalogue()
	if err != nil {
		return nil, err
	}
	var out []cli.Flag
	type use struct {
		param          queries.Param
		queries        []string
		docs, defaults map[string]int // how many queries say so
	}
	uses := map[string]*use{}
	var order []string
	for _, q := range all {
		for _, prm := range q.Params {
			u := uses[prm.Name]
			if u == nil {
				u = &use{param: prm, docs: map[string]int{}, defaults: map[string]int{}}
				uses[prm.Name] = u
				order = append(order, prm.Name)
			}
			u.queries = append(u.queries, q.Name)
			u.docs[prm.Doc]++
			u.defaults[prm.Default]++
		}
	}
	slices.Sort(order)
	for _, name := range order {
		u := uses[name]
		flag := queries.FlagName(name)
		usage := most(u.docs)
		if len(u.docs) > 1 {
			usage += "; for others see prof query NAME --explain"
		}
		if name != "run" {
			usage += " (" + suggest.List(u.queries, 3) + ")"
		}
		byDefault := strings.Trim(u.param.Default, "'")
		if len(u.defaults) > 1 {
			byDefault = "differs by query"
		}
		if u.param.Type == "BOOLEAN" {
			out = append(out, &cli.BoolFlag{Name: flag, Usage: usage})
		} else {
			out = append(out, &cli.StringFlag{Name: flag, Usage: usage, DefaultText: byDefault})
		}
	}
	return out, nil
}

// most gives the text that most queries say, of several the first in the order of the alphabet.
func most(texts map[string]int) string {
	best := ""
	for _, t := range slices.Sorted(maps.Keys(texts)) {
		if texts[t] > texts[best] {
			best = t
		}
	}
	return best
}

func (p *program) query(c *cli.Context) (err error) {
	if c.NArg() == 0 {
		return p.catalogue(c)
	}
	if err := exactArgs(c, 1, "one query name"); err != nil {
		return err
	}
	q, err := queries.Find(c.Args().First())
	if err != nil {
		return err
	}
	if c.Bool("explain") {
		return p.explain(q, p.queryArgs(c))
	}
	args := p.queryArgs(c)
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
	f, err := p.answer(c, w, q, args)
	if err != nil {
		return err
	}
	return p.print(c, f)
}

// peakEnv is the variable that stands in for --peak, in 10^12 operations a second.
const peakEnv = "PROF_PEAK_TFLOPS"

// peakFromEnv takes the peak of a GPU from the environment where a query asks for one and none was given, and says so.
func (p *program) peakFromEnv(q queries.Query, args queries.Args) error {
	text := os.Getenv(peakEnv)
	if _, given := args["peak"]; given || text == "" || !slices.ContainsFunc(q.Params, func(x queries.Param) bool { return x.Name == "peak" }) {
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

// queryArgs gives the parameters set on the command line.
func (p *program) queryArgs(c *cli.Context) queries.Args {
	args := queries.Args{}
	for _, name := range paramNames() {
		flag := queries.FlagName(name)
		if c.IsSet(flag) {
			args[name] = c.String(flag)
			if _, ok := c.Value(flag).(bool); ok {
				args[name] = fmt.Sprint(c.Bool(flag))
			}
		}
	}
	return args
}

func checkArgs(q queries.Query, args queries.Args) error {
	probe := maps.Clone(args)
	if _, given := probe["run"]; q.TakesRun() && !given {
		probe["run"] = "@latest"
	}
	_, err := q.Statement(probe)
	return err
}

// answer runs a query on the run that its arguments mean, by default the latest.
func (p *program) answer(c *cli.Context, w *schema.Warehouse, q queries.Query, args queries.Args) (*frame.Frame, error) {
	if q.TakesRun() {
		ref, given := args["run"]
		if !given {
			ref = "@latest"
		}
		run, err := w.Resolve(c.Context, ref)
		if err != nil {
			return nil, err
		}
		if !given || schema.IsReference(ref) {
			fmt.Fprintf(p.err, "run %s\n", run.Name)
		}
		args["run"] = run.ID // an id makes the scans' filter a constant
	}
	return queries.Run(c.Context, w, q, args)
}

func paramNames() []string {
	all, err := queries.Catalogue()
	if err != nil {
		return nil
	}
	var out []string
	for _, q := range all {
		for _, prm := range q.Params {
			if !slices.Contains(out, prm.Name) {
				out = append(out, prm.Name)
			}
		}
	}
	return out
}

func (p *program) catalogue(c *cli.Context) error {
	all, err := queries.Catalogue()
	if err != nil {
		return err
	}
	f := &frame.Frame{Query: "catalogue", Columns: []frame.Column{{Name: "query"}, {Name: "version", Type: frame.Int}, {Name: "gives"}, {Name: "options"}}}
	for _, q := range all {
		var opts []string
		for _, prm := range q.Params {
			opts = append(opts, "--"+prm.Name)
		}
		f.Rows = append(f.Rows, []any{q.Name, int64(q.Version), q.Doc, strings.Join(opts, " ")})
	}
	if c.String("format") == "table" {
		return p.listCatalogue(f)
	}
	return p.print(c, f)
}

// listCatalogue prints one line a query.
func (p *program) listCatalogue(f *frame.Frame) error {
	for _, r := range f.Rows {
		line := fmt.Sprintf("%-15s %s", r[0], r[2])
		if w := p.width(); w > 20 && len([]rune(line)) > w {
			line = string([]rune(line)[:w-1]) + "…"
		}
		if _, err := fmt.Fprintln(p.out, line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(p.err, "\nprof query NAME --run RUN; `prof query NAME --explain` prints its SQL and columns")
	return err
}

func (p *program) explain(q queries.Query, args queries.Args) error {
	if _, given := args["run"]; q.TakesRun() && !given {
		args["run"] = "@latest"
	}
	text, err := q.Text(args)
	if err == nil {
		_, err = fmt.Fprint(p.out, text)
	}
	return err
}

func completeQueries(c *cli.Context) {
	// The word being typed is the one before the flag that asks for completion.
	if n := len(os.Args) - 2; n > 0 && strings.HasPrefix(os.Args[n], "-") {
		cli.DefaultCompleteWithFlags(c.Command)(c)
		return
	}
	all, err := queries.Catalogue()
	if err != nil || c.NArg() > 0 {
		return
	}
	for _, q := range all {
		fmt.Fprintln(c.App.Writer, q.Name)
	}
}
