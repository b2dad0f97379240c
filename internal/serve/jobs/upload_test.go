package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
)

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// upload announces a file and sends it whole.
func (s *service) upload(name, text string) string {
	s.t.Helper()
	u := want[Upload](s, 201, "POST", uploadsPath, object{"name": name, "size": len(text)})
	got := want[Upload](s, 200, "PATCH", uploadsPath+"/"+u.ID, text, "Upload-Offset", "0")
	if !got.Complete || got.Offset != int64(len(text)) || got.SHA256 != sumOf(text) {
		s.t.Fatalf("%+v", got)
	}
	return u.ID
}

// An upload that breaks off goes on where it is, also with the next server; a part that does not fit the rest changes nothing.
func TestUpload(t *testing.T) {
	t.Parallel()
	s := made(t, templates)
	text := strings.Repeat("0123456789", 20_000)
	code, out, h := s.ask("POST", uploadsPath, object{"name": "../../etc/cron.d/x.sqlite", "size": len(text), "sha256": strings.ToUpper(sumOf(text))})
	at := h.Get("Location")
	if code != 201 || !strings.HasPrefix(at, uploadsPath+"/upload-") || strings.Contains(out, s.home) {
		t.Fatalf("%d %v %s", code, h, out)
	}
	want[object](s, 409, "PATCH", at, text[10:], "Upload-Offset", "10")
	want[object](s, 422, "PATCH", at, text)
	want[object](s, 422, "PATCH", at, text, "Upload-Offset", "-1")
	// The sender breaks off after half of it.
	c, err := net.Dial("tcp", strings.TrimPrefix(s.http.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "PATCH %s HTTP/1.1\r\nHost: x\r\nUpload-Offset: 0\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n%s", at, len(text), text[:100_000])
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		_, _, h = s.ask("HEAD", at, nil)
		if h.Get("Upload-Offset") == "100000" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%v", h)
		}
	}
	if h.Get("Upload-Length") != "200000" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", h)
	}
	code, out, h = s.ask("PATCH", at, text, "Upload-Offset", "0")
	if code != 409 || h.Get("Upload-Offset") != "100000" {
		t.Errorf("%d %v %s", code, h, out)
	}
	s.close()
	s = serve(t, s.home, templates)
	want[Upload](s, 200, "PATCH", at, text[100_000:150_000], "Upload-Offset", "100000")
	code, out, h = s.ask("PATCH", at, text[150_000:]+"more", "Upload-Offset", "150000")
	if code != 413 || h.Get("Upload-Offset") != "150000" || !strings.Contains(out, "this part was discarded") {
		t.Errorf("%d %v %s", code, h, out)
	}
	u := want[Upload](s, 200, "PATCH", at, text[150_000:], "Upload-Offset", "150000")
	if !u.Complete || u.SHA256 != sumOf(text) {
		t.Errorf("%+v", u)
	}
	want[object](s, 409, "PATCH", at, "x", "Upload-Offset", "200000")
	j := want[Job](s, 202, "POST", at+"/ingest", object{"name": "n", "tags": []string{"a=b"}, "prefill": 7, "device_name": "NVIDIA H200"})
	j = s.await(j.ID, StatusDone)
	if got := s.log(j.ID); !strings.Contains(got, `["--run=n","--tag=a=b","--prefill=7","--device-name=NVIDIA H200","`) || !strings.Contains(got, "upload-1.sqlite 0123") || len(j.Runs) != 1 || j.Runs[0].Name != "n" {
		t.Errorf("%+v %.400s", j, got)
	}
	want[object](s, 404, "GET", at, nil) // it is stored
	for _, dir := range []string{"uploads", "jobs/" + j.ID + "/files"} {
		if left, err := filepath.Glob(filepath.Join(s.home, "serve", dir, "*")); err != nil || len(left) > 0 {
			t.Errorf("left %q, %v", left, err)
		}
	}
}

// A file with another hash than announced is discarded and can be sent again.
func TestUploadHash(t *testing.T) {
	t.Parallel()
	s := made(t, templates)
	u := want[Upload](s, 201, "POST", uploadsPath, object{"name": "a.csv", "size": 4, "sha256": sumOf("good")})
	at := uploadsPath + "/" + u.ID
	code, out, h := s.ask("PATCH", at, "evil", "Upload-Offset", "0")
	if code != 422 || h.Get("Upload-Offset") != "0" || !strings.Contains(out, sumOf("evil")) {
		t.Errorf("%d %v %s", code, h, out)
	}
	want[object](s, 422, "POST", at+"/ingest", object{}) // it is not there
	if u = want[Upload](s, 200, "PATCH", at, "good", "Upload-Offset", "0"); !u.Complete {
		t.Errorf("%+v", u)
	}
}

