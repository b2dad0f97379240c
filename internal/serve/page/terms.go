package page

import (
	"encoding/json"
	"fmt"

	"prof/schema/terms"
)

// words is the module terms.js: what the page calls parts of a stage's time and what bounds a stage, and the parts of each cause of idle time, as the command line does.
func words() []byte {
	var parts, bounds [][2]string
	causes := map[string][]string{}
	idle := []string{}
	for _, p := range terms.Parts {
		parts = append(parts, [2]string{p.Name, p.Label})
		if p.IsIdle() {
			idle = append(idle, p.Name)
			causes[p.Kind] = append(causes[p.Kind], p.Name)
		}
	}
	for _, b := range terms.Bounds {
		bounds = append(bounds, [2]string{b.Name, b.Label})
	}
	written := func(v any) []byte {
		out, _ := json.Marshal(v) // texts can always be written
		return out
	}
	return fmt.Appendf(nil, `export const parts = Object.fromEntries(%s), bounds = Object.fromEntries(%s), causes = %s;
const idle = new Set(%s);
export const isIdle = (part) => idle.has(part);
export const partLabel = (part) => parts[part] ?? part;
export const partText = (part) => (isIdle(part) ? "idle: " : "") + partLabel(part);
`, written(parts), written(bounds), written(causes), written(idle))
}
