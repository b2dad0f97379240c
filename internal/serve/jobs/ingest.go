package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"prof/internal/file"
)

// ends are what names of captured files end with, as far as names distinguish the forms. No other part of a client's name gets onto the disk.
var ends = regexp.MustCompile(`(?i)(?:(?:^|[_.-])(?:(?:cuda|nvtx|osrt|um|openmp|opengl|vulkan|dx11|dx12|nvvideo|mpi|nccl|cudnn|cublas)_[a-z0-9_]{1,60}(?:[_.:-](?:base|mangled|nvtx-name|cuda-base|cuda-mangled))*` +
	`|(?:kernel|memory_copy|marker|marker_api|hip|hsa|rccl|rocdecode|rocjpeg)(?:_[a-z]{1,20}){0,4}_trace|agent_info|results|raw|details|source)` +
	`)?\.(?:sqlite|sqlite3|db|nsys-rep|qdrep|ncu-rep|csv|txt|json|jsonl|md|yaml|yml|parquet|xplane\.pb|pb|chrome_trace|hatchet|pt\.trace\.json|config\.json)(?:\.gz|\.zst)?$`)

// packEnd ends the names of files of prof pack.
const packEnd = ".prof.zst"

// wholeNames are names by which prof knows what a file says; they are kept.
var wholeNames = []string{"config.json", "workload.json", "metrics.json", "env.json", "static_compute.json", "inputs.yaml", "predictions.jsonl", "operators.md", "kernels.md", "assumptions.md", "static_compute.md"}

func isWhole(name string) bool {
	return slices.Contains(wholeNames, strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst"))
}

// parts returns the part of a client's name that says what a file is, and the part before it, which only groups files.
func parts(name string) (stem, end string, err error) {
	base := name[strings.LastIndexAny(name, `/\`)+1:]
	lower := strings.ToLower(base)
	if isWhole(lower) {
		return "", lower, nil
	}
	if strings.HasSuffix(lower, packEnd) {
		return base, packEnd, nil
	}
	at := ends.FindStringIndex(lower)
	if at == nil || len(lower) != len(base) {
		return "", "", fmt.Errorf("%w: its name must have the ending of a capture, such as .sqlite, .nsys-rep, .ncu-rep, .csv, .json, .json.gz or %s", errBadUpload, packEnd)
	}
	return base[:at[0]], lower[at[0]:], nil
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
	s.mu.Lock()
	isPack, err := s.canIngest(ids)
	s.mu.Unlock()
	if err != nil {
		return Job{}, err
	}
	if isPack && (len(ids) > 1 || len(tags) > 0 || len(j.Facts) > 0) {
		return Job{}, fmt.Errorf("%w with others: the runs of a packed file are stored as they are, without other files, tags or facts", errBadUpload)
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

// canIngest is an error where uploads cannot be ingested together. The lock is taken.
func (s *Service) canIngest(ids []string) (isPack bool, err error) {
	names := map[string]bool{}
	for i, id := range ids {
		u, err := s.findUpload(id)
		if err != nil {
			return false, err
		}
		if slices.Contains(ids[:i], id) {
			return false, fmt.Errorf("%w twice: upload %s", errBadUpload, id)
		}
		if !u.Complete {
			return false, fmt.Errorf("%w yet: upload %s has %d of %d bytes", errBadUpload, id, u.Offset, u.Size)
		}
		if err := u.free(); err != nil {
			return false, err
		}
		stem, end, err := parts(u.Name)
		if err != nil {
			return false, err
		}
		isPack = isPack || end == packEnd
		key := stem + "/" + end
		if names[key] {
			return false, fmt.Errorf("%w: two files have the name %q", errBadUpload, u.Name)
		}
		names[key] = true
	}
	return isPack, nil
}

// ingestFiles puts the uploads of a job into one folder under names of the server's own: files that a tool named alike are of one capture. called turns their
// paths into the client's names.
func (s *Service) ingestFiles(j *job) (paths []string, called *strings.Replacer, err error) {
	dir := s.filesDir(j.ID)
	if err := errors.Join(os.RemoveAll(dir), file.MakeNewDir(dir)); err != nil {
		return nil, nil, noSpace(err)
	}
	var stems []string
	var names [][2]string
	for _, id := range j.Uploads {
		u, err := s.Upload(id)
		if err != nil {
			return nil, nil, err
		}
		stem, end, err := parts(u.Name)
		if err != nil {
			return nil, nil, err
		}
		name := end
		if stem != "" || !isWhole(end) {
			if !slices.Contains(stems, stem) {
				stems = append(stems, stem)
			}
			name = "upload-" + strconv.Itoa(slices.Index(stems, stem)+1)
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
			return nil, nil, noSpace(err)
		}
		paths, names = append(paths, path), append(names, [2]string{path, u.Name})
	}
	slices.SortFunc(names, func(a, b [2]string) int { return cmp.Compare(len(b[0]), len(a[0])) }) // a path may begin with another
	var pairs []string
	for _, n := range names {
		pairs = append(pairs, n[0], n[1])
	}
	return paths, strings.NewReplacer(pairs...), nil
}
