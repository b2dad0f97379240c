package diff

// byGraph matches the kernels that are left of a side with replays of CUDA graphs that only the other side has: traced as a whole, these do
// not tell their kernels.
func (m *matcher) byGraph(list []pair) {
	for _, p := range list {
		if p.key.kind != "graph" || (p.a == nil) == (p.b == nil) {
			continue
		}
		graph := &mover{key: p.key, name: p.key.name}
		if p.a == nil {
			graph.total = p.b.tally.total
			m.setIfAlike(open(m.gone), []*mover{graph})
		} else {
			graph.total = p.a.tally.total
			m.setIfAlike([]*mover{graph}, open(m.new))
		}
	}
}

func (m *matcher) setIfAlike(gone, added []*mover) {
	before, after := sum(gone)*m.passesB, sum(added)*m.passesA
	if len(gone) > 0 && len(added) > 0 && before <= mostApart*after && after <= mostApart*before {
		m.set(inGraph, gone, added)
	}
}
