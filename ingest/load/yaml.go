package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxYAML bounds a file of settings, 3 s of work: the parser's time grows faster than the text.
const MaxYAML = 256 << 10

// yamlDepth bounds how deep it is nested.
const yamlDepth = 16

// nestedLine is a line that opens more lists in one another than are read.
var nestedLine = regexp.MustCompile(`(?m)^[ \t]*(?:[-?][ \t]+){17}`)

// YAML reads the mapping that a text is: object makes one of its members in the order of the file, whose values are texts, numbers (json.Number), bools, nil, lists and such objects. Anchors, which can
// make a small text large, are refused: no file of this kind has them.
func YAML[O any](text []byte, object func(keys []string, values []any) O) (out O, err error) {
	if len(text) > MaxYAML {
		return out, fmt.Errorf("it is larger than %d KiB", MaxYAML>>10)
	}
	if deepest(text) > yamlDepth || nestedLine.Match(text) {
		return out, fmt.Errorf("its lists are nested more than %d deep", yamlDepth)
	}
	doc, err := parser.ParseBytes(text, 0)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil && syntax.GetToken().Position != nil {
			return out, fmt.Errorf("line %d: %s", syntax.GetToken().Position.Line, syntax.GetMessage())
		}
		return out, err
	}
	y, found := yamlReader[O]{object}, false
	for _, d := range doc.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType || d.Body.Type() == ast.NullType {
			continue
		}
		v, err := y.value(d.Body, 0)
		if err != nil {
			return out, err
		}
		o, ok := v.(O)
		if !ok || found {
			return out, errors.New("it is YAML, but not one mapping")
		}
		out, found = o, true
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

// yamlReader makes values of nodes.
type yamlReader[O any] struct {
	object func(keys []string, values []any) O
}

func (y yamlReader[O]) value(n ast.Node, depth int) (any, error) {
	if depth > yamlDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", yamlDepth)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return y.members(n.Values, depth)
	case *ast.MappingValueNode:
		return y.members([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		list := []any{}
		for _, v := range n.Values {
			inner, err := y.value(v, depth+1)
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

func (y yamlReader[O]) members(list []*ast.MappingValueNode, depth int) (any, error) {
	var keys []string
	var values []any
	for _, v := range list {
		inner, err := y.value(v.Value, depth+1)
		if err != nil {
			return nil, err
		}
		keys, values = append(keys, v.Key.GetToken().Value), append(values, inner)
	}
	return y.object(keys, values), nil
}
