package schema

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"prof/internal/file"
)

// DuckDB writes a commit into free blocks of its file, and then one header that makes them count. Blocks of metadata are the exception: such a
// block has 64 parts, and a commit writes its own into those that are free, in place. The others stay as they are, but the checksum is one
// of the whole block: a process killed in the middle of that write, or a machine that loses power, leaves a file that DuckDB refuses for
// good. So these blocks are kept aside before each commit, and put back where the header says that the commit was not made.

// undo keeps what the next commit of an open warehouse writes over.
type undo struct {
	data *os.File // the warehouse, opened before DuckDB and closed after it: closing it earlier would end DuckDB's locks on it
	path string
}

// undoFile is the path of the file that keeps them: the headers, each block after its number, and a SHA-256 of it all. It is there
// while a process writes, and after one that was killed.
func (h Home) undoFile() string { return h.Warehouse() + ".undo" }

func newUndo(h Home) (*undo, error) {
	f, err := file.Open(h.Warehouse())
	if errors.Is(err, fs.ErrNotExist) { // DuckDB makes it, and a kill before its first commit loses nothing
		return nil, nil
	}
	return &undo{data: f, path: h.undoFile()}, err
}

// keep keeps the blocks of metadata that a commit may write to: those with free parts.
func (u *undo) keep(ctx context.Context, q querier) (err error) {
	headers, err := readHeaders(u.data)
	if err != nil {
		return err
	}
	rows, err := q.QueryContext(ctx, `SELECT DISTINCT block_id FROM pragma_metadata_info() WHERE free_blocks > 0 ORDER BY block_id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var text bytes.Buffer
	text.Write(headers)
	block := make([]byte, blockSize(headers))
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		switch _, err := u.data.ReadAt(block, blockOffset(id, len(block))); {
		case errors.Is(err, io.EOF): // only in memory so far
			continue
		case err != nil:
			return err
		}
		text.Write(binary.LittleEndian.AppendUint64(nil, uint64(id)))
		text.Write(block)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	sum := sha256.Sum256(text.Bytes())
	text.Write(sum[:])
	out, err := file.Create(u.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := text.WriteTo(out); err != nil {
		return err
	}
	return out.Sync() // before DuckDB writes over them
}

func (u *undo) close() error {
	if u == nil {
		return nil
	}
	return errors.Join(remove(u.path), u.data.Close())
}

// Commit makes a commit so that the warehouse survives a kill in the middle of it. Every commit goes through it.
func (w *Warehouse) Commit(ctx context.Context, commit func() error) error {
	if w.undo != nil {
		if err := w.undo.keep(ctx, w.DB); err != nil {
			return fmt.Errorf("keep what the commit writes over: %w", err)
		}
	}
	return commit()
}

// Transact does something in a transaction of a connection, all of it or nothing. It does it again where DuckDB's memory did not suffice, see Again.
func (w *Warehouse) Transact(ctx context.Context, conn *sql.Conn, do func() error) error {
	return w.Again(ctx, func() error { return w.TransactOnce(ctx, conn, do) })
}

// TransactOnce is Transact for what cannot be done a second time.
func (w *Warehouse) TransactOnce(ctx context.Context, conn *sql.Conn, do func() error) error {
	if _, err := conn.ExecContext(ctx, `BEGIN`); err != nil {
		return err
	}
	isOpen := true
	err := do()
	if err == nil {
		err = w.Commit(ctx, func() error {
			isOpen = false // DuckDB ends a transaction whose commit fails
			_, err := conn.ExecContext(ctx, `COMMIT`)
			return err
		})
	}
	if err != nil && isOpen {
		// The context may be cancelled by now, and the rollback must happen all the same.
		if _, rollback := conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`); rollback != nil {
			err = errors.Join(err, rollback)
		}
	}
	return err
}

// exec is Commit of one statement.
func (w *Warehouse) exec(ctx context.Context, statement string, args ...any) error {
	return w.Commit(ctx, func() error {
		_, err := w.DB.ExecContext(ctx, statement, args...)
		return err
	})
}

// kept are the blocks of an undo file.
type kept struct {
	headers []byte
	blocks  []byte // each after its number
}

// maxUndo is the largest undo file: metadata of terabytes takes less.
const maxUndo = 1 << 30

// keptBlocks reads the undo file; nil if there is none, or none that was finished: then the commit had not begun.
func (h Home) keptBlocks() (*kept, error) {
	text, err := file.Read(h.undoFile(), maxUndo)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(text) < headersSize+sha256.Size {
		return nil, nil
	}
	rest := text[:len(text)-sha256.Size]
	if sha256.Sum256(rest) != [sha256.Size]byte(text[len(rest):]) {
		return nil, nil
	}
	return &kept{headers: rest[:headersSize], blocks: rest[headersSize:]}, nil
}

// putBack writes the blocks into a file that has, or had, the headers that were kept with them.
func (k *kept) putBack(out io.WriterAt) error {
	size := blockSize(k.headers)
	for b := k.blocks; len(b) >= 8+size; b = b[8+size:] {
		id := int64(binary.LittleEndian.Uint64(b))
		if _, err := out.WriteAt(b[8:8+size], blockOffset(id, size)); err != nil {
			return err
		}
	}
	return nil
}

// wasKilled reports whether a process was killed while it had the warehouse open for writing.
func (h Home) wasKilled() bool {
	_, err := os.Lstat(h.undoFile())
	return err == nil && !h.isWriting()
}

// undoCommit puts back what a killed process has half written over. It needs the turn, and does nothing where DuckDB of another program
// has the warehouse open.
func (h Home) undoCommit() error {
	k, err := h.keptBlocks()
	if err != nil || k == nil {
		return errors.Join(err, remove(h.undoFile()))
	}
	f, err := os.OpenFile(h.Warehouse(), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}); err != nil {
		return nil // whoever has it read what is there, and can only have got it whole
	}
	headers, err := readHeaders(f)
	if err != nil {
		return err
	}
	if bytes.Equal(headers, k.headers) {
		if err := errors.Join(k.putBack(f), f.Sync()); err != nil {
			return fmt.Errorf("put back what a killed process has half written: %w", err)
		}
	}
	return remove(h.undoFile())
}

// repair does undoCommit for a reader, if it may write. If not, DuckDB says what is wrong, if anything is.
func (h Home) repair(ctx context.Context, o Options) {
	release, err := h.takeTurn(ctx, o, time.Now())
	if err == nil {
		_ = h.undoCommit()
		_ = release()
	}
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// headersSize is the size of DuckDB's headers: that of the file, and two of checkpoints, which it writes in turns. Blocks follow them.
const headersSize = 3 * headerSize

const headerSize = 4096

func readHeaders(f *os.File) ([]byte, error) {
	b := make([]byte, headersSize)
	_, err := f.ReadAt(b, 0)
	return b, err
}

// blockSize reads the size of the file's blocks in the header of a checkpoint: after the checksum come the iteration, two pointers and the
// number of blocks, of 8 bytes each (DatabaseHeader in DuckDB's storage_info.hpp).
func blockSize(headers []byte) int {
	const at = headerSize + 5*8
	if n := binary.LittleEndian.Uint64(headers[at:]); n > 0 && n <= maxBlock {
		return int(n)
	}
	return maxBlock
}

// maxBlock is DuckDB's largest block, and that of files that do not say.
const maxBlock = 256 << 10

func blockOffset(id int64, size int) int64 { return headersSize + id*int64(size) }
