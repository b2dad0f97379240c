package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"prof/capture/machine"
	"prof/internal/file"
	"prof/schema/rundir"
)

// Upload is a file on its way to an ingest.
type Upload struct {
	ID        string    `json:"id"`
	Name      string    `json:"name" doc:"The client's name for it"`
	Size      int64     `json:"size_bytes" doc:"Of the whole file"`
	Offset    int64     `json:"offset_bytes" doc:"Bytes that have arrived"`
	Complete  bool      `json:"complete" doc:"All bytes have arrived, with the SHA-256 that was announced"`
	SHA256    string    `json:"sha256,omitempty" doc:"As announced; once complete, that of the file"`
	Job       string    `json:"job,omitempty" doc:"The job that ingests it"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at" doc:"When it is removed, unless bytes arrive or a job ingests it"`
}

// upload is one with what the server knows of it.
type upload struct {
	Upload
	busy bool // bytes arrive; only whoever set it changes the file
}

// free is an error where the upload is in use.
func (u *upload) free() error {
	switch {
	case u.busy:
		return fmt.Errorf("upload %s is %w: another request is sending bytes", u.ID, errInUse)
	case u.Job != "":
		return fmt.Errorf("upload %s is %w: job %s ingests it", u.ID, errInUse, u.Job)
	}
	return nil
}

func (s *Service) uploadDir(id string) string  { return filepath.Join(s.dir, "uploads", id) }
func (s *Service) uploadFile(id string) string { return filepath.Join(s.uploadDir(id), "data") }
func (s *Service) filesDir(job string) string  { return filepath.Join(s.jobDir(job), "files") }

// loadUploads takes up the uploads of earlier servers: as many bytes of each as are there.
func (s *Service) loadUploads() {
	for _, id := range s.names("uploads") {
		u := &upload{}
		err := readJSON(filepath.Join(s.uploadDir(id), "upload.json"), &u.Upload)
		st, missing := os.Lstat(s.uploadFile(id))
		if err = errors.Join(err, missing); err != nil || u.ID != id || !st.Mode().IsRegular() || st.Size() > u.Size {
			s.o.Warn(fmt.Sprintf("upload %s is removed: its state cannot be read: %v", id, err))
			_ = os.RemoveAll(s.uploadDir(id)) // it is tried again at the next start
			continue
		}
		u.Offset = st.Size()
		if j, err := s.findJob(u.Job); err != nil || j.ended() {
			u.Job = ""
		}
		s.uploads[id] = u
	}
	s.clear(time.Now())
}

// expire removes old uploads now and then.
func (s *Service) expire() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case now := <-time.After(time.Minute):
			s.mu.Lock()
			s.clear(now)
			s.mu.Unlock()
		}
	}
}

// clear removes uploads whose time is over. The lock is taken, or nobody else is there yet.
func (s *Service) clear(now time.Time) {
	for id, u := range s.uploads {
		if !u.busy && u.Job == "" && now.After(u.ExpiresAt) {
			s.drop(id)
		}
	}
}

// drop removes an upload. The lock is taken.
func (s *Service) drop(id string) {
	delete(s.uploads, id)
	if err := os.RemoveAll(s.uploadDir(id)); err != nil {
		s.o.Warn(fmt.Sprintf("upload %s cannot be removed: %v", id, noSpace(err)))
	}
}

// uploaded notes that a job with an upload has ended; what was stored is not needed any more. The lock is taken.
func (s *Service) uploaded(id string, stored bool) {
	switch u := s.uploads[id]; {
	case u == nil:
	case stored:
		s.drop(id)
	default:
		u.Job, u.ExpiresAt = "", time.Now().Add(s.o.Config.Uploads.MaxAge).UTC()
		s.keepUpload(u)
	}
}

func (s *Service) keepUpload(u *upload) {
	if err := s.writeUpload(u); err != nil {
		s.o.Warn(fmt.Sprintf("cannot save the state of upload %s: %v", u.ID, noSpace(err)))
	}
}

func (s *Service) writeUpload(u *upload) error {
	return rundir.WriteJSON(filepath.Join(s.uploadDir(u.ID), "upload.json"), u.Upload)
}

// Announce begins an upload.
func (s *Service) Announce(name string, size int64, sum string) (Upload, error) {
	if _, _, err := parts(name); err != nil {
		return Upload{}, err
	}
	limits := s.o.Config.Uploads
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now().UTC()
	s.clear(now)
	switch {
	case s.closing:
		return Upload{}, errClosing
	case size > limits.Size:
		return Upload{}, fmt.Errorf("%w: %d bytes; the limit is %s", errTooLarge, size, file.Bytes(limits.Size))
	case len(s.uploads) >= limits.Count:
		return Upload{}, fmt.Errorf("%w uploads: %d, the limit; ingest or delete some", errFull, len(s.uploads))
	}
	open := size
	for _, u := range s.uploads {
		open += u.Size - u.Offset
	}
	if err := s.room(open); err != nil {
		return Upload{}, err
	}
	u := &upload{Upload: Upload{ID: newID("upload"), Name: harmless(name), Size: size, SHA256: strings.ToLower(sum), CreatedAt: now, ExpiresAt: now.Add(limits.MaxAge)}}
	err := file.MakeNewDir(s.uploadDir(u.ID))
	if err == nil {
		err = file.Write(s.uploadFile(u.ID), nil)
	}
	if err == nil {
		err = s.writeUpload(u)
	}
	if err != nil {
		return Upload{}, errors.Join(noSpace(err), os.RemoveAll(s.uploadDir(u.ID)))
	}
	s.uploads[u.ID] = u
	return u.Upload, nil
}

// room is an error where too little of the disk would stay free with so many bytes more.
func (s *Service) room(bytes int64) error {
	free, err := machine.FreeBytes(s.dir)
	if least := s.o.Config.Uploads.Free; err == nil && free-bytes < least {
		err = fmt.Errorf("%w: with this file less than %s would stay free", errNoSpace, file.Bytes(least))
	}
	return err
}

// findUpload returns an upload. The lock is taken.
func (s *Service) findUpload(id string) (*upload, error) {
	if u := s.uploads[id]; u != nil {
		return u, nil
	}
	return nil, fmt.Errorf("%w: %.100q", errNoUpload, id)
}

// Upload returns an upload.
func (s *Service) Upload(id string) (Upload, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := s.findUpload(id)
	if err != nil {
		return Upload{}, err
	}
	return u.Upload, nil
}

// Uploads returns all, the newest first.
func (s *Service) Uploads() []Upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Upload{}
	for _, u := range s.uploads {
		out = append(out, u.Upload)
	}
	slices.SortFunc(out, func(a, b Upload) int { return strings.Compare(b.ID, a.ID) })
	return out
}

// Discard removes an upload.
func (s *Service) Discard(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := s.findUpload(id)
	if err == nil {
		err = u.free()
	}
	if err == nil {
		s.drop(id)
	}
	return err
}
