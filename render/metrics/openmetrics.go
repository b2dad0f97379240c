package metrics

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// writeOpenMetrics writes the text format of OpenMetrics 1.0: a family for each metric, all gauges, and a time for each point.
func writeOpenMetrics(w io.Writer, list []Metric, run Run) error {
	out := bufio.NewWriter(w)
	at := strconv.FormatFloat(float64(run.At.UnixMicro())/1e6, 'f', -1, 64)
	for _, m := range list {
		name := m.fullName()
		out.WriteString("# TYPE " + name + " gauge\n")
		if m.Unit.Open != "" {
			out.WriteString("# UNIT " + name + " " + m.Unit.Open + "\n")
		}
		out.WriteString("# HELP " + name + " " + escaped.Replace(m.Doc) + "\n")
		for _, p := range m.Points {
			out.WriteString(name + "{")
			for i, l := range p.Labels {
				if i > 0 {
					out.WriteString(",")
				}
				out.WriteString(l[0] + `="` + escaped.Replace(strings.ToValidUTF8(l[1], "\uFFFD")) + `"`)
			}
			out.WriteString("} " + strconv.FormatFloat(p.Value, 'g', -1, 64) + " " + at + "\n")
		}
	}
	out.WriteString("# EOF\n")
	return out.Flush()
}

// escaped is text as OpenMetrics writes it, in labels and in HELP.
var escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
