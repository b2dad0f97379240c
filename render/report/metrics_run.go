package report

import (
	"fmt"
	"strings"

	"prof/render/typeset"
)

// run says which run the figures are of.
func (m *metrics) run(out *typeset.Object) error {
	o, err := runObject(m.r, func(key, why string) { m.lack("run."+key, why) })
	out.Put("run", o)
	return err
}

// utc writes a time of the warehouse as RFC 3339.
func utc(v any) any {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	return strings.Replace(s, " ", "T", 1) + "Z"
}

// peaks are the rows of the table of peaks that utilisation is judged by, of one GPU each.
func (m *metrics) peaks(out *typeset.Object) error {
	row, ok, err := m.judged()
	if err != nil {
		return err
	}
	precision := ""
	if ok {
		precision = row.Text("precision")
	}
	rows, err := answers(m.r, "peaks", "device", "resource", "accumulate", "peak_flop_per_s", "peak_bytes_per_s", "origin", "doc", "reference", "checked_on")
	if err != nil {
		return err
	}
	list := []any{}
	for _, p := range rows {
		resource := p.Text("resource")
		if resource != "dram" && strings.TrimPrefix(resource, "tensor_") != precision || p.value("peak_flop_per_s") == nil && p.value("peak_bytes_per_s") == nil {
			continue
		}
		o := &typeset.Object{}
		for _, c := range []string{"device", "resource", "accumulate", "peak_flop_per_s", "peak_bytes_per_s", "origin", "doc", "reference", "checked_on"} {
			if v := p.value(c); v != nil {
				o.Put(c, v)
			}
		}
		list = append(list, o)
	}
	out.Put("peaks_of_one_gpu", list)
	if len(list) == 0 {
		why, err := m.lackOfTable()
		if err != nil {
			return err
		}
		m.lack("peaks_of_one_gpu", why)
	}
	return nil
}

// lackOfTable says why the table of peaks has none for the run.
func (m *metrics) lackOfTable() (string, error) {
	all, err := gpuNames(m.r)
	if err != nil || len(all) == 0 {
		return "no source names a GPU", err
	}
	for _, g := range workingGPUs(all) {
		if len(g.names) == 0 {
			return g.saying(), nil
		}
	}
	name, _ := gpuOf(all) // all that worked have one
	return fmt.Sprintf("the table of peaks has none of %v in the precision of the run", name), nil
}

// accounting splits the time of each stage on each GPU into its parts.
func (m *metrics) accounting(out *typeset.Object) error {
	rows, err := answers(m.r, "accounting", "stage", "device", "part", "kind", "total_ns", "share_ratio", "mean_ns", "passes", "span_total_ns")
	if err != nil {
		return err
	}
	list := []any{}
	var parts *typeset.Object
	var last [2]any
	for _, row := range rows {
		if key := [2]any{row.value("stage"), row.value("device")}; parts == nil || key != last {
			last, parts = key, &typeset.Object{}
			list = append(list, (&typeset.Object{}).Put("stage", key[0]).Put("device", key[1]).Put("passes", row.value("passes")).Put("span_total_ms", row.per("span_total_ns", nsPerMs)).Put("parts", parts))
		}
		parts.Put(row.Text("part"), (&typeset.Object{}).Put("kind", row.value("kind")).Put("total_ms", row.per("total_ns", nsPerMs)).Put("mean_ms", row.per("mean_ns", nsPerMs)).Put("share", row.value("share_ratio")))
	}
	out.Put("accounting", list)
	if len(list) == 0 {
		m.lack("accounting", whyNone(m.r, "accounting"))
	}
	return nil
}

// conservation proves that attribution neither loses nor doubles kernel time, in each kind of capture.
func (m *metrics) conservation(out *typeset.Object) error {
	columns := []string{"capture", "kernel_count", "kernel_sum_ns", "attributed_count", "attributed_ns", "outside_count", "outside_ns", "unlaunched_count", "unlaunched_ns", "is_exact"}
	rows, err := answers(m.r, "conservation", columns...)
	if err != nil {
		return err
	}
	list := []any{}
	for _, row := range rows {
		o := &typeset.Object{}
		for _, c := range columns {
			o.Put(c, row.value(c))
		}
		list = append(list, o)
	}
	out.Put("conservation", list)
	if len(list) == 0 {
		m.lack("conservation", whyNone(m.r, "conservation"))
	}
	return nil
}
