package report

import (
	"prof/queries/judge"
	"prof/render/typeset"
	"prof/render/words"
)

// takeaways say what bounds each stage, and what the time goes to.
func (p *stakeholder) takeaways() error {
	p.title("Stage Takeaways")
	for _, s := range p.g.Stages {
		if s.Bound == judge.UnknownBound.Name() {
			p.line("- **What bounds %s is not known**: %s. See %s", typeset.MarkdownText(s.Name), typeset.MarkdownText(s.whole()), typeset.MarkdownSpan(s.Command))
			continue
		}
		p.line("- **%s is %s**: %s. %s. See %s", typeset.MarkdownText(typeset.Sentence(s.Name)), typeset.MarkdownText(s.Bound), typeset.MarkdownText(s.Meaning), typeset.MarkdownText(typeset.Sentence(s.whole())), typeset.MarkdownSpan(s.Command))
	}
	if len(p.g.Stages) == 0 {
		p.line("%s", typeset.MarkdownLine(p.g.Lead))
	}
	writeBreakdown(&p.out, "\nMost of the time goes to:\n\n", p.g.Breakdown)
	return nil
}

// topRows is how many operators and kernels the page names.
const topRows = 5

func (p *stakeholder) operators() error {
	p.title("Top Operators")
	list, err := answers(p.r, "top-operators", "operator", "calls", "total_cpu_ns", "total_device_ns")
	if err != nil || len(list) == 0 {
		p.line("%s", typeset.MarkdownLine(typeset.Neutral(noOperators(p.r))))
		return err
	}
	var rows [][]string
	for _, r := range list[:min(len(list), topRows)] {
		rows = append(rows, []string{typeset.MarkdownCode(typeset.Shorten(typeset.Neutral(words.OperatorName(r.Text("operator"))), typeset.LongName, 60)), r.fixed("total_cpu_ns", nsPerMs, 3), r.fixed("total_device_ns", nsPerMs, 3), r.word("calls"), meanOfCalls("total_cpu_ns")(r)})
	}
	p.table([]string{"Operator", "Total ms", "CUDA ms", "Calls", "Mean ms"}, rows)
	p.line("\nAn operator is a step of the model's program, such as a matrix product; total is its time on the CPU, CUDA that of its work on the GPU. Query %s", typeset.MarkdownSpan(sourceOf(p.r.Frame("top-operators"))))
	return p.otherRuns()
}

// otherRuns says that operators and kernels are of two captures, where they are.
func (p *stakeholder) otherRuns() error {
	sources, err := answers(p.r, "sources", "kind")
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, s := range sources {
		has[s.Text("kind")] = true
	}
	if has["nsys"] && has["torch"] {
		p.line("\nOperators are of the trace of the PyTorch profiler, all other times of the capture of Nsight Systems: these are two executions of the program, which need not have as many passes.")
	}
	return nil
}

func (p *stakeholder) kernels() error {
	p.title("Top Kernels")
	list, err := answers(p.r, "top-kernels", "kernel", "calls", "total_ns", "mean_ns")
	if err != nil || len(list) == 0 {
		p.line("No kernels: %s", typeset.MarkdownText(typeset.Neutral(whyNone(p.r, "top-kernels"))))
		return err
	}
	on, err := kernelDevices(p.r)
	if err != nil {
		return err
	}
	list = list[:min(len(list), topRows)]
	var names []string
	for _, r := range list {
		names = append(names, typeset.Neutral(r.Text("kernel")))
	}
	short := typeset.Kernels(names, typeset.LongName)
	var rows [][]string
	for i, r := range list {
		rows = append(rows, []string{typeset.MarkdownCode(short(names[i])), r.fixed("total_ns", nsPerMs, 3), r.word("calls"), r.fixed("mean_ns", nsPerMs, 6), deviceList(on[r.Text("kernel")])})
	}
	p.table([]string{"Kernel", "Total ms", "Calls", "Mean ms", "Device"}, rows)
	p.line("\nA kernel is a program that runs on the GPU; long names are shortened here, kernels.md has them in full. Query %s", typeset.MarkdownSpan(sourceOf(p.r.Frame("top-kernels"))))
	return nil
}

// recommendations are what to try, each with its number and the command that shows what it follows from.
func (p *stakeholder) recommendations() error {
	p.title("Recommendations")
	if len(p.g.Advice) == 0 {
		p.line("%s", words.NoFindings)
		return nil
	}
	writeAdvice(&p.out, p.g.Advice, false)
	if p.g.Advice[0].Title != "" {
		p.line("\nSavings are bounds (at most) or estimates (about), each alone: they overlap and do not add up.")
	}
	return nil
}
