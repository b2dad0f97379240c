package serve

import (
	"bytes"
	_ "embed"
	"html/template"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed reference.html
var referencePage string

// reference is what the page shows.
type reference struct {
	Info   *huma.Info
	Groups []operations
}

// operations are those that answer one question.
type operations struct {
	Title string
	List  []*huma.Operation
}

// addReference adds the page that lists the operations. It is made of the description that programs read, once all operations are there.
func (s *Server) addReference() error {
	page, err := template.New("reference").Parse(referencePage)
	if err != nil {
		return err
	}
	s.mux.HandleFunc("GET /docs", func(w http.ResponseWriter, r *http.Request) {
		var out bytes.Buffer
		if err := page.Execute(&out, referenceOf(s.api.OpenAPI())); err != nil {
			s.log("the reference: " + err.Error())
			http.Error(w, "the reference cannot be made; the server's log says more", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(out.Bytes())
	})
	return nil
}

// referenceOf orders the operations by what they are about, and by their paths.
func referenceOf(api *huma.OpenAPI) reference {
	out := reference{Info: api.Info}
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		item := api.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Head, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			title := op.Tags[0]
			at := slices.IndexFunc(out.Groups, func(g operations) bool { return g.Title == title })
			if at < 0 {
				at = len(out.Groups)
				out.Groups = append(out.Groups, operations{Title: title})
			}
			out.Groups[at].List = append(out.Groups[at].List, op)
		}
	}
	return out
}
