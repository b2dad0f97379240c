package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"prof/capture/envvar"
	"prof/schema/rundir"
)

// jobVariables identify a job on each of its nodes. MASTER_ADDR does not: some launchers set it to localhost on the first node.
var jobVariables = []string{"SLURM_JOB_ID", "TORCHELASTIC_RUN_ID", "PBS_JOBID", "LSB_JOBID"}

// maxNodes is more than any job has.
const maxNodes = 1_000_000

// NewNode returns which node of a job a capture is of, where the options of the command line name one; count is 0 when unknown, and job "" when
// the environment is to identify the job. Captures with the same run and job belong together. The error wraps ErrOptions.
func NewNode(rank, count int, run, job string, environ []string) (*rundir.Node, error) {
	var p problems
	p.check(rank >= 0 && rank < maxNodes, "--node-rank is %d: it must be 0, 1, ..., one number for each node", rank)
	p.check(count >= 0 && count <= maxNodes, "--nodes is %d: it must be the number of nodes", count)
	p.check(count == 0 || rank < count, "--node-rank is %d of --nodes %d: ranks begin at 0", rank, count)
	p.check(run != "", "--node-rank needs --run NAME, the same on every node")
	if len(p) > 0 {
		return nil, p.err()
	}
	by := "--run"
	if job != "" {
		by += " and --job"
	}
	for i := 0; job == "" && i < len(jobVariables); i++ {
		if value, _ := envvar.Lookup(environ, jobVariables[i]); value != "" {
			job, by = value, by+" and "+jobVariables[i]
		}
	}
	sum := sha256.Sum256([]byte(run + "\x00" + by + "\x00" + job))
	return &rundir.Node{Rank: rank, Count: count, Job: hex.EncodeToString(sum[:8]), JobBy: by}, nil
}

// NodePart parts the name of a run from the rank of its node in names of folders.
const NodePart = "-node"

// NodeFolder is the name of the folder of a run, or of one of its nodes.
func NodeFolder(run string, n *rundir.Node) string {
	if n == nil {
		return FolderName(run)
	}
	return FolderName(run) + NodePart + strconv.Itoa(n.Rank)
}

// FolderName is the name of a run's folder: the run's name with what file systems do not like in names as -.
func FolderName(run string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r == '+' || r == '=' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, run)
	if name = strings.TrimLeft(name, "."); name == run && len(name) < 200 {
		return name
	}
	sum := sha256.Sum256([]byte(run)) // different names must not share a folder
	return name[:min(len(name), 180)] + "-" + hex.EncodeToString(sum[:4])
}
