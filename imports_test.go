package main_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms says which of our packages each package may import. A package that is not here is a new room: decide first what it
// may know.
var rooms = map[string][]string{
	".":                     {"internal/cli"},
	"internal/cli":          {"capture", "capture/*", "internal/serve", "internal/serve/*", "ingest", "ingest/derive", "ingest/load", "ingest/model", "ingest/workload", "queries", "queries/*", "render/*", "schema", "schema/pack", "schema/rundir", "testdata"},
	"internal/child":        {},
	"internal/diagnosis":    {"internal/exports"},
	"internal/exports":      {"ingest/nsys/sqlite", "ingest/nsys/table", "ingest/tracer"},
	"internal/file":         {},
	"internal/golden":       {},
	"internal/lose":         {"internal/diagnosis", "internal/exports", "internal/loss"},
	"internal/loss":         {"internal/diagnosis", "internal/exports"},
	"internal/mask":         {},
	"internal/notices":      {},
	"internal/notices/make": {"internal/notices"},
	"internal/repeat":       {"internal/exports"},
	"internal/sample":       {},
	"internal/scratch":      {},
	"internal/speed":        {"internal/exports"},
	"internal/torture":      {"internal/exports"},
	"internal/suggest":      {},
	"internal/wheel":        {},
	"capture":               {"schema/rundir", "capture/attach", "capture/envvar", "capture/machine", "capture/mark", "capture/ncu", "capture/nsys", "capture/nvml", "capture/plan", "capture/provenance", "capture/serving", "capture/tracer"},
	"capture/attach":        {"capture/machine", "capture/tracer", "schema/rundir"},
	"capture/capturetest":   {"capture", "capture/machine", "capture/nvml", "capture/tracer"},
	"capture/doctor":        {"capture/envvar", "capture/machine", "capture/nvml", "capture/provenance", "schema/rundir"},
	"capture/envvar":        {},
	"capture/machine":       {"capture/envvar", "capture/nvml", "capture/tracer"},
	"capture/machinetest":   {"capture/machine", "capture/nvml", "capture/tracer", "schema/rundir"},
	"capture/mark":          {},
	"capture/ncu":           {"capture/envvar", "capture/mark", "capture/plan"},
	"capture/nsys":          {"capture/envvar", "capture/plan"},
	"capture/nvml":          {"capture/envvar", "schema/rundir"},
	"capture/plan":          {"capture/envvar", "schema/rundir"},
	"capture/provenance":    {"capture/envvar", "capture/machine", "capture/nvml", "capture/plan", "schema/rundir"},
	"capture/prune":         {"schema/rundir"},
	"capture/serving":       {"capture/machine", "capture/plan", "capture/tracer"},
	"capture/tracer":        {},
	"ingest":                {"schema", "schema/pack", "schema/rundir", "ingest/*"},
	"ingest/attribute":      {"ingest/load", "ingest/rows"},
	"ingest/collective":     {},
	"ingest/cost":           {},
	"ingest/critical":       {"ingest/attribute"},
	"ingest/derive":         {"ingest/cost", "ingest/critical", "ingest/layers", "ingest/steady", "schema", "schema/facts", "schema/sqlfile"},
	"ingest/steady":         {},
	"ingest/layers":         {"ingest/model"},
	"ingest/load":           {"ingest/rows", "schema/names", "schema/rundir"},
	"ingest/manifest":       {"schema/rundir", "ingest/load", "ingest/rows", "ingest/serving"},
	"ingest/model":          {"ingest/load", "ingest/rows"},
	"ingest/ncu":            {"ingest/load", "ingest/rows"},
	"ingest/ncu/page":       {"ingest/load", "ingest/ncu", "ingest/rows"},
	"ingest/nsys":           {"ingest/attribute", "ingest/collective", "ingest/load", "ingest/nsys/sqlite", "ingest/nsys/table", "ingest/operator", "ingest/rows"},
	"ingest/nsys/parquet":   {"ingest/nsys/table"},
	"ingest/nsys/sqlite":    {"ingest/nsys/table"},
	"ingest/nsys/stats":     {"ingest/load", "ingest/nsys/table", "ingest/rows", "ingest/torch", "ingest/torch/trace"},
	"ingest/nsys/table":     {},
	"ingest/operator":       {"ingest/attribute", "ingest/cost", "ingest/load", "ingest/rows"},
	"ingest/rocprof":        {"ingest/load", "ingest/nsys/sqlite", "ingest/nsys/table", "ingest/torch", "ingest/torch/trace"},
	"ingest/torch":          {"ingest/attribute", "ingest/collective", "ingest/load", "ingest/operator", "ingest/torch/trace", "ingest/rows"},
	"ingest/torch/averages": {"ingest/load", "ingest/rows"},
	"ingest/rows":           {},
	"ingest/rows/rowstest":  {"ingest/load", "ingest/rows"},
	"ingest/store":          {"ingest/load", "ingest/rows", "schema"},
	"ingest/torch/trace":    {},
	"ingest/proton":         {"ingest/load", "ingest/rows", "ingest/torch", "ingest/torch/trace"},
	"ingest/reported":       {"ingest/load", "ingest/rows"},
	"ingest/serving":        {"ingest/load", "ingest/rows"},
	"ingest/tracer":         {"ingest/load", "ingest/nsys", "ingest/nsys/table"},
	"ingest/workload":       {"ingest/load", "ingest/model", "ingest/reported", "ingest/rows"},
	"ingest/xla":            {"ingest/load", "ingest/torch", "ingest/torch/trace"},
	"queries":               {"schema", "schema/facts", "schema/sqlfile", "queries/caveat", "queries/dialect", "queries/frame", "queries/judge"},
	"queries/caveat":        {"queries/frame"},
	"queries/dialect":       {"schema/sqlfile"},
	"queries/frame":         {},
	"queries/judge":         {"queries/caveat", "queries/frame", "queries/frame/frametest", "queries/judge/serving", "queries/judge/stats", "schema/facts/sql/findings"},
	"queries/judge/diff":    {"queries/caveat", "queries/frame", "queries/judge", "queries/judge/diff/conditions", "queries/judge/serving", "queries/judge/stats", "queries/judge/tree"},
	"queries/judge/gate":    {"queries/caveat", "queries/frame", "queries/frame/frametest", "queries/judge", "queries/judge/diff", "queries/judge/diff/conditions", "queries/judge/serving", "queries/judge/stats"},
	"queries/judge/serving": {"queries/frame", "queries/frame/frametest"},
	"queries/judge/stats":   {},
	"queries/judge/tree":    {},
	"queries/judge/trend":   {"queries/caveat", "queries/frame", "queries/judge/serving", "queries/judge/stats"},
	"render/chart":          {"queries/frame", "queries/judge", "render/picture", "render/table", "render/typeset", "render/words"},
	"render/compare":        {"queries/frame", "queries/judge", "queries/judge/*", "render/chart", "render/doc", "render/page", "render/picture", "render/table", "render/typeset", "render/words"},
	"render/doc":            {"queries/frame", "render/page", "render/table", "render/typeset"},
	"render/metrics":        {"queries/frame", "render/typeset"},
	"render/page":           {},
	"render/picture":        {"render/typeset"},
	"render/perfetto":       {"queries/frame", "queries/judge", "render/typeset"},
	"render/perfettotest":   {},
	"render/rendertest":     {"queries/frame", "queries/frame/frametest", "queries/judge", "render/page"},
	"render/report":         {"queries/caveat", "queries/frame", "queries/judge", "render/chart", "render/doc", "render/page", "render/table", "render/typeset", "render/words"},
	"render/stacks":         {"queries/frame", "render/typeset"},
	"render/screen":         {"queries/frame", "queries/frame/frametest", "queries/judge", "queries/judge/serving", "render/chart", "render/doc", "render/table", "render/typeset", "render/words"},
	"render/table":          {"queries/caveat", "queries/frame", "render/typeset"},
	"render/typeset":        {"queries/frame"},
	"render/words":          {"queries/caveat", "queries/frame", "queries/judge", "queries/judge/*", "render/doc", "render/typeset"},
	"internal/laketest":     {"ingest/derive", "queries", "schema"},
	"internal/ledger":       {"internal/cli", "internal/testkit", "queries", "schema"},
	"internal/testkit":      {"ingest", "ingest/derive", "queries", "queries/frame", "schema"},
	"schema":                {"schema/facts/sql/findings", "schema/names", "schema/rundir", "schema/seed"},
	"schema/facts":          {"schema", "schema/sqlfile"},
	"schema/names":          {},
	"schema/say":            {},
	"schema/pack":           {},
	"schema/rundir":         {},
	"schema/seed":           {},
	"schema/sqlfile":        {},
	"schema/terms":          {},
	"internal/serve":        {"queries", "queries/judge/*", "render/compare", "render/report", "schema", "internal/serve/*"},
	"internal/serve/ask":    {"queries", "queries/caveat", "queries/frame", "render/doc", "render/table", "render/typeset", "schema", "internal/serve/places"},
	"internal/serve/mcp":    {"queries", "internal/serve/ask"},
	"internal/serve/page":   {"render/page"},
	"internal/serve/jobs":   {"capture/machine", "capture/plan", "schema/rundir", "internal/serve/places"},
	"internal/serve/places": {},
	"testdata":              {},

	"queries/frame/frametest":       {"queries/frame"},
	"queries/judge/diff/conditions": {"queries/frame", "queries/frame/frametest", "queries/judge/stats"},
	"schema/facts/sql/findings":     {},
}

