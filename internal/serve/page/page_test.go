package page

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestHandler(t *testing.T) {
	t.Parallel()
	h := http.NewServeMux()
	Add(h)
	ask := func(method, path, etag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		if etag != "" {
			r.Header.Set("If-None-Match", etag)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	index, err := os.ReadFile("static/index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/runs", "/runs/", "/runs/a", "/runs/tag%3Ak%3Dv", "/runs/a%2Fb/timeline", "/runs/a/ncu", "/compare?base=a&new=b", "/check?run=a", "/trend", "/queries", "/queries/runs", "/sql?q=FROM+runs", "/index.html"} {
		if w := ask("GET", path, ""); w.Code != http.StatusOK || w.Body.String() != string(index) || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %q", path, w.Code, w.Header())
		}
	}
	for _, path := range []string{"/nothing", "/runs/a/nothing", "/runs/a/ncu/b", "/compare/a", "/queries/a/b", "/api/v1/nothing", "/static/app.js", "/vendor/", "/vendor-src/package.json"} {
		if w := ask("GET", path, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	for path, media := range map[string]string{"/app.js": "text/javascript; charset=utf-8", "/app.css": "text/css; charset=utf-8", "/icon.svg": "image/svg+xml", "/vendor/uplot.js": "text/javascript; charset=utf-8", "/vendor/LICENSES.txt": "text/plain; charset=utf-8"} {
		w := ask("GET", path, "")
		tag := w.Header().Get("ETag")
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != media || len(tag) != 26 || w.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %q", path, w.Code, w.Header())
		}
		if again := ask("GET", path, tag); again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("%s: a file that the browser has is sent again: %d", path, again.Code)
		}
		if head := ask("HEAD", path, ""); head.Code != http.StatusOK || head.Body.Len() != 0 {
			t.Errorf("HEAD %s: %d, %d bytes", path, head.Code, head.Body.Len())
		}
	}
	if w := ask("POST", "/runs", ""); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("POST: %d %q", w.Code, w.Header())
	}
	for path, f := range files() {
		if f.media == "" {
			t.Errorf("%s: its ending has no media type", path)
		}
	}
}

// TestStrict holds that the page keeps to the server's policy: no script, style or address in its HTML but its own files, and nothing in its
// modules that makes HTML or code of a text.
func TestStrict(t *testing.T) {
	t.Parallel()
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://`)
	for path, f := range files() {
		text := string(f.content)
		if strings.HasPrefix(path, "/vendor/") {
			continue
		}
		if m := forbidden.FindString(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "")); m != "" {
			t.Errorf("%s has %s", path, m)
		}
		if strings.HasSuffix(path, ".html") && regexp.MustCompile(`<style|\sstyle=|\son\w+=|<script(?:\s+type="module")?>`).MatchString(text) {
			t.Errorf("%s has a script or style of its own", path)
		}
	}
}

// TestColours holds that the page and the report have the same colours.
func TestColours(t *testing.T) {
	t.Parallel()
	read := func(pattern string) string {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		var all strings.Builder
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		return all.String()
	}
	color := regexp.MustCompile(`--([\w-]+):\s*(#[0-9a-f]+|rgba\([^)]*\))`)
	report := map[string]bool{}
	for _, m := range color.FindAllStringSubmatch(read("../../../render/page/*.css"), -1) {
		report[m[1]+" "+m[2]] = true
	}
	n := 0
	for _, m := range color.FindAllStringSubmatch(read("static/app.css"), -1) {
		if n++; !report[m[1]+" "+m[2]] {
			t.Errorf("--%s is %s, which it is not in the report", m[1], m[2])
		}
	}
	if n < 40 {
		t.Errorf("only %d colours were found", n)
	}
}

// TestVendored builds the libraries anew, as vendor-src says, and compares them with those that are embedded.
func TestVendored(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s is installed to bundle the libraries with", program)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "build.js", "codemirror.js", "uplot.js"} {
		text, err := os.ReadFile(filepath.Join("vendor-src", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", "--prefer-offline")
	install.Dir = dir
	if text, err := install.CombinedOutput(); err != nil {
		t.Skipf("the registry of npm does not give the libraries: %v: %.300s", err, text)
	}
	build := exec.CommandContext(t.Context(), "node", "build.js", out)
	build.Dir = dir
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	made, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadDir("static/vendor")
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != len(kept) {
		t.Errorf("%d files are built, %d embedded", len(made), len(kept))
	}
	for _, f := range made {
		got, err := os.ReadFile(filepath.Join(out, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if want, err := os.ReadFile(filepath.Join("static/vendor", f.Name())); err != nil || string(got) != string(want) {
			t.Errorf("%s differs from what vendor-src builds (%v): npm ci --ignore-scripts && npm run build", f.Name(), err)
		}
	}
}
