package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"prof/capture"
	"prof/internal/file"
	"prof/schema/rundir"
)

// Upload is a file on its way to an ingest.
type Upload struct {
	ID        string    `json:"id"`
	Name      string    `json:"name" doc:"As the client calls it"`
	Size      int64     `json:"size_bytes" doc:"Of the whole file"`
	Offset    int64     `json:"offset_bytes" doc:"Bytes that are there"`
	Complete  bool      `json:"complete" doc:"All bytes are there, and have the SHA-256 that was announced"`
	SHA256    string    `json:"sha256,omitempty" doc:"That was announced, or where the file is complete, that it has"`
	Job       string    `json:"job,omitempty" doc:"The job that ingests it"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at" doc:"When it is removed, unless bytes arrive or a job ingests it"`
}

// upload is one with what the server knows of it.
type upload struct {
	Upload
	busy bool // bytes arrive; only whoever set it changes the file
}

// Errors of uploads, which their errors wrap.
var (
	ErrNoUpload  = errors.New("there is no such upload")
	ErrOffset    = errors.New("wrong offset")
	ErrTooLarge  = errors.New("too large")
	ErrHash      = errors.New("wrong SHA-256")
	ErrBroken    = errors.New("the body broke off; what arrived is kept: ask for the offset by HEAD and go on")
	ErrEmpty     = errors.New("the body is empty: send bytes of the file")
	ErrBadUpload = errors.New("this file cannot be ingested")
)

// ends are what names of captured files end with, as far as names distinguish the forms. No other part of a client's name gets onto the disk.
var ends = regexp.MustCompile(`(?i)(?:(?:^|[_.-])(?:(?:cuda|nvtx|osrt|um|openmp|opengl|vulkan|dx11|dx12|nvvideo|mpi|nccl|cudnn|cublas)_[a-z0-9_]{1,60}(?:[_.:-](?:base|mangled|nvtx-name|cuda-base|cuda-mangled))*` +
	`|(?:kernel|memory_copy|marker|marker_api|hip|hsa|rccl|rocdecode|rocjpeg)(?:_[a-z]{1,20}){0,4}_trace|agent_info|results|raw|details|source)` +
	`)?\.(?:sqlite|sqlite3|db|nsys-rep|qdrep|ncu-rep|csv|txt|json|jsonl|md|yaml|yml|arrow|arrows|parquet|xplane\.pb|pb|pt\.trace\.json|config\.json)(?:\.gz|\.zst)?$`)

// packEnd ends the names of files of prof pack.
const packEnd = ".prof.zst"

// wholeNames are names by which prof knows what a file says; they are kept.
var wholeNames = []string{"config.json", "workload.json", "metrics.json", "env.json", "static_compute.json", "inputs.yaml", "predictions.jsonl", "operators.md", "kernels.md", "assumptions.md", "static_compute.md"}

