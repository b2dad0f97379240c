// Package jobs runs prof for those who ask the server for it: captures of workloads that serve.yaml names, and ingests of uploaded files. One job runs at a
// time, as a child process, so that the server itself only reads the warehouse. What jobs and uploads there are is on disk, in the folder serve of the home.
package jobs

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"prof/internal/file"
	"prof/internal/scratch"
	"prof/internal/serve/places"
)

// Options are what a service is given.
type Options struct {
	Home           string   // the folder of the warehouse
	Config         Config   // see ReadConfig
	Command        []string // begins a command line of prof that uses the home
	AllowRun       bool
	AllowIngest    bool
	Runs           Runs
	Warn           func(string)
	CaptureFolders string // where prof capture keeps what it captured, a folder for each run
}

// Runs is what jobs ask of the warehouse.
type Runs interface {
	// Find gives the run that a reference names, of all that have been stored by now. The error wraps ErrNoRun where there is none.
	Find(ctx context.Context, ref string) (StoredRun, error)
	// Check is an error that wraps ErrInvalid where no run can have the name, or these tags as KEY=VALUE, or where a run has the name already.
	Check(ctx context.Context, name string, tags []string) error
	// Report gives the figures of a run.
	Report(ctx context.Context, run StoredRun) (*ProfileReport, error)
}

// StoredRun is a run of the warehouse.
type StoredRun struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// failure is an error that errors of this package wrap, with the status of the answers that say it.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

// Errors that errors of this package wrap.
var (
	ErrNoRun   error = &failure{http.StatusNotFound, "no such run"}
	ErrInvalid error = &failure{http.StatusUnprocessableEntity, "invalid request"}

	errNoJob     error = &failure{http.StatusNotFound, "no such job"}
	errNoUpload  error = &failure{http.StatusNotFound, "no such upload"}
	errFull      error = &failure{http.StatusTooManyRequests, "too many"}
	errNoSpace   error = &failure{http.StatusInsufficientStorage, "the disk is full"}
	errClosing   error = &failure{http.StatusServiceUnavailable, "the server is shutting down"}
	errInUse     error = &failure{http.StatusConflict, "in use"}
	errOffset    error = &failure{http.StatusConflict, "wrong offset"}
	errTooLarge  error = &failure{http.StatusRequestEntityTooLarge, "too large"}
	errHash      error = &failure{http.StatusUnprocessableEntity, "wrong SHA-256"}
	errBroken    error = &failure{http.StatusBadRequest, "the connection broke; the bytes that arrived are kept: get the offset with HEAD and continue there"}
	errEmpty     error = &failure{http.StatusBadRequest, "the body is empty: send bytes of the file"}
	errBadUpload error = &failure{http.StatusUnprocessableEntity, "this file cannot be ingested"}
)

// Service is the jobs and uploads of a home.
type Service struct {
	o    Options
	lock *os.File
	dir  string

	ctx  context.Context
	stop context.CancelCauseFunc
	idle chan struct{} // closed when the runner has ended
	wake chan struct{}

	mu      sync.Mutex
	jobs    []*job // the oldest first
	closing bool
	uploads map[string]*upload
	sums    map[string]summed // see digest

	streams *places.Places // for clients that follow jobs
}

// New takes up the jobs and uploads of a home, of which only one server may run jobs. Those that ran when a server was killed are interrupted, those that
// waited go on.
func New(o Options) (*Service, error) {
	s := &Service{o: o, dir: filepath.Join(o.Home, "serve"), uploads: map[string]*upload{}, wake: make(chan struct{}, 1), idle: make(chan struct{}), sums: map[string]summed{}, streams: places.New(mostStreams, mostStreams/2)}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	if !o.AllowRun && !o.AllowIngest {
		close(s.idle)
		return s, nil
	}
	for _, name := range []string{"jobs", "uploads"} {
		if err := file.MakeDir(filepath.Join(s.dir, name)); err != nil {
			return nil, err
		}
	}
	if err := s.takeLock(); err != nil {
		return nil, err
	}
	s.loadJobs()
	s.loadUploads()
	go s.runQueue()
	go s.expire()
	return s, nil
}

// takeLock makes sure that no other server runs the jobs of this home.
func (s *Service) takeLock() (err error) {
	if s.lock, err = file.Append(filepath.Join(s.dir, "lock")); err != nil {
		return err
	}
	err = syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errors.New("another server runs the jobs of this home: end it, or serve without --allow-run and --allow-ingest")
	} else if scratch.NoLocks(err) {
		err = nil
	}
	if err != nil {
		return errors.Join(err, s.lock.Close())
	}
	return nil
}

// Close stops the job that runs, as Ctrl-C would, and waits for its end; queued jobs stay, for the next server. The end of ctx kills what goes on.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.stop(errShutdown)
	select {
	case <-s.idle:
	case <-ctx.Done():
		s.mu.Lock()
		for _, j := range s.jobs {
			if j.Status == StatusRunning {
				endLeft(j.ID)
			}
		}
		s.mu.Unlock()
		<-s.idle
	}
	if s.lock != nil {
		_ = syscall.Flock(int(s.lock.Fd()), syscall.LOCK_UN) // a process that is being started may have the file open a moment longer
		return s.lock.Close()
	}
	return nil
}
