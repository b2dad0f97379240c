package provenance

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"prof/capture/machine"
	"prof/internal/golden"
)

// repository makes one with a commit of one file, on the branch "work".
func repository(t *testing.T) (dir string, git func(args ...string) string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir = t.TempDir()
	git = func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "work")
	golden.Write(t, filepath.Join(dir, "run.py"), "print(1)\n")
	return dir, git
}

func TestReadGit(t *testing.T) {
	dir, git := repository(t)
	if g, err := ReadGit(t.Context(), (machine.Machine{}).WithDefaults(), dir); g != nil || err == nil || !strings.Contains(err.Error(), "no commit yet") {
		t.Errorf("without a commit: %+v, %v", g, err)
	}
	git("add", ".")
	git("commit", "-q", "-m", "one")
	commit := git("rev-parse", "HEAD")
	check := func(when, branch string, dirty bool) {
		t.Helper()
		g, err := ReadGit(t.Context(), (machine.Machine{}).WithDefaults(), dir)
		if err != nil || g == nil || g.Commit != commit || g.Branch != branch || g.Dirty != dirty {
			t.Errorf("%s: %+v, %v", when, g, err)
		}
	}
	check("clean", "work", false)
	golden.Write(t, filepath.Join(dir, "capture.log"), "x")
	check("with an untracked file", "work", false)
	golden.Write(t, filepath.Join(dir, "run.py"), "print(2)\n")
	check("changed", "work", true)
	git("add", "run.py")
	check("staged", "work", true)
	git("reset", "-q", "--hard")
	git("checkout", "-q", "-b", "feature/hf_examplesecret0123456789")
	check("a secret in its name", "feature/***", false)
	git("checkout", "-q", "--detach")
	check("detached", "", false)
	sub := filepath.Join(dir, "sub")
	golden.Write(t, filepath.Join(sub, "x"), "")
	if g, err := ReadGit(t.Context(), (machine.Machine{}).WithDefaults(), sub); err != nil || g == nil || g.Commit != commit {
		t.Errorf("below the root: %+v, %v", g, err)
	}
}

func TestNoGit(t *testing.T) {
	t.Setenv("GIT_CEILING_DIRECTORIES", "/")
	if g, err := ReadGit(t.Context(), (machine.Machine{}).WithDefaults(), t.TempDir()); g != nil || err != nil {
		t.Errorf("without a repository: %+v, %v", g, err)
	}
	m := machine.Machine{LookPath: func(string) (string, error) { return "", exec.ErrNotFound }}.WithDefaults()
	if g, err := ReadGit(t.Context(), m, t.TempDir()); g != nil || err != nil {
		t.Errorf("without git: %+v, %v", g, err)
	}
}

// TestGitFails: what was found before git failed stands in the error, since a state half known is not kept.
func TestGitFails(t *testing.T) {
	m := machine.Machine{
		LookPath: func(string) (string, error) { return "/bin/git", nil },
		Environ:  []string{"PATH=/bin", "GITHUB_TOKEN=x", "GIT_DIR=/elsewhere"},
	}.WithDefaults()
	for name, c := range map[string]struct{ fail, want string }{
		"ownership": {"rev-parse", "the workload's commit is unknown: git rev-parse in /w: exit: fatal: detected dubious ownership"},
		"slow":      {"--no-optional-locks", `the workload's source is at commit abc (branch "main"); whether it was changed is unknown`},
	} {
		m.Run = func(_ context.Context, c2 machine.Command) (machine.Output, error) {
			env := strings.Join(c2.Env, " ")
			if !strings.Contains(env, "GIT_OPTIONAL_LOCKS=0") || strings.Contains(env, "TOKEN") || strings.Contains(env, "GIT_DIR") {
				t.Errorf("environment %s", env)
			}
			switch c2.Argv[1] {
			case c.fail:
				return machine.Output{Stderr: []byte("fatal: detected dubious ownership\n")}, errors.New("exit")
			case "rev-parse":
				return machine.Output{Stdout: []byte("abc\n")}, nil
			}
			return machine.Output{Stdout: []byte("main\n")}, nil
		}
		g, err := ReadGit(t.Context(), m, "/w")
		if g != nil || err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
}
