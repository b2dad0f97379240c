package manifest

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"prof/ingest/load"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// takeNode checks which node of a job the capture is of, and numbers its passes so that no other node has the same numbers.
func (r *Run) takeNode() error {
	n := r.Manifest.Node
	if n == nil {
		return nil
	}
	const most = math.MaxInt32/rundir.NodeStride - 1
	if n.Rank < 0 || n.Rank > most || n.Count < 0 || n.Count > 0 && n.Rank >= n.Count {
		return fmt.Errorf("node.rank is %d of %d nodes, want numbers from 0 to %d, less than node.count", n.Rank, n.Count, most)
	}
	if n.Job == "" {
		return errors.New("node.job is missing")
	}
	for i := range r.Manifest.Passes {
		p := &r.Manifest.Passes[i]
		if p.ID >= rundir.NodeStride {
			return fmt.Errorf("passes[%d].pass is %d, want less than %d in a capture of one node of several", i, p.ID, rundir.NodeStride)
		}
		if p.ID > 0 { // else takePasses says what is wrong
			p.ID += n.Offset()
		}
	}
	return nil
}

// takePasses checks the passes of a run.json and notes which artifact is of which. Errors name the place.
func (r *Run) takePasses() error {
	ids, names := map[int]bool{}, map[string]int{}
	for i, p := range r.Manifest.Passes {
		if p.ID < 1 || p.ID > math.MaxInt32 || ids[p.ID] {
			return fmt.Errorf("passes[%d].pass is %d, want numbers from 1 to %d, each once", i, p.ID, math.MaxInt32)
		}
		ids[p.ID] = true
		if p.Name == "" || p.Tool == "" || p.Status == "" {
			return fmt.Errorf("passes[%d] has no name, tool or status", i)
		}
		if first, ok := names[p.Name]; ok {
			return fmt.Errorf("passes[%d].name is %.200q, as of passes[%d]: want each once", i, p.Name, first)
		}
		names[p.Name] = i
		err := r.takeFiles(p)
		if err == nil {
			err = checkNumbers(p)
		}
		if err != nil {
			return fmt.Errorf("passes[%d]%w", i, err)
		}
	}
	return nil
}

// checkKept checks that kept files are of passes that are there.
func (r *Run) checkKept() error {
	seen := map[string]bool{}
	for i, k := range r.Manifest.Kept {
		switch {
		case k.Path == "" || !filepath.IsLocal(filepath.FromSlash(k.Path)) || seen[k.Path]:
			return fmt.Errorf("kept[%d].path is %.200q, want paths inside the working folder, each once", i, k.Path)
		case !slices.ContainsFunc(r.Manifest.Passes, func(p rundir.Pass) bool { return p.ID == k.Pass }):
			return fmt.Errorf("kept[%d].pass is %d, and there is no such recording", i, k.Pass)
		case k.Size != nil && *k.Size < 0:
			return fmt.Errorf("kept[%d].size_bytes is %d, want a number of 0 or more, or none", i, *k.Size)
		}
		seen[k.Path] = true
	}
	return nil
}

// takeFiles notes the artifacts of a pass.
func (r *Run) takeFiles(p rundir.Pass) error {
	files := slices.Concat(p.Artifacts, p.StageTimes, []string{p.Samples})
	if p.Serving != nil {
		files = append(files, p.Serving.Results...)
	}
	for _, file := range files {
		if file != "" && !filepath.IsLocal(filepath.FromSlash(file)) {
			return fmt.Errorf(" names %.200q, which is not inside its folder", file)
		}
	}
	for i, file := range p.Artifacts {
		key := identity(r.path(file))
		if other, ok := r.passes[key]; ok && other != p.ID {
			return fmt.Errorf(".artifacts[%d] is %.200q, which recording %d names too: want each file in one recording", i, file, other)
		}
		r.passes[key] = p.ID
	}
	return nil
}

// checkTime checks a time that has a name.
func checkTime(name string, at time.Time) error {
	if !load.IsWallClock(at) {
		return fmt.Errorf("%s is %s, want a time from 1970 to 2261", name, at.Format(time.RFC3339))
	}
	return nil
}

// checkNumbers checks what is counted and timed of a pass.
func checkNumbers(p rundir.Pass) error {
	if p.StartedAt.IsZero() {
		return errors.New(" has no started_at")
	}
	if err := checkTime(".started_at", p.StartedAt); err != nil {
		return err
	}
	if p.Repeat < 1 || p.Repeat > math.MaxInt32 {
		return fmt.Errorf(".repeat is %d, want a number from 1 to %d", p.Repeat, math.MaxInt32)
	}
	if c := p.ExitCode; c != nil && (*c < math.MinInt32 || *c > math.MaxInt32) {
		return fmt.Errorf(".exit_code is %d, want a 32-bit number", *c)
	}
	for _, f := range []struct {
		name  string
		value *int64
	}{{"duration_ns", p.DurationNs}, {"workload_ns", p.WorkloadNs}, {"artifact_bytes", p.ArtifactBytes}} {
		if f.value != nil && *f.value < 0 {
			return fmt.Errorf(".%s is %d, want a number of 0 or more, or none", f.name, *f.value)
		}
	}
	return nil
}

// checkDevices checks that GPUs can be told apart by NVML's numbers.
func checkDevices(devices []rundir.Device) error {
	seen := map[int]bool{}
	for i, d := range devices {
		if d.Index < 0 || d.Index > math.MaxInt32 || seen[d.Index] {
			return fmt.Errorf("devices[%d].device is %d, want numbers from 0 to %d, each once", i, d.Index, math.MaxInt32)
		}
		seen[d.Index] = true
	}
	return nil
}

// checkInputs checks that inputs can be told apart by their ids, as they are stored, and what is counted of them.
func checkInputs(inputs []rundir.Input) error {
	seen := map[string]bool{}
	for i, in := range inputs {
		id := mask.Stored(in.ID)
		if seen[id] || in.ID == "" && len(in.Tags) > 0 {
			return fmt.Errorf("inputs[%d].id is %.200q, want each once", i, id)
		}
		seen[id] = in.ID != ""
		for _, f := range []struct {
			name  string
			value *int64
		}{{"size_bytes", in.Size}, {"width", in.Width}, {"height", in.Height}, {"pages", in.Pages}, {"tokens", in.Tokens}} {
			if f.value != nil && (*f.value < 0 || *f.value == 0 && f.name != "size_bytes") {
				return fmt.Errorf("inputs[%d].%s is %d", i, f.name, *f.value)
			}
		}
	}
	return nil
}
