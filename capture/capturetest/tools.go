package capturetest

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// Python answers what captures ask an interpreter.
func Python(p *Process) int {
	fmt.Fprintln(p.Stdout, `prof-python-versions {"version": "3.12.3", "packages": {"torch": "2.11.0", "numpy": "2.0"}, "torch_cuda": "13.0"}`)
	return 0
}

// heard is how long a tool waits so that prof has surely heard of the end of its workload: as many turns of others as that has steps.
const heard = 200 * step

// Nsys stands in for Nsight Systems.
type Nsys struct {
	SQLite string // path of what an export gives
	// How it behaves: "" is well; fail, hang, hangafter, nothing, qdstrm, garbage, oddexit, slowreport of a recording, old, noexport, slowexport of an
	// export; vary gives each export a session of its own.
	How  string
	Hook func() // called when something slow begins; nil: nothing
}

// Run is its program.
func (n Nsys) Run(p *Process) int {
	switch p.Argv[1] {
	case "--version":
		fmt.Fprintln(p.Stdout, "NVIDIA Nsight Systems version 2025.3.1.0-253136398880v0")
		return 0
	case "export":
		return n.export(p)
	}
	return n.profile(p)
}

func (n Nsys) export(p *Process) int {
	if n.How == "old" && slices.ContainsFunc(p.Argv, func(a string) bool { return strings.HasPrefix(a, "--include-json") }) {
		fmt.Fprintln(p.Stderr, "unrecognised option '--include-json=true'")
		return 1
	}
	if n.How == "noexport" {
		fmt.Fprintln(p.Stderr, "Importer error status: An unknown error occurred.")
		return 1
	}
	if n.How == "slowexport" {
		n.Hook()
		p.Sleep(time.Second)
	}
	from := n.SQLite
	if n.How == "garbage" {
		from = p.Argv[len(p.Argv)-1] // the report
	}
	text, err := os.ReadFile(from)
	if at := bytes.Index(text, []byte("PROFILING_SESSION_UUID")); n.How == "vary" && at >= 0 {
		copy(text[at+len("PROFILING_SESSION_UUID"):], uuid.NewString())
	}
	return p.leave(value(p.Argv, "--output"), text, err)
}

func (n Nsys) profile(p *Process) int {
	at := 2
	for strings.HasPrefix(p.Argv[at], "-") {
		if at++; p.Argv[at-1] == "--output" { // the one option whose value is a word of its own
			at++
		}
	}
	out, app := value(p.Argv[:at], "--output")+".nsys-rep", p.Argv[at:]
	switch n.How {
	case "fail":
		fmt.Fprintln(p.Stdout, "unrecognised option '--trace=nonsense'")
		return 1
	case "hang":
		return p.Hang()
	}
	fmt.Fprintln(p.Stdout, "Collecting data...")
	code := 0
	if limit, err := time.ParseDuration(value(p.Argv[:at], "--duration") + "s"); err == nil { // at its end the application gets SIGTERM
		child, err := p.Begin(app...)
		if err != nil {
			return p.fails(err)
		}
		p.Sleep(limit)
		child.signal(syscall.SIGTERM)
		code = p.Wait(child)
	} else {
		code = p.Run(app...)
	}
	switch n.How {
	case "nothing":
		return code
	case "qdstrm":
		return p.leave(filepath.Join(p.Getenv("TMPDIR"), "nsys-report-1.qdstrm"), []byte("recorded\n"), nil)
	case "hangafter":
		return p.Hang()
	case "garbage":
		fmt.Fprintln(p.Stdout, "@@@@ garbage @@@@")
		return max(code, p.leave(out, []byte("no report at all\n"), nil))
	case "slowreport": // who signals it now loses the report
		p.Sleep(heard)
		n.Hook()
		p.Sleep(4 * time.Second)
	case "oddexit":
		code = 42
	}
	return max(code, p.leave(out, []byte("a report\n"), nil))
}