// A server that ended before it had checked the last byte leaves an upload that the next one checks when the client goes on at its end.
func TestUploadUnchecked(t *testing.T) {
	t.Parallel()
	s := made(t, templates)
	u := want[Upload](s, 201, "POST", uploadsPath, object{"name": "a.csv", "size": 4, "sha256": sumOf("good")})
	at := uploadsPath + "/" + u.ID
	want[object](s, 400, "PATCH", at, "", "Upload-Offset", "0")
	if err := os.WriteFile(s.uploadFile(u.ID), []byte("good"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.close()
	s = serve(t, s.home, templates)
	if u = want[Upload](s, 200, "GET", at, nil); u.Complete || u.Offset != 4 {
		t.Errorf("%+v", u)
	}
	want[object](s, 413, "PATCH", at, "x", "Upload-Offset", "4")
	if u = want[Upload](s, 200, "PATCH", at, "", "Upload-Offset", "4"); !u.Complete {
		t.Errorf("%+v", u)
	}
}

// Uploads are bounded in size, number, space of the disk and time.
func TestUploadBounds(t *testing.T) {
	t.Parallel()
	s := made(t, templates, func(o *Options) { o.Config.Uploads.Count, o.Config.Uploads.Size = 2, 1000 })
	for body, status := range map[string]int{
		`{"name":"a.csv","size":1001}`:                             413,
		`{"name":"a.csv","size":0}`:                                422,
		`{"name":"a.csv","size":-1}`:                               422,
		`{"name":"a.csv","size":9223372036854775807}`:              413,
		`{"name":"a.csv","size":99999999999999999999999}`:          422,
		`{"name":"a.csv"}`:                                         422,
		`{"name":"","size":1}`:                                     422,
		`{"name":"a.csv","size":1,"sha256":"../x"}`:                422,
		`{"name":"a.csv","size":1,"path":"/etc"}`:                  422,
		`{"name":"` + strings.Repeat("a", 300) + `.csv","size":1}`: 422,
	} {
		if code, text, _ := s.ask("POST", uploadsPath, body, "Content-Type", "application/json"); code != status && !(status == 422 && code == 400) {
			t.Errorf("%s: %d %s", body, code, text)
		}
	}
	first := s.upload("a.csv", "1")
	s.upload("b.csv", "2")
	want[object](s, 429, "POST", uploadsPath, object{"name": "c.csv", "size": 1})
	want[object](s, 204, "DELETE", uploadsPath+"/"+first, nil)
	want[object](s, 404, "DELETE", uploadsPath+"/"+first, nil)
	u := want[Upload](s, 201, "POST", uploadsPath, object{"name": "c.csv", "size": 1})
	s.mu.Lock()
	s.o.Config.Uploads.Free = 1 << 60
	s.mu.Unlock()
	want[object](s, 507, "PATCH", uploadsPath+"/"+u.ID, "x", "Upload-Offset", "0")
	want[object](s, 204, "DELETE", uploadsPath+"/"+u.ID, nil)
	want[object](s, 507, "POST", uploadsPath, object{"name": "c.csv", "size": 1})
	s.mu.Lock()
	s.clear(time.Now().Add(25 * time.Hour))
	s.mu.Unlock()
	if list := want[struct{ Uploads []Upload }](s, 200, "GET", uploadsPath, nil).Uploads; len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if left, err := filepath.Glob(filepath.Join(s.home, "serve", "uploads", "*")); err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
}

// Of a client's name only an end that captures have gets onto the disk.
func TestUploadNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"report1.sqlite": {"report1", ".sqlite"}, "a/b/report1.SQLITE.gz": {"report1", ".sqlite.gz"}, `C:\x\r.ncu-rep`: {"r", ".ncu-rep"}, "run1_cuda_gpu_kern_sum.csv": {"run1", "_cuda_gpu_kern_sum.csv"},
		"cuda_api_sum.csv": {"", "cuda_api_sum.csv"}, "123_kernel_trace.csv": {"123", "_kernel_trace.csv"}, "1_results.db": {"1", "_results.db"}, "host.xplane.pb": {"host", ".xplane.pb"},
		"trace.pt.trace.json.gz": {"trace", ".pt.trace.json.gz"}, "x.prof.zst": {"x.prof.zst", ".prof.zst"}, "Config.json": {"", "config.json"}, "llama.config.json": {"llama", ".config.json"},
		"workload.json.gz": {"", "workload.json.gz"}, "../../.csv": {"", ".csv"}, "a;rm -rf ~.csv": {"a;rm -rf ~", ".csv"}, "-x.csv": {"-x", ".csv"},
	} {
		if stem, end, err := parts(name); err != nil || stem != want[0] || end != want[1] {
			t.Errorf("%q: %q %q %v", name, stem, end, err)
		}
	}
	for _, name := range []string{"", ".", "..", "x", "x.sh", "x.sqlite/", "x.sqlite.exe", "x.csv\x00.sh", "x.tar.gz", "serve.yaml.bak", "a.csv\n", "x.SQLİTE"} {
		if stem, end, err := parts(name); !errors.Is(err, errBadUpload) {
			t.Errorf("%q: %q %q %v", name, stem, end, err)
		}
	}
}

