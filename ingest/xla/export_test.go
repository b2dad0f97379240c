package xla

import (
	"io"
	"strings"
)

// Read reads all events of a file.
func Read(data []byte) error {
	s, err := readSpace(&source{in: strings.NewReader(string(data)), size: int64(len(data))})
	if err != nil {
		return err
	}
	e := newStream(s)
	defer e.stop()
	for {
		if _, err := e.Next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}
