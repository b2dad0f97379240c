// Package jobs runs prof for those who ask the server for it: captures of workloads that serve.yaml names, and ingests of uploaded files. One job runs at a
// time, as a child process, so that the server itself only reads the warehouse. What jobs and uploads there are is on disk, in the folder serve of the home.
package jobs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"prof/internal/file"
	"prof/internal/mask"
	"prof/internal/scratch"
	"prof/internal/suggest"
	"prof/schema/rundir"
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
	// Find gives the run that a reference names. The error wraps ErrNoRun where there is none.
	Find(ctx context.Context, ref string) (StoredRun, error)
	// Check is an error that wraps ErrBadName where no run can have the name, or these tags as KEY=VALUE, or where a run has the name already.
	Check(ctx context.Context, name string, tags []string) error
	// Report gives the figures of a run.
	Report(ctx context.Context, run StoredRun) (*ProfileReport, error)
}

// StoredRun is a run of the warehouse.
type StoredRun struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Errors that errors of this package wrap.
var (
	ErrNoRun   = errors.New("there is no such run")
	ErrNoJob   = errors.New("there is no such job")
	ErrFull    = errors.New("too many")
	ErrNoSpace = errors.New("the disk is full")
	ErrClosing = errors.New("the server is shutting down")
	ErrInUse   = errors.New("in use")
	ErrBadName = errors.New("wrong request")
)

// Why a job was stopped.
var (
	errCanceled = errors.New("it was canceled")
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
	Template   string            `json:"template,omitempty" doc:"What a capture runs"`
	Parameters map[string]string `json:"parameters,omitempty" doc:"The values that the job chose"`
	Uploads    []string          `json:"uploads,omitempty" doc:"Ids of the files that are ingested"`
	Name       string            `json:"name,omitempty" doc:"Name of the run that it stores"`
	Tags       []string          `json:"tags,omitempty" doc:"Tags of the run, KEY=VALUE"`
	Status     string            `json:"status" enum:"queued,running,done,failed,canceled,timeout,interrupted"`
	Stopping   bool              `json:"stopping,omitempty" doc:"It runs, and is being stopped"`
	Reason     string            `json:"reason,omitempty" doc:"Why it has not done what it should"`
	Ahead      *int              `json:"ahead,omitempty" doc:"Jobs that run before it; only where it is queued"`
	ExitCode   *int              `json:"exit_code,omitempty" doc:"Of prof, which is the workload's where that failed"`
	Runs       []StoredRun       `json:"runs,omitempty" doc:"The runs of the warehouse that it stored, or that have the content already"`
	CreatedAt  time.Time         `json:"created_at"`
	StartedAt  *time.Time        `json:"started_at,omitempty"`
	EndedAt    *time.Time        `json:"ended_at,omitempty"`
}

// ended says whether a job is over.
func (j *Job) ended() bool { return j.Status != StatusQueued && j.Status != StatusRunning }

// saved is a job on disk.
type saved struct {
	Job
	Chosen map[string]any `json:"chosen,omitempty"` // the parameters as they were asked for, which are checked again when the job begins
	Facts  []string       `json:"facts,omitempty"`  // further options of prof ingest
	Made   int64          `json:"made_unix_ns"`     // the order of jobs
}

type job struct {
	saved
	stop    context.CancelCauseFunc // while it runs
	changed chan struct{}           // closed when its log or status changes
}

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
	jobs    map[string]*job
	queue   []*job
	closing bool
	uploads map[string]*upload
	sums    map[string]summed // see digest
}

// New takes up the jobs and uploads of a home, of which only one server may run jobs. Those that ran when a server was killed are interrupted, those that
// waited go on.
func New(o Options) (*Service, error) {
	s := &Service{o: o, dir: filepath.Join(o.Home, "serve"), jobs: map[string]*job{}, uploads: map[string]*upload{}, wake: make(chan struct{}, 1), idle: make(chan struct{}), sums: map[string]summed{}}
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
		for id, j := range s.jobs {
			if j.Status == StatusRunning {
				endLeft(id)
			}
		}
		s.mu.Unlock()
		<-s.idle
	}
	if s.lock != nil {
		return s.lock.Close()
	}
	return nil
}

// newID is the id of a job or an upload: its time, for people, and a part that nobody guesses.
func newID(kind string) string {
	return kind + "-" + time.Now().UTC().Format("20060102-150405") + "-" + strings.ToLower(rand.Text()[:10])
}

