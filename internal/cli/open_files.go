package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/ingest"
	"prof/internal/mask"
	"prof/internal/scratch"
	"prof/internal/serve"
	"prof/internal/serve/jobs"
	"prof/queries"
	"prof/render/typeset"
	"prof/schema"
	"prof/schema/terms"
)

func (p *program) openCommand() *cli.Command {
	return &cli.Command{
		Name:      "open",
		Usage:     "show captured files in a browser, and keep nothing; or a stored run at a place of its timeline",
		ArgsUsage: "[PATH...]",
		Description: `The files or folders become one run, as with prof ingest, in a warehouse that is removed at the end (Ctrl-C). A browser is opened where there is one.
With --run it is a run of the warehouse, on its timeline. --window, --stage, --cause, --row and --find name a place there: prof explain has the command for each finding.

  prof open capture.sqlite
  prof open trace.json.gz --model config.json
  prof open rank0.sqlite rank1.sqlite report.ncu-rep
  prof open --run baseline --stage decode --cause host   # the longest gap in which the CPU is busy outside CUDA
  prof open --run baseline --row longest-gaps:1          # the longest gap of all; :2 the next, and so on
  prof open --run baseline --window 7.68s..7.76s`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", Usage: "`ADDRESS:PORT`, which only this machine may reach; port 0 takes a free one"},
			&cli.BoolFlag{Name: "no-browser", Usage: "only print the address"},
			&cli.StringFlag{Name: "device-name", Usage: "`NAME` of the GPUs that the captures do not name"},
			&cli.StringFlag{Name: "run", Usage: "a `RUN` of the warehouse in place of files: name, id, a prefix of either, tag:key=value, @latest"},
			&cli.StringFlag{Name: "window", Usage: "show this part of the timeline, from the start of the capture: `A..B`, as in 1.5s..2s"},
			&cli.StringFlag{Name: "stage", Usage: "show the longest measured pass of this stage"},
			&cli.Int64Flag{Name: "device", Usage: "of this `GPU`"},
			&cli.StringFlag{Name: "cause", Usage: "show the longest idle gap in these passes, or in the run, by `CAUSE`: " + strings.Join(causeNames(), ", ")},
			&cli.StringFlag{Name: "row", Usage: "show this row of a query, `QUERY:N`: of longest-gaps, passes, steps, slow-steps, ...; --stage, --device and --source pick the rows"},
			&cli.StringFlag{Name: "find", Usage: "search kernels with `TEXT` in their names; with --stage, the first one in that pass"},
			&cli.StringFlag{Name: "source", Usage: terms.TimelineDoc()},
		}, factFlags()...),
		Action: func(c *cli.Context) error {
			place, err := placeOf(c)
			again := givenTwice(p.args, "run", "row", "window", "stage", "device", "cause", "find", "source")
			switch {
			case again != "":
				return usagef("--%s is given twice, and open shows one place", again)
			case err != nil:
				return err
			case c.NArg() > 0 && c.IsSet("run"):
				return usagef("open takes files or folders, or a stored run with --run; not both")
			case c.IsSet("row") && !c.IsSet("run"):
				return usagef("--row is of a stored run: name it with --run")
			case c.NArg() > 0:
				return p.openFiles(c, c.String("listen"), serve.Guard{Log: p.warn}, !c.Bool("no-browser"), place)
			case !c.IsSet("run"):
				return usagef("open takes files or folders, or a stored run with --run; prof serve shows the warehouse")
			}
			return p.openRun(c, place)
		},
	}
}

func causeNames() []string {
	return typeset.Each(terms.IdleCauses(), func(c terms.Cause) string { return c.Name })
}

