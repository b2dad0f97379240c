package cli

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/internal/sample"
)

func TestPermute(t *testing.T) {
	p := &program{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
	app, err := p.app()
	if err != nil {
		t.Fatal(err)
	}
	// Words are parted by |.
	for in, want := range map[string]string{
		"":                                   "prof",
		"runs":                               "prof|runs",
		"query|top-kernels|--top|3":          "prof|query|top-kernels|--top|3",
		"query|--top|3|top-kernels":          "prof|query|top-kernels|--top|3",
		"query|top-kernels|--top=3":          "prof|query|top-kernels|--top=3",
		"query|top-kernels|--wide|--top|3":   "prof|query|top-kernels|--wide|--top|3",
		"query|--wide|top-kernels":           "prof|query|top-kernels|--wide",
		"query|--explain|top-kernels|--raw":  "prof|query|top-kernels|--explain|--raw",
		"query|--run|a|--|top-kernels":       "prof|query|top-kernels|--run|a|--",
		"query|ranges|a|--run|b":             "prof|query|ranges|--run|b|a",
		"query|top_kernels.v4|a":             "prof|query|top_kernels.v4|a",
		"query|top-kernels|-f|csv":           "prof|query|top-kernels|-f|csv",
		"query|top-kernels|--top|-1":         "prof|query|top-kernels|--top|-1",
		"query|top-kernels|--run|--top":      "prof|query|top-kernels|--top",
		"query|top-kernels|--nosuch|x":       "prof|query|top-kernels|--nosuch|x",
		"query|top-kernels|--top":            "prof|query|top-kernels|--top",
		"query|top-kernels|--home|h":         "prof|--home|h|query|top-kernels",
		"query|--home=h|top-kernels|--top|3": "prof|--home=h|query|top-kernels|--top|3",
		"query|x|--home|-h":                  "prof|--home|-h|query|--|x",
		"query|x|--top|3|--home|h|--wide":    "prof|--home|h|query|--|x|--top|3|--wide",
		"--home|h|query|x|--top|3":           "prof|--home|h|query|--|x|--top|3",
		"--home|h|runs|--home|i":             "prof|--home|h|--home|i|runs",
		"runs|--home":                        "prof|--home",
		"runs|--format|csv|--home":           "prof|--home",
		"--home":                             "prof|--home",
		"--home|runs":                        "prof|--home|runs",
		"nosuch|x|--flag":                    "prof|nosuch|x|--flag",
		"rm|a|--|-b":                         "prof|rm|--|a|-b",
		"rm|--|a|--home|h":                   "prof|rm|--|a|--home|h",
		"rm|a|--|b|--|c":                     "prof|rm|--|a|b|--|c",
		"rm|--":                              "prof|rm|--",
		"show|-5":                            "prof|show|--|-5",
		"sql|-":                              "prof|sql|-",
		"sql|-|--format|csv":                 "prof|sql|--format|csv|-",
		"sql|-- hi\nSELECT 1|--format|csv":   "prof|sql|--format|csv|--|-- hi\nSELECT 1",
		"sql|--x\nSELECT 1 = 2":              "prof|sql|--|--x\nSELECT 1 = 2",
		"ingest|a|--run=my run|b":            "prof|ingest|--run=my run|a|b",
		"ingest|a|--tag|k=v|b|--tag|l=w":     "prof|ingest|--tag|k=v|--tag|l=w|a|b",
		"ingest||--run||":                    "prof|ingest|--run|||",
		"--version":                          "prof|--version",
		"help|query":                         "prof|help|query",
		"runs|--help":                        "prof|runs|--help",
		"show|a|-h":                          "prof|show|-h",
		"query|x|--run|-h|--wide":            "prof|query|--|x|--run|-h|--wide",
		"--help|runs":                        "prof|--help|runs",
		"query|runs|-h":                      "prof|query|runs|-h",
		"help|query|runs":                    "prof|help|query|runs",
		completeVerb + "|rm|a|--|--home|":    "prof|" + completeVerb + "|rm|a|--|--home|",
	} {
		args := []string{"prof"}
		if in != "" {
			args = append(args, strings.Split(in, "|")...)
		}
		before := slices.Clone(args)
		if got := strings.Join(permute(app, args), "|"); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", in, got, want)
		}
		if !slices.Equal(args, before) {
			t.Errorf("%q: the arguments were written over: %q", in, args)
		}
	}
	if got := permute(app, nil); len(got) != 0 {
		t.Errorf("no arguments at all: %q", got)
	}
}

// Whatever the words, permute loses and invents none but --, and does not panic.
func TestPermuteKeepsWords(t *testing.T) {
	p := &program{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
	app, err := p.app()
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"query", "runs", "rm", "sql", "nosuch", "--", "-", "", "-5", "--home", "--home=h", "--top", "--top=1", "--wide", "--wide=no", "-f", "--",
		"---", "-=", "--=", "=", "--nosuch", "x", "a b", "-- c\n", "\x00", "é", "top-kernels", completeVerb}
	rng := rand.New(rand.NewPCG(1, 2))
	sorted := func(in []string) []string {
		out := slices.DeleteFunc(slices.Clone(in), func(s string) bool { return s == "--" })
		slices.Sort(out)
		return out
	}
	tries := 4000
	if *sample.Whole {
		tries = 20000
	}
	for range tries {
		args := []string{"prof"}
		for range rng.IntN(7) {
			args = append(args, words[rng.IntN(len(words))])
		}
		got := permute(app, args)
		if last := args[len(args)-1]; slices.Contains([]int{3, 4}, len(got)) && len(args) > 3 && got[len(got)-1] == last && looksLikeFlag(last) {
			continue // so is an option of the verb or query without one
		}
		if slices.Equal(got, []string{"prof", "--home"}) {
			continue // --home without a value is all that matters then
		}
		if !slices.Equal(sorted(got), sorted(args)) {
			t.Fatalf("%q became %q", args, got)
		}
	}
}

func TestLockWait(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 10 * time.Second, "500ms": 500 * time.Millisecond, "0s": 0, "5m": 5 * time.Minute} {
		if got, err := lockWaitFrom(text); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"5", "x", "-1s"} {
		if _, err := lockWaitFrom(text); err == nil || err.Error() != "PROF_WAIT="+text+": write a duration such as 500ms, 30s or 5m" {
			t.Errorf("%q: %v", text, err)
		}
	}
}
