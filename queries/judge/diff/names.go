package diff

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"prof/queries/frame"
)

var numbers = regexp.MustCompile(`[0-9]+`)

// baseName is what names of variants of a kernel share: the name without its result, template and parameters, every number as #.
func baseName(name string) string { return numbers.ReplaceAllString(plainName(name), "#") }

// plainName is a kernel's name without its result, template arguments and parameters.
func plainName(name string) string {
	name = strings.ReplaceAll(name, "<unnamed>", "(anonymous namespace)")
	name = strings.ReplaceAll(name, "(anonymous namespace)", "{anonymous}")
	var out strings.Builder
	depth := 0
	for _, r := range name {
		switch r {
		case '<', '(', '[':
			depth++
		case '>', ')', ']':
			depth = max(0, depth-1)
		default:
			if depth == 0 {
				out.WriteRune(r)
			}
		}
	}
	plain := strings.TrimSpace(out.String())
	if i := strings.LastIndexByte(plain, ' '); i >= 0 && i+1 < len(plain) {
		plain = plain[i+1:]
	}
	return cmp.Or(plain, name)
}

// shortName is a kernel's name as a sentence can bear it.
func shortName(name string) string {
	plain := plainName(name)
	if i := strings.LastIndex(plain, "::"); i >= 0 && i+2 < len(plain) {
		plain = plain[i+2:]
	}
	const most = 40
	if r := []rune(plain); len(r) > most {
		plain = string(r[:most]) + "..."
	}
	return plain
}

var spellingRows = frame.RowsOf[struct {
	Kernel   string `col:"kernel"`
	Spelling string `col:"spelling"`
}]("kernel-spellings")

// shareNames returns kernels whose names differ between the runs in spelling only the name in the first run that has them: profilers write the
// same kernel in different ways. Of a spelling that a run has two names of, all stay as they are.
func shareNames(ctx context.Context, asker frame.Asker, runs []runData) ([]Source, error) {
	if !haveOtherNames(runs) {
		return nil, nil
	}
	var asked []frame.Question
	for _, r := range runs {
		asked = append(asked, frame.Question{Query: "kernel-spellings", Args: frame.Args{"run": r.run.ID}, Notes: frame.RowsOnly})
	}
	frames, err := asker.AskAll(ctx, asked)
	if err != nil {
		return nil, err
	}
	first, isDouble := map[string]string{}, map[string]bool{} // by spelling
	spellings := make([]map[string]string, len(runs))         // of each run's names
	for i, f := range frames {
		rows, err := spellingRows.Of(f)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", runs[i].run.Name, err)
		}
		seen := map[string]bool{}
		spellings[i] = map[string]string{}
		for _, r := range rows {
			isDouble[r.Spelling] = isDouble[r.Spelling] || seen[r.Spelling]
			seen[r.Spelling], spellings[i][r.Kernel] = true, r.Spelling
			if first[r.Spelling] == "" {
				first[r.Spelling] = r.Kernel
			}
		}
	}
	var sources []Source
	for i := range runs {
		changed := false
		for _, list := range runs[i].allWork() {
			for j, w := range list {
				if s := spellings[i][w.name]; w.kind == "kernel" && s != "" && !isDouble[s] && first[s] != w.name {
					list[j].name, changed = first[s], true
				}
			}
		}
		if changed {
			sources = append(sources, sourceOf(runs[i].run.Name, frames[i]))
		}
	}
	return sources, nil
}

// allWork are the lists of a run's work, of passes and of steps.
func (d *runData) allWork() [][]work {
	if d.steps == nil {
		return [][]work{d.work}
	}
	return [][]work{d.work, d.steps.work}
}

// haveOtherNames reports whether a kernel's name is not in every run.
func haveOtherNames(runs []runData) bool {
	in := map[string][]int{}
	for i := range runs {
		for _, list := range runs[i].allWork() {
			for _, w := range list {
				if w.kind == "kernel" && !slices.Contains(in[w.name], i) {
					in[w.name] = append(in[w.name], i)
				}
			}
		}
	}
	for _, have := range in {
		if len(have) < len(runs) {
			return true
		}
	}
	return false
}
