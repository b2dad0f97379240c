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
)

//go:embed static
var static embed.FS

// types are the media types of the files, by ending: the table of the machine may say something else, or nothing.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// file is a file as it is sent.
type file struct {
	content    []byte
	tag, media string
}

// files gives the embedded files by their path on the server.
func files() map[string]file {
	out := map[string]file{}
	_ = fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error { // an embedded file can always be read
		if err != nil || d.IsDir() {
			return err
		}
		content, err := static.ReadFile(name)
		sum := sha256.Sum256(content)
		out[strings.TrimPrefix(name, "static")] = file{content, `"` + hex.EncodeToString(sum[:12]) + `"`, types[path.Ext(name)]}
		return err
	})
	return out
}

// Handler serves the files of the page, and its HTML for each of its routes. A browser asks each time whether a file has changed, which its
// ETag answers.
func Handler() http.Handler {
	all := files()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, found := all[r.URL.Path]
		if !found && isRoute(r.URL.EscapedPath()) {
			f, found = all["/index.html"]
		}
		if !found {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Type", f.media)
		h.Set("ETag", f.tag)
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
	})
}

// isRoute says whether the page has a view for a path, given as it is escaped: a run's name may hold a slash.
func isRoute(escaped string) bool {
	parts := strings.Split(strings.TrimPrefix(escaped, "/"), "/")
	switch {
	case len(parts) == 1:
		switch parts[0] {
		case "", "runs", "compare", "trend", "sql":
			return true
		}
	case parts[0] != "runs":
	case len(parts) == 2: // "/runs/" too
		return true
	case parts[1] == "":
	case len(parts) == 3:
		return parts[2] == "timeline" || parts[2] == "ncu"
	}
	return false
}
