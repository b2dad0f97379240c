package cli

import (
	"regexp"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
)

// A command that an answer names is taken as it stands: the query exists, and it and the verbs know each option.
func TestNamedCommands(t *testing.T) {
	t.Parallel()
	runs := testkit.Named(t, "kernels", "nccl2", "profiled", "ncu-llama", "ranks")
	p := reading(t, runs)
	p.env = []string{"COLUMNS=2000"}
	command := regexp.MustCompile(`prof (query|open|plot) ([a-z-]*) ?(--[^\n;,()]*)`)
	tried := map[string]bool{}
	for _, of := range sample.Of(runs, 2) {
		run := of.Name
		for _, verb := range []string{"show", "explain"} {
			for _, m := range command.FindAllStringSubmatch(p.ok(verb, run, "--wide"), -1) {
				if tried[m[0]] {
					continue
				}
				tried[m[0]] = true
				if m[1] == "query" {
					if r := p.run(append(strings.Fields(m[0])[1:], "--explain")...); r.code != 0 { // which checks the arguments and asks no run
						t.Errorf("%s of %s says %s: %s", verb, run, m[0], r.err)
					}
					continue
				}
				help := p.ok("help", m[1])
				for _, option := range regexp.MustCompile(`--[a-z-]+`).FindAllString(m[3], -1) {
					if !strings.Contains(help, option) {
						t.Errorf("%s of %s says %s, and %s has no %s", verb, run, m[0], m[1], option)
					}
				}
			}
		}
	}
	if *sample.Whole && len(tried) < 20 {
		t.Errorf("only %d commands", len(tried))
	}
}