// everyones are rooms without imports of ours that every room may use; the words of schema/terms and schema/say among them.
var everyones = []string{"schema/say", "schema/terms", "internal/child", "internal/file", "internal/golden", "internal/mask", "internal/sample", "internal/scratch", "internal/suggest"}

// alone are rooms whose tests keep to what the room itself may import, so that they too build without a warehouse.
var alone = []string{"capture", "queries/caveat", "queries/frame", "queries/judge", "queries/judge/diff/conditions", "queries/judge/gate", "queries/judge/serving", "queries/judge/stats", "queries/judge/tree", "queries/judge/trend", "schema/rundir"}

// owners says who alone may import a package of others; the key is a prefix of the import path.
var owners = map[string][]string{
	"github.com/duckdb/":        {"schema", "ingest", "ingest/store", "ingest/nsys/parquet", "queries"},
	"database/sql":              {"schema", "ingest", "ingest/store", "ingest/critical", "ingest/derive", "ingest/layers", "ingest/steady", "internal/testkit", "queries"},
	"github.com/NVIDIA/go-nvml": {"capture/nvml"},
	"github.com/jedib0t/":       {"render/table"},
	"github.com/mattn/":         {"render/typeset"},
	"github.com/urfave/cli":     {"internal/cli"},
	"github.com/creack/pty":     {"capture"},
	"github.com/google/pprof":   {"render/stacks"},
	"golang.org/x/image":        {"render/picture"},
	"github.com/bmatcuk/":       {"capture", "capture/plan", "capture/serving"},
	"golang.org/x/term":         {"capture", "internal/cli"},
}

