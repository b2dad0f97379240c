package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/ingest/derive"
	"prof/internal/file"
	"prof/internal/serve"
	"prof/internal/serve/ask"
	"prof/internal/serve/jobs"
	"prof/internal/serve/mcp"
	"prof/queries"
	"prof/schema"
	"prof/schema/rundir"
)

func (p *program) serveCommand() *cli.Command {
	return &cli.Command{
		Name:      "serve",
		Usage:     "show the warehouse in a browser, and answer programs over HTTP",
		ArgsUsage: "[PATH...]",
		Description: `It prints the address of the page. The reference of the API is at /docs, its OpenAPI description at /openapi.json. The server reads a copy of each commit:
prof ingest and prof capture can run at the same time, and what they store appears at once. With files it shows these alone, as prof open does, and keeps nothing. docs/serve.md says more.

  prof serve
  prof serve --listen 0.0.0.0:7321 --token-file token
  curl http://127.0.0.1:7321/api/v1/runs`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Value: localAddress, Usage: "`ADDRESS:PORT`; port 0 takes a free one; an address that others can reach needs a token"},
			&cli.StringFlag{Name: "token-file", Usage: "require the token in `FILE`, which only you may read"},
			&cli.StringSliceFlag{Name: "host", Usage: "another `NAME` of this server, as a proxy passes it on; may be repeated"},
			&cli.StringSliceFlag{Name: "trusted-proxy", Usage: "count requests of the proxy at `ADDRESS`, or in a network such as 10.0.0.0/8, as those of the client that its X-Forwarded-For names; may be repeated"},
			&cli.StringSliceFlag{Name: "origin", Usage: "let pages of `URL` use the API (CORS); may be repeated"},
			&cli.BoolFlag{Name: "https", Usage: "browsers reach it over https, through a proxy"},
			&cli.BoolFlag{Name: "allow-run", Usage: "run captures on request, by the templates of serve.yaml"},
			&cli.BoolFlag{Name: "allow-ingest", Usage: "accept uploads of captures and ingest them"},
			&cli.StringFlag{Name: "config", Usage: "read the templates and the limits of jobs and uploads from `FILE`, which only you may change", DefaultText: "serve.yaml of the home"},
		},
		Action: p.serve,
	}
}

func (p *program) serve(c *cli.Context) error {
	guard, err := p.guardFrom(c)
	if err != nil {
		return err
	}
	if c.NArg() > 0 {
		if c.Bool("allow-run") || c.Bool("allow-ingest") {
			return usagef("--allow-run and --allow-ingest are for a warehouse, which that of files is not: it is removed at the end")
		}
		return p.openFiles(c, c.String("listen"), guard, false, nil)
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	work, err := p.jobsFrom(c, home)
	if err != nil {
		return err
	}
	if err := p.makeEmpty(c, home, work.AllowRun || work.AllowIngest); err != nil {
		return err
	}
	return p.serveHome(c, home, c.String("listen"), guard, work, p.saysServing(home))
}

// saysServing prints where a warehouse is served.
func (p *program) saysServing(home schema.Home) showing {
	return func(_ *schema.Warehouse, base string) error {
		fmt.Fprintf(p.err, "serving %s on %s\n", home, base)
		return nil
	}
}

// showing says where a warehouse is served, as soon as it is; an error ends the server.
type showing func(w *schema.Warehouse, base string) error

// localAddress is where a server listens unless --listen says otherwise: only this machine reaches it.
const localAddress = "127.0.0.1:7321"

// serveHome serves a warehouse until a signal ends the program.
func (p *program) serveHome(c *cli.Context, home schema.Home, listen string, guard serve.Guard, work jobs.Options, shown showing) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w; prof serve --listen takes another address", listen, err)
	}
	defer l.Close()
	if guard.Token == "" {
		p.onlyOwn(&guard)
	}
	asker, end, err := p.newAsker(c, home)
	if err != nil {
		return err
	}
	defer end()
	s, err := serve.New(serve.Options{Asker: asker, Version: versionText(), Guard: guard, Jobs: work, Log: p.warn})
	if err != nil {
		return err
	}
	within := serve.DrainTime
	if work.AllowRun || work.AllowIngest {
		within = serve.JobsTime(work)
	}
	p.stop.patient(within + stopWithin)
	w, done := asker.Use()
	err = shown(w, "http://"+l.Addr().String())
	if done(); err != nil {
		return err
	}
	err = s.Serve(c.Context, l)
	if c.Context.Err() != nil && err == nil {
		fmt.Fprintln(p.err, "stopped; all requests were answered")
		return exitStatus(exitOK)
	}
	return err
}

