package schema

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"prof/internal/file"
	"prof/internal/scratch"
)

// DuckDB lets any number of processes read a file, or one write it: while one writes, none can open it. So that nobody waits for a long
// ingest, a reader that meets a writer reads a copy of the file instead, of the last commit.

// patience is how long a reader waits for a writer before it takes a copy: most have finished by then.
const patience = 300 * time.Millisecond

// spills is the folder into which this process' readers put what does not fit in memory: one for all, because DuckDB lets all
// that open the same file share one instance, with the same settings.
var spills struct {
	sync.Mutex
	dir   *scratch.Dir
	users int
}

// spillOf is the folder in spill of one file: those of two would have the same names. DuckDB makes it when it needs it. "" is none.
func spillOf(spill, file string) string {
	h := fnv.New64a()
	h.Write([]byte(file))
	if spill == "" {
		return ""
	}
	return filepath.Join(spill, strconv.FormatUint(h.Sum64(), 16))
}

// takeSpill returns the folder until dropSpill; "" where none can be made: few readers need it, and the memory's limit is an error then.
func takeSpill() (path string) {
	spills.Lock()
	defer spills.Unlock()
	if spills.users == 0 {
		spills.dir, _ = scratch.Make("") // nil with an error
	}
	spills.users++
	if spills.dir == nil {
		return ""
	}
	return spills.dir.Path
}

// Spill is the folder into which readers put what does not fit in memory; "" where there is none.
func (w *Warehouse) Spill() string {
	spills.Lock()
	defer spills.Unlock()
	if spills.dir == nil {
		return ""
	}
	return spills.dir.Path
}

// leaveSpill removes the folder where nothing lies in it, as the last thing that the process does with it.
func leaveSpill() bool {
	spills.Lock()
	defer spills.Unlock()
	if spills.dir == nil {
		return true
	}
	err := os.Remove(spills.dir.Path)
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

func dropSpill() error {
	spills.Lock()
	defer spills.Unlock()
	if spills.users--; spills.users > 0 || spills.dir == nil {
		return nil
	}
	return spills.dir.Remove()
}

// openRead opens the warehouse for reading, or a copy of it while another process writes.
func openRead(ctx context.Context, home Home, o Options) (*Warehouse, error) {
	spill := takeSpill()
	db, err := home.connectRead(ctx, o, spill)
	if err != nil {
		return nil, errors.Join(err, dropSpill())
	}
	return &Warehouse{DB: db, Home: home, release: dropSpill}, nil
}

func (h Home) connectRead(ctx context.Context, o Options, spill string) (*sql.DB, error) {
	start := time.Now()
	told := false
	for {
		var locked *LockedError
		if h.wasKilled() {
			h.repair(ctx, o)
		}
		if h.isWriting() {
			locked = h.writer()
		} else {
			db, err := connect(ctx, h.Warehouse(), "READ_ONLY", spillOf(spill, h.Warehouse()), o)
			if locked = asLocked(err, h); locked == nil {
				return db, plainOpenError(err, h)
			}
		}
		waited := time.Since(start)
		if o.Wait == 0 {
			return nil, locked
		}
		if waited >= min(patience, o.Wait) {
			db, err := h.connectCopy(ctx, o, spill)
			if err == nil {
				if o.Talk != nil {
					o.Talk(fmt.Sprintf("the warehouse is in use by %s; this is what was stored before", locked.Holder()))
				}
				return db, nil
			}
			if ctx.Err() != nil || !errors.Is(err, errNoCopy) {
				return nil, err
			}
			if waited >= o.Wait {
				return nil, fmt.Errorf("%w (%w)", locked, err)
			}
			if !told {
				o.waitFor(locked)
				told = true
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// errNoCopy is wrapped by errors that keep a reader from a copy, so that it has to wait.
var errNoCopy = errors.New("no copy to read meanwhile")

// connectCopy copies the file, next to it where that is allowed, and opens the copy, which goes when it is closed.
func (h Home) connectCopy(ctx context.Context, o Options, spill string) (*sql.DB, error) {
	db, copied, err := h.openCopy(ctx, o, spill)
	if err != nil {
		return nil, err
	}
	return db, copied.Close()
}

// openCopy is connectCopy with the file itself, for other processes to read it too. It has no name any more.
func (h Home) openCopy(ctx context.Context, o Options, spill string) (*sql.DB, *os.File, error) {
	dir, err := scratch.Make(h.Dir)
	if err != nil {
		if dir, err = scratch.Make(""); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", errNoCopy, err)
		}
	}
	defer dir.Remove() // it is open by then
	path := filepath.Join(dir.Path, warehouseFile)
	if err := h.copyCommitted(ctx, path); err != nil {
		return nil, nil, err
	}
	copied, err := file.Open(path)
	if err != nil {
		return nil, nil, err
	}
	db, err := connect(ctx, path, "READ_ONLY", spillOf(spill, path), o)
	if err != nil {
		return nil, nil, errors.Join(err, copied.Close())
	}
	return db, copied, nil
}

// OpenCopy opens the copy that another process has of a home's warehouse for reading; path is its open file, such as /proc/self/fd/3.
func OpenCopy(ctx context.Context, home Home, path string, o Options) (*Warehouse, error) {
	spill := takeSpill()
	db, err := connect(ctx, path, "READ_ONLY", spillOf(spill, path), o)
	if err != nil {
		return nil, errors.Join(plainOpenError(err, home), dropSpill())
	}
	return &Warehouse{DB: db, Home: home, release: dropSpill}, nil
}

// roomFor is how many times the size of the warehouse must be free for a copy: the writer needs some too.
const roomFor = 2

// copyCommitted copies a DuckDB file that another process writes. DuckDB never writes over a block of the last checkpoint but those that the
// writer has kept aside for a commit: it writes others and then the header that names them. So a copy during which the headers stayed, with
// the blocks kept aside in their places, is what a reader would have seen at its begin. The log of later commits is not copied: those
// of this program write none.
//
// The process must not have the file open in DuckDB: closing it here would end the process' locks on it.
func (h Home) copyCommitted(ctx context.Context, to string) error {
	from := h.Warehouse()
	in, err := file.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	for try := 0; ; try++ {
		before, err := readHeaders(in)
		if err != nil {
			return fmt.Errorf("read %s: %w", from, err)
		}
		if err := h.copyFile(ctx, in, before, to); err != nil {
			return err
		}
		after, err := readHeaders(in)
		if err != nil {
			return fmt.Errorf("read %s: %w", from, err)
		}
		switch {
		case bytes.Equal(before, after):
			return nil
		case try == 3:
			return fmt.Errorf("%w: it changed while it was copied", errNoCopy)
		}
	}
}

// copyStep is how much is copied between two looks at the context.
const copyStep = 64 << 20

func (h Home) copyFile(ctx context.Context, in *os.File, headers []byte, to string) (err error) {
	st, err := in.Stat()
	if err != nil {
		return err
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(to), &disk); err == nil && disk.Bavail*uint64(disk.Bsize) < roomFor*uint64(st.Size()) {
		return fmt.Errorf("%w: too little space for it in %s", errNoCopy, filepath.Dir(to))
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out, err := file.Create(to)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoCopy, err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for {
		_, err := io.CopyN(out, in, copyStep) // the kernel copies, or shares the blocks where the file system can
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errNoCopy, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	k, err := h.keptBlocks()
	if err == nil && k != nil && bytes.Equal(k.headers, headers) {
		err = k.putBack(out)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNoCopy, err)
	}
	return nil
}
