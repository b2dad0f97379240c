package tracer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"prof/internal/file"
)

// Record returns the line of a switch that has each process of a Window with Each write what it traces into a file of its own in a folder.
func Record(dir string) string { return SwitchOn + " " + dir }

// Set writes a line into a switch, all of it at once.
func Set(path, line string) error { return file.Write(path, []byte(line+"\n")) }

// launchesExt ends the name of the file in which a process says how many kernels and graphs it has launched; before it is its id.
const launchesExt = ".launches"

// Launches returns how many kernels and graphs each process has launched since a switch said SwitchWatch, by its id: the processes that have CUDA.
// dir is the folder of Options.
func Launches(dir string) (map[int]int64, error) {
	paths, err := withExt(dir, launchesExt)
	if err != nil {
		return nil, err
	}
	out := map[int]int64{}
	for _, path := range paths {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), launchesExt))
		if err != nil {
			continue // it is not a tracer's
		}
		text, err := file.Read(path, 64)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			continue // it is being written: the next look has it
		}
		out[pid] = n
	}
	return out, nil
}

// Forget removes the files that Launches reads.
func Forget(dir string) error {
	paths, err := withExt(dir, launchesExt)
	for _, path := range paths {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// withExt lists the files of a folder whose names end so; without the folder there are none.
func withExt(dir, ext string) (out []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ext) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, err
}

// traceExt ends the name of a trace; before it is the id of its process.
const traceExt = ".proftrace"

// Traces lists the traces in a folder.
func Traces(dir string) ([]string, error) { return withExt(dir, traceExt) }

// lastBlock is a block of docs/trace-format.md that ends a trace in order, but for its checksum at sumAt.
const (
	lastBlock = "blk\n\x04\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00....exit"
	sumAt     = 16
)

// IsWhole reports whether a trace has its end: its process adds nothing to it.
func IsWhole(path string) (bool, error) {
	f, err := file.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() < int64(len(lastBlock)) {
		return false, err
	}
	end := make([]byte, len(lastBlock))
	if _, err := f.ReadAt(end, st.Size()-int64(len(end))); err != nil {
		return false, err
	}
	return string(end[:sumAt]) == lastBlock[:sumAt] && string(end[sumAt+4:]) == lastBlock[sumAt+4:], nil
}
