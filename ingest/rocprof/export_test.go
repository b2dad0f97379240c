package rocprof

import "io"

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
