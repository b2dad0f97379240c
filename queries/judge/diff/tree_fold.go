package diff

import "strings"

// folded makes one of what is the same in several instances of modules, such as the layers of a model.
func (t twins) folded(roots ...*node) twins {
	classes := map[string]string{}
	for _, n := range roots {
		n.classes(classes)
	}
	type what struct{ path, partner, how, shapesA, shapesB string }
	at := map[what]int{}
	var out twins
	for _, w := range t {
		key := what{classPath(w.path, classes), classPath(w.partner, classes), w.how, w.shapesA, w.shapesB}
		i, known := at[key]
		if !known {
			at[key] = len(out)
			w.a, w.b = w.a.copied(), w.b.copied()
			w.kernelsA, w.kernelsB, w.places = copied(w.kernelsA), copied(w.kernelsB), 1
			out = append(out, w)
			continue
		}
		to := &out[i]
		to.path, to.partner = sharedNames(to.path, w.path, key.path), sharedNames(to.partner, w.partner, key.partner)
		to.a, to.b = summed(to.a, w.a), summed(to.b, w.b)
		addTo(to.kernelsA, w.kernelsA)
		addTo(to.kernelsB, w.kernelsB)
		to.places++
	}
	return out
}

// summed adds up the work of two places.
func summed(to, from *amount) *amount {
	if to == nil {
		return from.copied()
	}
	if from != nil {
		to.merge(from)
	}
	return to
}

func (a *amount) copied() *amount {
	if a == nil {
		return nil
	}
	out := &amount{}
	out.merge(a)
	return out
}

func copied(kernels map[string]int64) map[string]int64 {
	out := map[string]int64{}
	addTo(out, kernels)
	return out
}

// classes gives the classes of all modules in a node by their names.
func (n *node) classes(to map[string]string) {
	for _, c := range n.inside {
		if c.isModule && c.class != c.name {
			to[c.name] = c.class
		}
		c.classes(to)
	}
}

// sharedNames gives the names in which two paths of the same classes agree, and the class where they do not.
func sharedNames(a, b, class string) string {
	x, y, out := strings.Split(a, pathMark), strings.Split(b, pathMark), strings.Split(class, pathMark)
	for i := range out {
		if x[i] == y[i] {
			out[i] = x[i]
		}
	}
	return strings.Join(out, pathMark)
}

// classPath writes * for the number of each module.
func classPath(path string, classes map[string]string) string {
	parts := strings.Split(path, pathMark)
	for i, part := range parts {
		names := strings.Split(part, " + ")
		for k, name := range names {
			if class := classes[name]; class != "" {
				names[k] = class + "_*"
			}
		}
		parts[i] = strings.Join(names, " + ")
	}
	return strings.Join(parts, pathMark)
}
