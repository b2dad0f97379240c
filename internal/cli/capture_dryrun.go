package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/capture"
	"prof/capture/plan"
	"prof/internal/mask"
	"prof/render/typeset"
	"prof/schema/rundir"
)

// captureDryRun prints the command line of each recording, and what is to be known of it as comments.
func (p *program) captureDryRun(c *cli.Context, o plan.Options, setup capture.Setup) error {
	planned, err := capture.DryRun(c.Context, o, setup)
	if err != nil {
		return err
	}
	var b strings.Builder
	for i, r := range planned {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "# %s of %d: %s\n", r.Name, r.Of, plannedUnder(r.Tool))
		if r.Chosen && c.Bool("no-ingest") && r.Missing == "" {
			r.Missing = notChosen
		}
		if r.Missing != "" {
			fmt.Fprintf(&b, "# cannot run: %s\n", typeset.Whole(r.Missing))
			continue
		}
		if r.Chosen {
			fmt.Fprintf(&b, "# --kernel-id follows, with the launches that ncu-plan chooses from the timeline (--ncu-top %d, --ncu-launches %d)\n", o.Ncu.Top, o.Ncu.Launches)
		}
		if r.IfBudget {
			b.WriteString("# only if --budget leaves time for it\n")
		}
		for _, v := range r.Env {
			fmt.Fprintf(&b, "# added to the workload's environment: %s\n", typeset.Whole(mask.Command([]string{v})))
		}
		b.WriteString(typeset.Whole(mask.Command(r.Argv)) + "\n")
	}
	_, err = p.out.Write([]byte(b.String()))
	return err
}

// plannedUnder says what a recording runs the workload under.
func plannedUnder(tool string) string {
	switch tool {
	case rundir.ToolNone:
		return "without a profiler"
	case rundir.ToolNsys:
		return "under Nsight Systems"
	case rundir.ToolNcu:
		return "under Nsight Compute"
	case rundir.ToolTorch:
		return "under the PyTorch profiler"
	}
	return "under prof's own tracer"
}
