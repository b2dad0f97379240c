package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// maxConfig bounds a config.yaml, which is some dozen lines.
const maxConfig = 1 << 20

// ErrConfig is wrapped by errors about what a config.yaml says.
var ErrConfig = errors.New("cannot read the options")

// ReadConfig sets the options that a config.yaml names and leaves the others as they are. An unknown key or a value of another type
// is an error with file and line, and then no option is set. The error wraps fs.ErrNotExist when there is no such file.
func ReadConfig(path string, o *Options) error {
	text, err := file.Read(path, maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if err != nil {
		return fmt.Errorf("read options: %w", err)
	}
	read := *o
	body, err := yamlBody(text)
	if err == nil && body != nil {
		err = setFields(reflect.ValueOf(&read).Elem(), withoutWarehouse(body), "")
	}
	if err != nil {
		return inFile(path, ErrConfig, err)
	}
	*o = read
	return nil
}

// withoutWarehouse leaves out of a config.yaml where the warehouse is, which package schema reads.
func withoutWarehouse(body ast.Node) ast.Node {
	isWarehouse := func(p *ast.MappingValueNode) bool { return p.Key.GetToken().Value == "warehouse" }
	switch n := body.(type) {
	case *ast.MappingNode:
		n.Values = slices.DeleteFunc(n.Values, isWarehouse)
	case *ast.MappingValueNode:
		if isWarehouse(n) {
			return &ast.MappingNode{BaseNode: n.BaseNode, Start: n.Start}
		}
	}
	return body
}

// ReadYAML reads a file of settings in YAML, of limit bytes at most, as those of captures are read: an unknown key or a value of another type is an error
// with file and line that wraps kind. Fields of into points to get the values by their names in yaml, a field Node where its struct stands. What check
// finds wrong then, by YAMLErrorf, has its place too.
func ReadYAML(path string, limit int64, kind error, into any, check func() error) error {
	text, err := file.Read(path, limit)
	if err != nil {
		return fmt.Errorf("%w: %w", kind, err)
	}
	if err = parseYAML(text, into); err == nil {
		err = check()
	}
	if err != nil {
		return inFile(path, kind, err)
	}
	return nil
}

// YAMLErrorf is what is wrong at a place of a file that ReadYAML reads.
func YAMLErrorf(at ast.Node, format string, args ...any) error {
	return configErrorf(at, format, args...)
}

// inFile is what is wrong in a YAML file, with the file, the line where that is known, and the error that all errors about such files wrap.
func inFile(path string, kind, err error) error {
	if at := (*configError)(nil); errors.As(err, &at) {
		return fmt.Errorf("%s:%d: %w: %s", path, at.line, kind, at.message)
	}
	return fmt.Errorf("%s: %w: %w", path, kind, err)
}

const configHead = `# The options of this capture: the command line overrides .prof/config.yaml, which overrides prof's defaults.
# Values that look like secrets are masked.
`

// YAML writes the options as a config.yaml that ReadConfig reads, with what looks like a secret masked.
func (o Options) YAML() ([]byte, error) {
	return o.masked().encode()
}

// encode writes the options as they are.
func (o Options) encode() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(configHead)
	e := yaml.NewEncoder(&b, yaml.CustomMarshaler(func(d time.Duration) ([]byte, error) { return []byte(FormatDuration(d)), nil }), yaml.CustomMarshaler(quoteText))
	if err := errors.Join(e.Encode(o), e.Close()); err != nil {
		return nil, fmt.Errorf("write options: %w", err)
	}
	return b.Bytes(), nil
}

// Key is the same for captures with the same options and the same inputs, by their content.
func (o Options) Key(inputs []rundir.Input) (string, error) {
	text, err := o.encode()
	if err != nil {
		return "", err
	}
	files, err := json.Marshal(inputs)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(slices.Concat(text, files))
	return hex.EncodeToString(sum[:8]), nil
}

var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// quoteText writes a text in quotes, which JSON and YAML share, unless it is a plain word. The library leaves some without that it
// reads otherwise, as those with a tab.
func quoteText(text string) ([]byte, error) {
	if plainText.MatchString(text) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(text)) {
		return []byte(text), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(text)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// masked returns the options with secrets taken out of all texts that are the user's own.
func (o Options) masked() Options {
	o.Nsys.Args, o.Ncu.Args = mask.Argv(o.Nsys.Args), mask.Argv(o.Ncu.Args)
	o.Inputs, o.Keep, o.Nsys.Trace = maskEach(o.Inputs), maskEach(o.Keep), maskEach(o.Nsys.Trace)
	o.Ncu.Sections, o.Ncu.Metrics = maskEach(o.Ncu.Sections), maskEach(o.Ncu.Metrics)
	o.Range, o.Ncu.Kernels, o.Ncu.Set = mask.Text(o.Range), mask.Text(o.Ncu.Kernels), mask.Text(o.Ncu.Set)
	o.Serving.Ready, o.Serving.Load, o.Serving.LoadResult = mask.Text(o.Serving.Ready), mask.Text(o.Serving.Load), maskEach(o.Serving.LoadResult)
	o.InputsManifest, o.Subset = mask.Text(o.InputsManifest), mask.Text(o.Subset)
	return o
}

func maskEach(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = mask.Text(t)
	}
	return out
}

// FormatDuration writes a duration as people do: 30m, not 30m0s.
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Roughly writes a time as people say one that was measured: 1.3s, 42s, 2m5s.
func Roughly(d time.Duration) string {
	if d < time.Minute {
		return d.Round(100 * time.Millisecond).String()
	}
	return FormatDuration(d.Round(time.Second))
}

var sizeText = regexp.MustCompile(`^([0-9]{1,19}(?:\.[0-9]{1,9})?) ?([A-Za-z]*)$`)

// sizeUnits are bytes to a unit, by its name in small letters.
var sizeUnits = map[string]int64{
	"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// ParseSize reads a number of bytes: 2147483648, 2GiB, 500MB, 1.5 TiB. A part of a byte is dropped.
func ParseSize(text string) (int64, error) {
	m := sizeText.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, fmt.Errorf("size %q: write a number of bytes, or a number with a unit, such as 2GiB or 500MB", text)
	}
	unit, ok := sizeUnits[strings.ToLower(m[2])]
	if !ok {
		return 0, fmt.Errorf("size %q: unknown unit %s; use B, kB, MB, GB, TB, KiB, MiB, GiB or TiB", text, m[2])
	}
	n, ok := new(big.Rat).SetString(m[1])
	if !ok {
		return 0, fmt.Errorf("size %q: %s is not a number", text, m[1])
	}
	n.Mul(n, new(big.Rat).SetInt64(unit))
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	if !whole.IsInt64() {
		return 0, fmt.Errorf("size %q: it is more than %d bytes", text, int64(math.MaxInt64))
	}
	return whole.Int64(), nil
}

// parseDuration reads a duration with its unit; a plain 0 needs none.
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		hint := "30s, 5m or 1h30m"
		if _, number := strconv.ParseFloat(text, 64); number == nil {
			hint = text + "s or " + text + "m"
		}
		return 0, fmt.Errorf("duration %q: write it with a unit, such as %s", text, hint)
	}
	return d, nil
}
