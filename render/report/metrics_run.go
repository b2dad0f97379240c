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
		precision = row.Precision
	}
	list := []any{}
	for _, p := range read(m.reader, peakCells) {
		if p.isKnown() && (p.Resource == "dram" || strings.TrimPrefix(p.Resource, "tensor_") == precision) {
			list = append(list, object(peakCells, p))
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
	var last partRow
	for _, row := range read(m.reader, partRows) {
		if parts == nil || row.Stage != last.Stage || row.Device != last.Device {
			last, parts = row, new(typeset.Object)
			list = append(list, new(typeset.Object).PutText("stage", row.Stage).Put("device", row.Device).Put("passes", row.Passes).
				Put("span_total_ms", per(row.SpanTotalNs, nsPerMs)).Put("parts", parts))
		}
		parts.Put(row.Part, new(typeset.Object).PutText("kind", row.Kind).Put("total_ms", per(row.TotalNs, nsPerMs)).
			Put("mean_ms", per(row.MeanNs, nsPerMs)).Put("share", row.ShareRatio))
	}
	m.list("accounting", list, m.whyNone("accounting"))
}
