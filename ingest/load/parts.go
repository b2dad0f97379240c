package load

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Part is a file of a source, and what messages call it.
type Part struct{ Path, Name string }

// Parts are the files of a source: one, or those of a folder, by name. Name is what messages call the source.
func Parts(path, name string) ([]Part, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return []Part{{path, name}}, nil
	}
	var out []Part
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, Part{p, filepath.Join(filepath.Dir(name), d.Name())})
		}
		return err
	})
	return out, err
}