// Several files become one run, under names of the server's own; those that a tool named alike stay alike. A packed file goes alone.
func TestIngestSeveral(t *testing.T) {
	t.Parallel()
	s := made(t, templates)
	a, b := s.upload("evil$(x)_cuda_gpu_kern_sum.csv", "1"), s.upload("evil$(x)_cuda_api_sum.csv", "2")
	c, d, e := s.upload("other.ncu-rep", "3"), s.upload("cuda_api_sum.csv", "4"), s.upload("workload.json", "5")
	blocker := s.post("sleep")
	s.begun(blocker.ID) // so that the next job has its uploads until this one is stopped
	j := want[Job](s, 202, "POST", uploadsPath+"/"+a+"/ingest", object{"with": []string{b, c, d, e}})
	want[object](s, 409, "POST", uploadsPath+"/"+c+"/ingest", object{})
	want[Job](s, 200, "DELETE", jobsPath+"/"+blocker.ID, nil)
	j = s.await(j.ID, StatusDone)
	for _, line := range []string{"upload-1_cuda_gpu_kern_sum.csv 1", "upload-1_cuda_api_sum.csv 2", "upload-2.ncu-rep 3", "upload-3_cuda_api_sum.csv 4", "workload.json 5"} {
		if !strings.Contains(s.log(j.ID), line+"\n") {
			t.Errorf("no %q in:\n%s", line, s.log(j.ID))
		}
	}
	if j.Name != j.ID || len(j.Runs) != 1 {
		t.Errorf("%+v", j)
	}
	pack, same, same2 := s.upload("p.prof.zst", "p"), s.upload("x.csv", "x"), s.upload("x.csv", "y")
	for _, body := range []object{{"tags": []string{"a=b"}}, {"with": []string{same}}, {"prefill": 1}} {
		want[object](s, 422, "POST", uploadsPath+"/"+pack+"/ingest", body)
	}
	for _, body := range []object{{"with": []string{same2}}, {"with": []string{same}}, {"name": "-x"}, {"name": j.Name}, {"tags": []string{"x"}}, {"prefill": -1}, {"device_name": "--home=/tmp"}, {"home": "/tmp"}, {"with": []string{"../x"}}} {
		if code, text, _ := s.ask("POST", uploadsPath+"/"+same+"/ingest", body); code != 422 && code != 404 {
			t.Errorf("%v: %d %s", body, code, text)
		}
	}
	if j = s.await(want[Job](s, 202, "POST", uploadsPath+"/"+pack+"/ingest", object{}).ID, StatusDone); j.Name != "" || len(j.Runs) != 1 || j.Runs[0].Name != "packed" {
		t.Errorf("%+v", j)
	}
	want[object](s, 200, "GET", "/reports/"+j.ID, nil)
	// What cannot be read stays, to be sent along with something else or deleted.
	bad := s.upload("bad.csv", "bad")
	j = s.await(want[Job](s, 202, "POST", uploadsPath+"/"+bad+"/ingest", object{}).ID, StatusFailed)
	if !strings.Contains(j.Reason, "cannot be read") || strings.Contains(j.Reason, s.home) {
		t.Errorf("%+v", j)
	}
	if u := want[Upload](s, 200, "GET", uploadsPath+"/"+bad, nil); !u.Complete || u.Job != "" {
		t.Errorf("%+v", u)
	}
}

