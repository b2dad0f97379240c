package cli

import (
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/ingest"
	"prof/internal/scratch"
	"prof/internal/serve"
	"prof/internal/serve/jobs"
	"prof/render/typeset"
	"prof/schema"
)

func (p *program) openCommand() *cli.Command {
	return &cli.Command{
		Name:      "open",
		Usage:     "show captured files in a browser, and keep nothing",
		ArgsUsage: "PATH...",
		Description: `The files or folders become one run, as with prof ingest, in a warehouse that is removed at the end (Ctrl-C). A browser is opened where there is one.

  prof open capture.sqlite
  prof open trace.json.gz --model config.json
  prof open rank0.sqlite rank1.sqlite report.ncu-rep`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", Usage: "`ADDRESS:PORT`, which only this machine may reach; port 0 takes a free one"},
			&cli.BoolFlag{Name: "no-browser", Usage: "only print the address"},
			&cli.StringFlag{Name: "device-name", Usage: "`NAME` of the GPUs that the captures do not name"},
		}, factFlags()...),
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return usagef("open takes files or folders; prof serve shows the warehouse")
			}
			return p.openFiles(c, c.String("listen"), serve.Guard{Log: p.warn}, !c.Bool("no-browser"))
		},
	}
}

// openFiles serves files as one run of a warehouse of their own until a signal ends the program.
func (p *program) openFiles(c *cli.Context, listen string, guard serve.Guard, browse bool) (err error) {
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
	return p.serveHome(c, home, listen, guard, jobs.Options{}, func(base string) {
		at := base + "/runs/" + url.PathEscape(run)
		fmt.Fprintf(p.err, "serving %s on %s (Ctrl-C ends it)\n", typeset.Neutral(strings.Join(c.Args().Slice(), ", ")), at)
		if browse {
			p.browse(at)
		}
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
