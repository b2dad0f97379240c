package jobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"prof/capture/plan"
	"prof/internal/file"
)

// summed is the hash of a file that has not changed since.
type summed struct {
	size int64
	at   time.Time
	sum  string
}

// maxSums bounds the hashes that are remembered.
const maxSums = 10_000

// captureDir opens the folder that prof capture made for a run; nil where there is none.
func (s *Service) captureDir(run string) (*os.Root, error) {
	if run == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(filepath.Join(s.o.CaptureFolders, plan.FolderName(run)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return root, err
}

// artifacts lists the files of a capture, in the order of their names.
func (s *Service) artifacts(ctx context.Context, ref, run string) ([]Artifact, error) {
	out := []Artifact{}
	root, err := s.captureDir(run)
	if err != nil || root == nil {
		return out, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			if errors.Is(err, fs.ErrNotExist) { // a capture at work removes its own
				return nil
			}
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		size, sum, err := s.digest(root, run, name)
		if err == nil {
			out = append(out, Artifact{name, artifactsPath(ref) + "/" + url.PathEscape(name), size, sum})
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	return out, err
}

// digest returns the size and the SHA-256 of a file, which is read only where it has changed.
func (s *Service) digest(root *os.Root, run, name string) (int64, string, error) {
	f, err := file.OpenIn(root, name)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, "", err
	}
	key := run + "/" + name
	s.mu.Lock()
	known, ok := s.sums[key]
	s.mu.Unlock()
	if ok && known.size == st.Size() && known.at.Equal(st.ModTime()) {
		return known.size, known.sum, nil
	}
	n, sum, err := hashed(f)
	if err != nil {
		return 0, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sums) >= maxSums {
		clear(s.sums)
	}
	s.sums[key] = summed{n, st.ModTime(), sum}
	return n, sum, nil
}

// openArtifact opens a file of a capture. No name leads out of its folder.
func (s *Service) openArtifact(run, name string) (*os.File, error) {
	root, err := s.captureDir(run)
	if err == nil && root == nil {
		err = fmt.Errorf("%w with captured files: %.100q", ErrNoRun, run)
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := file.OpenIn(root, name)
	if err != nil {
		return nil, fmt.Errorf("%w with a file %.200q", ErrNoRun, name)
	}
	return f, nil
}
