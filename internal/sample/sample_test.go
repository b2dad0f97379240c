package sample

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	all := []int{1, 2, 3, 4, 5}
	if got := Of(all, 3); !slices.Equal(got, []int{1, 4}) {
		t.Errorf("every third: %v", got)
	}
	*Whole = true
	defer func() { *Whole = false }()
	if got := Of(all, 3); !slices.Equal(got, all) {
		t.Errorf("all: %v", got)
	}
}

// TestWholeInCI: every test that samples its cases is named in the step "whole" of CI, and its package too.
func TestWholeInCI(t *testing.T) {
	root := filepath.Join("..", "..")
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	step := regexp.MustCompile(`(?m)^whole\(\) \{\n  go test .* -run '\^\(([^']+)\)\$' (.*) -whole\n\}`).FindSubmatch(script)
	if step == nil {
		t.Fatal(".ci/run has no step whole")
	}
	var found []string
	for _, dir := range strings.Fields(string(step[2])) {
		found = append(found, sampling(t, filepath.Join(root, dir))...)
	}
	slices.Sort(found)
	if got := strings.Split(string(step[1]), "|"); len(found) == 0 || !slices.Equal(got, found) {
		t.Errorf("the step whole of .ci/run names the tests\n%s\nbut these sample their cases:\n%s", strings.Join(got, "|"), strings.Join(found, "|"))
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		dir, _ := filepath.Rel(root, filepath.Dir(path))
		text, err := os.ReadFile(path)
		if dir != "." {
			dir = "./" + filepath.ToSlash(dir)
		}
		if strings.Contains(string(text), `"prof/internal/sample"`) && dir != "./internal/ledger" && dir != "./internal/sample" && !slices.Contains(strings.Fields(string(step[2])), dir) {
			t.Errorf("the step whole of .ci/run lacks %s", dir)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// here stands for a use of this package among the names that a function uses.
const here = "sample."

// sampling returns the tests of a folder that use this package, by themselves or in a function that they name.
func sampling(t *testing.T, dir string) (tests []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	uses := map[string]map[string]bool{} // the names in each function
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		called := "sample" // what this file calls this package
		for _, i := range file.Imports {
			if i.Path.Value == `"prof/internal/sample"` && i.Name != nil {
				called = i.Name.Name
			}
		}
		for _, d := range file.Decls {
			f, isFunc := d.(*ast.FuncDecl)
			if !isFunc {
				continue
			}
			names := map[string]bool{}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if of, is := n.X.(*ast.Ident); is && of.Name == called && (n.Sel.Name == "Of" || n.Sel.Name == "Whole") {
						names[here] = true
					}
				case *ast.Ident:
					names[n.Name] = true
				}
				return true
			})
			uses[f.Name.Name] = names
		}
	}
	samples := map[string]bool{here: true}
	for grown := true; grown; {
		grown = false
		for f, names := range uses {
			for name := range names {
				if samples[name] && !samples[f] {
					samples[f], grown = true, true
				}
			}
		}
	}
	for f := range uses {
		if samples[f] && strings.HasPrefix(f, "Test") {
			tests = append(tests, f)
		}
	}
	return tests
}