// makeEmpty makes a warehouse without runs where there is none: for a server that others bring runs, and in a folder that was made for it and is empty,
// such as a container's. Any other folder may be the wrong one.
func (p *program) makeEmpty(c *cli.Context, home schema.Home, grows bool) error {
	if home.Exists() {
		return nil
	}
	if files, err := os.ReadDir(home.Dir); !grows && (err != nil || len(files) > 0) {
		return nil // who opens it says so
	}
	w, err := p.openHome(c, home, true)
	if err != nil {
		return err
	}
	return w.Close()
}

// onlyOwn has a server without a token answer its own user alone: by whose the connection is, or by a token that only the terminal shows.
func (p *program) onlyOwn(g *serve.Guard) {
	if g.Own = serve.KnowsUsers(); !g.Own {
		g.Token = rand.Text()
		fmt.Fprintln(p.err, "token of this server, until it ends:", g.Token)
	}
}

// jobsFrom returns which jobs and uploads are allowed.
func (p *program) jobsFrom(c *cli.Context, home schema.Home) (o jobs.Options, err error) {
	o = jobs.Options{Home: home.Dir, AllowRun: c.Bool("allow-run"), AllowIngest: c.Bool("allow-ingest"), CaptureFolders: filepath.Join(home.Dir, runsName), Config: jobs.DefaultConfig()}
	if !o.AllowRun && !o.AllowIngest {
		if c.IsSet("config") {
			return o, usagef("--config is for --allow-run and --allow-ingest")
		}
		return o, nil
	}
	if strings.HasPrefix(c.String("home"), schema.LakePrefix) {
		return o, usagef("jobs and uploads need a folder for what they keep: name the lake in warehouse.catalog of %s/%s, and the folder with --home", home.Dir, rundir.ConfigName)
	}
	self, err := os.Executable()
	if err != nil {
		return o, err
	}
	o.Command = []string{self, "--home=" + home.Dir}
	path := p.path(c.String("config"))
	if path == "" {
		path = filepath.Join(home.Dir, jobs.ConfigName)
	} else if _, err := os.Stat(path); err != nil {
		return o, err
	}
	if o.Config, err = jobs.ReadConfig(path, jobs.CaptureOptions{Names: jobOptions(), Check: p.captureCheck(home)}); err != nil {
		return o, &usageError{err}
	}
	return o, nil
}

// jobOptions are the options of capture that a template may set: those that say how to capture, and not where or what. A load generator is a what, and
// its command line one for the shell, into which no request may write.
func jobOptions() (out []string) {
	not := []string{sharedName, "run", suiteName, "fresh", dryRunName, nodeRankName, "nodes", "job", "no-ingest", "no-log"}
	groups := slices.DeleteFunc(captureGroups(), func(g flagGroup) bool { return g.title == servingTitle })
	for _, f := range flagsOf(groups) {
		if name := f.Names()[0]; !slices.Contains(not, name) {
			out = append(out, name)
		}
	}
	return out
}

// captureCheck returns what prof capture would refuse of options, as far as that depends on no files but the home's config.yaml.
func (p *program) captureCheck(home schema.Home) func(args []string) error {
	return func(args []string) error {
		set := flag.NewFlagSet("capture", flag.ContinueOnError)
		set.SetOutput(io.Discard)
		for _, f := range flagsOf(captureGroups()) {
			if err := f.Apply(set); err != nil {
				return err
			}
		}
		if err := set.Parse(args); err != nil {
			return err
		}
		c := cli.NewContext(nil, set, nil)
		o, err := p.captureOptions(c, home, nil)
		if err == nil {
			_, err = p.storeOptions(c, o)
		}
		return err
	}
}

func (p *program) mcpCommand() *cli.Command {
	return &cli.Command{
		Name:  "mcp",
		Usage: "answer agents over the Model Context Protocol, on stdin and stdout",
		Description: `An agent's program starts it: tools for runs, findings, queries, diff, trend, check and SQL that only reads. prof serve has the same at /mcp.

  prof mcp
  claude mcp add prof -- prof --home /path/to/.prof mcp`,
		Action: func(c *cli.Context) error {
			if err := exactArgs(c, 0, "no arguments"); err != nil {
				return err
			}
			home, err := p.home(c)
			if err != nil {
				return err
			}
			asker, end, err := p.newAsker(c, home)
			if err != nil {
				return err
			}
			defer end()
			return mcp.Stdio(c.Context, mcp.New(asker, versionText()), p.in, p.out)
		},
	}
}