// databases are the rooms whose tests link DuckDB, for which a linker takes 5 to 15 s of CPU each. Tests of all other rooms do without: what a
// reader writes they look at in memory (ingest/rows/rowstest), and what is stored or derived is tested in ingest and queries.
var databases = []string{".", "ingest", "ingest/nsys/parquet", "ingest/store", "internal/cli", "internal/laketest", "internal/ledger", "internal/testkit", "queries", "queries/judge/diff", "schema", "internal/serve", "internal/serve/ask", "internal/serve/mcp"}

// source is one Go file: its folder from the root and its imports.
type source struct {
	dir, file string
	imports   []string
}

// sources reads every Go file of the repository but those in folders that the go tool ignores.
func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")) {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(p) != ".go" {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		s := source{dir: path.Dir(filepath.ToSlash(p)), file: filepath.ToSlash(p)}
		for _, i := range f.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, name)
		}
		out = append(out, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 50 {
		t.Fatalf("only %d Go files were found", len(out))
	}
	return out
}

func allowed(rules []string, name string) bool {
	return slices.ContainsFunc(rules, func(r string) bool {
		prefix, deep := strings.CutSuffix(r, "/*")
		return name == r || deep && strings.HasPrefix(name, prefix+"/")
	})
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sources(t) {
		if strings.HasSuffix(s.file, "_test.go") && !slices.Contains(alone, s.dir) {
			continue
		}
		may, known := rooms[s.dir]
		if !known {
			t.Errorf("%s: %s is a new room: say in imports_test.go what it may import", s.file, s.dir)
			continue
		}
		seen[s.dir] = true
		if base := path.Base(s.dir); base == "util" || base == "utils" || base == "common" || base == "helpers" {
			t.Errorf("%s: a package is named for what it does, not %s", s.file, base)
		}
		for _, name := range s.imports {
			if ours, ok := strings.CutPrefix(name, "prof/"); ok && ours != s.dir && !allowed(may, ours) && !allowed(everyones, ours) {
				t.Errorf("%s imports %s; %s may import %q", s.file, ours, s.dir, may)
			}
			checkOwner(t, s, name)
		}
	}
	for _, dir := range []string{".", "internal/cli", "ingest", "queries", "render/table", "schema"} {
		if !seen[dir] {
			t.Errorf("no Go file of %s was found", dir)
		}
	}
}

func checkOwner(t *testing.T, s source, name string) {
	t.Helper()
	for prefix, who := range owners {
		if strings.HasPrefix(name, prefix) && !allowed(who, s.dir) {
			t.Errorf("%s imports %s, which only %s may", s.file, name, strings.Join(who, ", "))
		}
	}
}

func TestDatabases(t *testing.T) {
	all := sources(t)
	imports, tested := map[string][]string{}, map[string][]string{}
	for _, s := range all {
		if strings.HasSuffix(s.file, "_test.go") {
			tested[s.dir] = append(tested[s.dir], s.imports...)
		} else {
			imports[s.dir] = append(imports[s.dir], s.imports...)
		}
	}
	links := map[string]bool{}
	var reach func(names []string) bool
	reach = func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			ours, isOurs := strings.CutPrefix(name, "prof/")
			if !isOurs {
				return strings.HasPrefix(name, "github.com/duckdb/")
			}
			if is, known := links[ours]; known {
				return is
			}
			links[ours] = reach(imports[ours])
			return links[ours]
		})
	}
	for dir, names := range tested {
		if is, may := reach(append(names, imports[dir]...)), slices.Contains(databases, dir); is != may {
			t.Errorf("the tests of %s link DuckDB: %v; databases says %v", dir, is, may)
		}
	}
}
