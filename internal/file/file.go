// Package file opens, reads and replaces files that people name, so that nothing waits for a writer that never comes, reads without end, or
// leaves half of a file in the place of a whole one.
package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Errors that the errors of this package wrap.
var (
	ErrNotFile  = errors.New("not a file")               // a folder, a pipe, a device or a socket
	ErrTooLarge = errors.New("the limit for such input") // more bytes than the limit
)

// Open opens a regular file for reading. Of anything else the error says what it is; it comes at once, also where a pipe has no writer.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	return regular(f, path, err)
}

// OpenIn is Open below a root.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	return regular(f, name, err)
}

// regular returns a file that was opened if it is a regular one.
func regular(f *os.File, path string, err error) (*os.File, error) {
	if errors.Is(err, syscall.ENXIO) { // what the system says of sockets, and of devices without a driver
		return nil, notFile(path, "a socket or a device")
	}
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = notFile(path, kindOf(st.Mode()))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Check is the error that Open gives for a path that is there and is not a regular file, without opening it.
func Check(path string) error {
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		err = notFile(path, kindOf(st.Mode()))
	}
	return err
}

func notFile(path, kind string) error {
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is %s, %w", kind, ErrNotFile)}
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// Read reads a whole regular file of at most limit bytes. A larger one is refused unread.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > limit {
		return nil, TooLarge(path, limit)
	}
	return readAll(f, path, limit, st.Size())
}

// ReadAll reads a stream of at most limit bytes to its end. The name is for errors.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	return readAll(r, name, limit, 0)
}

// readAll reads what is about so many bytes, without holding more than those.
func readAll(r io.Reader, name string, limit, size int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(b.Len()) > limit {
		return nil, TooLarge(name, limit)
	}
	return b.Bytes(), nil
}

// TooLarge is the error about a file of more than limit bytes.
func TooLarge(name string, limit int64) error {
	return fmt.Errorf("%s is larger than %s, %w", name, Bytes(limit), ErrTooLarge)
}

// Bytes writes a limit as people set it: 16 MiB, 4096 bytes.
func Bytes(n int64) string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if size := int64(1) << (30 - 10*i); n >= size && n%size == 0 {
			return fmt.Sprintf("%d %s", n/size, unit)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Until reads until the context ends: a file may be a model of hundreds of gigabytes.
func Until(ctx context.Context, r io.Reader) io.Reader { return untilDone{ctx, r} }

type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// Reason is an error without the path that stands beside it anyway.
func Reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
