package page

import (
	"encoding/json"
	"fmt"
	"strings"

	"prof/schema/terms"
)

// words is the module terms.js: what the page calls causes of idle time, parts of a stage's time, what bounds a stage and titles of columns, as the command line does.
func words() []byte {
	var parts, causes, bounds [][2]string
	idle := []string{}
	for _, p := range terms.Parts {
		parts = append(parts, [2]string{p.Name, p.Label})
		if p.IsIdle() {
			idle = append(idle, p.Name)
		}
	}
	for _, c := range terms.Causes {
		causes = append(causes, [2]string{c.Name, c.Label})
	}
	for _, b := range terms.Bounds {
		bounds = append(bounds, [2]string{b.Name, b.Label})
	}
	acronyms := map[string]string{}
	for _, a := range terms.Acronyms {
		acronyms[strings.ToLower(a)] = a
	}
	written := func(v any) []byte {
		out, _ := json.Marshal(v) // texts can always be written
		return out
	}
	return fmt.Appendf(nil, `export const parts = Object.fromEntries(%s), causes = Object.fromEntries(%s), bounds = Object.fromEntries(%s);
export const titles = %s, acronyms = %s;
const idle = new Set(%s);
export const isIdle = (part) => idle.has(part);
export const partLabel = (part) => parts[part] ?? part;
export const partText = (part) => (isIdle(part) ? "idle: " : "") + partLabel(part);
`, written(parts), written(causes), written(bounds), written(terms.Titles), written(acronyms), written(idle))
}
