package cli

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"prof/internal/testkit"
)

// TestExplain holds the forms of explain, that its lines fit, and that the commands it names run.
func TestExplain(t *testing.T) {
	t.Parallel()
	p := reading(t, []testkit.Run{filled[0], {Name: "it's", Files: []string{"nsys/" + llama}}})
	p.env = append(p.env, "COLUMNS=80")
	text := p.ok("explain", "it's", "--top", "3")
	if !strings.HasPrefix(text, "run      it's\nprefill  ") || !strings.Contains(text, " on GPU 0, busy 86.") || strings.Index(text, "1 decode pass does other work") > strings.Index(text, "\n1  decode: about ") || strings.Count(text, "1 decode pass does other work") != 1 ||
		strings.Count(strings.Split(text, "kernels that take 10 %")[0], "\n   see: ") != 3 || !strings.Contains(text, "note: savings overlap") {
		t.Errorf("explain gives\n%s", text)
	}
	for line := range strings.Lines(text) {
		command, found := strings.CutPrefix(strings.Replace(strings.TrimSuffix(line, "\n"), "   see: ", "        ", 1), "        prof ")
		if !found {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("too long: %q", line)
			}
			continue
		}
		if strings.HasPrefix(command, "capture ") || strings.HasPrefix(command, "open ") {
			continue // which is to be filled in, and which serves until it is stopped
		}
		var args []string
		for _, word := range strings.Fields(command) { // as a shell would
			args = append(args, strings.ReplaceAll(word, `'it'\''s'`, "it's"))
		}
		if out := p.ok(args...); !strings.Contains(out, "─") || strings.Contains(out, "(no rows)") {
			t.Errorf("prof %q gives %q", args, out)
		}
	}
	if latest := p.run("explain", "--top", "3"); latest.code != 0 || latest.out != text {
		t.Errorf("of the latest run: %+v", latest)
	}
	rows, err := csv.NewReader(strings.NewReader(p.ok("explain", "it's", "--format", "csv", "--top", "0", "--min-share", "0", "--stage", "decode"))).ReadAll()
	if err != nil || len(rows) < 5 || strings.Join(rows[0][:8], ",") != "rank,finding,stage,saving_ns,share_ratio,bound,title,evidence" {
		t.Fatalf("%v: %q", err, rows)
	}
	for _, r := range rows[1:] {
		if r[2] != "decode" || r[1] == "launch-bound" {
			t.Errorf("a finding of decode, which graphs launch: %q", r)
		}
		if query := r[slices.Index(rows[0], "evidence_query")]; strings.Count(p.sql(query), "\n") < 2 {
			t.Errorf("%s gives %q", query, p.sql(query))
		}
	}
	for _, form := range []string{"json", "md"} {
		if out := p.ok("explain", "it's", "--format", form); !strings.Contains(out, "elementwise-chains") || form == "md" && (!strings.HasPrefix(out, "## it's\n\n- run: it's\n- prefill: 11.1 ms median of 3 passes") || strings.Count(out, "\n   - try: ") < 3 || !strings.Contains(out, "\n   - see: `prof query ")) {
			t.Errorf("%s: %s", form, out)
		}
	}
	if out := p.ok("explain", "it's", "--stage", "(none)"); !strings.Contains(out, "There are no findings.\n") || !strings.Contains(out, "no rule was tried") || strings.Contains(out, ", busy") {
		t.Errorf("outside of the passes: %q", out)
	}
	p.want(result{2, "", "prof: the run has no stage \"nowhere\"; it has decode, prefill, (none)\n"}, "explain", "a", "--stage", "nowhere")
	p.wantLike(1, "", `prof: no such run: "b"; .*\n`, "explain", "b")
	p.wantLike(2, "", `prof: explain takes one run; .*\n`, "explain", "a", "b")
	p.wantLike(2, "", `prof: query findings: invalid argument: --min-share is a share: 0\.01 for 1 %.*\n`, "explain", "a", "--min-share", "2")
	p.wantLike(2, "", `prof: .*--min-share "x" is not a number\n`, "explain", "a", "--min-share", "x")
	p.wantLike(2, "", `prof: .*--top "-1" is below 0\n`, "explain", "a", "--top", "-1")
	p.wantLike(2, "", `prof: unknown format "tabel": .*\n`, "explain", "a", "--format", "tabel")
}

// TestExplainOfOthers holds that of GPUs that NVIDIA does not make nothing is to be profiled by its tools.
func TestExplainOfOthers(t *testing.T) {
	t.Parallel()
	p := reading(t, []testkit.Run{{Name: "amd", Files: []string{"foreign/rocprofv3.json.gz"}, TrueSums: true}})
	text := unwrapped(p.ok("explain", "amd"))
	kernels, _, _ := strings.Cut(text[strings.Index(text, "\nkernels that take"):], "\nnote: ")
	if !strings.Contains(kernels, "limit unknown") || strings.Contains(kernels, "Nsight Compute") || strings.Contains(kernels, "prof capture") {
		t.Errorf("of an MI350X:\n%s", text)
	}
}