// newAsker answers questions about a home's warehouse until end is called.
func (p *program) newAsker(c *cli.Context, home schema.Home) (asker *ask.Asker, end func(), err error) {
	runner, err := p.runnerOf(c)
	if err != nil {
		return nil, nil, err
	}
	live, err := p.openLive(c, home)
	if err != nil {
		return nil, nil, err
	}
	return ask.New(live, p.verbOf(home), runner), live.Close, nil
}

// openLive opens the warehouse to read it for as long as the process lives.
func (p *program) openLive(c *cli.Context, home schema.Home) (*schema.Live, error) {
	wait, err := lockWaitFrom(p.getenv("PROF_WAIT"))
	if err != nil {
		return nil, err
	}
	limit, budget, err := p.answerLimit(c)
	if err != nil {
		return nil, err
	}
	return schema.OpenLive(c.Context, home, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}, Wait: wait, Budget: budget, MemoryLimit: limit, Sandbox: true,
		Talk: func(m string) { fmt.Fprintln(p.err, "prof: "+m) }})
}

// verbOf runs verbs on an open warehouse of a home.
func (p *program) verbOf(home schema.Home) ask.Verb {
	return func(ctx context.Context, w *schema.Warehouse, out io.Writer, args ...string) error {
		v := newProgram(append([]string{"prof", "--home=" + home.Dir}, args...), strings.NewReader(""), out, io.Discard)
		v.lent, v.dir, v.env = w, p.dir, p.env
		app, err := v.app()
		if err != nil {
			return err
		}
		err = app.RunContext(ctx, permute(app, v.args))
		var usage *usageError
		var exit exitStatus
		switch {
		case errors.As(err, &exit): // check and diff say it in what they print
			return nil
		case errors.As(err, &usage):
			return fmt.Errorf("%w: %w", ask.ErrInvalid, err)
		}
		return err
	}
}

// maxToken bounds a token, in bytes.
const maxToken = 4096

// leastToken is how many characters a token has: it can be guessed at.
const leastToken = 16

// guardFrom returns who may ask.
func (p *program) guardFrom(c *cli.Context) (serve.Guard, error) {
	g := serve.Guard{Hosts: listed(c, "host"), Origins: listed(c, "origin"), Secure: c.Bool("https"), Log: p.warn}
	for _, text := range listed(c, "trusted-proxy") {
		network, err := netip.ParsePrefix(text)
		if a, wrong := netip.ParseAddr(text); wrong == nil {
			network, err = a.Unmap().Prefix(a.Unmap().BitLen())
		}
		if err != nil {
			return g, usagef("--trusted-proxy %s: write an address such as 127.0.0.1, or a network such as 10.0.0.0/8", text)
		}
		g.Proxies = append(g.Proxies, network)
	}
	host, _, err := net.SplitHostPort(c.String("listen"))
	if err != nil {
		return g, usagef("--listen %s: write ADDRESS:PORT, such as 127.0.0.1:7321", c.String("listen"))
	}
	path := p.path(c.String("token-file"))
	if path == "" {
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return g, usagef("--listen %s can be reached by others: give --token-file FILE, or listen on 127.0.0.1", c.String("listen"))
		}
		return g, nil
	}
	st, err := os.Stat(path)
	if err != nil {
		return g, fmt.Errorf("read the token: %w", err)
	}
	others := os.FileMode(0o077)
	if dir := p.getenv("CREDENTIALS_DIRECTORY"); dir != "" && filepath.Dir(path) == filepath.Clean(dir) {
		others &^= 0o040 // systemd lets the service's user read its credentials by an access list, whose mask is the mode's rights of the group
	}
	if st.Mode().Perm()&others != 0 {
		return g, usagef("--token-file %s can be read by others: chmod 600 %[1]s", path)
	}
	text, err := file.Read(path, maxToken)
	if err != nil {
		return g, fmt.Errorf("read the token: %w", err)
	}
	g.Token = strings.TrimSpace(string(text))
	if len(g.Token) < leastToken || strings.ContainsAny(g.Token, " \t\r\n") {
		return g, usagef("--token-file %s: a token has %d characters or more, without spaces: openssl rand -hex 32 > %[1]s", path, leastToken)
	}
	return g, nil
}
