package seed

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// testdata/kernels.csv holds kernel names as profilers print them, some of them cut off as the tool cut them: all names of a set
// of real captures, with the nanoseconds spent in each; names quoted in public profiles of other stacks; where no profile was at
// hand, names written after the library's source; and traps. A row without a family must match no rule.
type kernelCase struct {
	name, family, role, library, source string
	ns                                  map[string]int64 // by capture
}

func readCSV(t *testing.T, name string, header ...string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], header) {
		t.Fatalf("%s: want the header %s", name, strings.Join(header, ","))
	}
	return rows[1:]
}

func kernelCases(t *testing.T) []kernelCase {
	t.Helper()
	var cases []kernelCase
	for _, r := range readCSV(t, "kernels.csv", "name", "family", "role", "library", "source", "ns") {
		c := kernelCase{r[0], r[1], r[2], r[3], r[4], map[string]int64{}}
		for _, field := range strings.Fields(r[5]) {
			capture, ns, _ := strings.Cut(field, "=")
			n, err := strconv.ParseInt(ns, 10, 64)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			c.ns[capture] = n
		}
		cases = append(cases, c)
	}
	return cases
}

type ruleSet struct {
	Kernel []KernelRule
	Stage  []StageRule
}

func mustLoad(t *testing.T) ruleSet {
	t.Helper()
	kernel, stage, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	return ruleSet{kernel, stage}
}

func compile[T any](rules []T, pattern func(T) string) []*regexp.Regexp {
	res := make([]*regexp.Regexp, len(rules))
	for i, r := range rules {
		res[i] = regexp.MustCompile(pattern(r))
	}
	return res
}

// first is the index of the first pattern that matches, or -1.
func first(res []*regexp.Regexp, name string) int {
	return slices.IndexFunc(res, func(re *regexp.Regexp) bool { return re.MatchString(name) })
}

func TestRules(t *testing.T) {
	rules := mustLoad(t)
	if len(rules.Kernel) == 0 || len(rules.Stage) == 0 {
		t.Fatalf("%d kernel rules, %d stage rules", len(rules.Kernel), len(rules.Stage))
	}
	if !slices.IsSortedFunc(rules.Kernel, func(a, b KernelRule) int { return a.Priority - b.Priority }) {
		t.Error("kernel rules are not in order of priority")
	}
	if !slices.IsSortedFunc(rules.Stage, func(a, b StageRule) int { return a.Priority - b.Priority }) {
		t.Error("stage rules are not in order of priority")
	}
	t.Logf("%d kernel rules, %d stage rules", len(rules.Kernel), len(rules.Stage))
}

func TestKernelRules(t *testing.T) {
	rules := mustLoad(t).Kernel
	res := compile(rules, func(r KernelRule) string { return r.Pattern })
	used := make([]int, len(rules))
	names := map[string]bool{}
	for _, c := range kernelCases(t) {
		if names[c.name] {
			t.Errorf("twice in kernels.csv: %s", c.name)
		}
		names[c.name] = true
		var got KernelRule
		if i := first(res, c.name); i >= 0 {
			got = rules[i]
			used[i]++
		}
		if got.Family != c.family || got.Role != c.role || got.Library != c.library {
			t.Errorf("%s (%s)\n got %q, %q, %q by rule %d\nwant %q, %q, %q",
				c.name, c.source, got.Family, got.Role, got.Library, got.Priority, c.family, c.role, c.library)
		}
	}
	for i, n := range used {
		if n == 0 {
			t.Errorf("rule %d (%s) is the first to match no test name", rules[i].Priority, rules[i].Family)
		}
	}
}

// Of the time of each capture, at least this share must fall to a rule.
const leastClassified = 0.99

func TestClassifiedShare(t *testing.T) {
	rules := mustLoad(t).Kernel
	res := compile(rules, func(r KernelRule) string { return r.Pattern })
	total, classified := map[string]int64{}, map[string]int64{}
	for _, c := range kernelCases(t) {
		known := first(res, c.name) >= 0
		for capture, ns := range c.ns {
			total[capture] += ns
			if known {
				classified[capture] += ns
			}
		}
	}
	var captures []string
	for c := range total {
		captures = append(captures, c)
	}
	slices.Sort(captures)
	for _, c := range captures {
		share := float64(classified[c]) / float64(total[c])
		t.Logf("%-24s %12d ns, %.3f classified", c, total[c], share)
		if share < leastClassified {
			t.Errorf("%s: %.4f of the time is classified, want %.2f", c, share, leastClassified)
		}
	}
}

