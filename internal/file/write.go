package file

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Rights of what is private to its user and of what a team shares, whose folders pass their group on to what is made in them.
const (
	private fs.FileMode = 0o700
	shared  fs.FileMode = 0o770 | fs.ModeSetgid
)

// Write replaces a file by a text; see Replace.
func Write(path string, text []byte) error {
	return Replace(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Replace makes a file, or puts a new one in the place of an older one: it is written aside, in the same folder, and renamed when it is
// whole, so that the older one survives a full disk, a kill and an error of write. What is made keeps the rights of the older file, or has
// those of its folder as far as they are of files. A pipe or a device is written to as it is. A symbolic link is refused, for it
// would lead the text elsewhere; those that lead to what this process has open, as /dev/stdout, are not.
func Replace(path string, write func(io.Writer) error) error {
	if isStream(path) {
		return writeTo(path, write)
	}
	if err := NoLink(path); err != nil {
		return err
	}
	aside, err := createAside(path)
	if err != nil {
		return err
	}
	if err = errors.Join(write(aside), aside.Close()); err == nil {
		err = os.Rename(aside.Name(), path)
	}
	if err != nil {
		return errors.Join(plainWriteError(path, err), os.Remove(aside.Name()))
	}
	return nil
}

// ReplaceNamed is Replace for what opens its file itself, by the name that it is given: that file is there, empty.
func ReplaceNamed(path string, write func(name string) error) error {
	return Replace(path, func(w io.Writer) error { return write(w.(*os.File).Name()) })
}

// plainWriteError names the file that was asked for, and not the one aside.
func plainWriteError(path string, err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return fmt.Errorf("write %s: %w", path, of.Err)
	}
	return fmt.Errorf("write %s: %w", path, err)
}

// isStream reports whether a path leads to what cannot be replaced, but be written to.
func isStream(path string) bool {
	if abs, err := filepath.Abs(path); err == nil && (abs == "/dev/stdout" || abs == "/dev/stderr" || strings.HasPrefix(abs, "/dev/fd/") || strings.HasPrefix(abs, "/proc/")) {
		return true
	}
	st, err := os.Lstat(path)
	return err == nil && st.Mode()&(fs.ModeNamedPipe|fs.ModeDevice|fs.ModeSocket) != 0
}

// writeTo writes to what is there.
func writeTo(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOCTTY, 0o666)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return plainWriteError(path, err)
	}
	return nil
}

// NoLink is an error where a path is a symbolic link, also one that ends with a slash, which the system would follow.
func NoLink(path string) error {
	if st, err := os.Lstat(filepath.Clean(path)); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link: name the file or folder that it leads to", path)
	}
	return nil
}

// createAside makes an empty file beside path under a name of its own, with the rights that path is to have.
func createAside(path string) (*os.File, error) {
	mode, exact := fs.FileMode(0), true
	if st, err := os.Stat(path); err == nil {
		if !st.Mode().IsRegular() {
			return nil, notFile(path, kindOf(st.Mode()))
		}
		mode = st.Mode().Perm()
	} else if mode, exact, err = rightsIn(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+strings.ToLower(rand.Text()[:10]))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err == nil && exact {
		err = f.Chmod(mode)
	}
	if err != nil {
		return nil, plainWriteError(path, err)
	}
	return f, nil
}

// rightsIn returns the rights of a file made in a folder: the folder's. The umask takes its share of them, but in a folder made for a team,
// where it would shut the others out; then they are exact.
func rightsIn(dir string) (mode fs.FileMode, exact bool, err error) {
	st, err := os.Stat(dir)
	if err != nil {
		return 0, false, err
	}
	return st.Mode().Perm()&0o666 | 0o600, st.Mode()&(fs.ModeSetgid|0o777) == shared, nil
}

// Create makes or empties a file for a program to write to, with the rights of its folder. A symbolic link is refused.
func Create(path string) (*os.File, error) {
	mode, exact, err := rightsIn(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, mode)
	if err == nil && exact {
		err = f.Chmod(mode)
	}
	return regular(f, path, err)
}

// Append opens a file for a program to write at its end, or to lock, and makes it with the rights of its folder where it is not there. A symbolic link
// is refused.
func Append(path string) (*os.File, error) {
	mode, exact, err := rightsIn(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, mode)
	if err == nil && exact {
		err = f.Chmod(mode)
	}
	return regular(f, path, err)
}

// Adopt gives what other programs made below a folder of prof the rights of that folder: no more, and in one that a team shares no less.
func Adopt(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir || !d.Type().IsRegular() && !d.IsDir() {
			return err
		}
		if err := AdoptOne(path); !errors.Is(err, fs.ErrNotExist) { // it may be gone by now
			return err
		}
		return nil
	})
}

// AdoptOne gives a file or folder the rights of the folder that it is in.
func AdoptOne(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	want, exact, err := rightsIn(filepath.Dir(path))
	if err != nil {
		return err
	}
	if st.IsDir() {
		want |= want >> 2 & 0o111
	}
	if !exact {
		want &= st.Mode().Perm()
	} else if st.IsDir() {
		want |= fs.ModeSetgid
	}
	if want == st.Mode()&(fs.ModeSetgid|fs.ModePerm) {
		return nil
	}
	return os.Chmod(path, want|st.Mode()&fs.ModeSetgid)
}

// MakeDir makes a folder, and those above that are missing, with the rights of the one above that is there.
func MakeDir(path string) error {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil
	}
	if above := filepath.Dir(path); above != path {
		if err := MakeDir(above); err != nil {
			return err
		}
	}
	if err := MakeNewDir(path); !errors.Is(err, fs.ErrExist) || Check(path) == nil {
		return err
	}
	return nil // another process just made it
}

// MakeNewDir makes a folder with the rights of the one above; one that is there is an error.
func MakeNewDir(path string) error {
	above, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	mode, err := above.Mode().Perm()|private, os.Mkdir(path, above.Mode().Perm()|private)
	if err == nil && above.Mode()&(fs.ModeSetgid|0o777) == shared {
		err = os.Chmod(path, mode|fs.ModeSetgid)
	}
	return err
}

// MakeHome makes a folder that only its user may enter, or with isShared also its group. One that is there stays as it is.
func MakeHome(path string, isShared bool) error {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil
	} else if err == nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	mode := private
	if isShared {
		mode = shared
	}
	err := os.Mkdir(path, mode.Perm())
	if err == nil && isShared { // the umask took some
		err = os.Chmod(path, mode)
	}
	if errors.Is(err, fs.ErrExist) && Check(path) != nil { // another process just made it
		return nil
	}
	return err
}
