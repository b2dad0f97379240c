package cli

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/schema"
)

// release is the version of this source.
const release = "0.1.0"

// version is the release, with the commit it was built from where the build says.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = "+" + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	return release + commit + dirty
}

func versionText() string { return fmt.Sprintf("%s (DuckDB %s)", version(), schema.DuckDBVersion()) }

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a shell's completion script",
		ArgsUsage: "bash|zsh|fish",
		Description: `  source <(prof completion bash)
  source <(prof completion zsh)
  prof completion fish > ~/.config/fish/completions/prof.fish`,
		Action: func(c *cli.Context) error {
			if err := exactArgs(c, 1, "bash, zsh or fish"); err != nil {
				return err
			}
			text, err := completionScript(c.App, c.Args().First())
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(p.out, text)
			return err
		},
	}
}

// The scripts ask the program itself, through the flag that cli answers with candidates.
const bashCompletion = `_prof_complete() {
  local cur="${COMP_WORDS[COMP_CWORD]}" words=("${COMP_WORDS[@]:0:COMP_CWORD}")
  [[ "$cur" == -* ]] && words+=("$cur")
  COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$cur"))
}
complete -o bashdefault -o default -F _prof_complete prof
`

const zshCompletion = `#compdef prof
_prof_complete() {
  local -a found
  local cur="${words[CURRENT]}"
  if [[ "$cur" == -* ]]; then
    found=("${(@f)$(${words[1,CURRENT-1]} "$cur" --generate-bash-completion 2>/dev/null)}")
  else
    found=("${(@f)$(${words[1,CURRENT-1]} --generate-bash-completion 2>/dev/null)}")
  fi
  [[ -n "${found[1]}" ]] && compadd -- "${found[@]%%:*}"
  _files
}
compdef _prof_complete prof
`

func completionScript(app *cli.App, shell string) (string, error) {
	switch shell {
	case "bash":
		return bashCompletion, nil
	case "zsh":
		return zshCompletion, nil
	case "fish":
		return app.ToFishCompletion()
	}
	return "", usagef("no completion for %q; there is bash, zsh and fish", strings.TrimSpace(shell))
}

func (p *program) helpCommand() *cli.Command {
	return &cli.Command{
		Name:        "help",
		Usage:       "explain a verb, with examples",
		ArgsUsage:   "[VERB]",
		Description: "  prof help ingest",
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return cli.ShowAppHelp(c)
			}
			verb := c.Args().First()
			if c.App.Command(verb) == nil {
				return usagef("there is no verb %q%s", verb, didYouMean(verb, verbs(c.App)))
			}
			return cli.ShowCommandHelp(c, verb)
		},
		BashComplete: func(c *cli.Context) {
			for _, v := range verbs(c.App) {
				fmt.Fprintln(c.App.Writer, v)
			}
		},
	}
}