// An upload takes one part at a time, and is not removed while one arrives or a job waits for it.
func TestUploadInUse(t *testing.T) {
	t.Parallel()
	s := made(t, templates)
	u := want[Upload](s, 201, "POST", uploadsPath, object{"name": "a.csv", "size": 10})
	at := uploadsPath + "/" + u.ID
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := s.Append(u.ID, 0, in)
		done <- err
	}()
	if _, err := out.Write([]byte("12345")); err != nil {
		t.Fatal(err)
	}
	want[object](s, 409, "PATCH", at, "x", "Upload-Offset", "0")
	want[object](s, 409, "DELETE", at, nil)
	want[object](s, 422, "POST", at+"/ingest", object{})
	out.CloseWithError(iotest.ErrTimeout)
	if err := <-done; !errors.Is(err, iotest.ErrTimeout) || !errors.Is(err, errBroken) {
		t.Error(err)
	}
	want[Upload](s, 200, "PATCH", at, "67890", "Upload-Offset", "5")
	blocker := s.post("sleep")
	s.begun(blocker.ID)
	j := want[Job](s, 202, "POST", at+"/ingest", object{})
	want[object](s, 409, "DELETE", at, nil)
	want[Job](s, 200, "DELETE", jobsPath+"/"+j.ID, nil)
	want[object](s, 204, "DELETE", at, nil)
}

// The disk is full: the answer says so, names no path, and the next part is taken when there is room.
func TestUploadDiskFull(t *testing.T) {
	t.Parallel()
	s := made(t, templates)
	u := want[Upload](s, 201, "POST", uploadsPath, object{"name": "a.csv", "size": 4})
	at := uploadsPath + "/" + u.ID
	data := s.uploadFile(u.ID)
	if err := errors.Join(os.Remove(data), os.Symlink("/dev/full", data)); err != nil {
		t.Fatal(err)
	}
	if code, text, _ := s.ask("PATCH", at, "1234", "Upload-Offset", "0"); code != 500 || strings.Contains(text, s.home) { // a link is not followed
		t.Errorf("%d %s", code, text)
	}
	if err := errors.Join(os.Remove(data), os.WriteFile(data, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := s.problem(noSpace(&os.PathError{Op: "write", Path: data, Err: syscall.ENOSPC})); !strings.Contains(err.Error(), "the disk is full") || strings.Contains(err.Error(), s.home) {
		t.Error(err)
	}
	want[Upload](s, 200, "PATCH", at, "1234", "Upload-Offset", "0")
}

// Every operation of this package is in the document of the API, with its statuses.
func TestDocument(t *testing.T) {
	t.Parallel()
	s := made(t, templates)
	doc := want[struct {
		Paths map[string]map[string]struct {
			OperationID string
			Responses   map[string]any
			RequestBody any
		}
	}](s, 200, "GET", "/openapi.json", nil)
	var got []string
	for path, methods := range doc.Paths {
		for method, op := range methods {
			got = append(got, strings.ToUpper(method)+" "+path)
			if len(op.Responses) < 2 {
				t.Errorf("%s %s: responses %v", method, path, op.Responses)
			}
			if method == "patch" && op.RequestBody == nil {
				t.Errorf("%s has no body", path)
			}
		}
	}
	slices.Sort(got)
	want := []string{"DELETE /api/v1/jobs/{id}", "DELETE /api/v1/uploads/{id}", "GET /api/v1/jobs", "GET /api/v1/jobs/{id}", "GET /api/v1/jobs/{id}/events", "GET /api/v1/jobs/{id}/log", "GET /api/v1/templates",
		"GET /api/v1/uploads", "GET /api/v1/uploads/{id}", "GET /profile/{run_id}/artifacts", "GET /profile/{run_id}/artifacts/{name}", "GET /reports/{run_id}", "HEAD /api/v1/uploads/{id}", "PATCH /api/v1/uploads/{id}",
		"POST /api/v1/jobs", "POST /api/v1/uploads", "POST /api/v1/uploads/{id}/ingest", "POST /profile/run", "POST /profile/stage1"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if code, _, _ := s.ask(http.MethodPut, jobsPath, nil); code != http.StatusMethodNotAllowed {
		t.Errorf("PUT: %d", code)
	}
}