var validID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}-[0-9]{8}-[0-9]{6}-[a-z0-9]{10}$`)

func (s *Service) jobDir(id string) string { return filepath.Join(s.dir, "jobs", id) }
func (s *Service) logPath(id string) string {
	return filepath.Join(s.jobDir(id), "log.txt")
}

// maxState bounds a file with the state of a job or an upload.
const maxState = 4 << 20

// loadJobs reads the jobs of earlier servers.
func (s *Service) loadJobs() {
	for _, id := range s.names("jobs") {
		j := &job{changed: make(chan struct{})}
		if err := readJSON(filepath.Join(s.jobDir(id), "job.json"), &j.saved); err != nil || j.ID != id {
			s.o.Warn(fmt.Sprintf("job %s is not taken up: its state cannot be read: %v", id, err))
			continue
		}
		s.jobs[id] = j
		switch j.Status {
		case StatusQueued:
			s.queue = append(s.queue, j)
		case StatusRunning:
			endLeft(id)
			now := time.Now().UTC()
			j.Status, j.Stopping, j.EndedAt, j.Reason = StatusInterrupted, false, &now, "the server ended while the job ran"
			s.findRuns(s.ctx, j, []string{j.Name}, 0)
			if len(j.Runs) == 0 && j.Kind == KindCapture {
				j.Reason += fmt.Sprintf("; prof ingest stores what was captured: it is in runs/%s of the home, if there was anything", j.Name)
			}
			s.keepJob(j)
		}
	}
	slices.SortFunc(s.queue, func(a, b *job) int { return int(a.Made - b.Made) })
	s.forget()
}

// names lists the folders of jobs or uploads.
func (s *Service) names(kind string) (out []string) {
	entries, err := os.ReadDir(filepath.Join(s.dir, kind))
	if err != nil {
		s.o.Warn(err.Error())
	}
	for _, e := range entries {
		if e.IsDir() && validID.MatchString(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out
}

func readJSON(path string, into any) error {
	text, err := file.Read(path, maxState)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// keepJob writes the state of a job. A disk that is full must not stop what runs.
func (s *Service) keepJob(j *job) {
	if err := rundir.WriteJSON(filepath.Join(s.jobDir(j.ID), "job.json"), j.saved); err != nil {
		s.o.Warn(fmt.Sprintf("the state of job %s cannot be kept: %v", j.ID, err))
	}
}

// add queues a job.
func (s *Service) add(j *job) (Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing:
		return Job{}, ErrClosing
	case len(s.queue) >= s.o.Config.Jobs.Queue:
		return Job{}, fmt.Errorf("%w jobs wait: %d, the most that there may be; try again when some have ended", ErrFull, len(s.queue))
	}
	for _, other := range s.jobs {
		if j.Name != "" && other.Name == j.Name && !other.ended() {
			return Job{}, fmt.Errorf("%w: job %s, which has not ended, has the name %q already", ErrBadName, other.ID, j.Name)
		}
	}
	if err := s.canIngest(j.Uploads, new(bool)); err != nil { // another request may have been faster
		return Job{}, err
	}
	now := time.Now()
	j.Status, j.CreatedAt, j.Made, j.changed = StatusQueued, now.UTC(), now.UnixNano(), make(chan struct{})
	err := file.MakeNewDir(s.jobDir(j.ID))
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
	s.jobs[j.ID], s.queue = j, append(s.queue, j)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return s.view(j), nil
}

// noSpace is the error of a write, without a path of the server, where the disk is full.
func noSpace(err error) error {
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, full) {
			return ErrNoSpace
		}
	}
	return err
}

// view is a job as it is now. The lock is taken.
func (s *Service) view(j *job) Job {
	out := j.Job
	if at := slices.Index(s.queue, j); at >= 0 {
		for _, other := range s.jobs {
			if other.Status == StatusRunning {
				at++
			}
		}
		out.Ahead = &at
	}
	return out
}

// Job gives a job, and what is closed when it or its log changes.
func (s *Service) Job(id string) (Job, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[id]
	if j == nil {
		return Job{}, nil, fmt.Errorf("%w: %.100q", ErrNoJob, id)
	}
	return s.view(j), j.changed, nil
}

// List gives the jobs, the newest first.
func (s *Service) List() []Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*job
	for _, j := range s.jobs {
		all = append(all, j)
	}
	slices.SortFunc(all, func(a, b *job) int { return int(b.Made - a.Made) })
	out := []Job{}
	for _, j := range all {
		out = append(out, s.view(j))
	}
	return out
}

// Cancel stops a job; one that has ended stays as it is.
func (s *Service) Cancel(id string) (Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[id]
	switch {
	case j == nil:
		return Job{}, fmt.Errorf("%w: %.100q", ErrNoJob, id)
	case j.Status == StatusQueued:
		s.queue = slices.DeleteFunc(s.queue, func(q *job) bool { return q == j })
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
	j.Status, j.Stopping, j.Reason, j.EndedAt, j.stop = status, false, reason, &now, nil
	j.Chosen, j.Facts = nil, nil // which are not masked
	s.keepJob(j)
	for _, id := range j.Uploads {
		s.uploaded(id, status == StatusDone)
	}
	s.say(j)
	s.forget()
}

// forget removes the oldest of the jobs that have ended. The lock is taken, or nobody else is there yet.
func (s *Service) forget() {
	var over []*job
	for _, j := range s.jobs {
		if j.ended() {
			over = append(over, j)
		}
	}
	slices.SortFunc(over, func(a, b *job) int { return int(b.Made - a.Made) })
	for _, j := range over[min(len(over), s.o.Config.Jobs.Keep):] {
		if err := os.RemoveAll(s.jobDir(j.ID)); err != nil {
			s.o.Warn(fmt.Sprintf("job %s cannot be removed: %v", j.ID, err))
		}
		delete(s.jobs, j.ID)
	}
}

// runQueue runs the jobs one after the other until the service closes.
func (s *Service) runQueue() {
	defer close(s.idle)
	for {
		if j := s.next(); j != nil {
			s.run(j)
			continue
		}
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
		}
	}
}

// next takes the first job of the queue; nil where there is none.
func (s *Service) next() *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || len(s.queue) == 0 {
		return nil
	}
	j := s.queue[0]
	s.queue = s.queue[1:]
	now := time.Now().UTC()
	j.Status, j.StartedAt = StatusRunning, &now
	s.keepJob(j)
	s.say(j)
	return j
}

// run runs a job to its end.
func (s *Service) run(j *job) {
	ctx, stop := context.WithCancelCause(s.ctx)
	defer stop(nil)
	s.mu.Lock()
	j.stop = stop
	s.mu.Unlock()
	p, facts, err := s.prepare(j)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.end(j, StatusFailed, err.Error())
		return
	}
	log, err := newLog(s.logPath(j.ID), s.o.Config.Jobs.LogSize, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.say(j)
	})
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.end(j, StatusFailed, "it has no log: "+noSpace(err).Error())
		return
	}
	clean := s.cleaner(p)
	var words lastWords
	var names []string
	out := &lines{each: func(line string) {
		if line = clean(line); len(names) < maxNames {
			names = append(names, line)
		}
		log.line(line)
	}}
	errs := &lines{each: func(line string) { line = clean(line); words.add(line); log.line(line) }}
	p.out, p.errs = out, errs
	e := p.run(ctx)
	out.end()
	errs.end()
	if err := log.close(); err != nil {
		s.o.Warn(fmt.Sprintf("the log of job %s is not whole: %v", j.ID, noSpace(err)))
	}
	if !facts {
		names = []string{j.Name}
	}
	late := time.Duration(0)
	if e.code == 0 || e.cause != nil || j.Kind == KindCapture {
		late = commitSeen
	}
	s.findRuns(context.WithoutCancel(ctx), j, names, late)
	if err := os.RemoveAll(s.filesDir(j.ID)); err != nil {
		s.o.Warn(err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.err == nil && e.signal == "" {
		j.ExitCode = &e.code
	}
	status, reason := StatusFailed, e.says()
	switch {
	case e.err == nil && e.code == 0:
		status, reason = StatusDone, ""
	case errors.Is(e.cause, errCanceled):
		status, reason = StatusCanceled, ""
	case errors.Is(e.cause, errTimeout):
		status, reason = StatusTimeout, fmt.Sprintf("stopped after %v", p.timeout)
	case errors.Is(e.cause, errShutdown):
		status, reason = StatusInterrupted, errShutdown.Error()
	case words.best() != "":
		reason += ": " + words.best()
	}
	s.end(j, status, reason)
}

// commitSeen is how long a commit may take until it is read.
const commitSeen = time.Second

// maxNames bounds the lines of an ingest that name runs.
const maxNames = 1000

// cleaner masks in a line of a job what must not leave the server: secrets of its environment and command line, and the path of the home.
func (s *Service) cleaner(p process) func(string) string {
	hide := mask.Known(p.env, p.argv)
	home := strings.NewReplacer(s.o.Home+string(filepath.Separator), filepath.Base(s.o.Home)+"/", s.o.Home, filepath.Base(s.o.Home))
	return func(line string) string { return home.Replace(hide(line)) }
}

// findRuns notes which of the names are runs by now.
func (s *Service) findRuns(ctx context.Context, j *job, names []string, within time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var found []StoredRun
	for _, name := range names {
		run, err := s.o.Runs.Find(ctx, name)
		// Whoever reads commits may be a little late; a job that stored nothing ends as soon without the wait.
		for late := time.Now().Add(within); errors.Is(err, ErrNoRun) && time.Now().Before(late); run, err = s.o.Runs.Find(ctx, name) {
			time.Sleep(25 * time.Millisecond)
		}
		switch {
		case err == nil && run.Name == name && !slices.Contains(found, run):
			found = append(found, run)
		case err != nil && !errors.Is(err, ErrNoRun):
			s.o.Warn(fmt.Sprintf("what job %s stored cannot be looked up: %v", j.ID, err))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j.Runs = found
}

// prepare makes the command line of a job. facts says that what it prints are names of runs.
func (s *Service) prepare(j *job) (p process, printsNames bool, err error) {
	limits := s.o.Config.Jobs
	p = process{id: j.ID, grace: limits.Grace, timeout: limits.Timeout}
	argv := slices.Clone(s.o.Command)
	var env []string
	if os.Getenv("PROF_WAIT") == "" { // a job waits longer for the warehouse than a person does
		env = append(env, "PROF_WAIT=5m")
	}
	if j.Kind == KindIngest {
		paths, err := s.ingestFiles(j)
		if err != nil {
			return p, true, err
		}
		argv = append(argv, "ingest")
		if j.Name != "" {
			argv = append(argv, "--run="+j.Name)
		}
		for _, tag := range j.Tags {
			argv = append(argv, "--tag="+tag)
		}
		p.argv, p.env = slices.Concat(argv, j.Facts, paths), environ(env)
		return p, true, nil
	}
	t := s.template(j.Template)
	if t == nil {
		return p, false, fmt.Errorf("%s has no template %s any more", ConfigName, j.Template)
	}
	values, err := t.values(j.Chosen, j.Name)
	if err != nil {
		return p, false, err
	}
	args, more := t.run(values)
	argv = append(argv, "capture", "--run="+j.Name)
	for _, tag := range j.Tags {
		argv = append(argv, "--tag="+tag)
	}
	p.argv, p.env, p.dir, p.timeout = append(argv, args...), environ(append(env, more...)), t.dir, t.Timeout
	return p, false, nil
}

func (s *Service) templateNames() (out []string) {
	for _, t := range s.o.Config.Templates {
		out = append(out, t.Name)
	}
	return out
}

func (s *Service) template(name string) *Template {
	at := slices.IndexFunc(s.o.Config.Templates, func(t *Template) bool { return t.Name == name })
	if at < 0 {
		return nil
	}
	return s.o.Config.Templates[at]
}

// openLog opens the log of a job; nil where there is none.
func (s *Service) openLog(id string) (*os.File, error) {
	f, err := file.Open(s.logPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// Capture queues a capture by a template. The error is a *valueError where a parameter is wrong.
func (s *Service) Capture(ctx context.Context, template string, chosen map[string]any, name string, tags []string) (Job, error) {
	t := s.template(template)
	if t == nil {
		return Job{}, fmt.Errorf("%w: %s has no template %.100q%s", ErrBadName, ConfigName, template, suggest.DidYouMean(template, s.templateNames()))
	}
	id := newID(template)
	if name == "" {
		name = id
	}
	if err := s.o.Runs.Check(ctx, name, tags); err != nil {
		return Job{}, err
	}
	values, err := t.values(chosen, name)
	if err != nil {
		return Job{}, err
	}
	shown := map[string]string{}
	for key := range chosen {
		text := values[key]
		if t.parameter(key).Type == typePath {
			text, _ = chosen[key].(string) // as the client knows it
		}
		shown[key] = mask.Value(key, text)
	}
	return s.add(&job{saved: saved{Job: Job{ID: id, Kind: KindCapture, Template: template, Parameters: shown, Name: name, Tags: tags}, Chosen: chosen}})
}
