package render

import (
	"bytes"
	"fmt"
	"io"

	"prof/queries/frame"
)

// wholeRun is what the query accounting calls all work of a capture on a GPU.
const wholeRun = "(run)"

// FindingSpans writes what findings are about, from the rows of the query accounting: the run's name, and a line for each stage on each
// GPU with its span and how much of that the GPU was busy; of a run without stages a line for each GPU. stage picks one as it does in
// findings; "" is all of them. Notes that the lines are to be read with follow.
func FindingSpans(w io.Writer, run, stage string, accounting *frame.Frame, notes []string, o Options) error {
	if err := check(accounting); err != nil {
		return err
	}
	spans, err := spansOf(accounting)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	writeWrapped(&out, "", "run "+neutral(run), o.Width, style(o, bold))
	share := frame.Column{Name: "busy_ratio", Type: frame.Float, Unit: frame.Ratio}
	for _, s := range spans {
		if stage != "" && stage != s.asked() || s.ns <= 0 {
			continue
		}
		line := fmt.Sprintf("%s: %s on GPU %d, busy %s", stageWords(s.stage), spanWords(alone(frame.Column{Name: "span_ns", Type: frame.Int, Unit: frame.Ns}, s.ns), s.stage, s.passes), s.device,
			alone(share, float64(s.busy)/float64(s.ns)))
		writeWrapped(&out, "", line, o.Width, style(Options{}, dim))
	}
	for _, note := range notes {
		writeWrapped(&out, "note: ", neutral(note), o.Width, style(o, dim))
	}
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}

// span is the time that findings of a stage on a GPU are shares of.
type span struct {
	stage            any // nil: all device work
	device           int64
	passes, ns, busy int64
}

// asked is how findings are asked for the stage.
func (s span) asked() string {
	if s.stage == nil {
		return "(none)"
	}
	return fmt.Sprint(s.stage)
}

// spansOf adds up the parts of each stage on each GPU: of stages where the run has any, else of the whole run.
func spansOf(f *frame.Frame) ([]span, error) {
	records, err := recordsOf(f, "stage", "device", "kind", "total_ns", "passes", "span_total_ns")
	if err != nil {
		return nil, err
	}
	var stages, whole []span
	for _, r := range records {
		list, s := &stages, span{stage: r.text("stage"), device: r.int("device"), passes: r.int("passes"), ns: r.int("span_total_ns")}
		if s.stage == wholeRun {
			list, s.stage = &whole, nil
		}
		last := len(*list) - 1
		if last < 0 || (*list)[last].stage != s.stage || (*list)[last].device != s.device { // rows are in this order
			*list = append(*list, s)
			last++
		}
		if r.text("kind") == "busy" {
			(*list)[last].busy += r.int("total_ns")
		}
	}
	if len(stages) > 0 {
		return stages, nil
	}
	return whole, nil
}
