package report

import (
	"fmt"
	"strings"

	"prof/render/typeset"
)

// peaks are the rows of the table of peaks that utilisation is judged by, of one GPU each.
func (m *metrics) peaks() {
	precision := ""
	if row, ok := m.judged(); ok {
		precision = row.Text("precision")
	}
	columns := []string{"device", "resource", "accumulate", "peak_flop_per_s", "peak_bytes_per_s", "origin", "doc", "reference", "checked_on"}
	list := []any{}
	for _, p := range m.rows("peaks", columns...) {
		resource := p.Text("resource")
		of := resource == "dram" || strings.TrimPrefix(resource, "tensor_") == precision
		if of && (p.value("peak_flop_per_s") != nil || p.value("peak_bytes_per_s") != nil) {
			list = append(list, p.object(columns...))
		}
	}
	m.list("peaks_of_one_gpu", list, m.lackOfTable())
}

// lackOfTable says why the table of peaks has none for the run.
func (r *reader) lackOfTable() string {
	all := r.gpuNames()
	if len(all) == 0 {
		return "no source names a GPU"
	}
	for _, g := range workingGPUs(all) {
		if len(g.names) == 0 {
			return g.saying()
		}
	}
	name, _ := gpuOf(all) // all that worked have one
	return fmt.Sprintf("the table of peaks has none of %v in the precision of the run", name)
}

// accounting splits the time of each stage on each GPU into its parts.
func (m *metrics) accounting() {
	list := []any{}
	var parts *typeset.Object
	var last [2]any
	for _, row := range m.rows("accounting", "stage", "device", "part", "kind", "total_ns", "share_ratio", "mean_ns", "passes", "span_total_ns") {
		if key := [2]any{row.value("stage"), row.value("device")}; parts == nil || key != last {
			last, parts = key, new(typeset.Object)
			list = append(list, new(typeset.Object).Put("stage", key[0]).Put("device", key[1]).Put("passes", row.value("passes")).
				Put("span_total_ms", row.per("span_total_ns", nsPerMs)).Put("parts", parts))
		}
		parts.Put(row.Text("part"), new(typeset.Object).Put("kind", row.value("kind")).Put("total_ms", row.per("total_ns", nsPerMs)).
			Put("mean_ms", row.per("mean_ns", nsPerMs)).Put("share", row.value("share_ratio")))
	}
	m.list("accounting", list, m.whyNone("accounting"))
}
