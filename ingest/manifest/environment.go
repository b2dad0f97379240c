package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"prof/ingest/rows"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// Bounds of an env.json: it holds some hundred facts.
const (
	maxEnvironment = 16 << 20
	maxFacts       = 10_000
	maxDepth       = 16
)

// environment stores env.json as facts of the source: env. and the names of the objects that a value lies in, joined by dots.
func (s *storing) environment() error {
	facts, err := readEnvironment(s.r.path(rundir.EnvironmentName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		s.warn("%s: %v; it is not stored", rundir.EnvironmentName, err)
		return nil
	}
	s.part = append(s.part, part{rundir.EnvironmentName, int64(len(facts)), int64(len(facts)), nil})
	return s.append("source_fact", func(add rows.Add) error {
		for _, key := range slices.Sorted(maps.Keys(facts)) {
			if err := add(key, facts[key]); err != nil {
				return err
			}
		}
		return nil
	})
}

// readEnvironment reads a JSON object as dotted names and values, what is null or empty left out, secrets masked.
func readEnvironment(path string) (map[string]string, error) {
	text, err := file.Read(path, maxEnvironment)
	if err != nil {
		return nil, err
	}
	if err := file.FewValues(text, file.MostValues); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(file.PastMark(text)))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		return nil, fmt.Errorf("it is not a JSON object: %w", err)
	}
	out := map[string]string{}
	if err := flatten(out, "env", fields, 0); err != nil {
		return nil, err
	}
	return out, nil
}

// flatten adds what a value holds. A list of values becomes one text, a list of objects a name by the place of each.
func flatten(out map[string]string, name string, value any, depth int) error {
	if depth > maxDepth || len(out) > maxFacts {
		return fmt.Errorf("it has more than %d facts, or objects nested more than %d deep", maxFacts, maxDepth)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) { // an error is the same each time
			if err := flatten(out, name+"."+key, v[key], depth+1); err != nil {
				return err
			}
		}
		return nil
	case []any:
		var plain []string
		for i, inner := range v {
			switch inner.(type) {
			case map[string]any, []any:
				if err := flatten(out, name+"."+strconv.Itoa(i), inner, depth+1); err != nil {
					return err
				}
			case nil:
			default:
				plain = append(plain, fmt.Sprint(inner))
			}
		}
		value = strings.Join(plain, ", ")
	case nil:
		return nil
	}
	if text := fmt.Sprint(value); text != "" {
		if _, ok := out[name]; ok { // {"a.b": 1, "a": {"b": 2}}
			return fmt.Errorf("two values have the name %.200q", strings.TrimPrefix(name, "env."))
		}
		out[name] = mask.Value(name, text)
	}
	return nil
}
