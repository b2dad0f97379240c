package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"prof/internal/file"
)

// Append adds bytes to an upload, which must begin at its offset. What has arrived stays where the sender breaks off.
func (s *Service) Append(id string, offset int64, from io.Reader) (Upload, error) {
	u, at, err := s.begin(id, offset)
	if err != nil {
		return at, err
	}
	n, err := s.receive(u, from)
	s.mu.Lock()
	u.Offset += n
	s.mu.Unlock()
	sum := ""
	if err == nil && u.Offset == u.Size {
		sum, err = s.whole(u) // which takes seconds for a large file
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.Is(err, errHash):
		u.Offset = 0
	case err == nil && sum != "":
		u.SHA256, u.Complete = sum, true
	}
	u.busy, u.ExpiresAt = false, time.Now().Add(s.o.Config.Uploads.MaxAge).UTC()
	s.keepUpload(u)
	return u.Upload, err
}

// begin reserves an upload for a request that sends bytes from an offset on; at is how far it is where that cannot be.
func (s *Service) begin(id string, offset int64) (u *upload, at Upload, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u, err = s.findUpload(id); err != nil {
		return nil, at, err
	}
	switch err = u.free(); {
	case s.closing:
		err = errClosing
	case err != nil:
	case offset != u.Offset:
		err = fmt.Errorf("%w: the upload has %d bytes", errOffset, u.Offset)
	case u.Complete:
		err = fmt.Errorf("%w: the upload is complete", errOffset)
	default:
		u.busy = true
	}
	return u, u.Upload, err
}

// receive appends what arrives to the file, as long as it fits. n is how many bytes are there more.
func (s *Service) receive(u *upload, from io.Reader) (n int64, err error) {
	f, err := file.Append(s.uploadFile(u.ID))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	room := u.Size - u.Offset
	if err := s.room(room); err != nil {
		return 0, err
	}
	sender := &watched{r: from}
	n, err = io.Copy(f, io.LimitReader(sender, room))
	if sender.err != nil {
		return n, fmt.Errorf("%w (%w)", errBroken, sender.err)
	}
	if err != nil {
		return n, noSpace(err)
	}
	if n == 0 && room > 0 { // else all bytes are there, and were not checked yet: a server ended too soon
		return 0, errEmpty
	}
	var one [1]byte
	if n == room {
		if more, _ := io.ReadFull(from, one[:]); more > 0 {
			// Nobody knows which of the bytes are the file's.
			if err := f.Truncate(u.Offset); err != nil {
				return n, err
			}
			return 0, fmt.Errorf("%w: more than the %d bytes that were announced; this part was discarded", errTooLarge, u.Size)
		}
	}
	return n, nil
}

// watched keeps an error of a reader apart from one of whoever copies from it.
type watched struct {
	r   io.Reader
	err error
}

func (w *watched) Read(into []byte) (int, error) {
	n, err := w.r.Read(into)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		w.err = err
	}
	return n, err
}

// whole returns the SHA-256 of a file whose last byte has arrived; one with another than was announced is emptied. Only the caller uses the upload.
func (s *Service) whole(u *upload) (string, error) {
	f, err := file.Open(s.uploadFile(u.ID))
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, sum, err := hashed(f)
	if err != nil || u.SHA256 == "" || u.SHA256 == sum {
		return sum, err
	}
	if err := os.Truncate(s.uploadFile(u.ID), 0); err != nil {
		return "", err
	}
	return "", fmt.Errorf("%w: the file has %s; all bytes were discarded: send them again from offset 0", errHash, sum)
}

// hashed returns the size and the SHA-256 of what it reads.
func hashed(r io.Reader) (int64, string, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return n, hex.EncodeToString(h.Sum(nil)), err
}
