package torch

import (
	"context"

	"prof/ingest/attribute"
)

// storeAccount adds device work up by range and tells what threads did while a GPU was idle.
func (l *loader) storeAccount(ctx context.Context) error {
	labels := &attribute.Labels{}
	s := attribute.Source{Work: []*attribute.WorkList{l.workList(labels)}, Lines: l.lines, Labels: labels, Calls: &l.calls, Overhead: &attribute.Overhead{}, Caller: l.caller}
	sums, account := attribute.AccountFor(s, len(l.spans))
	threads := func(k int32) (pid, tid int32) { return l.threads.list[k].PID, l.threads.list[k].TID }
	if err := l.ids.StoreAccount(ctx, l.target, account, s, threads); err != nil {
		return err
	}
	return l.ids.Store(ctx, l.target, l.name, l.lines, sums)
}

func (l *loader) caller(launch int32) attribute.Caller {
	a := &l.launches[launch]
	return attribute.Caller{Thread: a.thread, Node: a.node, Start: a.start - l.origin, End: a.start - l.origin + a.duration}
}

// workList are all kernels, copies and fills.
func (l *loader) workList(labels *attribute.Labels) *attribute.WorkList {
	list, name := &attribute.WorkList{}, labels.Labeller()
	kinds := make([]string, len(l.opName.List))
	for i, text := range l.opName.List {
		kinds[i] = memopKind(valid(text))[0]
	}
	for i := range int32(l.works()) {
		w := l.work(i)
		k := &l.configs.List[w.config]
		start := w.start - l.origin
		label := attribute.Label{Device: k.device, Kind: attribute.Kernel}
		if i < int32(l.kernels.Len()) {
			label.KernelName = l.kernID[k.name]
		} else {
			label.Kind, label.Operation = attribute.Memop, kinds[k.name]
		}
		list.AddOn(attribute.Stream{Device: k.device, Context: k.context, ID: k.stream}, attribute.Work{Start: start, End: start + w.duration, Launch: w.launch, Label: name.Of(label)})
	}
	return list
}
