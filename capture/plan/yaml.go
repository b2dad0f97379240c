package plan

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"prof/internal/suggest"
)

// configError is what is wrong in one line of a config.yaml.
type configError struct {
	line    int
	message string
}

func (e *configError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.message) }

func configErrorf(n ast.Node, format string, args ...any) error {
	line := 1
	if t := n.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	return &configError{line, fmt.Sprintf(format, args...)}
}

// parseYAML sets the fields that the text names of what into points to. The library's own decoder is not used: it cuts 1.5 to 1 where a
// whole number is wanted, empties what was set before an empty document, and loses the line where a size or a duration is wrong.
func parseYAML(text []byte, into any) error {
	body, err := yamlBody(text)
	if err != nil || body == nil {
		return err
	}
	return setFields(reflect.ValueOf(into).Elem(), body, "")
}

// yamlBody is the only document of a text; nil where it is empty.
func yamlBody(text []byte) (ast.Node, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil && syntax.GetToken().Position != nil {
			return nil, &configError{syntax.GetToken().Position.Line, syntax.GetMessage()}
		}
		return nil, err
	}
	var bodies []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil && d.Body.Type() != ast.CommentType && d.Body.Type() != ast.NullType {
			bodies = append(bodies, d.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return nil, nil
	case 1:
		return bodies[0], nil
	}
	return nil, configErrorf(bodies[1], "a second document begins; only one is allowed")
}

// setFields sets fields of a struct by their names in yaml, and Node of one that has it. path is what the struct itself is called, with a
// dot, for errors.
func setFields(s reflect.Value, n ast.Node, path string) error {
	fields, names := yamlFields(s)
	pairs, ok := pairsOf(n)
	if !ok {
		return configErrorf(n, "%s must have keys and values (%s)", cmp.Or(strings.TrimSuffix(path, "."), "the file"), suggest.List(names, 5))
	}
	if at := s.FieldByName("Node"); at.IsValid() {
		at.Set(reflect.ValueOf(n))
	}
	for _, p := range pairs {
		key := p.Key.GetToken().Value
		field, ok := fields[key]
		if !ok {
			return configErrorf(p.Key, "unknown option %s%s%s", path, key, suggest.DidYouMean(key, names))
		}
		if err := setField(field, p.Value, path+key); err != nil {
			return err
		}
	}
	return nil
}

// pairsOf are the keys and values of a node, none where it is empty; ok is false where it is something else.
func pairsOf(n ast.Node) (pairs []*ast.MappingValueNode, ok bool) {
	switch n := n.(type) {
	case *ast.NullNode:
		return nil, true
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// yamlFields returns the fields of a struct by their names in yaml, and the names in order.
func yamlFields(s reflect.Value) (map[string]reflect.Value, []string) {
	fields, names := map[string]reflect.Value{}, []string{}
	for i := range s.NumField() {
		name, _, _ := strings.Cut(s.Type().Field(i).Tag.Get("yaml"), ",")
		if name != "-" {
			fields[name], names = s.Field(i), append(names, name)
		}
	}
	return fields, names
}

// setField sets one option. An empty value leaves it as it is. A field that is a node gets the node, to be read later.
func setField(f reflect.Value, n ast.Node, name string) error {
	if _, empty := n.(*ast.NullNode); empty {
		return nil
	}
	switch f.Kind() {
	case reflect.Struct:
		return setFields(f, n, name+".")
	case reflect.Slice:
		return setList(f, n, name)
	case reflect.Map:
		return setMap(f, n, name)
	case reflect.Interface:
		f.Set(reflect.ValueOf(n))
		return nil
	case reflect.Pointer:
		v := reflect.New(f.Type().Elem())
		f.Set(v)
		return setField(v.Elem(), n, name)
	}
	text, err := scalar(n)
	if err != nil {
		return configErrorf(n, "%s: %v", name, err)
	}
	if err := setScalar(f, n, text); err != nil {
		return configErrorf(n, "%s: %v", name, err)
	}
	return nil
}

func setList(f reflect.Value, n ast.Node, name string) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return configErrorf(n, "%s must be a list, such as [a, b]", name)
	}
	out := reflect.MakeSlice(f.Type(), 0, len(list.Values))
	for i, v := range list.Values {
		item := reflect.New(f.Type().Elem()).Elem()
		if item.Kind() == reflect.Struct || item.Kind() == reflect.Interface {
			if err := setField(item, v, fmt.Sprintf("%s[%d]", name, i)); err != nil {
				return err
			}
		} else {
			text, err := scalar(v)
			if err == nil {
				err = setScalar(item, v, text)
			}
			if err != nil {
				return configErrorf(v, "%s: %v", name, err)
			}
		}
		out = reflect.Append(out, item)
	}
	f.Set(out)
	return nil
}

// setMap sets a map whose keys are the user's own.
func setMap(f reflect.Value, n ast.Node, name string) error {
	pairs, ok := pairsOf(n)
	if !ok {
		return configErrorf(n, "%s must have keys and values", name)
	}
	f.Set(reflect.MakeMap(f.Type()))
	for _, p := range pairs {
		v := reflect.New(f.Type().Elem()).Elem()
		key := p.Key.GetToken().Value
		if err := setField(v, p.Value, name+"."+key); err != nil {
			return err
		}
		f.SetMapIndex(reflect.ValueOf(key), v)
	}
	return nil
}

// scalar returns the text of one value as it stands, so that 1.50 and yes stay so where a text is wanted.
func scalar(n ast.Node) (string, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, nil
	}
	return "", fmt.Errorf("it must be one value, not %s", strings.ToLower(n.Type().String()))
}

// setScalar sets a field to a value of its type. An int64 is a size.
func setScalar(f reflect.Value, n ast.Node, text string) error {
	var err error
	switch p := f.Addr().Interface().(type) {
	case *string:
		*p = text
	case *bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			return fmt.Errorf("it must be true or false, not %s", text)
		}
		*p = b.Value
	case *int:
		if *p, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("it must be a whole number, not %s", text)
		}
	case *float64:
		if *p, err = strconv.ParseFloat(text, 64); err != nil {
			return fmt.Errorf("it must be a number, not %s", text)
		}
	case *int64:
		*p, err = ParseSize(text)
	case *time.Duration:
		*p, err = parseDuration(text)
	default:
		return fmt.Errorf("prof cannot read options of type %s", f.Type())
	}
	return err
}
