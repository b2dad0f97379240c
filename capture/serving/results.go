package serving

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"prof/internal/scratch"
)

// How far below the working folder results are looked for, and among how many files.
const (
	resultDepth = 6
	resultMost  = 20_000
)

// Found is a result file of a load generator.
type Found struct {
	Path string
	Name string // below the working folder, with slashes; of others their base
}

// Results finds the result files that a load generator has written since a moment: those that patterns name, or without patterns JSON below the
// working folder that is a result. without is a folder that is not looked into; "" is none.
func Results(ctx context.Context, dir, without string, patterns []string, since time.Time, is func(path string) bool) ([]Found, error) {
	if len(patterns) == 0 {
		return unnamed(ctx, dir, without, since, is)
	}
	var out []Found
	for _, pattern := range patterns {
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(escaped(dir), pattern)
		}
		paths, err := doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
		if err != nil {
			return nil, fmt.Errorf("--load-result %s: %w", pattern, err)
		}
		slices.Sort(paths)
		for _, path := range paths {
			if isSince(path, since) && !slices.ContainsFunc(out, func(f Found) bool { return f.Path == path }) {
				out = append(out, found(dir, path))
			}
		}
	}
	return out, nil
}

// escaped is a path as a pattern that only the path itself matches.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(path)
}

func found(dir, path string) Found {
	if name, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(name) {
		return Found{path, filepath.ToSlash(name)}
	}
	return Found{path, filepath.Base(path)}
}

// isSince reports whether a file was written at a moment or later, by the clock of its file system, which may be coarse.
func isSince(path string, since time.Time) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && !st.ModTime().Before(since.Truncate(time.Second))
}

// unnamed finds results that no pattern names. Hidden folders are left out, and what cannot be read.
func unnamed(ctx context.Context, dir, without string, since time.Time, is func(path string) bool) (out []Found, err error) {
	seen := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		seen++
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return skipUnreadable(path, dir, d, err)
		case seen > resultMost:
			return fmt.Errorf("%s has more than %d files: name the result with --load-result", dir, resultMost)
		}
		if d.IsDir() {
			isHidden := strings.HasPrefix(d.Name(), ".") || scratch.IsName(d.Name()) || path == without
			if path != dir && (isHidden || strings.Count(strings.TrimPrefix(path, dir), string(filepath.Separator)) > resultDepth) {
				return filepath.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(path); (ext == ".json" || ext == ".jsonl") && isSince(path, since) && is(path) {
			out = append(out, found(dir, path))
		}
		return nil
	})
	return out, err
}

// skipUnreadable has a walk go on behind what it cannot read, unless that is where it begins.
func skipUnreadable(path, dir string, d fs.DirEntry, err error) error {
	switch {
	case err == nil || path == dir:
		return err
	case d != nil && d.IsDir():
		return filepath.SkipDir
	}
	return nil
}
