package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"prof/queries"
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

func (p *program) helpCommand() *cli.Command {
	return &cli.Command{
		Name:        "help",
		Usage:       "explain a verb, with examples",
		ArgsUsage:   "[VERB [QUERY]]",
		Description: "  prof help ingest\n  prof help query top-kernels",
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return cli.ShowAppHelp(c)
			}
			cmd, _, left := named(c.App, c.Args().Slice())
			switch {
			case cmd == nil:
				return p.noVerb(c.App, c.Args().First())
			case len(left) > 0 && len(cmd.Subcommands) > 0:
				_, err := queries.Find(left[0])
				return err
			case cmd.Hidden:
				cmd.Flags = append(cmd.Flags, cli.HelpFlag) // the library adds it where the command runs
				cli.HelpPrinter(c.App.Writer, cli.CommandHelpTemplate, cmd)
				return nil
			}
			return cli.ShowCommandHelp(c, cmd.Name)
		},
	}
}
