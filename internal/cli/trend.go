package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/internal/file"
	"prof/queries"
	"prof/queries/judge/serving"
	"prof/queries/judge/trend"
	"prof/render/compare"
	"prof/schema"
)

func (p *program) trendCommand() *cli.Command {
	var metrics []string
	forms := compare.TrendForms().Names()
	for _, m := range trend.Metrics() {
		metrics = append(metrics, string(m))
	}
	return &cli.Command{
		Name:  "trend",
		Usage: "the stages of a workload over its runs: where their level changed, which kernels moved, and what else was new",
		Description: `Runs made by prof capture belong to one workload if they have the same command and folder (workload_key), other runs if they have the same
command. The default is the workload of the latest run that has one. A change is a new level that lasts for three runs or more; if
only the latest runs differ, it is marked "perhaps". Runs on another GPU, with other tokens, or captured by another tool form a separate
series.

A metric of serving is what load generators measured at the client: ` + trend.ServingNames() + `.
It is followed for each load, and only benchmarks under the same load are compared: same rate, concurrency and model, mean lengths of prompts
and answers to 5 %, and where all requests are sent at once the same number of them. The default is the load that most runs share.

  prof trend
  prof trend --stage decode --workload baseline --last 50
  prof trend --tag branch=main --metric tokens_per_s
  prof trend --metric tpot_p99 --load concurrency=32
  prof trend --out trend.html
  prof trend --format csv > trend.csv      # every run, in base units`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "workload", Usage: "`KEY` of the workload, a prefix of the key, or a run of the workload", DefaultText: "the latest run's"},
			&cli.StringFlag{Name: "stage", Usage: "only this stage; (run) for runs without stages"},
			&cli.StringSliceFlag{Name: "tag", Usage: "only runs with the tag `KEY=VALUE`; if repeated, with all of them"},
			&cli.StringFlag{Name: "metric", Value: string(trend.GPUSpan), Usage: strings.Join(metrics, ", ") + "; short: mfu, mbu; or of serving, such as tpot_p99"},
			&cli.StringFlag{Name: "load", Usage: "for a metric of serving, only loads with the parts `LOAD`: rate=4, rate=inf, concurrency=32, requests=1000, in=1024, out=128, scenario=Server, model=NAME", DefaultText: "the one that most runs share"},
			&cli.IntFlag{Name: "kernels", Value: trend.DefaultKernels, Usage: "look for the cause of a change in the top `N` kernels of each stage, in the latest 1,000 runs; 0 for none"},
			&cli.IntFlag{Name: "last", Value: trendRows, Usage: "`N` latest runs in tables (table, md); 0 for all"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "table", Usage: "`FORM` of the output: " + strings.Join(forms, ", ") + " (csv and json in base units, full precision)", DefaultText: "table, or the extension of --out"},
			&cli.StringFlag{Name: "out", Usage: "write to `FILE`"},
			&cli.BoolFlag{Name: "wide", Usage: "do not fit tables to the terminal"},
			&cli.BoolFlag{Name: "safe", Usage: "csv for a spreadsheet: no text is a formula"},
		},
		Action: p.trend,
	}
}

// trendRows is how many runs a table shows unless the user says otherwise.
const trendRows = 20

func (p *program) trend(c *cli.Context) (err error) {
	if err := exactArgs(c, 0, "no arguments: name a run of the workload with --workload"); err != nil {
		return err
	}
	form, err := formOf(c, compare.TrendForms())
	if err != nil {
		return &usageError{err}
	}
	o, err := trendOptions(c)
	if err != nil {
		return err
	}
	w, err := p.open(c, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	r, command, err := askTrend(c, w, o)
	if err != nil {
		return err
	}
	show := compare.TrendOptions{Options: p.options(c), Last: c.Int("last"), Command: command}
	path := c.String("out")
	if path == "" {
		if form.Name == "csv" {
			p.notes(r.Notes)
		}
		return form.Write(p.out, r, show)
	}
	var text bytes.Buffer
	show.Color, show.Width = false, 0
	if err := form.Write(&text, r, show); err != nil {
		return err
	}
	if err := file.Write(p.path(path), text.Bytes()); err != nil {
		return err
	}
	fmt.Fprintln(p.err, "wrote "+path)
	return nil
}

// askTrend follows a workload, and gives the command of its latest run.
func askTrend(c *cli.Context, w *schema.Warehouse, o trend.Options) (r *trend.Result, command string, err error) {
	workload, err := queries.FindWorkload(c.Context, w, o.Workload, o.Tags, o.Metric.IsServing())
	if err != nil {
		return nil, "", err
	}
	o.Workload = workload.Key // so that the queries shown mean the same tomorrow
	r, err = trend.New(c.Context, queries.NewAsker(w), o)
	return r, workload.Command, err
}

// trendOptions reads what is followed, before anything is opened.
func trendOptions(c *cli.Context) (trend.Options, error) {
	metric, err := trend.ParseMetric(c.String("metric"))
	if err != nil {
		return trend.Options{}, err
	}
	o := trend.Options{Workload: c.String("workload"), Stage: c.String("stage"), Load: c.String("load"), Metric: metric, Kernels: c.Int("kernels"), Tags: c.StringSlice("tag")}
	for _, name := range []string{"kernels", "last"} {
		if c.Int(name) < 0 {
			return o, usagef("--%s %d is below 0", name, c.Int(name))
		}
	}
	if o.Load != "" {
		if _, err := serving.Parse(o.Load); err != nil {
			return o, &usageError{err}
		}
	}
	for _, name := range []string{"workload", "stage", "load"} {
		if c.IsSet(name) && c.String(name) == "" {
			return o, usagef("--%s is empty", name)
		}
	}
	var bad []error
	for _, t := range o.Tags {
		if _, _, err := schema.ParseTag(t); err != nil {
			bad = append(bad, &usageError{err})
		}
	}
	return o, errors.Join(bad...)
}
