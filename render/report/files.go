package report

import (
	"errors"
	"io"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
)

// File is one of the files that a report of a run is made of.
type File struct {
	Name  string
	Doc   string // what it holds, for the help text
	Write func(w io.Writer, r *judge.Report) error
	// Missing says why the run has no such file; "" when it has, and where it is nil every run has.
	Missing func(r *judge.Report) string
}

// ErrMissing is wrapped by errors about a file for which a run has nothing.
var ErrMissing = errors.New("no file")

// Files lists the files of a report in the order in which they are written. To add one, write its function and add a value here.
func Files() []File {
	return []File{
		{Name: "report.html", Doc: "the page: one file that needs no network", Write: file(writeHTML)},
		{Name: "report.md", Doc: "its sections as GitHub's Markdown", Write: file(markdown(reportFile))},
		{Name: "stakeholder_summary.md", Doc: "one page in plain words, for a reader without tools", Write: file(markdown(stakeholderFile))},
		{Name: "operators.md", Doc: "operators of PyTorch by the time of their device work, with memory", Write: file(markdown(operatorFile))},
		{Name: "kernels.md", Doc: "kernels by time, with role, class and occupancy", Write: file(markdown(kernelFile))},
		{Name: "metrics.json", Doc: "the figures by name, null with a reason where not known", Write: file(writeMetrics)},
		{Name: "static_compute.json", Doc: "parameters and operations of the model by its configuration", Write: ofModel(StaticArtifact), Missing: noModel},
		{Name: "static_compute.md", Doc: "the same as Markdown", Write: ofModel(StaticMarkdown), Missing: noModel},
		{Name: "env.json", Doc: "the machine, its software, and every fact of every source", Write: file(writeEnvironment)},
		{Name: "inputs.yaml", Doc: "what the workload was given", Write: file(writeInputs), Missing: noInputs},
		{Name: "config.yaml", Doc: "the options that the run was captured with", Write: file(writeConfig), Missing: noConfig},
		{Name: "assumptions.md", Doc: "what the figures rest on", Write: file(markdown(assumptionsFile))},
	}
}

func ofModel(write func(io.Writer, *judge.Static) error) func(io.Writer, *judge.Report) error {
	return func(w io.Writer, r *judge.Report) error { return write(w, r.Static) }
}

func noModel(r *judge.Report) string {
	if r.Static == nil {
		return noModelGiven
	}
	return ""
}

// document is a file of figures for other programs: what is not known is null, and missing says why, by its path.
type document struct {
	*reader
	out, missing *typeset.Object
}

func newDocument(r *reader) document { return document{r, new(typeset.Object), new(typeset.Object)} }

// need puts a member, and its reason where it is null.
func (d document) need(o *typeset.Object, path, key string, value any, why string) {
	if o.Put(key, value); o.Members[len(o.Members)-1].Value == nil {
		d.missing.Put(path+key, why)
	}
}

// list puts a list; one without members has a reason.
func (d document) list(name string, list []any, why string) {
	d.out.Put(name, list)
	if len(list) == 0 {
		d.missing.Put(name, why)
	}
}

// answer puts the rows of an answer as a list of objects.
func answer[T any](d document, name string, rows frame.Rows[T]) {
	d.list(name, objects(d.reader, rows), d.whyNone(rows.Query))
}
