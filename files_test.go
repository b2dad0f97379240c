package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// direct are the functions of the standard library that wait for the writer of a pipe, read a device without end, or leave half of a file
// where they fail: internal/file has one for each.
var direct = map[string]bool{"os.Open": true, "os.OpenFile": true, "os.ReadFile": true, "os.Create": true, "os.WriteFile": true, "ioutil.ReadFile": true, "io.ReadAll": true}

// directs are the calls of these that stay, by file, and why.
var directs = map[string]string{
	"internal/file/file.go":                "it is what others use",
	"internal/file/write.go":               "it is what others use",
	"internal/scratch/scratch.go":          "it opens folders, to lock them",
	"schema/lock.go":                       "it makes a file to lock, which must not be emptied",
	"schema/budget.go":                     "it reads /proc and /sys",
	"schema/undo.go":                       "it writes into the warehouse, which must not be emptied",
	"capture/nsys/scrub.go":                "it changes an export in prof's own folder, which nsys wrote and the ingest has not seen",
	"capture/machine/processes.go":         "it reads /proc, whose files have no size",
	"capture/nvml/read_linux.go":           "it reads /proc",
	"capture/machine/machine.go":           "it reads /proc and /sys",
	"internal/serve/jobs/process_linux.go": "it reads /proc",
	"internal/serve/peer.go":               "it reads /proc",
	"capture/pass.go":                      "it opens the workload's own input anew, or /dev/null",
	"capture/machine/python.go":            "its reader ends after 1024 bytes",
	"ingest/model/read.go":                 "its reader ends at a limit, of what may be unpacked",
	"ingest/workload/read.go":              "its reader ends at a limit",
	"ingest/ncu/page/sniff.go":             "it reads bytes that are in memory",
}

// developers are folders of commands and tests, not of what users run.
var developers = []string{"internal/speed/", "internal/torture/", "internal/diagnosis/", "internal/exports/", "internal/golden/", "internal/notices/", "internal/repeat/", "internal/testkit/", "internal/wheel/", "capture/capturetest/", "capture/machinetest/", "ingest/rows/rowstest/", "testdata/"}

// TestFilesAreOpenedWithCare checks that files are opened, read and written by internal/file, where no reason is written down.
func TestFilesAreOpenedWithCare(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t) {
		if !s.isUsers() {
			continue
		}
		for _, call := range directIn(t, s.file, nil) {
			found[s.file] = true
			if directs[s.file] == "" {
				t.Errorf("%s: use internal/file, or say in directs why not", call)
			}
		}
	}
	for file := range directs {
		if !found[file] {
			t.Errorf("directs names %s, which has no such call", file)
		}
	}
}

// isUsers reports whether a file is of what users run.
func (s source) isUsers() bool {
	return !strings.HasSuffix(s.file, "_test.go") && !slices.ContainsFunc(developers, func(d string) bool { return strings.HasPrefix(s.file, d) })
}

// directIn lists the calls and other uses of direct functions in a file.
func directIn(t *testing.T, name string, text any) (out []string) {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := sel.X.(*ast.Ident); ok && direct[of.Name+"."+sel.Sel.Name] {
				at := files.Position(n.Pos())
				out = append(out, at.Filename+":"+strconv.Itoa(at.Line)+": "+of.Name+"."+sel.Sel.Name)
			}
		}
		return true
	})
	return out
}

// TestFilesFindsDirectCalls checks that a call and a function value are found.
func TestFilesFindsDirectCalls(t *testing.T) {
	text := "package p\nimport \"os\"\nvar read = os.ReadFile\nfunc f() { os.Open(\"x\"); os.Remove(\"x\") }\n"
	if got := directIn(t, "p.go", text); len(got) != 2 || got[0] != "p.go:3: os.ReadFile" || got[1] != "p.go:4: os.Open" {
		t.Errorf("found %q", got)
	}
}

// TestCommits checks that transactions commit by Warehouse.Commit, which keeps the warehouse whole if the process is killed meanwhile.
func TestCommits(t *testing.T) {
	for _, s := range sources(t) {
		if !s.isUsers() {
			continue
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, s.file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Commit" && len(call.Args) == 0 || isDB(sel.X) && strings.HasPrefix(sel.Sel.Name, "Exec")) {
				if !commitsApart[s.file] {
					t.Errorf("%s: it commits by itself: use Warehouse.Commit", files.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

// commitsApart are files with a statement outside a transaction that writes nothing, or writes into a warehouse in memory.
var commitsApart = map[string]bool{
	"schema/undo.go":   true, // Commit itself
	"schema/apart.go":  true, // tables in memory
	"schema/budget.go": true, // settings
	"ingest/ingest.go": true, // settings
}

// isDB reports whether an expression is a field DB.
func isDB(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "DB"
}
