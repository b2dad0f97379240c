package schema

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"
)

// emptyImage is a warehouse without runs, packed. Making one by its migrations and definitions takes a second; this takes a few
// milliseconds. A test makes it and proves it equal to one made so; an older one is brought up to date as any older warehouse is.
//
//go:embed empty.duckdb.zst
var emptyImage []byte

// writeEmpty puts an empty warehouse into a home that has none, whole or not at all. Where another process made one meanwhile, that one stays.
func (h Home) writeEmpty() error {
	empty, err := unpacked(emptyImage)
	if err != nil {
		return fmt.Errorf("unpack the empty warehouse: %w", err)
	}
	// A killed process leaves it where the next one that writes clears it.
	if err := os.MkdirAll(h.Temp(), 0o755); err != nil {
		return err
	}
	defer os.Remove(h.Temp())
	temp, err := os.CreateTemp(h.Temp(), "empty-")
	if err != nil {
		return err
	}
	// DuckDB would make it with such rights, less the umask.
	if err := temp.Chmod(0o644); err != nil {
		return errors.Join(err, temp.Close())
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(empty)
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	// A link, and no renaming: that would take the file from under a process that has opened it.
	if err := os.Link(temp.Name(), h.Warehouse()); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// unpacked gives what an image was packed of.
func unpacked(image []byte) ([]byte, error) {
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer unpack.Close()
	return unpack.DecodeAll(image, nil)
}
