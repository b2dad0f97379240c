package jobs

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"prof/internal/file"
	"prof/schema/rundir"
)

// saved is a job on disk.
type saved struct {
	Job
	Chosen map[string]any `json:"chosen,omitempty"` // the parameters as they were asked for, which are checked again when the job begins
	Facts  []string       `json:"facts,omitempty"`  // further options of prof ingest
	Made   int64          `json:"made_unix_ns"`     // the order of jobs
}

// newID is the id of a job or an upload: its time, for people, and a part that nobody guesses.
func newID(kind string) string {
	return kind + "-" + time.Now().UTC().Format("20060102-150405") + "-" + strings.ToLower(rand.Text()[:10])
}

var validID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}-[0-9]{8}-[0-9]{6}-[a-z0-9]{10}$`)

func (s *Service) jobDir(id string) string  { return filepath.Join(s.dir, "jobs", id) }
func (s *Service) logPath(id string) string { return filepath.Join(s.jobDir(id), "log.txt") }

// maxState bounds a file with the state of a job or an upload.
const maxState = 4 << 20

// loadJobs reads the jobs of earlier servers.
func (s *Service) loadJobs() {
	for _, id := range s.names("jobs") {
		j := &job{changed: make(chan struct{})}
		if err := readJSON(filepath.Join(s.jobDir(id), "job.json"), &j.saved); err != nil || j.ID != id {
			s.o.Warn(fmt.Sprintf("job %s is ignored: its state cannot be read: %v", id, err))
			continue
		}
		s.jobs = append(s.jobs, j)
		if j.Status == StatusRunning {
			endLeft(id)
			now := time.Now().UTC()
			j.Status, j.Stopping, j.EndedAt, j.Reason = StatusInterrupted, false, &now, "the server was killed while the job was running"
			j.Chosen, j.Facts = nil, nil // as end does
			j.Runs = s.findRuns(s.ctx, id, []string{j.Name})
			if len(j.Runs) == 0 && j.Kind == KindCapture {
				j.Reason += fmt.Sprintf("; if anything was captured, it is in runs/%s of the home: store it with prof ingest", j.Name)
			}
			s.keepJob(j)
		}
	}
	slices.SortFunc(s.jobs, func(a, b *job) int { return cmp.Compare(a.Made, b.Made) })
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
		s.o.Warn(fmt.Sprintf("cannot save the state of job %s: %v", j.ID, err))
	}
}

// noSpace is the error of a write, without a path of the server, where the disk is full.
func noSpace(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return errNoSpace
	}
	return err
}

// forget removes the oldest of the jobs that have ended. The lock is taken, or nobody else is there yet.
func (s *Service) forget() {
	over := -s.o.Config.Jobs.Keep
	for _, j := range s.jobs {
		if j.ended() {
			over++
		}
	}
	s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool {
		if over <= 0 || !j.ended() {
			return false
		}
		over--
		if err := os.RemoveAll(s.jobDir(j.ID)); err != nil {
			s.o.Warn(fmt.Sprintf("job %s cannot be removed: %v", j.ID, err))
		}
		return true
	})
}
