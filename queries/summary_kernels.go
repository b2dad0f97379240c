package queries

import "fmt"

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
		k := TopKernel{Name: r.text("kernel"), Role: r.text("role"), TotalNs: r.count("total_ns"), MeanNs: r.amount("mean_ns"), Calls: r.count("calls"), ShareRatio: r.amount("share_ratio"),
			Query: fmt.Sprintf("prof query top-kernels --run %s", ShellWord(s.name))}
		if r.f.Index("bound") >= 0 {
			k.Bound, k.Limiter = r.text("bound"), r.text("limiter")
		}
		k.Stage = mainStage(k, stages)
		s.out.Kernels = append(s.out.Kernels, k)
	}
	return nil
}

// mainStage is the stage in which most of a kernel's time is; "" outside every stage, and where the rows of stages, which are not all,
// cannot tell.
func mainStage(k TopKernel, stages []record) string {
	most, rest, stage := int64(0), k.TotalNs, ""
	for _, in := range stages {
		if in.text("kernel") != k.Name {
			continue
		}
		total := in.count("total_ns")
		if rest -= total; total > most {
			most, stage = total, in.text("stage")
		}
	}
	if stage == "(none)" || rest >= most {
		return ""
	}
	return stage
}
