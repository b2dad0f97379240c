package tree

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
		key := what{classPath(w.Path, classes), classPath(w.Partner, classes), w.How, w.A.shapes(), w.B.shapes()}
		i, known := at[key]
		if !known {
			at[key] = len(out)
			w.A, w.B, w.Places = summed(nil, w.A), summed(nil, w.B), 1
			out = append(out, w)
			continue
		}
		to := &out[i]
		to.Path, to.Partner = sharedNames(to.Path, w.Path, key.path), sharedNames(to.Partner, w.Partner, key.partner)
		to.A, to.B = summed(to.A, w.A), summed(to.B, w.B)
		to.Places++
	}
	return out
}

func (w *Work) shapes() string {
	if w == nil {
		return ""
	}
	return w.Shapes
}

// summed adds the work of another place to that of others, of which it keeps a copy.
func summed(to, from *Work) *Work {
	if from == nil {
		return to
	}
	if to == nil {
		to = newWork()
		to.Shapes = from.Shapes
	}
	to.add(from)
	return to
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

// sharedNames returns the names in which two paths of the same classes agree, and the class where they do not.
func sharedNames(a, b, class string) string {
	x, y, out := strings.Split(a, Mark), strings.Split(b, Mark), strings.Split(class, Mark)
	for i := range out {
		if x[i] == y[i] {
			out[i] = x[i]
		}
	}
	return strings.Join(out, Mark)
}

// classPath writes * for the number of each module.
func classPath(path string, classes map[string]string) string {
	parts := strings.Split(path, Mark)
	for i, part := range parts {
		names := strings.Split(part, " + ")
		for k, name := range names {
			if class := classes[name]; class != "" {
				names[k] = class + "_*"
			}
		}
		parts[i] = strings.Join(names, " + ")
	}
	return strings.Join(parts, Mark)
}
