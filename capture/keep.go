package capture

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"prof/capture/plan"
	"prof/internal/file"
	"prof/internal/scratch"
	"prof/schema/rundir"
)

// matching are the files of the working folder that --keep names, and how they stood.
type matching struct {
	root  *os.Root // the working folder, which no link leads out of
	files map[string]match
}

// match is one of them.
type match struct {
	info   fs.FileInfo // nil where it is gone again
	reason string      // why it cannot be kept; "" when it can
}

// isSame reports whether nobody has written to a file since.
func (m match) isSame(other match) bool {
	return m.info != nil && other.info != nil && os.SameFile(m.info, other.info) && m.info.Size() == other.info.Size() && m.info.ModTime().Equal(other.info.ModTime())
}

// errManyKept is why no more files are looked at.
var errManyKept = fmt.Errorf("more than %d files match", plan.MaxInputs)

// match finds the files of --keep; nil without such an option.
func (s *Session) match(ctx context.Context) (*matching, error) {
	if len(s.o.Keep) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(s.setup.Dir)
	if err != nil {
		return nil, err
	}
	m := &matching{root, map[string]match{}}
	for _, pattern := range s.o.Keep {
		err := doublestar.GlobWalk(workFolder{root.FS(), s.runsBelow()}, path.Clean(pattern), func(name string, _ fs.DirEntry) error {
			if len(m.files) >= plan.MaxInputs {
				return errManyKept
			}
			m.add(name)
			return ctx.Err()
		}, doublestar.WithNoFollow())
		if err != nil {
			m.close()
			return nil, fmt.Errorf("--keep %s: %w", pattern, err)
		}
	}
	return m, nil
}

func (m *matching) close() {
	if m != nil {
		m.root.Close()
	}
}

func (m *matching) add(name string) {
	found := match{}
	st, err := m.root.Stat(name)
	switch {
	case err != nil: // a link that leads out of the folder, or nowhere
		found.reason = file.Reason(err)
		st, _ = m.root.Lstat(name)
	case st.IsDir():
		return
	case !st.Mode().IsRegular():
		found.reason = "it is not a regular file"
	}
	found.info = st
	m.files[name] = found
}

// runsBelow is where the folder of runs lies below the working folder; "" when it does not.
func (s *Session) runsBelow() string {
	below, err := filepath.Rel(s.setup.Dir, filepath.Dir(s.setup.Runs))
	if err != nil || !filepath.IsLocal(below) {
		return ""
	}
	return filepath.ToSlash(below)
}

// workFolder is a folder without what prof itself keeps in it.
type workFolder struct {
	fs.FS
	without string // a folder below; "": nothing
}

func (w workFolder) Stat(name string) (fs.FileInfo, error) { return fs.Stat(w.FS, name) }

// ReadDir reads a folder. The library reads what is none too, and would wait for the writer of a pipe.
func (w workFolder) ReadDir(name string) ([]fs.DirEntry, error) {
	if st, err := w.Stat(name); err != nil || !st.IsDir() {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	entries, err := fs.ReadDir(w.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return scratch.IsName(e.Name()) || w.without != "" && path.Join(name, e.Name()) == w.without
	}), err
}

// keepWritten keeps the files of --keep that a pass has written: those that are not as they were before. What a workload wrote that was cut
// off may be half a file: it is not kept, and does not take the place of what an earlier pass wrote.
func (s *Session) keepWritten(ctx context.Context, before *matching, p *rundir.Pass, cut bool) {
	if before == nil {
		return
	}
	after, err := s.match(ctx)
	if err != nil {
		s.warn(fmt.Sprintf("%s: what the workload wrote is not kept: %v", p.Name, err))
		return
	}
	defer after.close()
	room := s.o.MaxArtifactBytes - sizeOf(s.dir)
	failed, first := 0, ""
	for _, name := range slices.Sorted(maps.Keys(after.files)) {
		found := after.files[name]
		if was, ok := before.files[name]; ok && was.isSame(found) {
			continue
		}
		if cut && slices.ContainsFunc(s.manifest.Kept, func(k rundir.Kept) bool { return k.Path == name && k.Reason == "" }) {
			continue
		}
		if cut && found.reason == "" {
			found.reason = "it may not be whole: Nsight Compute ended the workload after the last launch that it was to profile (--ncu-arg=--kill=no lets it end by itself)"
		}
		k := s.keepOne(ctx, after.root, name, found, room)
		k.Pass = p.ID
		if k.Size != nil && k.Reason == "" {
			room -= *k.Size
		}
		if k.Reason != "" {
			if failed++; failed == 1 {
				first = k.Path + ": " + k.Reason
			}
		}
		s.noteKept(k)
	}
	if failed > 0 {
		s.warn(fmt.Sprintf("%s: files of --keep that were not kept: %d, the first is %s", p.Name, failed, first))
	}
}

// noteKept puts a file in the place of what an earlier pass wrote to it. If it could not be kept, the earlier one stays.
func (s *Session) noteKept(k rundir.Kept) {
	at := slices.IndexFunc(s.manifest.Kept, func(old rundir.Kept) bool { return old.Path == k.Path })
	switch {
	case at < 0:
		s.manifest.Kept = append(s.manifest.Kept, k)
	case k.Reason == "" || s.manifest.Kept[at].Reason != "":
		s.manifest.Kept[at] = k
	}
}

// keepOne copies a file into the run's folder, of at most so many bytes.
func (s *Session) keepOne(ctx context.Context, root *os.Root, name string, found match, room int64) rundir.Kept {
	k := rundir.Kept{Path: name, Reason: found.reason}
	if k.Reason != "" {
		return k
	}
	size := found.info.Size()
	k.Size = &size
	sum, err := copyKept(ctx, root, name, s.below(rundir.KeptName+"/"+name), &size, room)
	if err != nil {
		k.Reason = file.Reason(err)
	} else {
		k.SHA256 = sum
	}
	return k
}

// copyKept copies a file of about so many bytes, which it corrects, and gives the SHA-256 of the copy.
func copyKept(ctx context.Context, root *os.Root, name, to string, size *int64, room int64) (string, error) {
	tooLarge := errors.New("there is no room for it (--max-artifact-size)")
	if *size > room {
		return "", tooLarge
	}
	from, err := file.OpenIn(root, name)
	if err != nil {
		return "", err
	}
	defer from.Close()
	if err := file.MakeDir(filepath.Dir(to)); err != nil {
		return "", err
	}
	h := sha256.New()
	err = file.Replace(to, func(w io.Writer) error {
		n, err := io.Copy(io.MultiWriter(w, h), io.LimitReader(file.Until(ctx, from), room+1)) // it may grow
		if err != nil {
			return err
		}
		if n > room {
			return tooLarge
		}
		*size = n
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// warnUnkept says which patterns of --keep no file matched that a pass wrote.
func (s *Session) warnUnkept() {
	for _, pattern := range s.o.Keep {
		if !slices.ContainsFunc(s.manifest.Kept, func(k rundir.Kept) bool {
			return doublestar.MatchUnvalidated(path.Clean(pattern), k.Path)
		}) {
			s.warn(fmt.Sprintf("--keep %s: no recording wrote such a file", pattern))
		}
	}
}
