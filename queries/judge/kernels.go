package judge

import (
	"fmt"
)

// mostKernels is how many kernels a summary names.
const mostKernels = 3

// addKernels names the kernels that take most, each with the stage in which most of its time is.
func (s *summariser) addKernels() error {
	list, err := read(s, KernelRows)
	if err != nil {
		return err
	}
	stages, err := read(s, stageKernelRows)
	if err != nil {
		return err
	}
	top := s.answer(KernelRows.Query)
	isMeasured := top != nil && top.Warns("left-out")
	for _, r := range list[:min(mostKernels, len(list))] {
		k := TopKernel{Name: r.Kernel, Role: r.Role, TotalNs: r.TotalNs, MeanNs: r.MeanNs, Calls: r.Calls, ShareRatio: r.ShareRatio, IsMeasured: isMeasured, IsForeign: s.isForeign, Bound: r.Bound, Limiter: r.Limiter,
			Query: fmt.Sprintf("prof query top-kernels --run %s", ShellWord(s.name))}
		k.Stage = mainStage(k, stages)
		s.out.Kernels = append(s.out.Kernels, k)
	}
	return nil
}

// mainStage is the stage in which most of a kernel's time is; "" outside every stage, and where the rows of stages, which are not all,
// cannot tell.
func mainStage(k TopKernel, stages []stageKernelRow) string {
	most, rest, stage := int64(0), k.TotalNs, ""
	for _, in := range stages {
		if in.Kernel != k.Name {
			continue
		}
		total := in.TotalNs
		if rest -= total; total > most {
			most, stage = total, in.Stage
		}
	}
	if stage == "(none)" || rest >= most {
		return ""
	}
	return stage
}
