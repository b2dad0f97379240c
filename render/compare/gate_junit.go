package compare

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"

	"prof/queries/judge/gate"
	"prof/render/typeset"
)

// The elements of JUnit XML, as Jenkins' and GitLab's readers take them.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Out        string          `xml:"system-out"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitProblem `xml:"failure"`
		Error   *junitProblem `xml:"error"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// GateJUnit writes JUnit XML: one test a rule and stage. A broken rule is a failure. One that cannot be told is an error, which is how
// a test ends that could not be carried out: CI systems show both as not passed, and would show a skipped test as if nothing were amiss.
func GateJUnit(w io.Writer, r *gate.Result, _ typeset.Options) error {
	suite := junitSuite{Name: "prof check", Tests: len(r.Checks), Failures: r.Count(gate.Broken), Errors: r.Count(gate.CannotTell), Out: typeset.Neutral(r.Words)}
	for _, f := range gateSides(r) {
		suite.Properties = append(suite.Properties, junitProperty{f[0], f[1]})
	}
	suite.Properties = append(suite.Properties, junitProperty{"alpha", strconv.FormatFloat(r.Alpha, 'g', -1, 64)})
	for _, d := range r.Differences {
		suite.Properties = append(suite.Properties, junitProperty{"differs: " + typeset.Neutral(d.Aspect), typeset.Neutral(d.A) + " -> " + typeset.Neutral(d.B)})
	}
	for _, c := range r.Checks {
		suite.Cases = append(suite.Cases, junitCaseOf(c))
	}
	all := junitSuites{Name: "prof", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Suites: []junitSuite{suite}}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junitCaseOf is a check as a test. Its class is its stage, by which CI systems group.
func junitCaseOf(c gate.Check) junitCase {
	stage := c.Stage
	if stage == "" {
		stage = "run"
	}
	out := junitCase{Class: "prof." + typeset.Neutral(stage), Name: typeset.Neutral(c.Subject) + " " + c.Rule.Operator() + " " + c.Rule.Limit.String()}
	text := "rule " + gateRuleText(c) + "\n"
	if c.Value != nil {
		text += junitFigures(c) + "\n"
	}
	text += gateSeen(c)
	switch c.Outcome {
	case gate.Broken:
		out.Failure = &junitProblem{"broken", gateReason(c), text}
	case gate.CannotTell:
		out.Error = &junitProblem{"cannot tell", gateReason(c), text}
	default:
		out.Out = text
	}
	return out
}

// junitFigures are the figures of a check in a line.
func junitFigures(c gate.Check) string {
	text := "value " + gateAmount(c.Unit, c.Value)
	if c.Per != "" {
		text += " per " + c.Per
	}
	if c.Baseline != nil {
		text += ", baseline " + gateAmount(c.Unit, c.Baseline)
	}
	if c.Limit != nil {
		text += ", limit " + gateAmount(c.Unit, c.Limit)
	}
	return text
}
