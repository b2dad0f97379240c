package queries_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/queries"
)

// TestZZ prints, for queries named in ZZ, a least list of facts whose closure is what they read.
func TestZZ(t *testing.T) {
	for _, name := range strings.Fields(os.Getenv("ZZ")) {
		stmt, topics := name, []string{}
		if q, err := queries.Find(name); err == nil {
			stmt, topics = "FROM "+q.Relation(), append(slices.Clone(q.Notes), "source", "timeline")
		} else {
			stmt = "FROM " + name
		}
		all := slices.Sorted(maps.Keys(factsBehind(stmt, topics)))
		all = slices.DeleteFunc(all, func(f string) bool { return !allFacts()[f] })
		var least []string
		for _, f := range all {
			inOther := false
			for _, g := range all {
				if g == f {
					continue
				}
				of, err := derive.Behind(g)
				if err != nil {
					t.Fatal(err)
				}
				if slices.Contains(of.Only, f) {
					if back, _ := derive.Behind(f); !slices.Contains(back.Only, g) || g < f {
						inOther = true
					}
				}
			}
			if !inOther {
				least = append(least, f)
			}
		}
		fmt.Println(name, len(all), fmt.Sprintf("%q", least))
	}
}
