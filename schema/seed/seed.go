// Package seed holds what the warehouse knows beforehand. That is which kernel belongs to which family, which range is which stage, what
// devices can do at most, which other names they have, and what one of their multiprocessors does in a clock cycle.
//
// Each is a CSV file of the name and columns of its table (kernel_rule, stage_rule, device_peak, device_alias, sm_rate), so that it
// can be read, reviewed and copied as it is. Every pattern is RE2, the dialect of both Go's regexp and DuckDB's regexp_matches.
// There is no rule that catches everything: a name that no rule matches is unclassified, and is shown as such.
package seed

import (
	"embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed *.csv
var files embed.FS

// Roles are what a kernel can be for. A kernel that fits a rule but none of the others is "other".
var Roles = []string{
	"gemm", "attention", "normalisation", "elementwise", "reduction", "moe_routing", "copy", "memset", "collective",
	"embedding_gather", "sampling", "softmax", "top_k", "convolution", "quantisation", "rope", "activation", "kv_cache", "scan_sort", "random", "other",
}

// StageKinds are what a stage rule can say of a range.
var StageKinds = []string{"stage", "note", "warmup"}

// KernelRule names the family of the kernels whose demangled name it matches. Among the rules that match, the one with the
// lowest priority wins.
type KernelRule struct {
	Priority int
	Pattern  string // RE2, unanchored, case-sensitive
	Family   string // the same across shapes, versions and autotuning, so that two runs can be matched by it
	Role     string // one of Roles
	Library  string // "" when the name does not tell
	Doc      string
}

// StageRule names what a range is. Among the rules that match, the one with the lowest priority wins.
type StageRule struct {
	Priority int
	Kind     string // one of StageKinds
	Stage    string // of a note, its name
	Domain   string // "" is any NVTX domain, otherwise the exact name of one
	Pattern  string // RE2, unanchored, case-insensitive, against the range's name
	Doc      string
}

// Rules parses and checks the built-in rules, and gives each kind in order of priority.
func Rules() (kernel []KernelRule, stage []StageRule, err error) {
	if kernel, err = load("kernel_rule.csv", ParseKernelRules); err != nil {
		return nil, nil, err
	}
	if stage, err = load("stage_rule.csv", ParseStageRules); err != nil {
		return nil, nil, err
	}
	return kernel, stage, nil
}

// Source is the text of the rules, peaks, aliases and rates, to tell one set from another without reading them: every command asks.
func Source() (string, error) {
	var text strings.Builder
	for _, name := range []string{"kernel_rule.csv", "stage_rule.csv", "device_peak.csv", "device_alias.csv", "sm_rate.csv"} {
		file, err := files.ReadFile(name)
		if err != nil {
			return "", err
		}
		text.Write(file)
	}
	return text.String(), nil
}

func load[T any](name string, parse func(io.Reader) ([]T, error)) ([]T, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rules, err := parse(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rules, nil
}

var (
	kernelColumns = []string{"priority", "pattern", "family", "role", "library", "doc"}
	stageColumns  = []string{"priority", "kind", "stage", "domain", "pattern", "doc"}
)

// ParseKernelRules reads kernel rules from CSV with the header priority,pattern,family,role,library,doc.
func ParseKernelRules(r io.Reader) ([]KernelRule, error) {
	var rules []KernelRule
	family := map[string][2]string{}
	err := parse(r, kernelColumns, func(priority int, col []string) error {
		k := KernelRule{Priority: priority, Pattern: col[1], Family: col[2], Role: col[3], Library: col[4], Doc: col[5]}
		if err := filled("family", k.Family, "doc", k.Doc); err != nil {
			return err
		}
		if !slices.Contains(Roles, k.Role) {
			return fmt.Errorf("role %q is none of %s", k.Role, strings.Join(Roles, ", "))
		}
		// A family is one thing: were it two, matching kernels by family would match unlike ones.
		if is, ok := family[k.Family]; ok && is != [2]string{k.Role, k.Library} {
			return fmt.Errorf("family %q was role %q, library %q before", k.Family, is[0], is[1])
		}
		family[k.Family] = [2]string{k.Role, k.Library}
		if err := checkPattern(k.Pattern, ""); err != nil {
			return err
		}
		rules = append(rules, k)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rules, func(a, b KernelRule) int { return a.Priority - b.Priority })
	return rules, nil
}

// ParseStageRules reads stage rules from CSV with the header priority,kind,stage,domain,pattern,doc.
func ParseStageRules(r io.Reader) ([]StageRule, error) {
	var rules []StageRule
	err := parse(r, stageColumns, func(priority int, col []string) error {
		s := StageRule{Priority: priority, Kind: col[1], Stage: col[2], Domain: col[3], Pattern: col[4], Doc: col[5]}
		if err := filled("stage", s.Stage, "doc", s.Doc); err != nil {
			return err
		}
		if !slices.Contains(StageKinds, s.Kind) {
			return fmt.Errorf("kind %q is none of %s", s.Kind, strings.Join(StageKinds, ", "))
		}
		if err := checkPattern(s.Pattern, "(?i)"); err != nil {
			return err
		}
		rules = append(rules, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rules, func(a, b StageRule) int { return a.Priority - b.Priority })
	return rules, nil
}

// parse reads a CSV with exactly the given columns, the first of them a priority that no other row has.
func parse(r io.Reader, columns []string, row func(priority int, col []string) error) error {
	seen := map[int]int{}
	return eachRow(r, columns, func(line int, col []string) error {
		priority, err := strconv.Atoi(col[0])
		if err != nil || priority <= 0 {
			return fmt.Errorf("priority %q is not a positive integer", col[0])
		}
		if first, ok := seen[priority]; ok {
			return fmt.Errorf("priority %d is taken by line %d", priority, first)
		}
		seen[priority] = line
		return row(priority, col)
	})
}

// checkPattern refuses what is no RE2, and what matches the empty name and so every name.
func checkPattern(pattern, flags string) error {
	if pattern == "" {
		return fmt.Errorf("pattern is empty")
	}
	re, err := regexp.Compile(flags + pattern)
	if err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	if re.MatchString("") {
		return fmt.Errorf("pattern %q matches everything", pattern)
	}
	return nil
}
