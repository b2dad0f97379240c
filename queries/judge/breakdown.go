package judge

import (
	"fmt"

	"prof/schema/terms"
)

// graphReplays is the category of CUDA graphs traced as a whole.
const graphReplays = "(graph replays)"

// categoryWords describe the categories that are neither idle time nor kernel families.
var categoryWords = map[string]string{graphReplays: "CUDA graphs, captured without their kernels", "(copies and fills)": "copies and fills of memory", "(work of others)": "other work on the GPU"}

// categoryText describes a category of time-breakdown.
func categoryText(name, kind, role string) string {
	if words := categoryWords[name]; words != "" {
		return words
	}
	if cause, ok := terms.CauseNamed(name); ok && kind == "idle" {
		return "GPU idle: " + cause.Label
	}
	return familyText(name, role)
}

// topCategories is how many categories a summary names.
const topCategories = 3

func (s *summariser) addBreakdown() error {
	roles, err := s.roles()
	if err != nil {
		return err
	}
	list, err := read(s, categoryRows)
	for i, r := range list {
		if i == topCategories {
			break
		}
		c := TimeCategory{GPUs: len(s.parts[keyOf(r.Stage)]), Stage: r.Stage, Name: r.Category, Kind: r.Kind, TotalNs: r.TotalNs, Query: s.command("time-breakdown")}
		if r.StageNs > 0 {
			c.StageRatio = float64(r.TotalNs) / float64(r.StageNs)
		}
		if c.Words = categoryText(c.Name, c.Kind, roles[c.Name]); c.Kind == "kernels" && roles[c.Name] == "collective" {
			c.Words += s.hiddenText(keyOf(c.Stage))
		}
		s.out.Breakdown = append(s.out.Breakdown, c)
	}
	return err
}

// hiddenText returns how much of the collectives of a stage other kernels hide, over its GPUs: that much nothing would be saved without them.
func (s *summariser) hiddenText(stage string) string {
	hidden, all := 0.0, 0.0
	for _, gpu := range s.parts[stage] {
		over := gpu.named("collective-overlapped").total
		hidden, all = hidden+over, all+over+gpu.named("collective-exposed").total
	}
	if hidden < wordShare*all || all == 0 {
		return ""
	}
	return fmt.Sprintf("; %s of it overlaps other kernels", percentText(hidden/all))
}

// roleWords say in plain words what families of kernels do.
var roleWords = map[string]string{
	"gemm": "matrix products", "attention": "attention (which tokens look at which)", "normalisation": "normalisation", "elementwise": "elementwise arithmetic",
	"activation": "activation functions", "copy": "copies and layout changes", "convolution": "convolutions", "reduction": "reductions (sums, maxima)", "collective": "communication between GPUs",
	"moe_routing": "routing to experts", "softmax": "softmax", "top_k": "top-k selection", "sampling": "sampling the next token", "kv_cache": "writing the KV cache", "embedding_gather": "embedding lookup", "scan_sort": "sorting and scans",
	"rope": "position encoding", "memset": "filling memory", "random": "random numbers",
}

// familyText names a family of kernels, or one kernel that has none, with what it does where that is known.
func familyText(family, role string) string {
	if words := roleWords[role]; words != "" {
		return fmt.Sprintf("%s (kernels of %s)", words, family)
	}
	return "kernels: " + family
}

// roles returns what each family of kernels does.
func (s *summariser) roles() (map[string]string, error) {
	out := map[string]string{}
	in, err := read(s, stageKernelRows)
	if err != nil {
		return nil, err
	}
	all, err := read(s, KernelRows)
	if err != nil {
		return nil, err
	}
	for _, r := range in {
		out[r.Family] = r.Role
	}
	for _, r := range all {
		out[r.Family] = r.Role
	}
	delete(out, "")
	return out, nil
}
