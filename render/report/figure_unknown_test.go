package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/chart"
	"prof/render/rendertest"
)

// TestFiguresOfUnknownNumbers holds that no number that is not known or not defined stops a report: figures do without it.
func TestFiguresOfUnknownNumbers(t *testing.T) {
	made := 0
	for _, f := range []*frame.Frame{accountingFrame(), rendertest.StagesFrame(), rendertest.StageKernelsFrame(), rendertest.RooflineFrame(), rendertest.DurationsFrame(), rendertest.SamplesFrame(), rendertest.RankPassesFrame()} {
		rendertest.Changed(f, false, func(what string, f *frame.Frame) {
			made++
			r := &judge.Report{Name: "a", Frames: map[string]*frame.Frame{"ceilings": rendertest.CeilingsFrame(), "throttling": rendertest.ThrottlingFrame()}}
			var to chart.Figures
			if err := chart.Makers[f.Query](r, f, &to); err != nil {
				t.Errorf("%s: %s: %v", f.Query, what, err)
			}
			if text := fmt.Sprintf("%+v %+v %+v %+v %+v %+v %+v", to.Skew, to.Bars, to.Stages, to.Kernels, to.Roofline, to.Durations, to.Samples); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%s: %s: the picture has it", f.Query, what)
			}
		})
	}
	rendertest.Changed(rendertest.CeilingsFrame(), false, func(what string, f *frame.Frame) {
		var to chart.Figures
		if err := chart.Makers["roofline"](&judge.Report{Frames: map[string]*frame.Frame{"ceilings": f}}, rendertest.RooflineFrame(), &to); err != nil {
			t.Errorf("ceilings: %s: %v", what, err)
		}
	})
	if made < 100 {
		t.Errorf("%d frames were tried", made)
	}
}

// TestFiguresNameTheColumn holds that a column that is not there is an error that says which.
func TestFiguresNameTheColumn(t *testing.T) {
	for query, make := range chart.Makers {
		if err := make(&judge.Report{}, rendertest.FrameOf(query, "other", []any{"x"}), &chart.Figures{}); err == nil || !strings.HasPrefix(err.Error(), "query "+query+": no column ") {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// TestFilesOfUnknown holds that files are written whatever of an answer is NULL, that metrics.json and env.json say why, and that none
// holds what no number is.
func TestFilesOfUnknown(t *testing.T) {
	whole := fileReport()
	for key, f := range whole.Frames {
		rendertest.Changed(f, true, func(what string, f *frame.Frame) {
			r := *whole
			r.Frames = map[string]*frame.Frame{}
			for k, v := range whole.Frames {
				r.Frames[k] = v
			}
			r.Frames[key] = f
			for name, write := range fileWriters {
				var out bytes.Buffer // once is enough: thousands of reports are tried
				if err := file(write)(&out, &r); err != nil {
					t.Errorf("%s: %s: %s: %v", name, key, what, err)
				}
				text := out.String()
				if strings.Contains(text, "NaN") || strings.Contains(text, "Inf ") || strings.Contains(text, "Inf,") {
					t.Errorf("%s: %s: %s: it is in the file", name, key, what)
				}
				if strings.HasSuffix(name, ".json") {
					wantReasons(t, fmt.Sprintf("%s: %s: %s", name, key, what), text)
				}
			}
		})
	}
	fileText(t, whole, markdown(kernelFile))
}

// wantReasons holds that each null of a file of JSON has a reason.
func wantReasons(t *testing.T, what, text string) {
	t.Helper()
	o := parsed(t, text)
	missing := o["missing"].(map[string]any)
	delete(o, "missing")
	found := map[string]bool{}
	nulls("", o, found)
	for path := range found {
		// What a query itself says of its rows, and free texts, are null where it says nothing.
		if why, _ := missing[path].(string); why == "" && !slices.ContainsFunc([]string{"tags", ".basis", ".n", ".part_of", "prof_version", "model_dims.name", "model_dims.family", "vocab_size", "parameter_count"}, func(end string) bool { return strings.HasSuffix(path, end) }) {
			t.Errorf("%s: %s is null without a reason", what, path)
		}
	}
}