// placeOf returns the place of a timeline that options name, as the query of an address; nil for none.
func placeOf(c *cli.Context) (url.Values, error) {
	out := url.Values{}
	for _, name := range []string{"stage", "device", "cause", "find", "source"} {
		if c.IsSet(name) {
			out.Set(name, fmt.Sprint(c.Value(name)))
		}
	}
	if cause := out.Get("cause"); cause != "" && !slices.Contains(causeNames(), cause) {
		return nil, usagef("no cause of idle time %q%s; the causes are %s", cause, nearest(cause, causeNames()), strings.Join(causeNames(), ", "))
	}
	if c.IsSet("window") {
		from, until, err := windowOf(c.String("window"))
		if err != nil {
			return nil, err
		}
		if from == nil || until == nil {
			return nil, usagef("--window %s: give both times, as in 1.5s..2s", c.String("window"))
		}
		out.Set("from", fmt.Sprint(*from))
		out.Set("to", fmt.Sprint(*until))
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// pageOf is the path of a run's page, of its timeline where a place is named.
func pageOf(run string, place url.Values) string {
	at := "/runs/" + url.PathEscape(run)
	if place != nil {
		at = strings.TrimSuffix(at+"/timeline?"+place.Encode(), "?")
	}
	return at
}

// openRun serves the warehouse until a signal ends the program, and shows the timeline of a run.
func (p *program) openRun(c *cli.Context, place url.Values) error {
	home, err := p.home(c)
	if err != nil {
		return err
	}
	if place == nil {
		place = url.Values{}
	}
	return p.serveHome(c, home, c.String("listen"), serve.Guard{Log: p.warn}, jobs.Options{}, func(w *schema.Warehouse, base string) error {
		run, err := p.resolve(c, w, c.String("run"), true)
		if err == nil && c.IsSet("row") {
			err = p.toRow(c, w, run, c.String("row"), place)
		}
		if err == nil {
			p.showPage(home.String(), base+pageOf(run.Name, place), !c.Bool("no-browser"))
		}
		return err
	})
}

// toRow has a place of a timeline be that of a row of a query: of those of the stage, GPU and source that the command line names.
func (p *program) toRow(c *cli.Context, w *schema.Warehouse, run schema.Run, row string, place url.Values) error {
	name, nth, found := strings.Cut(row, ":")
	n, err := strconv.Atoi(nth)
	if !found || err != nil || n < 1 {
		return usagef("--row %s: write QUERY:N, as in longest-gaps:1", row)
	}
	q, err := queries.Find(name)
	if err != nil {
		return err
	}
	if !hasPlaces(q) {
		return usagef("--row %s: rows of %s have no place on a timeline; those of longest-gaps, passes, steps and slow-steps have", row, name)
	}
	args := runArgs(c, run, slices.DeleteFunc(slices.Clone(rowFilters), func(filter string) bool { return !q.Takes(filter) })...)
	if q.Takes("top") {
		args["top"] = nth
	}
	f, err := queries.Run(c.Context, w, q, args)
	if err != nil {
		return err
	}
	var it []any
	i := 0
	if err := f.Each(func(row []any) error {
		if i++; i == n {
			it = slices.Clone(row)
		}
		return nil
	}); err != nil {
		return err
	}
	if it == nil {
		return usagef("--row %s: %s has %d rows", row, name, i)
	}
	start, known := it[f.Index("start_ns")].(int64)
	if !known {
		return usagef("--row %s: it is not known when it starts", row)
	}
	var long int64
	for _, name := range q.Lengths() {
		if v, is := it[f.Index(name)].(int64); is {
			long = v
			break
		}
	}
	for name := range place { // which picked the row
		if slices.Contains(rowFilters, name) && name != "source" {
			place.Del(name)
		}
	}
	place.Set("at", fmt.Sprintf("%v,%d,%d", it[f.Index("source_id")], start, long))
	if at := f.Index("device"); at >= 0 && it[at] != nil {
		place.Set("device", fmt.Sprint(it[at]))
	}
	return nil
}

// rowFilters are the parameters of queries that a place on a timeline may have too.
var rowFilters = []string{"stage", "device", "source"}

// hasPlaces reports whether the rows of a query say where they are on a timeline.
func hasPlaces(q queries.Query) bool {
	return q.Lengths() != nil && slices.ContainsFunc(q.Columns, func(c [2]string) bool { return c[0] == "source_id" })
}

// rowNote says how to see a row of an answer on the timeline; "" where its rows have no place there, or are not those that prof open finds.
func rowNote(q queries.Query, args queries.Args) string {
	command := []string{"prof", "open", "--run", cmp.Or(args["run"], latest)}
	known := 0
	for _, name := range append([]string{"run", "top"}, rowFilters...) {
		value, given := args[name]
		if given {
			known++
		}
		if given && slices.Contains(rowFilters, name) {
			command = append(command, "--"+name, value)
		}
	}
	if known < len(args) || !hasPlaces(q) {
		return ""
	}
	return "row 1 on the timeline, others by their number: " + mask.Command(append(command, "--row", q.Name+":1"))
}

// showPage says where a page is, and opens it in a browser where that is asked for.
func (p *program) showPage(of, at string, browse bool) {
	fmt.Fprintf(p.err, "serving %s on %s (Ctrl-C ends it)\n", typeset.Neutral(of), at)
	if browse {
		p.browse(at)
	}
}

// openFiles serves files as one run of a warehouse of their own until a signal ends the program. place is where on its timeline it is shown first; nil for its page.
func (p *program) openFiles(c *cli.Context, listen string, guard serve.Guard, browse bool, place url.Values) (err error) {
	o, err := p.ingestOptions(c)
	if err != nil {
		return err
	}
	paths := p.paths(c.Args().Slice())
	if err := ingest.Check(paths, o); err != nil {
		return err
	}
	temp, err := scratch.Make("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temp.Remove()) }()
	home := schema.Home{Dir: filepath.Join(temp.Path, "home")}
	run, err := p.fill(c, home, paths, o)
	if err != nil {
		return err
	}
	return p.serveHome(c, home, listen, guard, jobs.Options{}, func(_ *schema.Warehouse, base string) error {
		p.showPage(strings.Join(c.Args().Slice(), ", "), base+pageOf(run, place), browse)
		return nil
	})
}

// fill makes a warehouse of files and returns the name of their run.
func (p *program) fill(c *cli.Context, home schema.Home, paths []string, o ingest.Options) (run string, err error) {
	w, err := p.openHome(c, home, true)
	if err != nil {
		return "", err
	}
	defer closing(w, &err)
	r, err := p.ingestInto(c, w, paths, o)
	if err != nil {
		return "", err
	}
	return r.Run.Name, nil
}

// browse opens a page in the user's browser, where there is a screen for it. That none opens is no error: the address was printed.
func (p *program) browse(at string) {
	if p.getenv("DISPLAY") == "" && p.getenv("WAYLAND_DISPLAY") == "" && p.getenv("BROWSER") == "" {
		return
	}
	for _, dir := range filepath.SplitList(p.getenv("PATH")) {
		path, err := exec.LookPath(filepath.Join(dir, "xdg-open"))
		if err != nil {
			continue
		}
		cmd := exec.Command(path, at)
		cmd.Env = p.env
		if cmd.Start() == nil {
			go cmd.Wait() // it may live as long as the browser
		}
		return
	}
}
