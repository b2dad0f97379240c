package names

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/schema/seed"
)

func TestNeedles(t *testing.T) {
	for expr, want := range map[string][]string{
		"nccl.*AllReduce": {"allreduce"}, "^(?:gemm|wgmma)_k": {"gemm", "wgmma"}, "(?i)PREFILL|decode": {"prefill", "decode"},
		"ab?c": {"a"}, "(flash)+": {"flash"}, "a{2,3}": {"a"}, "x|y*": nil, "[a-z]+": nil, "": nil, "(?i)ſk": {"sk"},
	} {
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(p.needles)), want) {
			t.Errorf("%s: got %q, want %q", expr, p.needles, want)
		}
	}
	if _, err := Compile("a("); err == nil {
		t.Error("a broken expression compiles")
	}
}

// TestNeedlesMissNothing tries each built-in rule on each known name of a kernel, as it is and changed, with the texts that it needs and
// without.
func TestNeedlesMissNothing(t *testing.T) {
	kernel, stage, err := seed.Rules()
	if err != nil {
		t.Fatal(err)
	}
	var patterns []Pattern
	add := func(expr string) {
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		patterns = append(patterns, p)
	}
	for _, r := range kernel {
		add(r.Pattern)
	}
	for _, r := range stage {
		add("(?i)" + r.Pattern)
	}
	f, err := os.Open(filepath.Join("..", "seed", "testdata", "kernels.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"prefill", "Decode_Step[#]", "de\u017fcode", "WARMUP", ""}
	for _, row := range sample.Of(rows[1:], 20) { // a rule matches many of them
		names = append(names, row[0], strings.ToUpper(row[0]), row[0]+"\xff", "生命"+strings.NewReplacer("s", "ſ", "k", "\u212a").Replace(row[0]))
	}
	tried, without := 0, 0
	for _, name := range names {
		lower := Lower(name)
		for _, p := range patterns {
			if p.needles == nil {
				without++
			}
			if got, want := p.Match(name, lower), p.re.MatchString(name); got != want {
				t.Errorf("%s on %q: %v, want %v", p.re, name, got, want)
			}
			tried++
		}
	}
	if without*10 > tried {
		t.Errorf("of %d of %d rules no text is known", without, tried)
	}
}
