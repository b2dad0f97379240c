package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"prof/internal/file"
	"prof/schema/rundir"
)

// Why a job was stopped.
var (
	errCanceled = errors.New("canceled")
	errShutdown = errors.New("the server was shut down")
)

// Kinds of jobs.
const (
	KindCapture = "capture"
	KindIngest  = "ingest"
)

// Statuses of a job.
const (
	StatusQueued      = "queued"
	StatusRunning     = "running"
	StatusDone        = "done"
	StatusFailed      = "failed"
	StatusCanceled    = "canceled"    // on request
	StatusTimeout     = "timeout"     // it took too long
	StatusInterrupted = "interrupted" // the server ended
)

// Job is one job as its file and its answers have it.
type Job struct {
	ID         string            `json:"id"`
	Kind       string            `json:"kind" enum:"capture,ingest"`
	Template   string            `json:"template,omitempty" doc:"The template that a capture runs by"`
	Parameters map[string]string `json:"parameters,omitempty" doc:"Values of the template's parameters that the request chose"`
	Uploads    []string          `json:"uploads,omitempty" doc:"Ids of the uploads that it ingests"`
	Name       string            `json:"name,omitempty" doc:"Name of the run"`
	Tags       []string          `json:"tags,omitempty" doc:"Tags of the run, KEY=VALUE"`
	Status     string            `json:"status" enum:"queued,running,done,failed,canceled,timeout,interrupted"`
	Stopping   bool              `json:"stopping,omitempty" doc:"It is running and is being stopped"`
	Reason     string            `json:"reason,omitempty" doc:"Why it did not succeed"`
	Ahead      *int              `json:"ahead,omitempty" doc:"Jobs that run before it; only if it is queued"`
	ExitCode   *int              `json:"exit_code,omitempty" doc:"Exit code of prof, which is that of a workload that failed"`
	Runs       []StoredRun       `json:"runs,omitempty" doc:"Runs that it stored, or that have the same content already"`
	CreatedAt  time.Time         `json:"created_at"`
	StartedAt  *time.Time        `json:"started_at,omitempty"`
	EndedAt    *time.Time        `json:"ended_at,omitempty"`
}

// ended reports whether a job is over.
func (j *Job) ended() bool { return j.Status != StatusQueued && j.Status != StatusRunning }

type job struct {
	saved
	stop    context.CancelCauseFunc // while it runs
	changed chan struct{}           // closed when its log or status changes
}

// add queues a job.
func (s *Service) add(j *job) (Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return Job{}, errClosing
	}
	waiting := 0
	for _, other := range s.jobs {
		if other.Status == StatusQueued {
			waiting++
		}
		if j.Name != "" && other.Name == j.Name && !other.ended() {
			return Job{}, fmt.Errorf("%w: job %s, which has not ended, has the name %q already", ErrInvalid, other.ID, j.Name)
		}
	}
	if waiting >= s.o.Config.Jobs.Queue {
		return Job{}, fmt.Errorf("%w jobs in the queue: %d, the limit; try again when one has ended", errFull, waiting)
	}
	if _, err := s.canIngest(j.Uploads); err != nil { // another request may have been faster
		return Job{}, err
	}
	now := time.Now()
	j.Status, j.CreatedAt, j.Made, j.changed = StatusQueued, now.UTC(), now.UnixNano(), make(chan struct{})
	err := file.MakeNewDir(s.jobDir(j.ID))
	if err == nil {
		err = file.Write(s.logPath(j.ID), nil)
	}
	if err == nil {
		err = rundir.WriteJSON(filepath.Join(s.jobDir(j.ID), "job.json"), j.saved)
	}
	if err != nil {
		return Job{}, errors.Join(noSpace(err), os.RemoveAll(s.jobDir(j.ID)))
	}
	for _, id := range j.Uploads {
		s.uploads[id].Job = j.ID
		s.keepUpload(s.uploads[id])
	}
	s.jobs = append(s.jobs, j)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return s.view(j), nil
}

// view is a job as it is now. The lock is taken.
func (s *Service) view(j *job) Job {
	out := j.Job
	if j.Status == StatusQueued {
		out.Ahead = new(int)
		for _, other := range s.jobs[:slices.Index(s.jobs, j)] {
			if !other.ended() {
				*out.Ahead++
			}
		}
	}
	return out
}

// findJob returns a job. The lock is taken.
func (s *Service) findJob(id string) (*job, error) {
	for _, j := range slices.Backward(s.jobs) {
		if j.ID == id {
			return j, nil
		}
	}
	return nil, fmt.Errorf("%w: %.100q", errNoJob, id)
}

// Job returns a job, and what is closed when it or its log changes.
func (s *Service) Job(id string) (Job, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.findJob(id)
	if err != nil {
		return Job{}, nil, err
	}
	return s.view(j), j.changed, nil
}

// List returns the jobs, the newest first.
func (s *Service) List() []Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Job{}
	for _, j := range slices.Backward(s.jobs) {
		out = append(out, s.view(j))
	}
	return out
}

// Cancel stops a job; one that has ended stays as it is.
func (s *Service) Cancel(id string) (Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.findJob(id)
	switch {
	case err != nil:
		return Job{}, err
	case j.Status == StatusQueued:
		s.end(j, StatusCanceled, "")
	case j.Status == StatusRunning && !j.Stopping:
		j.Stopping = true
		j.stop(errCanceled)
		s.keepJob(j)
		s.say(j)
	}
	return s.view(j), nil
}

// say wakes those who follow a job. The lock is taken.
func (s *Service) say(j *job) {
	close(j.changed)
	j.changed = make(chan struct{})
}

// end notes that a job is over. The lock is taken.
func (s *Service) end(j *job, status, reason string) {
	now := time.Now().UTC()
	j.Status, j.Stopping, j.Reason, j.EndedAt = status, false, reason, &now
	j.Chosen, j.Facts = nil, nil // which are not masked
	s.keepJob(j)
	for _, id := range j.Uploads {
		s.uploaded(id, status == StatusDone)
	}
	s.say(j)
	s.forget()
}

// runQueue runs the jobs one after the other until the service closes.
func (s *Service) runQueue() {
	defer close(s.idle)
	for {
		if j, ctx := s.next(); j != nil {
			s.run(ctx, j)
			continue
		}
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
		}
	}
}

// next takes the first job that waits, and what ends when it is to stop; nil where there is none.
func (s *Service) next() (*job, context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.jobs, func(j *job) bool { return j.Status == StatusQueued })
	if s.closing || at < 0 {
		return nil, nil
	}
	j := s.jobs[at]
	ctx, stop := context.WithCancelCause(s.ctx)
	now := time.Now().UTC()
	j.Status, j.StartedAt, j.stop = StatusRunning, &now, stop
	s.keepJob(j)
	s.say(j)
	return j, ctx
}
