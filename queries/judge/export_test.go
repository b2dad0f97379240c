package judge

import (
	"encoding/json"
	"reflect"

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
	out := reflect.New(reflect.TypeOf(figuresOf[rule]))
	if err := json.Unmarshal([]byte(evidence), out.Interface()); err != nil {
		panic(err)
	}
	text, err := json.Marshal(out.Interface())
	if err != nil {
		panic(err)
	}
	return string(text)
}
