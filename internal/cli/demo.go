package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"prof/ingest"
	"prof/ingest/load"
	"prof/internal/file"
	"prof/internal/scratch"
	"prof/internal/serve"
	"prof/internal/serve/jobs"
	"prof/queries"
	"prof/render/table"
	"prof/schema"
	"prof/testdata"
)

// demoRuns are the captures shipped in the binary, the last one ingested last and so @latest.
var demoRuns = []struct{ run, files, doc string }{
	{"kernels", "nsys/kernels/kernels.sqlite.gz", "a handful of CUDA kernels with NVTX stages"},
	{"two-gpus", "nsys/nccl2/nccl2.sqlite.gz", "two processes on two GPUs: matmul and all-reduce"},
	{"profiled", "ncu/llama.sqlite.gz ncu/llama.ncu-rep.gz", "a two-layer Llama, its timeline and seven of its kernels under Nsight Compute"},
	{"operators", "torch/llama-stack.trace.json.gz", "a two-layer Llama under the PyTorch profiler"},
	{"llama", "nsys/llama-graph-node/llama-graph-node.sqlite.gz workload/llama-graph-node.workload.json", "a 1.5 B Llama that decodes by replaying a CUDA graph"},
}

func (p *program) demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "load real captures that ship with prof and show the first answers",
		Description: `The captures were taken on NVIDIA H200s with Nsight Systems, Nsight Compute and the PyTorch profiler. Nothing outside a scratch folder is touched.

  prof demo
  prof demo --serve                  # then look at them in a browser
  prof demo --keep playground
  prof --home playground query top-kernels --run llama --stage decode`,
		Flags: append(outputFlags()[1:], &cli.StringFlag{Name: "keep", Usage: "keep the warehouse in `DIR` to try things out"},
			&cli.BoolFlag{Name: "serve", Usage: "show the warehouse in a browser, at the address that it prints, until Ctrl-C"}),
		Action: func(c *cli.Context) error {
			if err := exactArgs(c, 0, "no arguments"); err != nil {
				return err
			}
			return p.demo(c)
		},
	}
}

func (p *program) demo(c *cli.Context) (err error) {
	temp, err := scratch.Make("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temp.Remove()) }()
	home := schema.Home{Dir: filepath.Join(temp.Path, "home")}
	if keep := c.String("keep"); keep != "" {
		if home.Dir, err = filepath.Abs(p.path(keep)); err != nil {
			return err
		}
		if home.Exists() {
			return usagef("%s already has a warehouse; name another folder", keep)
		}
	}
	if err := p.demoFill(c, home, temp.Path); err != nil {
		return err
	}
	if c.Bool("serve") {
		return p.serveHome(c, home, localAddress, serve.Guard{Log: p.warn}, jobs.Options{}, p.saysServing(home))
	}
	p.demoNext(c)
	return nil
}

// demoFill stores the captures and shows the first answers.
func (p *program) demoFill(c *cli.Context, home schema.Home, temp string) (err error) {
	w, err := p.openHome(c, home, true)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	for _, d := range demoRuns {
		fmt.Fprintf(p.err, "%s: %s\n", d.run, d.doc)
		if err := p.demoIngest(c, w, temp, d.run, strings.Fields(d.files)); err != nil {
			return err
		}
	}
	return p.demoAnswers(c, w)
}

func (p *program) demoIngest(c *cli.Context, w *schema.Warehouse, temp, run string, files []string) error {
	var paths []string
	for _, name := range files {
		data, err := fs.ReadFile(testdata.Captures, name)
		if err != nil {
			return err
		}
		path := filepath.Join(temp, filepath.Base(name))
		if err := file.Write(path, data); err != nil {
			return err
		}
		paths = append(paths, path)
	}
	_, err := ingest.Run(c.Context, w, paths, ingest.Options{Name: run, Now: time.Now(), ProfVersion: version(), Warn: p.warn,
		Tags: [][2]string{{"demo", "yes"}}, Load: load.Options{Threads: runtime.GOMAXPROCS(0)}})
	return err
}

func (p *program) demoAnswers(c *cli.Context, w *schema.Warehouse) error {
	for _, a := range []struct {
		title, query string
		args         queries.Args
	}{
		{"The runs: prof runs", "runs", nil},
		{"Stages of the Llama run, time per pass: prof query stages --run llama", "stages", queries.Args{"run": "llama"}},
		{"GPU utilisation of the stages: prof query mfu --run llama", "mfu", queries.Args{"run": "llama"}},
		{"Its kernels: prof query top-kernels --run llama --top 8", "top-kernels", queries.Args{"run": "llama", "top": "8"}},
		{"Its decode kernels by family: prof query top-kernels --run llama --stage decode --by family --top 6", "top-kernels",
			queries.Args{"run": "llama", "stage": "decode", "by": "family", "top": "6"}},
		{"What bounds the kernels that Nsight Compute profiled: prof query bottlenecks --run profiled", "bottlenecks", queries.Args{"run": "profiled"}},
		{"Which operators take the time of decode: prof query top-operators --run operators --stage decode --top 6", "top-operators",
			queries.Args{"run": "operators", "stage": "decode", "top": "6"}},
	} {
		q, err := queries.Find(a.query)
		if err != nil {
			return err
		}
		f, err := queries.Run(c.Context, w, q, a.args)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.out, "\n%s\n\n", a.title)
		if err := table.Terminal(p.out, f, p.options(c)); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) demoNext(c *cli.Context) {
	me := "prof"
	if exe, err := os.Executable(); err == nil && strings.Contains(exe, "go-build") && filepath.Ext(exe) != ".test" {
		me = "go run ."
	}
	fmt.Fprint(p.out, "\nNext:\n")
	home := c.String("keep")
	if home == "" {
		home = "playground"
		fmt.Fprintf(p.out, "  %s demo --keep %s\n", me, home)
	}
	for _, s := range []string{"show llama", "query ranges --run llama --top 10", "query stage-kernels --run two-gpus --top 3", "query operator-tree --run operators", "query",
		`sql "FROM launches('llama', stage := 'decode', top := 5)"`} {
		fmt.Fprintf(p.out, "  %s --home %s %s\n", me, home, s)
	}
	fmt.Fprintf(p.out, "  %s ingest YOUR.sqlite        # nsys export --type sqlite report.nsys-rep; report.ncu-rep, trace.json.gz\n", me)
}
