package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"prof/capture/envvar"
	"prof/capture/machine"
	"prof/internal/scratch"
)

// probeTimeout is far above what a profiler takes for a program that does nothing.
const probeTimeout = time.Minute

// tool checks that a profiler is there and tells its version; "" where it cannot be used.
func (d doctor) tool(ctx context.Context, name, title string) (path string, c Check) {
	c = Check{ID: name, Title: title}
	path, err := d.m.FindTool(name)
	if err != nil {
		c.Status, c.Detail, c.Advice = Missing, err.Error(), machine.InstallAdvice(name)
		if errors.Is(err, machine.ErrNoTool) {
			c.Detail = "it is neither on the PATH nor where NVIDIA's packages install it"
		} else {
			c.Status = Failed
			c.Advice = fmt.Sprintf("set %s to the path of an executable program, or unset it", machine.ToolOverride(name))
		}
		return "", c
	}
	version, err := d.m.ToolVersion(ctx, path)
	if err != nil {
		c.Status, c.Detail = Failed, err.Error()
		c.Advice = "run " + shellWord(path) + " --version to see what is wrong; " + machine.InstallAdvice(name)
		return "", c
	}
	c.Status, c.Detail = OK, version+", "+path
	if _, err := d.m.LookPath(name); err != nil && d.m.Getenv(machine.ToolOverride(name)) == "" {
		c.Detail += " (not on the PATH, but prof finds it; for your shell: export PATH=" + shellWord(filepath.Dir(path)) + ":$PATH)"
	}
	return path, c
}

// shellWord writes a word for a shell.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// tracer builds prof's own tracer.
func (d doctor) tracer(ctx context.Context) []Check {
	c := Check{ID: "tracer", Title: "prof's own tracer"}
	lib, err := d.m.BuildTracer(ctx, nil, d.o.Dir)
	switch {
	case err != nil:
		c.Status, c.Detail = Warning, err.Error()
		c.Advice = "activate the environment with PyTorch that the workload runs in, or install the CUDA toolkit, and a C compiler (apt-get install gcc)"
	case lib.CUPTI == "":
		c.Status, c.Detail = OK, "built with the headers in "+lib.Include+"; it uses the CUPTI that the workload loads"
	default:
		c.Status, c.Detail = OK, "built with the headers in "+lib.Include+", for "+lib.CUPTI
	}
	return []Check{c}
}

func (d doctor) nsys(ctx context.Context) []Check {
	path, c := d.tool(ctx, "nsys", "Nsight Systems")
	if path == "" {
		return []Check{c}
	}
	return []Check{c, d.nsysReport(ctx, path)}
}

// probe is a program that does nothing.
func (d doctor) probe() string {
	if path, err := d.m.LookPath("true"); err == nil {
		return path
	}
	return "/bin/true"
}

// nsysReport has nsys make a report and export it: a capture that leaves only the .qdstrm of the recording cannot be read, and nsys
// ends with 0 after it.
func (d doctor) nsysReport(ctx context.Context, path string) (c Check) {
	c = Check{ID: "nsys_report", Title: "Nsight Systems makes reports", Status: Failed}
	temp, err := scratch.Make(d.m.TempDir)
	if err != nil {
		c.Status, c.Detail, c.Advice = Unknown, err.Error(), "set TMPDIR to a writable folder"
		return c
	}
	defer temp.Remove()
	dir := temp.Path
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	report, database := filepath.Join(dir, "probe.nsys-rep"), filepath.Join(dir, "probe.sqlite")
	profile := []string{path, "profile", "--sample=none", "--cpuctxsw=none", "--trace=none", "--force-overwrite=true", "--output", filepath.Join(dir, "probe"), d.probe()}
	out, err := d.m.Run(ctx, machine.Command{Argv: profile, Env: d.probeEnv(dir), Dir: dir})
	if !exists(report) {
		return d.noReport(c, dir, out, err)
	}
	export := []string{path, "export", "--type", "sqlite", "--force-overwrite=true", "--output", database, report}
	out, err = d.m.Run(ctx, machine.Command{Argv: export, Env: d.probeEnv(dir), Dir: dir})
	if err != nil || !exists(database) {
		c.Detail = "nsys export could not convert its own report to SQLite: " + whyNot(out, err)
		c.Advice = "reinstall Nsight Systems completely instead of copying some of its files: " + machine.InstallAdvice("nsys")
		return c
	}
	c.Status, c.Detail = OK, "a report of "+d.probe()+" was made and exported"
	return c
}

// noReport tells a recording that could not be turned into a report from none at all.
func (d doctor) noReport(c Check, dir string, out machine.Output, err error) Check {
	left, _ := filepath.Glob(filepath.Join(dir, "*.qdstrm")) // the pattern is well-formed
	if inner, _ := filepath.Glob(filepath.Join(dir, "*", "*.qdstrm")); len(left)+len(inner) > 0 {
		c.Detail = "nsys recorded but could not make a report (only a .qdstrm is left): its importer does not start, most often because libdw is missing: " + whyNot(out, err)
		c.Advice = "apt-get install libdw1 (dnf install elfutils-libs); then ldd on QdstrmImporter, next to nsys or in ../host-linux-x64, shows what else is missing"
		return c
	}
	c.Detail = "nsys profile " + d.probe() + " left no report: " + whyNot(out, err)
	c.Advice = "run nsys status -e and nsys profile --sample=none --cpuctxsw=none " + d.probe() + " to see what is wrong; in a container with seccomp, docker run --cap-add=SYS_ADMIN"
	return c
}

// probeEnv has a profiler keep its own files where they can be looked for.
func (d doctor) probeEnv(dir string) []string {
	var env []string
	for _, v := range envvar.ForTool(d.m.Environ) {
		if !strings.HasPrefix(v, "TMPDIR=") {
			env = append(env, v)
		}
	}
	return append(env, "TMPDIR="+dir)
}

// whyNot is an error with what the program said, or what it said alone where it ended well.
func whyNot(out machine.Output, err error) string {
	if err != nil {
		return err.Error() + machine.Said(out)
	}
	if said := machine.Said(out); said != "" {
		return strings.TrimPrefix(said, ": ")
	}
	return "it succeeded without any output"
}

func exists(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Size() > 0
}

func (d doctor) ncu(ctx context.Context) []Check {
	path, c := d.tool(ctx, "ncu", "Nsight Compute")
	if path == "" {
		return []Check{c}
	}
	return []Check{c, d.ncuRuns(ctx, path)}
}

// ncuRuns has ncu start a program. That has no kernels, so it does not show whether the GPU's counters may be read.
func (d doctor) ncuRuns(ctx context.Context, path string) (c Check) {
	c = Check{ID: "ncu_run", Title: "Nsight Compute starts programs"}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	out, err := d.m.Run(ctx, machine.Command{Argv: []string{path, d.probe()}, Env: envvar.ForTool(d.m.Environ), Dir: d.m.TempDir})
	if err != nil {
		c.Status, c.Detail = Failed, "ncu "+d.probe()+": "+whyNot(out, err)
		c.Advice = "run " + shellWord(path) + " " + d.probe() + " to see what is wrong; " + machine.InstallAdvice("ncu")
		return c
	}
	c.Status, c.Detail = OK, "it ran "+d.probe()
	return c
}
