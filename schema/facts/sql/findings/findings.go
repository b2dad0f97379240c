// Package findings is what prof looks for that could make the work faster. A finding is in this folder: its rule, its figures and their words in Go,
// and the SQL that finds it, in a file that adds rows to the fact finding (into: finding).
package findings

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"prof/schema/say"
)

// Rule is how a finding is made and what to do about it: a row of the table finding_rule. Texts are "" where there is nothing to say.
type Rule struct {
	ID        string
	Title     string // what it finds
	Bound     string // AtMost or About
	Saving    string // how the saving is computed
	Advice    string // what to do
	Value     float64
	Unit      string // of Value, the threshold; "" without one
	Subject   string // what it is about: kernel, family, function, ranges or operation. Each kernel is a finding of its own
	Query     string // that shows the evidence
	Options   string // of that query that a finding fills in: stage, device, kernel, source; top: all its rows; by: by family
	Detail    string // query with more detail, with the options stage, device and source; stragglers takes only source, and needs several ranks
	Needs     string // what the run must hold
	Reference string // where the rule is from
	Figures   Figures
}

// What a saving is.
const (
	AtMost = "at most" // an upper bound
	About  = "about"   // an estimate
)

// Rules are all rules. To add a finding, add its rule to the list of a file here and write its SQL beside.
var Rules = slices.Concat(idle, pauseRules, kernels, profiled, copies, devices)

// Figures are what a finding of a rule follows from, in base units, by the names that its SQL gives them.
type Figures interface{ Words(x Found) string }

// Found is a finding as far as its words say what its figures are about.
type Found struct {
	Stage    string // "" for all device work
	Subject  string
	SavingNs int64
	Passes   int64
	IsByPath bool // what the median pass would be shorter by is said by its critical path
}

func (x Found) saved() string { return say.Time(float64(x.SavingNs)) }

// aPass words how many of something a pass has on the mean; how many there are where that is less than one.
func (x Found) aPass(n int64, one, several string) string {
	if x.Stage == "" || n < x.Passes {
		return say.Count(n, one, several)
	}
	return say.Mean(float64(n)/float64(x.Passes), one, several) + " per pass"
}

// ReadFigures reads the figures of a rule's finding: evidence as the fact finding has it.
func ReadFigures(rule, evidence string) (Figures, error) {
	at := slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == rule })
	if at < 0 {
		return nil, fmt.Errorf("the figures of finding %s are not known", rule)
	}
	out := reflect.New(reflect.TypeOf(Rules[at].Figures)).Elem()
	if err := readMembers(evidence, out); err != nil {
		return nil, fmt.Errorf("figures of finding %s: %w", rule, err)
	}
	return out.Interface().(Figures), nil
}

// readMembers reads an object whose members are exactly the fields of a struct: each has its key, omitempty where there may be no such member,
// and a pointer or list where it may be null.
func readMembers(evidence string, to reflect.Value) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(evidence), &members); err != nil {
		return err
	}
	for _, f := range reflect.VisibleFields(to.Type()) {
		if f.Anonymous {
			continue
		}
		key, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		text, has := members[key]
		delete(members, key)
		switch kind := f.Type.Kind(); {
		case !has && option == "omitempty":
		case !has:
			return fmt.Errorf("no %s", key)
		case string(text) == "null" && kind != reflect.Pointer && kind != reflect.Slice:
			return fmt.Errorf("%s is null", key)
		default:
			if err := json.Unmarshal(text, to.FieldByIndex(f.Index).Addr().Interface()); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	for key := range members {
		return fmt.Errorf("%s is none of its figures", key)
	}
	return nil
}
