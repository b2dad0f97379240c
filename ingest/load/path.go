package load

import (
	"strings"
	"sync"
)

// Paths interns the paths of nested, normalised range names of a run. It is for one goroutine; others may ask for All.
type Paths struct {
	ids  map[pathKey]int32
	mu   sync.Mutex
	list []Path
}

type pathKey struct {
	parent       int32
	domain, name string
}

// Path is one row of range_path. Its id is its place in All plus 1.
type Path struct {
	Parent       int32 // 0 for an outermost range
	Depth        int32
	Domain, Name string
}

// Add returns the id of the path that goes from parent (0: none) to a range of that normalised name.
func (p *Paths) Add(parent int32, domain, name string) int32 {
	k := pathKey{parent, domain, name}
	if id, ok := p.ids[k]; ok {
		return id
	}
	if p.ids == nil {
		p.ids = map[pathKey]int32{}
	}
	depth := int32(1)
	if parent > 0 {
		depth = p.list[parent-1].Depth + 1
	}
	p.mu.Lock()
	p.list = append(p.list, Path{parent, depth, domain, name})
	p.mu.Unlock()
	id := int32(len(p.list))
	p.ids[k] = id
	return id
}

// All returns the paths by id, a parent always before its children.
func (p *Paths) All() []Path {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list
}

// Lineage returns the ids of a path's prefixes, outermost first and itself last.
func (p *Paths) Lineage(id int32) []int32 {
	out := make([]int32, p.list[id-1].Depth)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = id
		id = p.list[id-1].Parent
	}
	return out
}

// String joins a path's names, outermost first.
func (p *Paths) String(id int32) string {
	var names []string
	for _, i := range p.Lineage(id) {
		names = append(names, p.list[i-1].Name)
	}
	return strings.Join(names, " > ")
}
