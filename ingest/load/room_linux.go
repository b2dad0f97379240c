package load

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a new file of a size that has no name, so that nothing is left of it however the process ends. It takes its blocks at once,
// where the file system can: a page that the disk has no room for would kill the process later.
func mapFile(dir string, size int) (b []byte, err error) {
	f, err := os.CreateTemp(dir, "records-*")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return nil, err
	}
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Fallocate(int(f.Fd()), 0, 0, int64(size))
	}
	if err != nil {
		return nil, err
	}
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// letGoOf takes pages out of the process, not out of the file.
func letGoOf(b []byte) { _ = unix.Madvise(b, unix.MADV_DONTNEED) } // an advice: where it is not taken, memory is what it was

func unmap(b []byte) error { return unix.Munmap(b) }
