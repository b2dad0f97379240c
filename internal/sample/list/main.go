// Command list prints the arguments of go test for the tests that try some of their cases: -run, their names, and their folders.
//
//	go test $(go run ./internal/sample/list) -whole
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	tests, err := sampling(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var names []string
	for _, of := range tests {
		names = append(names, of...)
	}
	slices.Sort(names)
	fmt.Printf("-run ^(%s)$ ./%s\n", strings.Join(slices.Compact(names), "|"), strings.Join(slices.Sorted(maps.Keys(tests)), " ./"))
}

// sampling returns the tests that sample their cases, by folder.
func sampling(root fs.FS) (map[string][]string, error) {
	uses := map[string]map[string]map[string]bool{} // by folder and function, the names that it uses
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		if dir == "internal/ledger" { // a step of CI by itself
			return nil
		}
		if uses[dir] == nil {
			uses[dir] = map[string]map[string]bool{}
		}
		for function, names := range namesIn(file) {
			uses[dir][function] = names
		}
		return nil
	})
	tests := map[string][]string{}
	for dir, functions := range uses {
		samples := map[string]bool{here: true}
		for grown := true; grown; {
			grown = false
			for f, names := range functions {
				if samples[f] {
					continue
				}
				for name := range names {
					if samples[name] {
						samples[f], grown = true, true
					}
				}
			}
		}
		for f := range functions {
			if samples[f] && strings.HasPrefix(f, "Test") {
				tests[dir] = append(tests[dir], f)
			}
		}
	}
	return tests, err
}

// here stands for a use of internal/sample among the names that a function uses.
const here = "sample."

// namesIn returns the names that each function of a file uses, those of methods with a dot before them.
func namesIn(file *ast.File) map[string]map[string]bool {
	imported := ""
	for _, i := range file.Imports {
		if i.Path.Value == `"prof/internal/sample"` {
			if imported = "sample"; i.Name != nil {
				imported = i.Name.Name
			}
		}
	}
	all := map[string]map[string]bool{}
	for _, d := range file.Decls {
		f, isFunc := d.(*ast.FuncDecl)
		if !isFunc {
			continue
		}
		names := map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				of, isName := n.X.(*ast.Ident)
				if names["."+n.Sel.Name] = true; isName && imported != "" && of.Name == imported {
					names[here] = true
				}
			case *ast.Ident:
				names[n.Name] = true
			}
			return true
		})
		name := f.Name.Name
		if f.Recv != nil {
			name = "." + name
		}
		all[name] = names
	}
	return all
}