// No rule may be one that matches any name: what is not known stays unclassified.
func TestNoCatchAll(t *testing.T) {
	rules := mustLoad(t)
	for _, name := range []string{"", "x", "kernel", "void kernel<int>(int)", "void ns::foo<float, 4>(float*, int)", "_Z3fooPf", "main_kernel_0"} {
		for _, r := range rules.Kernel {
			if regexp.MustCompile(r.Pattern).MatchString(name) {
				t.Errorf("rule %d (%s) matches %q", r.Priority, r.Family, name)
			}
		}
		for _, r := range rules.Stage {
			if regexp.MustCompile("(?i)" + r.Pattern).MatchString(name) {
				t.Errorf("stage rule %d (%s) matches %q", r.Priority, r.Stage, name)
			}
		}
	}
}

func TestStageRules(t *testing.T) {
	rules := mustLoad(t).Stage
	res := compile(rules, func(r StageRule) string { return "(?i)" + r.Pattern })
	used := make([]int, len(rules))
	for _, row := range readCSV(t, "stages.csv", "name", "domain", "kind", "stage") {
		name, domain, kind, stage := row[0], row[1], row[2], row[3]
		var got StageRule
		for i, r := range rules {
			if (r.Domain == "" || r.Domain == domain) && res[i].MatchString(name) {
				got = r
				used[i]++
				break
			}
		}
		if got.Kind != kind || got.Stage != stage {
			t.Errorf("%q: got %q %q by rule %d, want %q %q", name, got.Kind, got.Stage, got.Priority, kind, stage)
		}
	}
	for i, n := range used {
		if n == 0 {
			t.Errorf("stage rule %d (%s %s) is the first to match no test name", rules[i].Priority, rules[i].Kind, rules[i].Stage)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const kernel, stage = "priority,pattern,family,role,library,doc\n", "priority,kind,stage,domain,pattern,doc\n"
	kernelBad := map[string]string{
		"":                 "header",
		"pattern,family\n": "header",
		kernel + "1,a,f,gemm,,d\n1,b,f,gemm,,d\n": "line 3: priority 1 is taken by line 2",
		kernel + "0,a,f,gemm,,d\n":                "line 2: priority",
		kernel + "x,a,f,gemm,,d\n":                "line 2: priority",
		kernel + "1,(,f,gemm,,d\n":                "line 2: pattern",
		kernel + "1,(?=a),f,gemm,,d\n":            "line 2: pattern", // a look-ahead is no RE2
		kernel + "1,,f,gemm,,d\n":                 "pattern is empty",
		kernel + "1,.*,f,other,,d\n":              "matches everything",
		kernel + "1,a,f,matmul,,d\n":              "role",
		kernel + "1,a,,gemm,,d\n":                 "family",
		kernel + "1,a,f,gemm,,\n":                 "doc",
		kernel + "1,a,f,gemm,, d\n":               "doc",
		kernel + "1,a,f,gemm,,d\n2,b,f,copy,,d\n": "line 3: family",
		kernel + "1,a,f,gemm,d\n":                 "wrong number of fields",
	}
	for in, want := range kernelBad {
		if _, err := ParseKernelRules(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
	stageBad := map[string]string{
		"":                                         "header",
		kernel:                                     "header",
		stage + "1,phase,prefill,,prefill,d\n":     "kind",
		stage + "1,stage,,,prefill,d\n":            "stage",
		stage + "1,stage,prefill,,prefill,\n":      "doc",
		stage + "1,stage,prefill,,[,d\n":           "pattern",
		stage + "1,stage,prefill,,a*,d\n":          "matches everything",
		stage + "1,stage,a,,a,d\n1,stage,b,,b,d\n": "line 3: priority 1 is taken by line 2",
	}
	for in, want := range stageBad {
		if _, err := ParseStageRules(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}

func TestParseSorts(t *testing.T) {
	got, err := ParseKernelRules(strings.NewReader("priority,pattern,family,role,library,doc\n20,b,g,copy,,d\n10,a,f,gemm,L,d\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []KernelRule{{10, "a", "f", "gemm", "L", "d"}, {20, "b", "g", "copy", "", "d"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
