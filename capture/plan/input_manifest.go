package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"prof/internal/file"
	"prof/internal/mask"
	"prof/internal/suggest"
	"prof/schema/rundir"
)

// maxManifest bounds a manifest of inputs, in bytes: maxInputs of them with tags.
const maxManifest = 64 << 20

// maxInputID bounds an input's id, in bytes: it is written with each pass.
const maxInputID = 200

// ErrManifest is wrapped by errors about a manifest of inputs, or about a list that chooses from one.
var ErrManifest = errors.New("cannot use the inputs")

// inputManifest is a manifest of inputs. Its own form has root and inputs; dataset_root, subset_filelist, count and images are another's names.
type inputManifest struct {
	Root        string          `yaml:"root"`
	Inputs      []ast.Node      `yaml:"inputs"`
	DatasetRoot string          `yaml:"dataset_root"`
	Subset      string          `yaml:"subset_filelist"` // what the list was chosen by: it holds the chosen ones
	Count       *int            `yaml:"count"`
	Images      []ast.Node      `yaml:"images"`
	Node        ast.Node        `yaml:"-"`
	entries     []manifestEntry // of Inputs or Images
}

// manifestEntry is one input as a manifest has it.
type manifestEntry struct {
	Path      string            `yaml:"path"`
	ID        string            `yaml:"id"`
	Width     *int              `yaml:"width"`
	Height    *int              `yaml:"height"`
	Pages     *int              `yaml:"pages"`
	Tokens    *int              `yaml:"tokens"`
	Bytes     *int64            `yaml:"bytes"`
	SizeBytes *int64            `yaml:"size_bytes"`
	SHA256    string            `yaml:"sha256"`
	Tags      map[string]string `yaml:"tags"`
	Node      ast.Node          `yaml:"-"`
}

// ReadManifest reads the inputs of the options' manifest, those that its subset names, and takes their size and SHA-256. None where the
// options name no manifest. A file that is not there, or is not as the manifest says, is an error with the manifest's line, and so is an
// empty set: a run on other inputs than were meant is worth nothing. Errors wrap ErrManifest.
func ReadManifest(ctx context.Context, o Options) ([]rundir.Input, error) {
	entries, err := chosenInputs(o)
	if err != nil {
		return nil, err
	}
	var out []rundir.Input
	for _, e := range entries {
		in := e.Input
		size, sum, err := hashFile(ctx, in.Path)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%w: stopped at %s: %w", ErrManifest, in.Path, ctx.Err())
		case isDir(in.Path):
			err = fmt.Errorf("%s is a folder: list its files", in.Path)
		case err != nil:
			err = fmt.Errorf("%s: %s", in.Path, file.Reason(err))
		case e.said.size != nil && *e.said.size != size:
			err = fmt.Errorf("%s has %d bytes, the manifest says %d: it is another file", in.Path, size, *e.said.size)
		case e.said.sum != "" && !strings.EqualFold(e.said.sum, sum):
			err = fmt.Errorf("%s has the SHA-256 %s, the manifest says %s: it is another file", in.Path, sum, e.said.sum)
		}
		if err != nil {
			return nil, inFile(o.InputsManifest, ErrManifest, configErrorf(e.node, "%v", err))
		}
		in.Size, in.SHA256 = &size, sum
		out = append(out, in)
	}
	return out, nil
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// MaskInputs returns inputs as they are kept, with what looks like a secret masked.
func MaskInputs(inputs []rundir.Input) []rundir.Input {
	out := slices.Clone(inputs)
	for i := range out {
		in := &out[i]
		in.Path, in.Tags = mask.Text(in.Path), maps.Clone(in.Tags) // an id is none
		for key, value := range in.Tags {
			in.Tags[key] = mask.Value(key, value)
		}
	}
	return out
}

// ReadInputs takes the identity of all inputs that the options name: of files and folders, and of those of the manifest.
func (o Options) ReadInputs(ctx context.Context) (given, listed []rundir.Input, err error) {
	if given, err = ReadInputs(ctx, o.Inputs); err != nil {
		return nil, nil, err
	}
	listed, err = ReadManifest(ctx, o)
	return given, listed, err
}

// manifestInput is an input of a manifest whose file has not been read.
type manifestInput struct {
	rundir.Input
	written string // its path as the manifest has it
	said    struct {
		size *int64
		sum  string
	}
	node ast.Node
}

// CheckManifest finds what is wrong with the options' manifest and subset themselves, without reading the inputs.
func CheckManifest(o Options) error {
	_, err := chosenInputs(o)
	return err
}

// chosenInputs are the inputs that the options choose, in the order of the manifest.
func chosenInputs(o Options) ([]manifestInput, error) {
	if o.InputsManifest == "" {
		return nil, nil
	}
	text, err := file.Read(o.InputsManifest, maxManifest)
	if err != nil {
		return nil, fmt.Errorf("%w: the manifest cannot be read: %w", ErrManifest, err)
	}
	all, err := parseManifest(text, filepath.Dir(o.InputsManifest))
	if err != nil {
		return nil, inFile(o.InputsManifest, ErrManifest, err)
	}
	if o.Subset != "" {
		if all, err = subsetOf(all, o.Subset); err != nil {
			return nil, err
		}
	}
	if n := len(all) * max(o.RepeatInputs, 1); n > MaxInputs {
		return nil, fmt.Errorf("%w: %s: %d inputs, repetitions counted, are more than %d", ErrManifest, o.InputsManifest, n, MaxInputs)
	}
	return all, nil
}

