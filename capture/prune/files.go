package prune

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"prof/internal/file"
	"prof/schema/rundir"
)

// Ends of the names of files that a prune writes: done, and while it writes them.
const (
	packedEnd  = ".zst"
	partialEnd = ".zst.partial"
)

// abandonedAfter is how old a partial file must be to be taken for one that an interrupted prune left.
const abandonedAfter = 24 * time.Hour

// sizedFile is a file below the folder of runs.
type sizedFile struct {
	path  string
	bytes int64
}

// walkRun returns the captured files of a run's folder, SQLite exports before the reports that they can be made from again, the files
// that an interrupted prune left there, and the bytes of all its files. What is no plain file is passed over.
func walkRun(root *os.Root, folder string, now time.Time) (captured, unfinished []sizedFile, total int64, err error) {
	err = fs.WalkDir(root.FS(), folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		total += st.Size()
		f := sizedFile{name, st.Size()}
		switch {
		case strings.HasSuffix(name, partialEnd):
			if now.Sub(st.ModTime()) > abandonedAfter {
				unfinished = append(unfinished, f)
			}
		case isCaptured(name) || isKept(name):
			captured = append(captured, f)
		}
		return nil
	})
	captured = slices.DeleteFunc(captured, func(f sizedFile) bool { // packed, it would take the place of the other
		_, err := root.Lstat(f.path + packedEnd)
		return err == nil && isKept(f.path)
	})
	slices.SortFunc(captured, func(a, b sizedFile) int {
		return cmp.Or(cmp.Compare(madeAgain(a.path), madeAgain(b.path)), cmp.Compare(a.path, b.path))
	})
	return captured, unfinished, total, err
}

// madeAgain is 0 for what can be made again from another file.
func madeAgain(name string) int {
	if strings.Contains(path.Base(name), ".sqlite") {
		return 0
	}
	return 1
}

// isCaptured reports whether a file is what a profiler captured, packed or not, and not what says how.
func isCaptured(name string) bool {
	base := strings.ToLower(path.Base(name))
	base = strings.TrimSuffix(strings.TrimSuffix(base, packedEnd), ".gz")
	for _, end := range []string{".nsys-rep", ".qdrep", ".qdstrm", ".sqlite", ".ncu-rep", ".trace.json"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return strings.HasPrefix(base, "trace") && strings.HasSuffix(base, ".json")
}

// isKept reports whether a file of a run's folder is one that the workload wrote.
func isKept(name string) bool {
	parts := strings.SplitN(name, "/", 3)
	return len(parts) == 3 && parts[1] == rundir.KeptName
}

// compressible reports whether a captured file is not packed yet.
func compressible(name string) bool {
	lower := strings.ToLower(name)
	return !strings.HasSuffix(lower, packedEnd) && !strings.HasSuffix(lower, ".gz")
}

// pack writes what it reads, packed, and gives the number of bytes read and their SHA-256.
func pack(to io.Writer, from io.Reader) (int64, []byte, error) {
	e, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return 0, nil, err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(e, sum), from)
	if closed := e.Close(); err == nil {
		err = closed
	}
	return n, sum.Sum(nil), err
}

// unpackedSum returns the number of bytes that a packed file holds and their SHA-256.
func unpackedSum(from io.Reader) (int64, []byte, error) {
	d, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return 0, nil, err
	}
	defer d.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, d)
	return n, sum.Sum(nil), err
}

// compressedSize returns the size that pack makes of a file.
func compressedSize(root *os.Root, name string) (int64, error) {
	f, err := openPlain(root, name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var n counter
	_, _, err = pack(&n, f)
	return int64(n), err
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// openPlain opens a plain file, to which no symbolic link may lead.
func openPlain(root *os.Root, name string) (*os.File, error) {
	if err := checkPlain(root, name); err != nil {
		return nil, err
	}
	return file.OpenIn(root, name)
}

// checkPlain looks whether a path leads through folders to a plain file, without symbolic links.
func checkPlain(root *os.Root, name string) error {
	parts := strings.Split(name, "/")
	for i := range parts {
		st, err := root.Lstat(path.Join(parts[:i+1]...))
		switch {
		case err != nil:
			return err
		case i < len(parts)-1 && !st.IsDir(), i == len(parts)-1 && !st.Mode().IsRegular():
			return fmt.Errorf("%s: its path has a symbolic link, or it is not a regular file", name)
		}
	}
	return nil
}
