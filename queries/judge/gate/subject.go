package gate

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"prof/internal/suggest"
)

// forms are the subjects that there are, for messages.
const forms = "stage.NAME.METRIC, kernel:/RE/.METRIC, stage.NAME.kernel:/RE/.METRIC, mfu.STAGE, mbu.STAGE, serving.FIGURE, serving{LOAD}.FIGURE, overhead or new_kernels"

// kernelMark begins the part of a subject that picks kernels.
const kernelMark = "kernel:/"

// subject reads what the rule is about.
func (s *scanner) subject() (Subject, error) {
	begin := s.at
	if strings.HasPrefix(s.rest(), loadMark) {
		return s.servingUnder()
	}
	head, hasKernel := s.head()
	if hasKernel {
		return s.kernel(begin, head)
	}
	first, rest, dotted := strings.Cut(head, ".")
	switch {
	case first == "stage" && dotted:
		return s.stageFigure(begin, rest)
	case (first == "mfu" || first == "mbu") && dotted && rest != "":
		return Subject{Kind: Utilisation, Stage: rest, Metric: first}, nil
	case first == "mfu" || first == "mbu":
		return Subject{}, s.errorf(begin, "%s of which stage? write %s.prefill, or %s.* for each", first, first, first)
	case first == "serving":
		return s.serving(begin, rest, nil)
	case first == "overhead" && (!dotted || rest != ""):
		return Subject{Kind: Overhead, Metric: rest}, nil
	case head == "new_kernels":
		return Subject{Kind: NewKernels}, nil
	}
	return Subject{}, s.errorf(begin, "no figure is called %q%s; a rule is about %s", head, near(first, "stage", "kernel", "mfu", "mbu", "serving", "overhead", "new_kernels"), forms)
}

// near is a guess at what a word meant; "" without one.
func near(word string, known ...string) string {
	if names := suggest.Nearest(word, known); len(names) > 0 && names[0] != word {
		return "; did you mean " + strings.Join(names, " or ") + "?"
	}
	return ""
}

// head reads up to the operator, or up to the expression that picks kernels.
func (s *scanner) head() (text string, kernel bool) {
	begin := s.at
	word := s.word()
	if i := strings.Index(word, kernelMark); i == 0 || i > 0 && word[i-1] == '.' {
		s.at = begin + i + len(kernelMark)
		return word[:i], true
	}
	return word, false
}

// stageFigure reads NAME.METRIC. A name may hold dots, a metric holds none.
func (s *scanner) stageFigure(begin int, rest string) (Subject, error) {
	dot := strings.LastIndexByte(rest, '.')
	if dot <= 0 {
		return Subject{}, s.errorf(begin, "write stage.NAME.METRIC, such as stage.decode.gpu_span_ns; * in place of the name stands for every stage")
	}
	stage, metric := rest[:dot], rest[dot+1:]
	if metric == "new_kernels" {
		return Subject{Kind: NewKernels, Stage: stage}, nil
	}
	if metric == "mfu" || metric == "mbu" {
		return Subject{}, s.errorf(begin, "write %s.%s", metric, stage)
	}
	if _, known := stageFigures[metric]; !known {
		known := append(names(stageFigures), "new_kernels")
		return Subject{}, s.errorf(begin+len("stage.")+dot+1, "stages have no figure %q%s; they have %s", metric, near(metric, known...), strings.Join(known, ", "))
	}
	return Subject{Kind: StageFigure, Stage: stage, Metric: metric}, nil
}

// kernel reads RE/.METRIC, behind what names the stage.
func (s *scanner) kernel(begin int, head string) (Subject, error) {
	stage := AnyStage
	if head != "" {
		name, isStage := strings.CutPrefix(strings.TrimSuffix(head, "."), "stage.")
		if !isStage || name == "" {
			return Subject{}, s.errorf(begin, "write kernel:/RE/.METRIC or stage.NAME.kernel:/RE/.METRIC")
		}
		stage = name
	}
	at := s.at
	text, closed := s.expression()
	if !closed {
		return Subject{}, s.errorf(at, `the expression has no closing slash: write kernel:/RE/.METRIC, and \/ for a slash inside it`)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return Subject{}, s.errorf(at, "%v: kernel names are matched by RE2 expressions", err)
	}
	if text == "" {
		return Subject{}, s.errorf(at, "the expression is empty: write kernel:/./ for every kernel")
	}
	at = s.at
	metric, dotted := strings.CutPrefix(s.word(), ".")
	if _, known := kernelFigures[metric]; !known || !dotted {
		return Subject{}, s.errorf(at, "kernels have no figure %q%s; after the expression write %s", metric, near(metric, names(kernelFigures)...), "."+strings.Join(names(kernelFigures), ", ."))
	}
	return Subject{Kind: KernelTime, Stage: stage, Kernel: re, Metric: metric}, nil
}

// expression reads up to the slash that closes it, in which \/ is a slash.
func (s *scanner) expression() (text string, closed bool) {
	var out strings.Builder
	for !s.atEnd() {
		c := s.text[s.at]
		s.at++
		switch {
		case c == '/':
			return out.String(), true
		case c == '\\' && strings.HasPrefix(s.rest(), "/"):
			out.WriteByte('/')
			s.at++
		case c == '\\' && !s.atEnd():
			out.WriteString(s.text[s.at-1 : s.at+1])
			s.at++
		default:
			out.WriteByte(c)
		}
	}
	return "", false
}

// escapeSlash writes an expression as expression reads it.
func escapeSlash(re string) string { return strings.ReplaceAll(re, "/", `\/`) }

func names[F any](figures map[string]F) []string { return slices.Sorted(maps.Keys(figures)) }
