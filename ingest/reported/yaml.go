package reported

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxYAML bounds a file of settings, 3 s of work: the parser's time grows faster than the text.
const maxYAML = 256 << 10

// nestedLine is a line that opens more lists in one another than are read.
var nestedLine = regexp.MustCompile(`(?m)^[ \t]*(?:[-?][ \t]+){17}`)

// parseYAML reads the mapping that a text is. Anchors, which can make a small text large, are refused: no file of this kind has them.
func parseYAML(text []byte) (object, error) {
	if len(text) > maxYAML {
		return nil, fmt.Errorf("it is larger than %d KiB", maxYAML>>10)
	}
	if deepest(text) > maxDepth || nestedLine.Match(text) {
		return nil, fmt.Errorf("its lists are nested more than %d deep", maxDepth)
	}
	doc, err := parser.ParseBytes(text, 0)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil && syntax.GetToken().Position != nil {
			return nil, fmt.Errorf("line %d: %s", syntax.GetToken().Position.Line, syntax.GetMessage())
		}
		return nil, err
	}
	var out object
	for _, d := range doc.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType || d.Body.Type() == ast.NullType {
			continue
		}
		v, err := yamlValue(d.Body, 0)
		if err != nil {
			return nil, err
		}
		o, ok := v.(object)
		if !ok || out != nil {
			return nil, errors.New("it is YAML, but not one mapping")
		}
		out = o
	}
	return out, nil
}

// deepest counts how deep brackets are nested at most, those in texts too: the parser calls itself for each.
func deepest(text []byte) (most int) {
	open := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			open++
			most = max(most, open)
		case ']', '}':
			open = max(open-1, 0)
		}
	}
	return most
}

func yamlValue(n ast.Node, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return yamlObject(n.Values, depth)
	case *ast.MappingValueNode:
		return yamlObject([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		list := []any{}
		for _, v := range n.Values {
			inner, err := yamlValue(v, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, inner)
		}
		return list, nil
	case *ast.NullNode:
		return nil, nil
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.IntegerNode, *ast.FloatNode:
		return json.Number(n.GetToken().Value), nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	}
	line := 0
	if t := n.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	return nil, fmt.Errorf("line %d: %s is not read", line, n.Type())
}

func yamlObject(values []*ast.MappingValueNode, depth int) (any, error) {
	o := object{}
	for _, v := range values {
		inner, err := yamlValue(v.Value, depth+1)
		if err != nil {
			return nil, err
		}
		o = append(o, member{v.Key.GetToken().Value, inner})
	}
	return o, nil
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
