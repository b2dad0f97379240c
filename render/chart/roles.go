package chart

import (
	"slices"

	"prof/render/typeset"
)

// roleGroup is what shares a colour in pictures of kernels.
type roleGroup struct {
	Class string // of the style sheet
	Doc   string // the roles, as they are spelt in kernel_rule, that a picture has of it
	roles []string
}

// roleGroups are the roles of kernel_rule by what they ask of a GPU. A role that is in none of them is among the last.
var roleGroups = []roleGroup{
	{Class: "series-0", roles: []string{"gemm"}},
	{Class: "series-1", roles: []string{"attention"}},
	{Class: "series-2", roles: []string{"convolution"}},
	{Class: "series-3", roles: []string{"collective"}},
	{Class: "series-4", roles: []string{"elementwise", "activation", "rope", "quantisation"}},
	{Class: "series-5", roles: []string{"normalisation", "reduction", "softmax", "scan_sort", "top_k", "sampling"}},
	{Class: "series-6", roles: []string{"copy", "memset", "embedding_gather", "kv_cache"}},
	{Class: "series-7", roles: []string{"moe_routing", "random", "other"}},
}

// noRole is what stands for kernels that no rule knows.
const noRole = "no role known"

// groupOf returns the place of a role's group.
func groupOf(role string) int {
	at := slices.IndexFunc(roleGroups, func(g roleGroup) bool { return slices.Contains(g.roles, role) })
	if at < 0 {
		return len(roleGroups) - 1
	}
	return at
}

// roleLegend names the groups that have any of the roles, with these.
func roleLegend(roles []string) []roleGroup {
	var out []roleGroup
	for i, g := range roleGroups {
		g.Doc = ""
		for _, role := range typeset.Unique(roles) {
			if groupOf(role) != i {
				continue
			}
			if g.Doc != "" {
				g.Doc += ", "
			}
			g.Doc += role
		}
		if g.Doc != "" {
			out = append(out, g)
		}
	}
	return out
}