// parseManifest reads a manifest that lies in dir.
func parseManifest(text []byte, dir string) ([]manifestInput, error) {
	body, err := yamlBody(text)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, &configError{1, "it lists no inputs"}
	}
	var m inputManifest
	if list, bare := body.(*ast.SequenceNode); bare {
		m.Node, m.Inputs = body, list.Values
	} else if err := setFields(reflect.ValueOf(&m).Elem(), body, ""); err != nil {
		return nil, err
	}
	if err := m.read(); err != nil {
		return nil, err
	}
	root := cmp.Or(m.Root, m.DatasetRoot)
	if !filepath.IsAbs(root) {
		root = filepath.Join(dir, root)
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	var out []manifestInput
	ids := map[string]bool{}
	for _, e := range m.entries {
		in, err := e.input(root)
		stored := mask.Stored(in.ID) // without the names of homes
		if err == nil && ids[stored] {
			err = configErrorf(e.Node, "the id %q is there twice: give each input an id of its own", stored)
		}
		if err != nil {
			return nil, err
		}
		ids[stored] = true
		out = append(out, in)
	}
	return out, nil
}

// read reads the entries of the list that the manifest has.
func (m *inputManifest) read() error {
	list, name := m.Inputs, "inputs"
	switch {
	case len(m.Inputs) > 0 && len(m.Images) > 0:
		return configErrorf(m.Images[0], "inputs and images mean the same, and both are given: keep one")
	case m.Root != "" && m.DatasetRoot != "":
		return configErrorf(m.Node, "root and dataset_root mean the same, and both are given: keep one")
	case len(m.Images) > 0:
		list, name = m.Images, "images"
	}
	for i, n := range list {
		e := manifestEntry{Node: n}
		if text, err := scalar(n); err == nil {
			e.Path = text
		} else if err := setFields(reflect.ValueOf(&e).Elem(), n, fmt.Sprintf("%s[%d].", name, i)); err != nil {
			return err
		}
		m.entries = append(m.entries, e)
	}
	switch {
	case len(m.entries) == 0:
		return configErrorf(m.Node, "it lists no inputs")
	case m.Count != nil && *m.Count != len(m.entries):
		return configErrorf(m.Node, "count is %d, but %d inputs are listed", *m.Count, len(m.entries))
	}
	return nil
}

// input checks an entry. Its path is below root.
func (e manifestEntry) input(root string) (manifestInput, error) {
	in := manifestInput{written: e.Path, node: e.Node}
	if e.Path == "" {
		return in, configErrorf(e.Node, "an input has no path")
	}
	in.ID, in.Path, in.Tags = cmp.Or(e.ID, e.Path), e.Path, e.Tags
	if !filepath.IsAbs(in.Path) {
		in.Path = filepath.Join(root, in.Path)
	}
	if problem := CheckInputID(in.ID); problem != "" {
		return in, configErrorf(e.Node, "the id %.100q %s", mask.Text(in.ID), problem)
	}
	for _, c := range []struct {
		name string
		said *int
		into **int64
	}{{"width", e.Width, &in.Width}, {"height", e.Height, &in.Height}, {"pages", e.Pages, &in.Pages}, {"tokens", e.Tokens, &in.Tokens}} {
		if c.said == nil {
			continue
		}
		if n := int64(*c.said); n >= 1 && n <= 1<<31 {
			*c.into = &n
		} else {
			return in, configErrorf(e.Node, "%s is %d: it must be 1 or more; leave it out where it is not known", c.name, *c.said)
		}
	}
	in.said.size, in.said.sum = e.Bytes, e.SHA256
	if e.SizeBytes != nil {
		if e.Bytes != nil && *e.Bytes != *e.SizeBytes {
			return in, configErrorf(e.Node, "bytes and size_bytes mean the same, but differ: keep one")
		}
		in.said.size = e.SizeBytes
	}
	return in, nil
}

// CheckInputID returns why a text cannot be the id of an input; "" where it can.
func CheckInputID(id string) string {
	switch {
	case id == "":
		return "is empty"
	case len(id) > maxInputID:
		return fmt.Sprintf("is longer than %d bytes: give a shorter one", maxInputID)
	case !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl):
		return "has signs that are not text"
	case mask.Text(id) != id:
		return "looks like a secret: give another"
	}
	return ""
}

// subsetOf returns the inputs that a list names by id or path, one a line; lines that are empty or begin with # are passed over.
func subsetOf(all []manifestInput, list string) ([]manifestInput, error) {
	text, err := file.Read(list, maxList)
	if err != nil {
		return nil, fmt.Errorf("%w: the list of --subset cannot be read: %w", ErrManifest, err)
	}
	var names []string
	byName := map[string][]int{}
	for i, in := range all {
		for _, name := range slices.Compact([]string{in.ID, in.written, in.Path}) {
			byName[name] = append(byName[name], i)
		}
		names = append(names, in.ID)
	}
	chosen := map[int]bool{}
	at := 0
	for line := range strings.Lines(string(text)) {
		at++
		name := strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(name) == "" || strings.HasPrefix(name, "#") {
			continue
		}
		found := byName[name]
		if i := slices.IndexFunc(found, func(i int) bool { return all[i].ID == name }); i >= 0 { // an id goes before a path
			found = found[i : i+1]
		}
		if len(found) == 0 {
			return nil, inFile(list, ErrManifest, &configError{at, fmt.Sprintf("no input has the id or path %q%s", name, suggest.DidYouMean(name, names))})
		}
		for _, i := range found {
			chosen[i] = true
		}
	}
	var out []manifestInput
	for i, in := range all {
		if chosen[i] {
			out = append(out, in)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: %s names no inputs", ErrManifest, list)
	}
	return out, nil
}
