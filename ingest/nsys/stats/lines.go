package stats

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxRecord bounds a line, and a row whose name holds line ends.
const maxRecord = 1 << 20

// lines reads a file line by line, in bounded memory.
type lines struct {
	ctx    context.Context
	name   string
	r      *bufio.Reader
	number int  // of the line, from 1
	open   bool // the line has no end: it is the file's last one
}

func newLines(ctx context.Context, r io.Reader, name string) *lines {
	b := bufio.NewReaderSize(r, 64<<10)
	if mark, _ := b.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = b.Discard(3)
	}
	return &lines{ctx: ctx, name: name, r: b}
}

// next returns the next line without its end; io.EOF behind the last one.
func (l *lines) next() (string, error) {
	if l.number&1023 == 0 && l.ctx.Err() != nil {
		return "", l.ctx.Err()
	}
	var text []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(text)+len(part) > maxRecord {
			return "", fmt.Errorf("%s: line %d: it has more than %d bytes", l.name, l.number+1, maxRecord)
		}
		text = append(text, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return "", fmt.Errorf("%s: line %d: %w", l.name, l.number+1, err)
		case err != nil && len(text) == 0:
			return "", io.EOF
		}
		l.open = err != nil
		l.number++
		return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
	}
}
