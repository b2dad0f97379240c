package sqlite

import "context"

// leaves returns a table's leaf pages in key order. Only interior pages are read, apart from the left edge that tells
// how deep the tree is: all leaves of a b-tree lie equally deep.
func (f *File) leaves(ctx context.Context, t *tableInfo) ([]uint32, error) {
	if err := f.checkPage(t, t.root, 1); err != nil {
		return nil, err
	}
	depth, err := f.depth(t)
	if err != nil {
		return nil, err
	}
	if depth == 0 {
		return []uint32{t.root}, nil
	}
	w := walker{ctx: ctx, f: f, t: t}
	for range depth {
		w.bufs = append(w.bufs, make([]byte, f.pageSize))
	}
	w.seen.add(t.root, f.pages)
	if err := w.walk(t.root, depth); err != nil {
		return nil, err
	}
	return w.out, nil
}

// depth counts the interior levels on the left edge of a table's b-tree.
func (f *File) depth(t *tableInfo) (int, error) {
	buf := make([]byte, f.pageSize)
	page := t.root
	for level := range maxDepth {
		n, err := f.readNode(t, page, buf)
		if err != nil {
			return 0, err
		}
		if n.kind == leafPage {
			return level, nil
		}
		child := n.child(0)
		if err := f.checkPage(t, child, page); err != nil {
			return 0, err
		}
		page = child
	}
	return 0, f.fault(t, page, "malformed: the b-tree is deeper than %d levels", maxDepth)
}

// walker collects leaf pages. Each page may be met once only, so that a cycle ends and the leaves are no more than
// the file's pages.
type walker struct {
	ctx  context.Context
	f    *File
	t    *tableInfo
	seen pageSet
	bufs [][]byte // a page for each level
	out  []uint32
}

// walk descends an interior page that lies depth levels above the leaves.
func (w *walker) walk(page uint32, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	n, err := w.f.readNode(w.t, page, w.bufs[depth-1])
	if err != nil {
		return err
	}
	if n.kind != interiorPage {
		return w.f.fault(w.t, page, "malformed: a leaf is %d levels above the others", depth)
	}
	for i := 0; i <= n.cells; i++ {
		child := n.child(i)
		if err := w.f.checkPage(w.t, child, page); err != nil {
			return err
		}
		if !w.seen.add(child, w.f.pages) {
			return w.f.fault(w.t, page, "malformed: page %d occurs twice in the b-tree", child)
		}
		if depth == 1 {
			w.out = append(w.out, child)
		} else if err := w.walk(child, depth-1); err != nil {
			return err
		}
	}
	return nil
}
