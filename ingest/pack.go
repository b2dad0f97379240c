package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// packing is how a file is packed.
type packing uint8

const (
	plainFile packing = iota
	packedGzip
	packedZstd
)

// packings are the known ones: what files of it are called, and how they begin.
var packings = []struct {
	as    packing
	name  string
	end   string
	magic []byte
}{
	{packedGzip, "gzip", ".gz", []byte{0x1f, 0x8b}},
	{packedZstd, "zstd", ".zst", []byte{0x28, 0xb5, 0x2f, 0xfd}},
}

// longestMagic is the number of bytes by which every packing is known.
const longestMagic = 4

// packingOf returns how a file is packed by its first bytes.
func packingOf(head []byte) packing {
	for _, p := range packings {
		if bytes.HasPrefix(head, p.magic) {
			return p.as
		}
	}
	return plainFile
}

// withoutPacking takes off a file's name what says how it is packed.
func withoutPacking(name string) string {
	for _, p := range packings {
		name = strings.TrimSuffix(name, p.end)
	}
	return name
}

func (p packing) String() string {
	for _, known := range packings {
		if known.as == p {
			return known.name
		}
	}
	return "plain"
}

// maxWindow bounds the memory that unpacking takes: zstd's own limit without --ultra or --long is 8 MiB.
const maxWindow = 128 << 20

// open reads what is packed in r; close ends it.
func (p packing) open(r io.Reader) (unpacked io.Reader, closeIt func(), err error) {
	if p == packedZstd {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(r, 1<<18))
	return z, func() {}, err
}

// unpack writes what is packed in r.
func (p packing) unpack(w io.Writer, r io.Reader) error {
	z, closeIt, err := p.open(r)
	if err != nil {
		return err
	}
	defer closeIt()
	_, err = io.CopyBuffer(onlyWriter{w}, onlyReader{z}, make([]byte, 1<<18))
	return err
}

type onlyReader struct{ io.Reader }

// isCut reports whether an error tells that a packed file ends too early.
func isCut(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) }

func (p packing) plainError(err error) error {
	if isCut(err) {
		return fmt.Errorf("the %s file is cut short: %w", p, err)
	}
	return err
}

// unpackHead returns the first unpacked bytes; none when it is not packed so after all, and no format will know it.
func (p packing) unpackHead(r io.Reader) ([]byte, error) {
	z, closeIt, err := p.open(r)
	if err != nil {
		return nil, nil
	}
	defer closeIt()
	head := make([]byte, headBytes)
	n, err := io.ReadFull(z, head)
	if err != nil && !isCut(err) {
		return nil, nil
	}
	return head[:n], nil
}

// cutPacking says of a file that is packed whether it ends before its first bytes can be unpacked; plainFile when it does not.
func cutPacking(r io.Reader) packing {
	b := bufio.NewReader(r)
	magic, err := b.Peek(longestMagic)
	p := packingOf(magic)
	if p == plainFile || err != nil && !isCut(err) {
		return plainFile
	}
	z, closeIt, err := p.open(b)
	if err == nil {
		defer closeIt()
		if _, err = io.CopyN(io.Discard, z, headBytes); errors.Is(err, io.EOF) {
			return plainFile // it is whole and short
		}
	}
	if isCut(err) {
		return p
	}
	return plainFile
}
