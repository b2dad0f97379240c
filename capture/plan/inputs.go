package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"prof/internal/file"
	"prof/schema/rundir"
)

// MaxInputs bounds the files of one run: a folder with more was hardly meant.
const MaxInputs = 50_000

// maxList bounds a list of them, in bytes: the longest path that Linux takes has 4096.
const maxList = 64 << 20

// ErrInputs is wrapped by errors about inputs that cannot be listed.
var ErrInputs = errors.New("inputs")

// ReadInputs takes the size and SHA-256 of the files that a workload reads: of a folder those below it, sorted, links to files
// followed and links to folders not; of @LIST those that the file LIST names, one path a line, lines that are empty or begin with #
// left out. Paths in a list are like those given. A file named @x is given as ./@x. A file that cannot be read keeps its place with
// the reason. Errors are a list that cannot be read, too many files, and the end of ctx.
func ReadInputs(ctx context.Context, paths []string) ([]rundir.Input, error) {
	r := inputs{ctx: ctx, seen: map[string]bool{}}
	for _, p := range paths {
		var err error
		if list, is := strings.CutPrefix(p, "@"); is {
			err = r.list(list)
		} else {
			err = r.add(p)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.found, nil
}

type inputs struct {
	ctx   context.Context
	seen  map[string]bool
	found []rundir.Input
}

// list adds what a file names.
func (r *inputs) list(path string) error {
	text, err := file.Read(path, maxList)
	if err != nil {
		return fmt.Errorf("%w: the list of --input @%s cannot be read: %w", ErrInputs, path, err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := r.add(line); err != nil {
			return err
		}
	}
	return nil
}

// add adds a file, or the files below a folder.
func (r *inputs) add(path string) error {
	st, err := os.Stat(path)
	if err != nil || !st.IsDir() {
		return r.file(path)
	}
	// With the separator a link to a folder that was given itself is walked too.
	return filepath.WalkDir(path+string(filepath.Separator), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return r.keep(rundir.Input{Path: p, Reason: file.Reason(err)})
		}
		if d.IsDir() {
			return nil
		}
		return r.file(p)
	})
}

// file adds one file unless it is there already.
func (r *inputs) file(path string) error {
	if err := r.ctx.Err(); err != nil {
		return fmt.Errorf("%w: stopped at %s: %w", ErrInputs, path, err)
	}
	in := rundir.Input{Path: path}
	size, sum, err := hashFile(r.ctx, path)
	switch {
	case r.ctx.Err() != nil:
		return fmt.Errorf("%w: stopped at %s: %w", ErrInputs, path, r.ctx.Err())
	case err != nil:
		in.Reason = file.Reason(err)
	default:
		in.Size, in.SHA256 = &size, sum
	}
	return r.keep(in)
}

func (r *inputs) keep(in rundir.Input) error {
	if r.seen[in.Path] {
		return nil
	}
	if len(r.found) == MaxInputs {
		return fmt.Errorf("%w: there are more than %d files, the next is %s: name the files that matter, or list them in a file and give @FILE", ErrInputs, MaxInputs, in.Path)
	}
	r.seen[in.Path] = true
	r.found = append(r.found, in)
	return nil
}

// hashFile reads a regular file.
func hashFile(ctx context.Context, path string) (size int64, sum string, err error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return 0, "", errors.New("a link to a folder; give the folder itself")
	}
	f, err := file.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	n, err := io.CopyBuffer(h, file.Until(ctx, f), make([]byte, 1<<20))
	if err != nil {
		return 0, "", err
	}
	if end, err := f.Stat(); err != nil || n != st.Size() || end.ModTime() != st.ModTime() {
		return 0, "", errors.New("it changed while it was read")
	}
	return n, hex.EncodeToString(h.Sum(nil)), nil
}

// inputsFile is inputs.yaml.
type inputsFile struct {
	Inputs []inputYAML `yaml:"inputs"`
}

type inputYAML struct {
	ID     string            `yaml:"id,omitempty"`
	Path   string            `yaml:"path"`
	Size   *int64            `yaml:"size_bytes,omitempty"`
	SHA256 string            `yaml:"sha256,omitempty"`
	Width  *int64            `yaml:"width,omitempty"`
	Height *int64            `yaml:"height,omitempty"`
	Pages  *int64            `yaml:"pages,omitempty"`
	Tokens *int64            `yaml:"tokens,omitempty"`
	Tags   map[string]string `yaml:"tags,omitempty"`
	Reason string            `yaml:"reason,omitempty"`
}

// InputsYAML writes inputs as inputs.yaml has them: a list under "inputs", empty where none was given.
func InputsYAML(in []rundir.Input) ([]byte, error) {
	file := inputsFile{Inputs: []inputYAML{}}
	for _, i := range in {
		file.Inputs = append(file.Inputs, inputYAML(i))
	}
	return yaml.Marshal(file)
}
