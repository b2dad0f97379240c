package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"prof/internal/sample"
)

// listed is what go list says of a package.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	CgoFiles        []string
	IgnoredGoFiles  []string // of other systems
	ImportMap       map[string]string
	Standard        bool
	DepOnly         bool
	Module          *struct{ GoVersion string }
}

// TestPortable type-checks our packages and their tests as each system that prof runs on would compile them, from source and with what C
// gives taken on trust. So it needs no C compiler of that system, and finds calls that are there on Linux alone.
func TestPortable(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the standard library and every dependency")
	}
	// list downloads nothing, and whoever tests this package alone may not have what the others' tests import.
	var said strings.Builder
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "-tags=lake", "./...")
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	files := newParsed()
	for _, system := range sample.Of([]string{"darwin/arm64", "linux/arm64"}, 2) {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			goos, arch, _ := strings.Cut(system, "/")
			ours, faults := typeCheck(t, list(t, goos, arch, "./..."), arch, files)
			for _, f := range faults {
				t.Error(f)
			}
			if ours < len(rooms) {
				t.Errorf("only %d packages of ours were checked", ours)
			}
		})
	}
}

// TestPortableFinds checks that a call of Linux alone is found for a Mac.
func TestPortableFinds(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module scratch\n\ngo 1.26\n", "a.go": "package scratch\n\nimport \"syscall\"\n\nvar _ = syscall.Gettid()\n", "a_linux.go": "package scratch\n\nimport \"syscall\"\n\nvar _ = syscall.EpollCreate\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	if ours, faults := typeCheck(t, list(t, "darwin", "arm64", "./..."), "arm64", newParsed()); ours != 1 || len(faults) != 1 || !strings.Contains(faults[0].Error(), "Gettid") {
		t.Errorf("of %d packages it says %v", ours, faults)
	}
	if ours, faults := typeCheck(t, list(t, "linux", "arm64", "./..."), "arm64", newParsed()); ours != 1 || len(faults) != 0 {
		t.Errorf("of %d packages it says %v of Linux", ours, faults)
	}
}

// list returns packages, their tests and all that they need, in an order in which each comes after those that it imports.
func list(t *testing.T, goos, arch, pattern string) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-test", "-tags=lake", "-json=Dir,ImportPath,GoFiles,CgoFiles,IgnoredGoFiles,ImportMap,Standard,DepOnly,Module", pattern)
	// Without downloads: DuckDB's library for the other system may be missing, and no type is in it.
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=1", "GOPROXY=off")
	var talk strings.Builder
	cmd.Stderr = &talk
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all []listed
	for in := json.NewDecoder(out); ; {
		var p listed
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v\n%s", err, talk.String())
		}
		all = append(all, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("go list: %v\n%s", err, talk.String())
	}
	return all
}

// known gives the packages that were checked before, by what this one calls them.
type known struct {
	checked map[string]*types.Package
	names   map[string]string
}

func (k known) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if name, ok := k.names[path]; ok {
		path = name
	}
	if p := k.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not there", path)
}

// parsed are files, each parsed once for all systems.
type parsed struct {
	set    *token.FileSet
	byPath sync.Map
}

func newParsed() *parsed { return &parsed{set: token.NewFileSet()} }

func (p *parsed) file(path string) (*ast.File, error) {
	parse, _ := p.byPath.LoadOrStore(path, sync.OnceValues(func() (*ast.File, error) {
		return parser.ParseFile(p.set, path, nil, parser.SkipObjectResolution)
	}))
	return parse.(func() (*ast.File, error))()
}

// typeCheck returns how many packages were checked whole, and what is wrong with them. Of what they only depend on the declarations are read;
// and of a package that is compiled once more with its tests too, unless it has files of its own for some system.
func typeCheck(t *testing.T, all []listed, arch string, files *parsed) (ours int, faults []error) {
	t.Helper()
	withTests := map[string]bool{}
	for _, p := range all {
		path, of, _ := strings.Cut(p.ImportPath, " ")
		withTests[path] = withTests[path] || of == "["+path+".test]"
	}
	checked := map[string]*types.Package{}
	for _, p := range all {
		if strings.HasSuffix(p.ImportPath, ".test") || p.ImportPath == "unsafe" {
			continue // the go command writes the former
		}
		var syntax []*ast.File
		for _, name := range append(p.GoFiles, p.CgoFiles...) {
			f, err := files.file(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			syntax = append(syntax, f)
		}
		whole := !p.DepOnly && (!withTests[p.ImportPath] || len(p.IgnoredGoFiles) > 0)
		conf := types.Config{FakeImportC: true, IgnoreFuncBodies: !whole, Sizes: types.SizesFor("gc", arch), Importer: known{checked, p.ImportMap}, Error: func(err error) {
			// A value of C has no type here, and DuckDB's library no Go.
			if whole && !strings.Contains(err.Error(), "invalid type") && !strings.Contains(err.Error(), "duckdb-go-bindings/lib/") {
				faults = append(faults, err)
			}
		}}
		if p.Module != nil && p.Module.GoVersion != "" {
			conf.GoVersion = "go" + p.Module.GoVersion
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		pkg, _ := conf.Check(path, files.set, syntax, nil) // the errors went to Error
		checked[p.ImportPath] = pkg
		if whole {
			ours++
		}
	}
	return ours, faults
}
