package capture

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// nsys keeps the environment of every process that it traces: as one text of a report, its variables parted by NUL. An export is
// cleared of it before it is kept. Each environment is found by two variables that prof adds, and whatever of the workload's own is
// beyond the allow-list is overwritten around them.

// marker is the value of variables that no other text holds.
type marker struct{ value string }

// Names of the variables that mark an environment. One of them may be parted by the end of a page.
const (
	markerFirst = "PROF_PASS"
	markerLast  = "PROF_PASS_END"
)

func newMarker() (marker, error) {
	var b [16]byte
	_, err := rand.Read(b[:])
	return marker{hex.EncodeToString(b[:])}, err
}

// around adds the marker to an environment.
func (m marker) around(environ []string) []string {
	return append(append([]string{markerFirst + "=" + m.value}, environ...), markerLast+"="+m.value)
}

// beyond gives the variables of an environment that a report may not hold: those that its tool was not given.
func beyond(environ, given []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return slices.Contains(given, v) || name == "" || value == "" || strings.HasPrefix(name, "PROF_MARK")
	})
}

const (
	scrubChunk  = 4 << 20
	sqliteMagic = "SQLite format 3\x00"
	// pageLink is what an overflow page of SQLite begins with: the number of the next.
	pageLink = 4
)

// scrub overwrites variables in a SQLite file wherever the marker tells an environment, and gives the number of places. Lengths stay,
// so that the file is as whole as before. That an environment lies in pages one behind the other, as a single writer leaves it, is
// checked in the end: a variable that is still there is an error.
func scrub(path string, m marker, variables []string) (n int, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	page, err := pageSize(f)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	longest := 0
	for _, v := range variables {
		longest += len(v) + 1
	}
	reach := int64(2*longest + 1<<16)
	windows, err := markedWindows(f, m.value, reach)
	if err != nil {
		return 0, err
	}
	for _, w := range windows {
		some, err := scrubWindow(f, w, page, variables)
		if err != nil {
			return n, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		n += some
	}
	return n, leftOver(f, page, variables)
}

// pageSize reads that of a SQLite file from its header.
func pageSize(f io.ReaderAt) (int64, error) {
	var head [18]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:16]) != sqliteMagic {
		return 0, errors.New("it is no SQLite database")
	}
	size := int64(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 1 << 16
	}
	if size < 512 {
		return 0, errors.New("its header tells no page size")
	}
	return size, nil
}

// window is a part of a file.
type window struct{ from, to int64 }

// markedWindows finds the marker, and gives the file around each place, overlapping parts joined.
func markedWindows(f *os.File, value string, reach int64) ([]window, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var out []window
	buf := make([]byte, scrubChunk)
	for at := int64(0); at < st.Size(); at += int64(len(buf) - len(value)) {
		n, err := f.ReadAt(buf, at)
		if err != nil && err != io.EOF {
			return nil, err
		}
		for i := 0; ; i++ {
			next := bytes.Index(buf[i:n], []byte(value))
			if next < 0 {
				break
			}
			i += next
			w := window{max(0, at+int64(i)-reach), min(st.Size(), at+int64(i)+reach)}
			if last := len(out) - 1; last >= 0 && w.from <= out[last].to {
				out[last].to = w.to
			} else {
				out = append(out, w)
			}
		}
		if n < len(buf) {
			break
		}
	}
	return out, nil
}

// unlinked is a part of a file without what overflow pages begin with, and where each byte stands in it.
func unlinked(buf []byte, from, page int64) (text []byte, at []int) {
	for i, b := range buf {
		if (from+int64(i))%page >= pageLink {
			text, at = append(text, b), append(at, i)
		}
	}
	return text, at
}

func scrubWindow(f *os.File, w window, page int64, variables []string) (n int, err error) {
	buf := make([]byte, w.to-w.from)
	if _, err := f.ReadAt(buf, w.from); err != nil && err != io.EOF {
		return 0, err
	}
	text, at := unlinked(buf, w.from, page)
	for _, v := range variables {
		for i := 0; ; i++ {
			next := bytes.Index(text[i:], []byte(v))
			if next < 0 {
				break
			}
			i += next
			// A variable stands between two others; a piece of another text does not.
			if i == 0 || text[i-1] != 0 || i+len(v) == len(text) || text[i+len(v)] != 0 {
				continue
			}
			n++
			for k := i; k < i+len(v); k++ {
				text[k], buf[at[k]] = '*', '*'
			}
		}
	}
	_, err = f.WriteAt(buf, w.from)
	return n, err
}

// leftOver looks through the whole file for variables that look like secrets.
func leftOver(f *os.File, page int64, variables []string) error {
	secrets := slices.DeleteFunc(slices.Clone(variables), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return !IsSecretName(name) || len(value) < 6
	})
	buf := make([]byte, scrubChunk/page*page+page)
	for at := int64(0); len(secrets) > 0; at += int64(len(buf)) - page {
		n, err := f.ReadAt(buf, at)
		if err != nil && err != io.EOF {
			return err
		}
		text, _ := unlinked(buf[:n], at, page)
		for _, v := range secrets {
			name, _, _ := strings.Cut(v, "=")
			if bytes.Contains(text, []byte(v)) {
				return fmt.Errorf("it still holds the variable %s", name)
			}
		}
		if n < len(buf) {
			return nil
		}
	}
	return nil
}
