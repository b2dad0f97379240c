package golden

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Said collects the sentences that a package says in its tests, for a list that a reader can go over.
type Said struct {
	lock sync.Mutex
	list []string
}

// Add takes what a test was told: every text of three words or more in a value, but for commands and SQL.
func (s *Said) Add(value any) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.add(reflect.ValueOf(value))
}

func (s *Said) add(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if text := v.String(); isPhrase(text) && !isCommand(text) {
			s.list = append(s.list, strings.ReplaceAll(text, "\n", " | "))
		}
	case reflect.Pointer, reflect.Interface:
		s.add(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			s.add(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			s.add(v.MapIndex(key))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			s.add(v.Field(i))
		}
	}
}

func isCommand(text string) bool {
	text = strings.TrimLeft(text, " ")
	return strings.HasPrefix(text, "--") || strings.HasPrefix(text, "prof ") || strings.HasPrefix(text, "FROM ")
}

func isPhrase(text string) bool { return len(strings.Fields(text)) >= 3 }

// Reset forgets all sentences.
func (s *Said) Reset() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.list = nil
}

var numbers = regexp.MustCompile(`[+-]?[0-9][0-9,.]*(e-?[0-9]+)?`)

// Compare compares the sentences with a golden file, sorted and one line each; of those that differ only in numbers it keeps one. It fails
// for each phrase in the package's source that no sentence has, except those that begin with one of the exceptions.
func (s *Said) Compare(t testing.TB, file string, except ...string) {
	t.Helper()
	slices.Sort(s.list)
	seen := map[string]bool{}
	var out strings.Builder
	for _, text := range s.list {
		if shape := numbers.ReplaceAllString(text, "#"); !seen[shape] {
			seen[shape] = true
			out.WriteString(text + "\n")
		}
	}
	Compare(t, file, []byte(out.String()))
	for where, phrase := range phrases(t) {
		isExcepted := slices.ContainsFunc(except, func(e string) bool { return strings.HasPrefix(phrase, e) })
		if !isExcepted && !pattern(phrase).MatchString(out.String()) {
			t.Errorf("%s: no test says %q", where, phrase)
		}
	}
}

// phrases returns the texts of three words and more in the source of the package of the running test, by place. Errors are not among them:
// they have tests of their own.
func phrases(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				of, isSelector := x.Fun.(*ast.SelectorExpr)
				return !isSelector || of.Sel.Name != "Errorf" && of.Sel.Name != "New" && of.Sel.Name != "MustCompile"
			case *ast.BasicLit:
				if x.Kind != token.STRING {
					return false
				}
				text, err := strconv.Unquote(x.Value)
				if err != nil {
					t.Fatal(err)
				}
				if isPhrase(text) && !isCommand(text) {
					out[set.Position(x.Pos()).String()] = text
				}
			}
			return true
		})
	}
	return out
}

var verb = regexp.MustCompile(`%(?:\[[0-9]+\])?[-+# 0-9.]*[a-zA-Z]`)

// pattern matches what a format comes to.
func pattern(format string) *regexp.Regexp {
	parts := verb.Split(strings.ReplaceAll(format, "%%", "\x00"), -1)
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(strings.ReplaceAll(p, "\x00", "%"))
	}
	return regexp.MustCompile(strings.Join(parts, ".*"))
}
