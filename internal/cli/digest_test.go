package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"prof/queries"
	"prof/schema"
)

// openedDigested opens the warehouse of a place for a verb that needs the digest of a run, and says which runs it got and how often it was asked.
func openedDigested(t *testing.T, p *place, ref string) (names []string, asked int, err error) {
	t.Helper()
	prog := &program{out: &bytes.Buffer{}, err: &bytes.Buffer{}}
	app := &cli.App{Name: "prof", Flags: []cli.Flag{homeFlag()}, ExitErrHandler: func(*cli.Context, error) {}, Action: func(c *cli.Context) error {
		w, runs, err := prog.openDigested(c, func(w *schema.Warehouse) ([]schema.Run, error) {
			asked++
			r, err := w.Resolve(c.Context, ref)
			return []schema.Run{r}, err
		})
		if err != nil {
			return err
		}
		if w.Writable {
			t.Error("the verb holds the warehouse for writing")
		}
		for _, r := range runs {
			names = append(names, r.Name)
		}
		return w.Close()
	}}
	err = app.RunContext(t.Context(), []string{"prof", "--home", p.path(".prof")})
	return names, asked, err
}

// TestOpenDigested holds that ingest makes the digest of a run, and that a verb which needs one that is missing or stale makes it once.
func TestOpenDigested(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	check := func(want int, rows string) {
		t.Helper()
		names, asked, err := openedDigested(t, p, "a")
		if err != nil || strings.Join(names, " ") != "a" || asked != want {
			t.Errorf("it got %q, asked %d times, not %d; %v", names, asked, want, err)
		}
		if got := p.sql("SELECT count(*) FROM digest JOIN stage_pass USING (run_id)"); got != "count_star()\n"+rows+"\n" {
			t.Errorf("the warehouse holds %q", got)
		}
	}
	change := func(stmt string) {
		t.Helper()
		w := openDirect(t, p)
		if _, err := w.DB.Exec(stmt); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	check(1, "4")
	change("DELETE FROM digest; DELETE FROM stage_pass; DELETE FROM work_sum")
	check(2, "4")
	check(1, "4")
	change("INSERT INTO stage_rule VALUES ('user', 1, 'stage', 'everything', '', '.', 'one stage')") // classified anew when it is opened
	check(2, p.sql("SELECT count(*) FROM passes('a')")[len("count_star()\n"):len("count_star()\n")+1])
	if _, _, err := openedDigested(t, p, "nosuch"); err == nil || !strings.Contains(err.Error(), "no such run") {
		t.Errorf("of a run that is not there: %v", err)
	}
}

// TestDigestsCannotBeMade holds what is said where another process keeps the warehouse from being written.
func TestDigestsCannotBeMade(t *testing.T) {
	t.Setenv("PROF_WAIT", "100ms")
	p := newFilled(t)
	w := openDirect(t, p)
	if _, err := w.DB.Exec("DELETE FROM digest"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h := startHolder(t, p, "read")
	_, _, err := openedDigested(t, p, "a")
	if err == nil || !strings.Contains(err.Error(), "1 of the runs have no digest yet, which is written to the warehouse once: ") || !strings.Contains(err.Error(), fmt.Sprint(h.pid)) {
		t.Errorf("the error is %v", err)
	}
	h.end()
	if names, asked, err := openedDigested(t, p, "a"); err != nil || len(names) != 1 || asked != 2 {
		t.Errorf("when it is free: %q, asked %d times, %v", names, asked, err)
	}
}

// openDirect opens the warehouse of a place for writing.
func openDirect(t *testing.T, p *place) *schema.Warehouse {
	t.Helper()
	defs, err := queries.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	w, err := schema.Open(t.Context(), schema.Home{Dir: p.path(".prof")}, schema.Options{Write: true, Defs: defs})
	if err != nil {
		t.Fatal(err)
	}
	return w
}
