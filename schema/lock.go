package schema

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"

	"prof/internal/file"
	"prof/internal/scratch"
)

// LockedError means that another process holds the warehouse.
type LockedError struct {
	File    string
	Program string // as DuckDB names it; may be empty
	PID     string // may be empty
}

// Holder names the process that holds the warehouse.
func (e *LockedError) Holder() string {
	if e.PID == "" {
		return "another process"
	}
	return strings.TrimSpace(fmt.Sprintf("process %s %s", e.PID, e.Program))
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is in use by %s: try again when it has finished", e.File, e.Holder())
}

// DuckDB's text: Could not set lock on file "X": Conflicting lock is held in /bin/prof (PID 28837).
var lockText = regexp.MustCompile(`Conflicting lock is held in (.*?) ?\(PID (\d+)\)`)

// asLocked reads DuckDB's error about a file held by another process; nil for every other error and for none.
func asLocked(err error, home Home) *LockedError {
	if err == nil || !strings.Contains(err.Error(), "Could not set lock on file") {
		return nil
	}
	e := &LockedError{File: home.Warehouse()}
	if m := lockText.FindStringSubmatch(err.Error()); m != nil {
		e.Program, e.PID = strings.Trim(m[1], `"`), m[2]
		if e.Program != "" {
			e.Program = "(" + e.Program + ")"
		}
	}
	return e
}

func isPermission(err error) bool {
	t := strings.ToLower(err.Error()) // Go writes it so, DuckDB with a capital
	return strings.Contains(t, "permission denied") || strings.Contains(t, "read-only file system")
}

// Processes that write take turns: each locks a file of its own next to the warehouse, from before it opens the warehouse until it has
// closed it. DuckDB's lock has no queue, so whoever happens to try at the right moment would get it; the kernel hands this one
// over in the order in which processes asked. Who has it is the only one to make the warehouse or to clear what a killed process left.

// turnFile is the path of the file that writers lock. It stays: a file that goes and comes back can be locked twice.
func (h Home) turnFile() string { return h.Warehouse() + ".lock" }

// takeTurn waits for the turn to write, until the deadline. Where the file system has no locks there are no turns, only DuckDB's lock.
func (h Home) takeTurn(ctx context.Context, o Options, deadline time.Time) (release func() error, err error) {
	f, err := os.OpenFile(h.turnFile(), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return nil, plainOpenError(err, h)
	}
	_ = file.AdoptOne(f.Name()) // who does not own it cannot change its rights, and need not
	err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	for errors.Is(err, syscall.EWOULDBLOCK) && !h.isWriting() { // it was a reader that looked, and has gone by now
		err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		writer := h.writer()
		o.waitFor(writer)
		err = awaitLock(ctx, f, time.Until(deadline))
		if errors.Is(err, errTooLate) {
			return nil, writer
		}
		if err != nil {
			return nil, err // the lock that may come yet closes the file
		}
	}
	if err != nil && !scratch.NoLocks(err) {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	// Who waits reads it; nothing depends on it.
	if f.Truncate(0) == nil {
		program, _ := os.Executable()
		fmt.Fprintf(f, "%d\n%s\n", os.Getpid(), program)
	}
	return func() error {
		// DuckDB leaves its spill folder behind when it made one; it is empty by now, and Remove keeps any that is not.
		os.Remove(h.Temp())
		return letGo(f)
	}, nil
}

// errTooLate means that a lock was not to be had in time.
var errTooLate = errors.New("the wait is over")

// awaitLock waits for a lock. When it gives up, the file is closed as soon as the lock comes: the system call cannot be taken back.
func awaitLock(ctx context.Context, f *os.File, wait time.Duration) error {
	got := make(chan error, 1)
	go func() { got <- flock(f, syscall.LOCK_EX) }()
	select {
	case err := <-got:
		return err
	case <-ctx.Done():
	case <-time.After(wait):
	}
	go func() { <-got; letGo(f) }()
	if err := ctx.Err(); err != nil {
		return err
	}
	return errTooLate
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// letGo gives up a lock and closes its file. The lock would outlive the file in a process that is just being started, which has it open until it
// runs its program.
func letGo(f *os.File) error {
	_ = flock(f, syscall.LOCK_UN) // where there are no locks there is none to give up
	return f.Close()
}

// isWriting reports whether a process writes or waits for its turn to.
func (h Home) isWriting() bool {
	f, err := file.Open(h.turnFile())
	if err != nil {
		return false // no process of this version ever wrote, or DuckDB says what is wrong
	}
	defer letGo(f)
	return errors.Is(flock(f, syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// writer is the process whose turn it is, as far as it says.
func (h Home) writer() *LockedError {
	e := &LockedError{File: h.Warehouse()}
	f, err := file.Open(h.turnFile())
	if err != nil {
		return e
	}
	defer f.Close()
	in := bufio.NewScanner(io.LimitReader(f, 4096))
	if in.Scan() {
		e.PID = in.Text()
	}
	if in.Scan() && in.Text() != "" {
		e.Program = "(" + in.Text() + ")"
	}
	return e
}
