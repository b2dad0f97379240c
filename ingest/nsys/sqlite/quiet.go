package sqlite

import (
	"errors"
	"io/fs"
	"path/filepath"

	"prof/internal/file"
)

// checkQuiet looks for the files that SQLite keeps beside a database while its pages alone are not the truth: a
// write-ahead log with content (section 4) or a hot rollback journal (section 3).
func checkQuiet(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // SQLite names its journals after the file behind the link
	}
	wal, err := firstByte(path + "-wal")
	if err != nil {
		return err
	}
	if wal >= 0 {
		return &Error{File: path, Msg: path + "-wal is not empty", Err: ErrBusy}
	}
	// A journal that is kept for reuse has its header zeroed.
	journal, err := firstByte(path + "-journal")
	if err != nil {
		return err
	}
	if journal > 0 {
		return &Error{File: path, Msg: path + "-journal has an unfinished transaction", Err: ErrBusy}
	}
	return nil
}

// firstByte returns a file's first byte, -1 when the file is empty or does not exist.
func firstByte(path string) (int, error) {
	r, err := file.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	if err != nil {
		return -1, err
	}
	defer r.Close()
	var b [1]byte
	if n, _ := r.Read(b[:]); n == 0 {
		return -1, nil
	}
	return int(b[0]), nil
}
