// Package scratch makes temporary folders that are found again when the process that made them was killed.
package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// prefix begins the name of every folder that Make makes. Nobody else may use it: Clear removes what has it. It is short
// because a socket in the folder has a path of at most 107 bytes.
const prefix = ".prof~"

// IsName reports whether a folder of that name is one that Make made.
func IsName(name string) bool { return strings.HasPrefix(name, prefix) }

// Dir is a temporary folder, locked as long as the process lives that made it.
type Dir struct {
	Path string
	lock *os.File
}

// Make makes an empty folder in parent ("": the folder of the system for temporary files), which only this user may enter, after it has
// cleared what killed processes left there.
func Make(parent string) (*Dir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	Clear(parent)
	for {
		path, err := os.MkdirTemp(parent, prefix)
		if err != nil {
			return nil, err
		}
		lock, _, err := take(path)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !(lock != nil && NoLocks(err)):
			return nil, errors.Join(err, os.Remove(path))
		case lock != nil: // where there are no locks, nobody clears it
			return &Dir{path, lock}, nil
		}
		// Another process cleared the folder before it was locked.
	}
}

// NoLocks reports whether a lock failed because the file system has none: some of networks have none at all, or none of folders.
func NoLocks(err error) bool {
	return errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EBADF)
}

// take opens and locks a folder, unless another process has locked or removed it. Where there are no locks it is open all the same.
func take(path string) (lock *os.File, locked bool, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		var is, was os.FileInfo
		was, _ = f.Stat()
		if is, err = os.Lstat(path); err == nil && os.SameFile(is, was) {
			return f, true, nil
		}
	}
	if NoLocks(err) {
		return f, false, err
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = nil
	}
	return nil, false, err
}

// Remove removes the folder and what is in it.
func (d *Dir) Remove() error {
	return errors.Join(os.RemoveAll(d.Path), d.lock.Close())
}

// keepFile is an empty file in a folder that Clear leaves alone.
const keepFile = "keep"

// Keep lets the folder stay when the process has ended. Remove removes it all the same.
func (d *Dir) Keep() error { return os.WriteFile(filepath.Join(d.Path, keepFile), nil, 0o600) }

// Clear removes the folders of this user in parent whose processes were killed. What cannot be removed stays: it is in nobody's way.
func Clear(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !IsName(e.Name()) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		if _, err := os.Lstat(filepath.Join(path, keepFile)); err == nil || !IsOwn(path) {
			continue
		}
		lock, locked, _ := take(path)
		if locked {
			os.RemoveAll(path)
		}
		if lock != nil {
			lock.Close()
		}
	}
}

// IsOwn reports whether a folder is this user's, and no link to one.
func IsOwn(path string) bool {
	st, err := os.Lstat(path)
	if err != nil {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Getuid()
}
