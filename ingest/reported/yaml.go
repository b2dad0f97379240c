package reported

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"prof/ingest/load"
)

// parseYAML reads the mapping that a text is.
func parseYAML(text []byte) (object, error) {
	return load.YAML(text, func(keys []string, values []any) object {
		o := object{}
		for i, key := range keys {
			o = append(o, member{key, values[i]})
		}
		return o
	})
}

// topKey is a key of a mapping that lies in no other, at the begin of its line.
var topKey = regexp.MustCompile(`(?m)^([A-Za-z_][\w-]*):(?:[ \t]*)([^\r\n]*)`)

// yamlKeys are the keys of a file that is YAML by its name; nil for others, and for what prof itself wrote.
func yamlKeys(name string, head []byte) (keys []string) {
	if !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return nil
	}
	if bytes.HasPrefix(head, []byte("# How the run was captured")) || bytes.HasPrefix(head, []byte("# What the workload was given")) {
		return nil
	}
	for _, m := range topKey.FindAllSubmatch(head, -1) {
		keys = append(keys, string(m[1]))
	}
	return keys
}

// sniffInputs: what the workload worked on, counted and listed.
func sniffInputs(name string, head []byte) bool {
	keys := yamlKeys(name, head)
	return slices.Contains(words(name), "inputs") && hasAll(keys, "count") && hasAny(keys, "inputs", "images")
}

// maxInputs bounds the inputs that are stored one by one.
const maxInputs = 1000

func readInputs(text []byte) (*Report, error) {
	o, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	for i, m := range o {
		if list, ok := m.value.([]any); ok && len(list) > maxInputs {
			r.Warnings = append(r.Warnings, fmt.Sprintf("of %d %s the first %d are stored", len(list), m.key, maxInputs))
			o[i].value = list[:maxInputs]
		}
	}
	return r, r.flatten("", o, 0)
}

// sniffSettings: the resolved configuration that Hydra hands a program which profiles a model. Settings of other programs have other parts.
func sniffSettings(name string, head []byte) bool {
	keys := yamlKeys(name, head)
	return slices.Contains(words(name), "config") && (hasAny(keys, "hydra") || bytes.Contains(head, []byte("${hydra:")) ||
		hasAll(keys, "model") && hasAny(keys, "infer", "inference", "generation", "pipeline", "profiling") && hasAny(keys, "dataset", "device", "pipeline", "inputs"))
}

// sniffCommand: how kernels were profiled one by one, as the first implementation's script notes it.
func sniffCommand(name string, head []byte) bool {
	return hasAll(yamlKeys(name, head), "kernel_source", "launch_skip", "launch_command")
}

func readSettings(text []byte) (*Report, error) {
	o, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	return r, r.flatten("", o, 0)
}