// parts gives the part of a client's name that says what a file is, and the part before it, which only groups files.
func parts(name string) (stem, end string, err error) {
	base := name[strings.LastIndexAny(name, `/\`)+1:]
	lower := strings.ToLower(base)
	if plain := strings.TrimSuffix(strings.TrimSuffix(lower, ".gz"), ".zst"); slices.Contains(wholeNames, plain) {
		return "", lower, nil
	}
	if strings.HasSuffix(lower, packEnd) {
		return base, packEnd, nil
	}
	at := ends.FindStringIndex(lower)
	if at == nil || len(lower) != len(base) {
		return "", "", fmt.Errorf("%w: its name must end as those of captures do, such as .sqlite, .nsys-rep, .ncu-rep, .csv, .json, .json.gz or %s", ErrBadUpload, packEnd)
	}
	return base[:at[0]], lower[at[0]:], nil
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
		if j := s.jobs[u.Job]; j == nil || j.ended() {
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
		s.o.Warn(fmt.Sprintf("the state of upload %s cannot be kept: %v", u.ID, noSpace(err)))
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
		return Upload{}, ErrClosing
	case size > limits.Size:
		return Upload{}, fmt.Errorf("%w: %d bytes, and a file may have %s", ErrTooLarge, size, file.Bytes(limits.Size))
	case len(s.uploads) >= limits.Count:
		return Upload{}, fmt.Errorf("%w uploads: %d, the most that there may be; ingest or delete some", ErrFull, len(s.uploads))
	}
	open := size
	for _, u := range s.uploads {
		open += u.Size - u.Offset
	}
	free, err := capture.FreeBytes(s.dir)
	if err != nil {
		return Upload{}, err
	}
	if free-open < limits.Free {
		return Upload{}, fmt.Errorf("%w: with this file less than %s of it would stay free", ErrNoSpace, file.Bytes(limits.Free))
	}
	u := &upload{Upload: Upload{ID: newID("upload"), Name: harmless(name), Size: size, SHA256: strings.ToLower(sum), CreatedAt: now, ExpiresAt: now.Add(limits.MaxAge)}}
	err = file.MakeNewDir(s.uploadDir(u.ID))
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

// Upload gives an upload.
func (s *Service) Upload(id string) (Upload, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.uploads[id]
	if u == nil {
		return Upload{}, fmt.Errorf("%w: %.100q", ErrNoUpload, id)
	}
	return u.Upload, nil
}

// Uploads gives all, the newest first.
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
	switch u := s.uploads[id]; {
	case u == nil:
		return fmt.Errorf("%w: %.100q", ErrNoUpload, id)
	case u.busy:
		return fmt.Errorf("upload %s is %w: bytes arrive", id, ErrInUse)
	case u.Job != "":
		return fmt.Errorf("upload %s is %w: job %s ingests it", id, ErrInUse, u.Job)
	}
	s.drop(id)
	return nil
}

// Append adds bytes to an upload, which must begin at its offset. What has arrived stays where the sender breaks off.
func (s *Service) Append(id string, offset int64, from io.Reader) (Upload, error) {
	s.mu.Lock()
	u := s.uploads[id]
	var err error
	switch {
	case u == nil:
		err = fmt.Errorf("%w: %.100q", ErrNoUpload, id)
	case s.closing:
		err = ErrClosing
	case u.busy:
		err = fmt.Errorf("upload %s is %w: bytes arrive from another request", id, ErrInUse)
	case offset != u.Offset:
		err = fmt.Errorf("%w: %d bytes are there", ErrOffset, u.Offset)
	case u.Complete:
		err = fmt.Errorf("%w: it is complete", ErrOffset)
	}
	if err != nil {
		var at Upload
		if u != nil {
			at = u.Upload
		}
		s.mu.Unlock()
		return at, err
	}
	u.busy = true
	s.mu.Unlock()
	n, err := s.receive(u, from)
	s.mu.Lock()
	defer s.mu.Unlock()
	u.busy = false
	u.Offset += n
	u.ExpiresAt = time.Now().Add(s.o.Config.Uploads.MaxAge).UTC()
	if err == nil && u.Offset == u.Size {
		u.busy = true // the hash of a large file takes seconds
		s.mu.Unlock()
		err = s.whole(u)
		s.mu.Lock()
		u.busy = false
	}
	s.keepUpload(u)
	return u.Upload, err
}

// receive appends what arrives to the file, as long as it fits. n is how many bytes are there more.
func (s *Service) receive(u *upload, from io.Reader) (n int64, err error) {
	f, err := file.Append(s.uploadFile(u.ID))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	room := u.Size - u.Offset
	free, err := capture.FreeBytes(s.dir)
	if err != nil {
		return 0, err
	}
	if free-room < s.o.Config.Uploads.Free {
		return 0, ErrNoSpace
	}
	sender := &watched{r: from}
	n, err = io.Copy(f, io.LimitReader(sender, room))
	if sender.err != nil {
		return n, fmt.Errorf("%w (%w)", ErrBroken, sender.err)
	}
	if err != nil {
		return n, noSpace(err)
	}
	if n == 0 {
		return 0, ErrEmpty
	}
	var one [1]byte
	if n == room {
		if more, _ := io.ReadFull(from, one[:]); more > 0 {
			// Nobody knows which of the bytes are the file's.
			if err := f.Truncate(u.Offset); err != nil {
				return n, err
			}
			return 0, fmt.Errorf("%w: more than the %d bytes that were announced; nothing of it is kept", ErrTooLarge, u.Size)
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

// whole checks a file whose last byte has arrived; one with another hash is emptied. Only the caller uses the upload.
func (s *Service) whole(u *upload) error {
	f, err := file.Open(s.uploadFile(u.ID))
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if u.SHA256 != "" && u.SHA256 != sum {
		if err := os.Truncate(s.uploadFile(u.ID), 0); err != nil {
			return err
		}
		s.mu.Lock()
		u.Offset = 0
		s.mu.Unlock()
		return fmt.Errorf("%w: it is %s; what was sent is discarded: send it again from offset 0", ErrHash, sum)
	}
	s.mu.Lock()
	u.SHA256, u.Complete = sum, true
	s.mu.Unlock()
	return nil
}

// Facts are what an ingest gets besides its files.
type Facts struct {
	Prefill    *int64 `json:"prefill,omitempty" minimum:"0" maximum:"1000000000" doc:"Tokens per prompt, image tokens included"`
	Decode     *int64 `json:"decode,omitempty" minimum:"0" maximum:"1000000000" doc:"Decode steps per pass"`
	Batch      *int64 `json:"batch,omitempty" minimum:"1" maximum:"1000000000" doc:"Sequences per pass"`
	Images     *int64 `json:"images,omitempty" minimum:"0" maximum:"1000000000" doc:"Images per prompt"`
	Crops      *int64 `json:"crops,omitempty" minimum:"0" maximum:"1000000000" doc:"Crops per image, without its global view"`
	Warmup     *int64 `json:"warmup,omitempty" minimum:"0" maximum:"1000000000" doc:"So many first passes are warm-up"`
	DeviceName string `json:"device_name,omitempty" maxLength:"200" pattern:"^[A-Za-z0-9][A-Za-z0-9 ()._/+-]*$" doc:"Name of the GPUs that the captures do not name"`
}

// options are those of prof ingest.
func (f Facts) options() (out []string) {
	for _, o := range []struct {
		name  string
		value *int64
	}{{"prefill", f.Prefill}, {"decode", f.Decode}, {"batch", f.Batch}, {"images", f.Images}, {"crops", f.Crops}, {"warmup", f.Warmup}} {
		if o.value != nil {
			out = append(out, "--"+o.name+"="+strconv.FormatInt(*o.value, 10))
		}
	}
	if f.DeviceName != "" {
		out = append(out, "--device-name="+f.DeviceName)
	}
	return out
}

// Ingest queues the ingest of uploads as one run; a file of prof pack is ingested by itself.
func (s *Service) Ingest(ctx context.Context, ids []string, name string, tags []string, facts Facts) (Job, error) {
	j := &job{saved: saved{Job: Job{ID: newID(KindIngest), Kind: KindIngest, Uploads: ids, Name: name, Tags: tags}, Facts: facts.options()}}
	isPack := false
	s.mu.Lock()
	err := s.canIngest(ids, &isPack)
	s.mu.Unlock()
	if err != nil {
		return Job{}, err
	}
	if isPack && (len(ids) > 1 || len(tags) > 0 || len(j.Facts) > 0) {
		return Job{}, fmt.Errorf("%w so: runs of a packed file are stored as they are, without other files, tags or facts", ErrBadUpload)
	}
	if name == "" && !isPack {
		j.Name = j.ID
	}
	if j.Name != "" {
		if err := s.o.Runs.Check(ctx, j.Name, tags); err != nil {
			return Job{}, err
		}
	}
	return s.add(j)
}

// canIngest finds what is wrong with uploads for an ingest. The lock is taken.
func (s *Service) canIngest(ids []string, isPack *bool) error {
	names := map[string]bool{}
	for i, id := range ids {
		u := s.uploads[id]
		switch {
		case u == nil:
			return fmt.Errorf("%w: %.100q", ErrNoUpload, id)
		case slices.Contains(ids[:i], id):
			return fmt.Errorf("%w: upload %s is there twice", ErrBadUpload, id)
		case !u.Complete:
			return fmt.Errorf("%w yet: upload %s has %d of %d bytes", ErrBadUpload, id, u.Offset, u.Size)
		case u.Job != "":
			return fmt.Errorf("upload %s is %w: job %s ingests it", id, ErrInUse, u.Job)
		case u.busy:
			return fmt.Errorf("upload %s is %w: bytes arrive", id, ErrInUse)
		}
		stem, end, err := parts(u.Name)
		if err != nil {
			return err
		}
		*isPack = *isPack || end == packEnd
		if key := stem + "/" + end; names[key] {
			return fmt.Errorf("%w: two files are called %q", ErrBadUpload, u.Name)
		} else {
			names[key] = true
		}
	}
	return nil
}

// ingestFiles puts the uploads of a job side by side under names of the server's own: files that a tool named alike are of one capture.
func (s *Service) ingestFiles(j *job) ([]string, error) {
	dir := s.filesDir(j.ID)
	if err := errors.Join(os.RemoveAll(dir), file.MakeNewDir(dir)); err != nil {
		return nil, noSpace(err)
	}
	var paths, stems []string
	for _, id := range j.Uploads {
		u, err := s.Upload(id)
		if err != nil {
			return nil, err
		}
		stem, end, err := parts(u.Name)
		if err != nil {
			return nil, err
		}
		name := end
		if stem != "" || !slices.Contains(wholeNames, strings.TrimSuffix(strings.TrimSuffix(end, ".gz"), ".zst")) {
			if !slices.Contains(stems, stem) {
				stems = append(stems, stem)
			}
			name = "capture-" + strconv.Itoa(slices.Index(stems, stem)+1)
			if !strings.ContainsAny(end[:1], "._-") {
				name += "_"
			}
			name += end
		}
		path := filepath.Join(dir, name)
		err = os.Link(s.uploadFile(id), path)
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, fs.ErrPermission) { // no hard links there
			err = os.Symlink(s.uploadFile(id), path)
		}
		if err != nil {
			return nil, noSpace(err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
