package prune

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"prof/internal/file"
)

// Result is what became of a plan.
type Result struct {
	Compressed int   `json:"compressed"` // files
	Dropped    int   `json:"dropped"`    // files
	FreedBytes int64 `json:"freed_bytes"`
}

// Apply does what is planned. It can be interrupted at any point and be repeated: a file goes only when its packed form is on the disk
// and was read back, and what is done already is passed over. A file that cannot be dealt with is left as it is and does not keep the
// others; the error names each.
func (p *Plan) Apply(ctx context.Context) (Result, error) {
	var done Result
	if len(p.Actions) == 0 {
		return done, nil
	}
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return done, fmt.Errorf("prune the runs: %w", err)
	}
	defer root.Close()
	var failed []error
	for _, a := range p.Actions {
		if err := ctx.Err(); err != nil {
			return done, errors.Join(append(failed, err)...)
		}
		if err := done.do(ctx, root, a); err != nil {
			failed = append(failed, fmt.Errorf("%s %s: %w", a.Action, a.Path, err))
		}
	}
	return done, errors.Join(failed...)
}

func (done *Result) do(ctx context.Context, root *os.Root, a Action) error {
	err := checkPlain(root, a.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // done before
	}
	if err != nil {
		return err
	}
	st, err := root.Lstat(a.Path)
	if err != nil {
		return err
	}
	if st.Size() != a.Bytes {
		return fmt.Errorf("it has changed in the meantime: it has %d bytes, not %d", st.Size(), a.Bytes)
	}
	switch a.Action {
	case Drop:
		if err := root.Remove(a.Path); err != nil {
			return err
		}
		done.Dropped++
		done.FreedBytes += a.Bytes
		return nil
	case Compress:
		packed, err := compress(ctx, root, a.Path, st)
		if err != nil {
			return err
		}
		done.Compressed++
		done.FreedBytes += a.Bytes - packed
		return nil
	}
	return fmt.Errorf("unknown action %s", a.Action)
}

// compress puts a packed file in the place of another and gives its size.
func compress(ctx context.Context, root *os.Root, name string, st fs.FileInfo) (int64, error) {
	partial := path.Join(path.Dir(name), "."+path.Base(name)+"."+strings.ToLower(rand.Text()[:8])+partialEnd)
	to, err := root.OpenFile(partial, os.O_RDWR|os.O_CREATE|os.O_EXCL, st.Mode().Perm())
	if err != nil {
		return 0, err
	}
	size, err := packChecked(ctx, root, name, st, to)
	if err = errors.Join(err, to.Close()); err == nil {
		err = root.Chtimes(partial, st.ModTime(), st.ModTime())
	}
	if err == nil {
		err = root.Rename(partial, name+packedEnd)
	}
	if err != nil {
		return 0, errors.Join(err, root.Remove(partial))
	}
	// The name of the packed file must be on the disk before the other is gone.
	if err := syncFolder(root, path.Dir(name)); err != nil {
		return 0, err
	}
	return size, root.Remove(name)
}

// packChecked packs a file into another, on the disk, and compares what that holds.
func packChecked(ctx context.Context, root *os.Root, name string, st fs.FileInfo, to *os.File) (int64, error) {
	from, err := openPlain(root, name)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	n, sum, err := pack(to, file.Until(ctx, from))
	if err != nil {
		return 0, err
	}
	if err := to.Sync(); err != nil {
		return 0, err
	}
	size, err := to.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	if _, err := to.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	held, heldSum, err := unpackedSum(file.Until(ctx, to))
	if err != nil {
		return 0, fmt.Errorf("read back what was packed: %w", err)
	}
	after, err := from.Stat()
	switch {
	case err != nil:
		return 0, err
	case held != n || !bytes.Equal(heldSum, sum):
		return 0, errors.New("the packed file reads back differently: is the disk faulty?")
	case n != st.Size() || after.Size() != st.Size() || !after.ModTime().Equal(st.ModTime()):
		return 0, errors.New("it changed while it was packed")
	}
	return size, nil
}

// syncFolder writes the names in a folder to the disk.
func syncFolder(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
