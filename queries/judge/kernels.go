package judge

import (
	"fmt"

	"prof/queries/frame"
)

// mostKernels is how many kernels a summary names.
const mostKernels = 3

// addKernels names the kernels that take most, each with the stage in which most of its time is.
func (s *summariser) addKernels() error {
	list, err := s.rows("top-kernels", "kernel", "role", "total_ns", "mean_ns", "calls", "share_ratio")
	if err != nil {
		return err
	}
	stages, err := s.rows("stage-kernels", "stage", "kernel", "total_ns")
	if err != nil {
		return err
	}
	for _, r := range list[:min(mostKernels, len(list))] {
		k := TopKernel{Name: r.Text("kernel"), Role: r.Text("role"), TotalNs: r.Count("total_ns"), MeanNs: r.Amount("mean_ns"), Calls: r.Count("calls"), ShareRatio: r.Amount("share_ratio"),
			Query: fmt.Sprintf("prof query top-kernels --run %s", ShellWord(s.name))}
		if r.Has("bound") {
			k.Bound, k.Limiter = r.Text("bound"), r.Text("limiter")
		}
		k.Stage = mainStage(k, stages)
		s.out.Kernels = append(s.out.Kernels, k)
	}
	return nil
}

// mainStage is the stage in which most of a kernel's time is; "" outside every stage, and where the rows of stages, which are not all,
// cannot tell.
func mainStage(k TopKernel, stages []frame.Record) string {
	most, rest, stage := int64(0), k.TotalNs, ""
	for _, in := range stages {
		if in.Text("kernel") != k.Name {
			continue
		}
		total := in.Count("total_ns")
		if rest -= total; total > most {
			most, stage = total, in.Text("stage")
		}
	}
	if stage == "(none)" || rest >= most {
		return ""
	}
	return stage
}
