package provenance

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"prof/capture/envvar"
	"prof/capture/machine"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// gitTimeout is for all that git is asked: in a large repository on a slow file system it can take long to look at every file.
const gitTimeout = 5 * time.Second

// ReadGit returns the state of the repository that a folder is in: nil without an error where there is none, or no git. Dirty means
// that tracked files differ from the commit, staged or not; untracked files are not looked for, since data and captures are such. What
// cannot be told whole is an error, which then says what was found.
func ReadGit(ctx context.Context, m machine.Machine, dir string) (*rundir.Git, error) {
	path, err := m.LookPath("git")
	if err != nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	git := func(args ...string) (string, error) {
		out, err := m.Run(ctx, machine.Command{Argv: append([]string{path}, args...), Env: gitEnv(m.Environ), Dir: dir})
		if err != nil {
			return "", fmt.Errorf("git %s in %s: %w%s", args[0], dir, err, machine.Said(out))
		}
		return strings.TrimSpace(string(out.Stdout)), nil
	}
	commit, err := git("rev-parse", "--verify", "HEAD")
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "not a git repository"):
		return nil, nil
	case strings.Contains(err.Error(), "Needed a single revision"):
		return nil, fmt.Errorf("the repository of %s has no commit yet, so none identifies the workload's source", dir)
	default:
		return nil, fmt.Errorf("the workload's commit is unknown: %w", err)
	}
	branch, err := git("symbolic-ref", "--quiet", "--short", "HEAD")
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: HEAD is detached
		return nil, fmt.Errorf("the workload's source is at commit %s; its branch is unknown: %w", commit, err)
	}
	changes, err := git("--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=untracked")
	if err != nil {
		return nil, fmt.Errorf("the workload's source is at commit %s (branch %q); whether it was changed is unknown: %w", commit, branch, err)
	}
	return &rundir.Git{Commit: commit, Branch: mask.Text(branch), Dirty: changes != ""}, nil
}

// gitEnv keeps git from locking the index, which a user's own git would stumble over, from asking for anything, and from speaking
// another language than the one that its messages are looked up in.
func gitEnv(environ []string) []string {
	return append(envvar.ForTool(environ), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "LANGUAGE=C")
}
