package queries

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"prof/schema/sqlfile"
)

// Limits are what a parameter may be, as far as a query says it when it is something else.
type Limits struct {
	Choices  []string // the only values; nil for any
	Min, Max *float64
}

// oneChoice is a value among others in the words of an error.
var oneChoice = regexp.MustCompile(`^[a-z][a-z0-9_+-]*$`)

// LimitsOf reads the limits of a parameter from the error that the query, or a relation below it, raises about it: that is what it
// really refuses.
func (q Query) LimitsOf(param string) (Limits, error) {
	if param == "source" {
		return Limits{Choices: capturesOf(q)}, nil
	}
	all, err := All()
	if err != nil {
		return Limits{}, err
	}
	byName := map[string]Query{}
	for _, other := range all {
		byName[other.Relation()] = other
	}
	said := regexp.MustCompile(`ARGUMENT: --` + regexp.QuoteMeta(FlagName(param)) + ` is ([^:']*)`)
	below := regexp.MustCompile(`\b` + param + ` < ([0-9.e]+)\s+THEN error\('ARGUMENT: --`)
	seen := map[string]bool{q.Relation(): true}
	for todo := []Query{q}; len(todo) > 0; todo = todo[1:] {
		if m := below.FindStringSubmatch(todo[0].Body); m != nil {
			least, err := strconv.ParseFloat(m[1], 64)
			return Limits{Min: &least}, err
		}
		if m := said.FindStringSubmatch(todo[0].Body); m != nil {
			return limitsIn(m[1]), nil
		}
		for word := range sqlfile.Uses(todo[0].Body) {
			if used, ok := byName[word]; ok && !seen[word] {
				seen[word] = true
				todo = append(todo, used)
			}
		}
	}
	return Limits{}, nil
}

// limitsIn reads "launch or time", "fp64, fp32 or tf32", "1 to 100000", and "a share".
func limitsIn(words string) Limits {
	if words == "a share" {
		words = "0 to 1"
	}
	if from, to, ok := strings.Cut(words, " to "); ok {
		low, err1 := strconv.ParseFloat(from, 64)
		high, err2 := strconv.ParseFloat(to, 64)
		if err1 == nil && err2 == nil {
			return Limits{Min: &low, Max: &high}
		}
	}
	list := strings.Split(strings.ReplaceAll(words, " or ", ", "), ", ")
	if len(list) < 2 || slices.ContainsFunc(list, func(word string) bool { return !oneChoice.MatchString(word) }) {
		return Limits{}
	}
	return Limits{Choices: list}
}
