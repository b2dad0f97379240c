package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"prof/capture"
	"prof/capture/plan"
	"prof/ingest"
	"prof/internal/mask"
	"prof/internal/suggest"
	"prof/queries"
	"prof/render/doc"
	"prof/schema"
	"prof/schema/rundir"
)

// suiteName is the option that captures a suite.
const suiteName = "suite"

// suiteJob is one run of a suite.
type suiteJob struct {
	captureJob
	entry                   string // its name within the suite
	workloadKey, optionsKey string // as in capture
}

// captureSuite captures the runs of a suite, one after the other. What is wrong with any of them is found before the first. One that fails
// stops no other; Ctrl-C stops all.
func (p *program) captureSuite(c *cli.Context) error {
	switch {
	case slices.Contains(p.args, "--") || c.NArg() > 0:
		return usagef("--suite: the commands are in the file; omit what follows --")
	case c.IsSet("run"):
		return usagef("--suite: its runs are named by the file; omit --run")
	case c.Bool(attachName):
		return usagef("--suite: it starts its commands; omit --attach")
	case c.IsSet(nodeRankName):
		return usagef("--suite: its runs are on one machine; omit --node-rank")
	case c.Bool("no-ingest"):
		return usagef("--suite needs the warehouse to know which runs are there; omit --no-ingest")
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	suite, err := plan.ReadSuite(p.path(c.String(suiteName)))
	if err != nil {
		return &usageError{err}
	}
	jobs, err := p.suiteJobs(c, home, suite)
	if err != nil {
		return err
	}
	var failed []string
	for i, job := range jobs {
		say := func(format string, args ...any) {
			fmt.Fprintf(p.err, "prof: suite %s, run %d of %d: %s: %s\n", suite.Name, i+1, len(jobs), job.entry, fmt.Sprintf(format, args...))
		}
		stop, err := p.suiteRun(c, home, suite.Name, job, say)
		if stop {
			if err == nil {
				err = exitStatus(exitInterrupted)
			}
			return errors.Join(p.keeper().suiteSummary(c, home, suite.Name), err)
		}
		if err != nil {
			failed = append(failed, job.entry)
			if status := exitStatus(0); !errors.As(err, &status) { // of the others all has been said
				say("failed: %s", oneLine(err))
			}
		}
	}
	if err := p.keeper().suiteSummary(c, home, suite.Name); err != nil {
		return err
	}
	if len(failed) > 0 && c.Bool(dryRunName) {
		return exitStatus(exitFailed)
	}
	if len(failed) > 0 {
		fmt.Fprintf(p.err, "prof: %d of %d runs failed: %s; the same command again captures only these\n", len(failed), len(jobs), suggest.List(failed, 8))
		return exitStatus(exitFailed)
	}
	return nil
}

// suiteJobs returns what to capture for each run of a suite, and finds what would stop it.
func (p *program) suiteJobs(c *cli.Context, home schema.Home, suite *plan.Suite) ([]suiteJob, error) {
	dir, err := p.workDir()
	if err != nil {
		return nil, err
	}
	var out []suiteJob
	for _, r := range suite.Runs {
		job := suiteJob{captureJob: captureJob{argv: r.Argv}, entry: r.Name, workloadKey: capture.WorkloadKey(r.Argv, dir)}
		if job.options, err = p.captureOptions(c, home, &r); err == nil {
			job.in, err = p.captureIngest(c, job.options, r.Argv)
		}
		if err == nil {
			job.in.Name = suite.Name + "-" + r.Name
			err = ingest.Check(nil, ingest.Options{Name: job.in.Name})
		}
		for _, t := range r.Tags {
			if key, _, wrong := schema.ParseTag(t[0] + "=" + t[1]); err == nil && (wrong != nil || key != t[0]) {
				err = fmt.Errorf("a tag cannot be %q=%q", t[0], t[1])
			}
			job.in.Tags = append(job.in.Tags, t)
		}
		if err == nil && !c.Bool(dryRunName) {
			err = capture.CheckWorkload(p.world.machine, r.Argv, dir)
		}
		if errors.Is(err, plan.ErrSuite) {
			return nil, err
		}
		if err != nil {
			return nil, &usageError{r.Wrong(err)}
		}
		out = append(out, job)
	}
	return out, nil
}

// suiteRun captures one run of a suite unless it is there. stop says that the user ended the suite.
func (p *program) suiteRun(c *cli.Context, home schema.Home, suite string, job suiteJob, say func(string, ...any)) (stop bool, err error) {
	if err := c.Context.Err(); err != nil {
		return true, exitStatus(exitInterrupted)
	}
	given, listed, err := job.options.ReadInputs(c.Context)
	if err == nil {
		job.optionsKey, err = job.options.Key(slices.Concat(given, listed))
	}
	if err != nil {
		return c.Context.Err() != nil, err
	}
	there, why, err := p.suiteDone(c, home, suite, job)
	if err != nil {
		return false, err
	}
	if there != "" {
		say("skipped: run %s is this one", there)
		return false, nil
	}
	if job.in.Name, err = p.nextName(c, home, job.in.Name); err != nil {
		return false, err
	}
	say("run %s%s", job.in.Name, why)
	res, err := p.captureOne(c, home, job.captureJob)
	return res != nil && res.Stopped || p.stop.byTerm() || c.Context.Err() != nil, err
}

// suiteDone returns the run of the warehouse that a run of a suite would be, whole; where there is none, why it is captured again.
func (p *program) suiteDone(c *cli.Context, home schema.Home, suite string, job suiteJob) (there, why string, err error) {
	runs, err := p.keeper().suiteRuns(c, home, suite)
	if err != nil {
		return "", "", err
	}
	for _, r := range runs {
		switch {
		case r.Entry != job.entry:
			continue
		case c.Bool("fresh"):
			return "", fmt.Sprintf(", because of --fresh; %s is kept", r.Run), nil
		case r.WorkloadKey == job.workloadKey && r.OptionsKey == job.optionsKey && r.Status == rundir.StatusOK:
			return r.Run, "", nil
		case why != "":
		case r.WorkloadKey != job.workloadKey || r.OptionsKey != job.optionsKey:
			why = fmt.Sprintf(", because %s had another command, other options or other inputs; it is kept", r.Run)
		default:
			why = fmt.Sprintf(", because %s is %s; it is kept", r.Run, r.Status)
		}
	}
	return "", why, nil
}

// suiteRuns are the runs of a suite that the warehouse has, the latest first.
func (p *program) suiteRuns(c *cli.Context, home schema.Home, suite string) (runs []queries.SuiteRun, err error) {
	if !home.Exists() {
		return nil, nil
	}
	w, err := p.openHome(c, home, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	return queries.SuiteRuns(c.Context, w, suite)
}

// nextName is the first of name, name-2, ... that neither a run nor a folder has.
func (p *program) nextName(c *cli.Context, home schema.Home, name string) (string, error) {
	for n := 1; ; n++ {
		next := name
		if n > 1 {
			next = fmt.Sprintf("%s-%d", name, n)
		}
		if _, err := os.Lstat(filepath.Join(home.Dir, runsName, plan.FolderName(next))); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		free, err := p.keeper().freeName(c, home, next)
		if errors.Is(err, schema.ErrNameTaken) {
			continue
		}
		return free, err
	}
}

// suiteSummary shows the runs of a suite side by side, on stderr: stdout is the workloads'.
func (p *program) suiteSummary(c *cli.Context, home schema.Home, suite string) (err error) {
	if !home.Exists() || c.Bool(dryRunName) || c.Context.Err() != nil || p.stop.byTerm() {
		return nil
	}
	q, err := queries.Find("suite")
	if err != nil {
		return err
	}
	w, err := p.openHome(c, home, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	f, err := queries.Run(c.Context, w, q, queries.Args{"suite": suite})
	if err != nil || len(f.Rows) == 0 {
		return err
	}
	form, err := doc.AnswerForms().Named("table")
	if err != nil {
		return err
	}
	shown, first := *f, f.Index("passes") // the query has the rest
	shown.Columns, shown.Rows = f.Columns[:first], nil
	for _, r := range f.Rows {
		shown.Rows = append(shown.Rows, r[:first])
	}
	fmt.Fprintf(p.err, "\nsuite %s\n", suite)
	if err := form.Write(p.err, &shown, p.options(c)); err != nil {
		return err
	}
	fmt.Fprintf(p.err, "next: %s\n", mask.Command(append(profWords(c), "query", "suite", "--suite", suite)))
	return nil
}