// Ncu stands in for Nsight Compute.
type Ncu struct {
	Report string // path of the report that it leaves
	// How it behaves: "" is well, else refuse, stall, nothing, denied, slowreport, hangafter, garbage, conditional (some kernels are of graphs with
	// conditional nodes), allconditional, profiles (as many launches as it is asked for, after a second, and it ends the workload if it is asked to)
	// or leaves (so many, but it leaves the workload alone).
	How   string
	Hook  func()         // called when something slow begins; nil: nothing
	Asked func([]string) // called with its command line, unless nil
}

// Run is its program.
func (n Ncu) Run(p *Process) int {
	if p.Argv[1] == "--version" {
		fmt.Fprint(p.Stdout, "NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 36398880) (public-release)\n")
		return 0
	}
	if n.Asked != nil {
		n.Asked(p.Argv[1:])
	}
	if n.How == "refuse" {
		fmt.Fprintln(p.Stdout, "==ERROR== unrecognised option '--sectionn'")
		return 1
	}
	at := 1 + slices.IndexFunc(p.Argv[1:], func(a string) bool { _, err := p.m.lookPath(path.Base(a)); return err == nil })
	out, log := value(p.Argv[:at], "--export")+".ncu-rep", value(p.Argv[:at], "--log-file")
	say := func(text string) {
		if log == "" {
			return
		}
		f, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
			f.Close()
		}
		if err != nil {
			p.fails(err)
		}
	}
	say("==PROF== Connected to process 4711\n")
	if n.How == "stall" {
		say(`==PROF== Profiling "ncclDevKernel_AllReduce" - 0: 0%`)
	}
	code := n.run(p, p.Argv[:at], p.Argv[at:], say)
	if code != 0 {
		say(fmt.Sprintf("==ERROR== The application returned an error code (%d).\n", code))
	}
	switch n.How {
	case "conditional", "allconditional":
		if value(p.Argv[:at], "--graph-profiling") == "graph" {
			break
		}
		say("==WARNING== Kernel nodes of a graph which can have conditional nodes are not supported for profiling.\n==WARNING== You can profile complete CUDA graphs using --graph-profiling graph.\n")
		if n.How == "allconditional" {
			say("==WARNING== No kernels were profiled.\n")
			return code
		}
	case "nothing":
		say("==WARNING== No kernels were profiled.\n")
		return code
	case "denied":
		say("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.\n")
		return 1
	case "slowreport":
		p.Sleep(heard)
		n.Hook()
		p.Sleep(6 * time.Second)
	case "hangafter":
		return p.Hang()
	case "garbage":
		return max(code, p.leave(out, []byte("no report at all\n"), nil))
	}
	if out == ".ncu-rep" { // the doctor wants none
		return code
	}
	text, err := os.ReadFile(n.Report)
	code = max(code, p.leave(out, text, err))
	say("==PROF== Report: " + out + "\n")
	return code
}

// run runs the workload to its end.
func (n Ncu) run(p *Process, args, app []string, say func(string)) int {
	if n.How != "profiles" && n.How != "leaves" {
		return p.Run(app...)
	}
	child, err := p.Begin(app...)
	if err != nil {
		return p.fails(err)
	}
	p.Sleep(time.Second)
	count, _ := strconv.Atoi(value(args, "--launch-count"))
	for i := range count {
		say(fmt.Sprintf("==PROF== Profiling \"saxpy\" - %d: 0%%....50%%....100%% - 8 passes\n", i))
	}
	if n.How == "profiles" && value(args, "--kill") == "yes" {
		say("==PROF== Trying to shutdown target application\n")
		child.signal(syscall.SIGKILL)
		p.Wait(child)
		return 0 // as 2025.3.1 ends
	}
	return p.Wait(child)
}

// value is that of an option, as --name=value or as two words.
func value(argv []string, name string) string {
	for i, a := range argv {
		if text, ok := strings.CutPrefix(a, name+"="); ok {
			return text
		}
		if a == name && i+1 < len(argv) {
			return argv[i+1]
		}
	}
	return ""
}

// leave writes a file, unless there is an error, and returns an exit code.
func (p *Process) leave(path string, text []byte, err error) int {
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return p.fails(err)
	}
	return 0
}

func (p *Process) fails(err error) int {
	fmt.Fprintf(p.Stderr, "%s: %v\n", p.Argv[0], err)
	return 1
}
