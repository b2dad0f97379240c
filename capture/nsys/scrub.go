package nsys

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"prof/capture/envvar"
	"slices"
)

// nsys keeps the environment of every process that it traces: as one text of a report, its variables parted by NUL. An export is
// cleared of it before it is kept. A variable that prof gives to the workload, and that its processes inherit, tells the texts that
// are environments, and so do the variables without which nsys does not trace a process; in these texts every variable beyond the
// allow-list is overwritten, whoever set it.

// markerName is the variable that marks an environment.
const markerName = "PROF_PASS"

// Marker is its value, which no other text holds.
type Marker struct{ value string }

func NewMarker() (Marker, error) {
	var b [16]byte
	_, err := rand.Read(b[:])
	return Marker{hex.EncodeToString(b[:])}, err
}

// In adds the marker to an environment.
func (m Marker) In(environ []string) []string { return append(slices.Clone(environ), m.Variable()) }

// Variable is the marker as an environment has it: the processes of the workload inherit it.
func (m Marker) Variable() string { return markerName + "=" + m.value }

// tells returns texts that environments hold and hardly anything else does.
func (m Marker) tells() [][]byte {
	return [][]byte{[]byte(m.value), []byte("CUDA_INJECTION64_PATH="), []byte("NVTX_INJECTION64_PATH="), []byte("LD_PRELOAD="), []byte("\x00PATH="), []byte("\x00HOME="), []byte("\x00PWD=")}
}

// isEnvironment reports whether a text that holds one of those is an environment: several variables, or the marker.
func (m Marker) isEnvironment(text []byte) bool {
	return bytes.IndexByte(text, 0) >= 0 || bytes.Contains(text, []byte(m.value))
}

// Scrub clears a SQLite file of environments, and gives the number of variables that it overwrote. Lengths stay, so that the file is as
// whole as before. What it has done it checks: an environment that is still there, or that it cannot reach, is an error.
func Scrub(path string, m Marker) (n int, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	db, err := openPages(f)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	err = db.texts(m.tells(), func(t text) error {
		if !m.isEnvironment(t.bytes) {
			return nil
		}
		bytes, some := masked(t.bytes)
		n += some
		return db.write(t, bytes)
	})
	if err == nil {
		err = db.texts(m.tells(), func(t text) error {
			if _, left := masked(t.bytes); left > 0 && m.isEnvironment(t.bytes) {
				return fmt.Errorf("%d environment variables could not be overwritten", left)
			}
			return nil
		})
	}
	if err != nil {
		return n, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return n, nil
}

// masked overwrites the variables of an environment that a report may not hold, and counts them. What has no = is no variable, but a
// part of one whose value holds a line or more than text: it goes too.
func masked(environ []byte) (out []byte, n int) {
	out = bytes.Clone(environ)
	for at := 0; at < len(out); {
		end := at + bytes.IndexByte(out[at:], 0)
		if end < at {
			end = len(out)
		}
		entry := out[at:end]
		if len(bytes.Trim(entry, "*")) > 0 && !mayStay(string(entry)) {
			n++
			for i := range entry {
				entry[i] = '*'
			}
		}
		at = end + 1
	}
	return out, n
}

// mayStay reports whether a variable is on the allow-list of tools.
func mayStay(variable string) bool {
	if len(variable) > len(markerName) && variable[:len(markerName)+1] == markerName+"=" {
		return true
	}
	kept := envvar.ForTool([]string{variable})
	return len(kept) == 1 && kept[0] == variable
}
