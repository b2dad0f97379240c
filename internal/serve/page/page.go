// Package page is the web page of prof serve: files without a build step, embedded. It asks the server's API for everything it shows.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	reports "prof/render/page"
)

//go:embed static
var static embed.FS

// types are the media types of the files, by ending: the table of the machine may say something else, or nothing.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// shared are files of the page that reports have too.
var shared = []string{"el.js", "times.js", "timeline_marks.js", "timeline_palette.js", "timeline_view.js", "timeline.css"}

// file is a file as it is sent.
type file struct {
	content    []byte
	tag, media string
}

// files returns the embedded files, those shared with reports, and the words of schema/terms as one, by their path on the server.
func files() map[string]file {
	out := map[string]file{}
	add := func(name string, content []byte) {
		sum := sha256.Sum256(content)
		out[name] = file{content, `"` + hex.EncodeToString(sum[:12]) + `"`, types[path.Ext(name)]}
	}
	_ = fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error { // an embedded file can always be read
		if err != nil || d.IsDir() {
			return err
		}
		content, err := static.ReadFile(name)
		add(strings.TrimPrefix(name, "static"), content)
		return err
	})
	for _, name := range shared {
		content, _ := reports.Files.ReadFile(name) // as above
		add("/"+name, content)
	}
	add("/terms.js", words())
	return out
}

// routes are the paths for which the page has a view, as patterns of http.ServeMux.
var routes = []string{"/{$}", "/runs", "/runs/{$}", "/runs/{run}", "/runs/{run}/timeline", "/runs/{run}/ncu", "/compare", "/check", "/trend", "/queries", "/queries/{name}", "/sql"}

// Add serves the files of the page, and its HTML for each of its routes. A browser asks each time whether a file has changed, which its
// ETag answers.
func Add(mux *http.ServeMux) {
	all := files()
	for path, f := range all {
		mux.Handle("GET "+path, f)
	}
	for _, route := range routes {
		mux.Handle("GET "+route, all["/index.html"])
	}
}

// ServeHTTP sends the file.
func (f file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.media)
	h.Set("ETag", f.tag)
	h.Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
}
