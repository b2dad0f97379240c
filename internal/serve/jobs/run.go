package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"prof/internal/mask"
)

// run runs a job to its end.
func (s *Service) run(ctx context.Context, j *job) {
	status, reason := s.work(ctx, j)
	s.mu.Lock()
	defer s.mu.Unlock()
	j.stop(nil)
	s.end(j, status, s.shorten(reason))
}

// work does what a job asks for, and gives how it ended and why.
func (s *Service) work(ctx context.Context, j *job) (status, reason string) {
	p, printsNames, err := s.prepare(j)
	if err != nil {
		return StatusFailed, err.Error()
	}
	log, err := newLog(s.logPath(j.ID), s.o.Config.Jobs.LogSize, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.say(j)
	})
	if err != nil {
		return StatusFailed, "its log cannot be written: " + noSpace(err).Error()
	}
	hide := mask.Known(p.env, p.argv)
	clean := func(line string) string { return s.shorten(p.called.Replace(hide(line))) }
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
		s.o.Warn(fmt.Sprintf("the log of job %s is incomplete: %v", j.ID, noSpace(err)))
	}
	if !printsNames {
		names = []string{j.Name}
	}
	runs := s.findRuns(context.WithoutCancel(ctx), j.ID, names)
	if err := os.RemoveAll(s.filesDir(j.ID)); err != nil {
		s.o.Warn(err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j.Runs = runs
	if e.err == nil && e.signal == 0 {
		j.ExitCode = &e.code
	}
	switch {
	case e.err == nil && e.code == 0:
		return StatusDone, ""
	case errors.Is(e.cause, errCanceled):
		return StatusCanceled, ""
	case errors.Is(e.cause, errTimeout):
		return StatusTimeout, fmt.Sprintf("timed out after %v", p.timeout)
	case errors.Is(e.cause, errShutdown):
		return StatusInterrupted, errShutdown.Error()
	}
	reason = e.says()
	if last := words.best(); last != "" {
		reason += ": " + last
	}
	return StatusFailed, reason
}

// maxNames bounds the lines of an ingest that name runs.
const maxNames = 1000

// shorten takes the path of the home out of a text.
func (s *Service) shorten(text string) string {
	return mask.Folder(text, s.o.Home, filepath.Base(s.o.Home))
}

// findRuns returns those runs that have one of the names by now.
func (s *Service) findRuns(ctx context.Context, id string, names []string) (found []StoredRun) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for _, name := range names {
		run, err := s.o.Runs.Find(ctx, name)
		switch {
		case err == nil && run.Name == name && !slices.Contains(found, run):
			found = append(found, run)
		case err != nil && !errors.Is(err, ErrNoRun):
			s.o.Warn(fmt.Sprintf("cannot find the runs that job %s stored: %v", id, err))
		}
	}
	return found
}

// prepare makes the command line of a job. printsNames says that it prints the names of its runs.
func (s *Service) prepare(j *job) (p process, printsNames bool, err error) {
	limits := s.o.Config.Jobs
	p = process{id: j.ID, called: strings.NewReplacer(), grace: limits.Grace, timeout: limits.Timeout}
	argv, env := slices.Clone(s.o.Command), os.Environ()
	if os.Getenv("PROF_WAIT") == "" { // a job waits longer for the warehouse than a person does
		env = append(env, "PROF_WAIT=5m")
	}
	if j.Kind == KindIngest {
		var paths []string
		if paths, p.called, err = s.ingestFiles(j); err != nil {
			return p, true, err
		}
		argv = append(argv, "ingest")
		if j.Name != "" {
			argv = append(argv, "--run="+j.Name)
		}
		p.argv, p.env = slices.Concat(argv, tagArgs(j.Tags), j.Facts, paths), env
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
	p.argv, p.env, p.dir, p.timeout = slices.Concat(argv, tagArgs(j.Tags), args), append(env, more...), t.dir, t.Timeout
	return p, false, nil
}

// tagArgs are the options for tags.
func tagArgs(tags []string) (out []string) {
	for _, tag := range tags {
		out = append(out, "--tag="+tag)
	}
	return out
}
