package rocprof

import (
	"io"

	"prof/ingest/nsys/sqlite"
)

// CountRocpd does the same for a database; ok is false for what is no SQLite.
func CountRocpd(path string) (n int, ok bool, err error) {
	f, err := sqlite.Open(path)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	n, err = count(rocpdEvents(f), nil)
	return n, true, err
}

// CountJSON and CountCSV read a file and give how many records it has.
func CountJSON(r io.Reader) (int, error) { return count(jsonEvents, r) }

func CountCSV(r io.Reader) (int, error) { return count(csvEvents, r) }

func count(events reader, r io.Reader) (int, error) {
	s := newStream(events, r)
	defer s.stop()
	for {
		if _, err := s.Next(); err == io.EOF {
			return int(s.Events()), nil
		} else if err != nil {
			return int(s.Events()), err
		}
	}
}
