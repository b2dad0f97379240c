package judge

import (
	"encoding/json"
	"reflect"
	"slices"

	"prof/schema/facts/sql/findings"
	"prof/schema/terms"
)

// Words of tables, for the list of sentences.
var (
	BoundWords    = terms.Bounds
	CauseWords    = terms.Causes
	CategoryWords = categoryWords
	CopyWords     = copyWords
	MemoryWords   = memoryWords
	RoleWords     = roleWords
)

// WholeFigures returns the figures of a rule as evidence, zero or null where a test says nothing, without those of other rules.
func WholeFigures(rule, evidence string) string {
	at := slices.IndexFunc(findings.Rules, func(r findings.Rule) bool { return r.ID == rule })
	out := reflect.New(reflect.TypeOf(findings.Rules[at].Figures))
	if err := json.Unmarshal([]byte(evidence), out.Interface()); err != nil {
		panic(err)
	}
	text, err := json.Marshal(out.Interface())
	if err != nil {
		panic(err)
	}
	return string(text)
}
