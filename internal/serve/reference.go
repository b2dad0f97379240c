package serve

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"prof/internal/serve/ask"
)

//go:embed reference.html
var referencePage string

// reference is what the page shows.
type reference struct {
	Info   *huma.Info
	Groups []operations
	Types  map[string]*huma.Schema
}

// operations are those that answer one question.
type operations struct {
	Title string
	List  []*huma.Operation
}

// addReference adds the page that lists the operations. It is made of the description that programs read, once all operations are there.
func (s *Server) addReference() error {
	page, err := template.New("reference").Funcs(template.FuncMap{"type": typeText, "parameters": parameters, "columns": columnsOf}).Parse(referencePage)
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
	out := reference{Info: api.Info, Types: api.Components.Schemas.Map()}
	for _, at := range slices.Sorted(maps.Keys(api.Paths)) {
		item := api.Paths[at]
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

// parameters are those in the path and the query.
func parameters(op *huma.Operation) []*huma.Param {
	return slices.DeleteFunc(slices.Clone(op.Parameters), func(p *huma.Param) bool { return p.In == "header" })
}

// columnsOf are the columns of an operation's rows; nil where it has none of its own.
func columnsOf(op *huma.Operation) []ask.ColumnDoc {
	list, _ := op.Extensions[columnsKey].([]ask.ColumnDoc)
	return list
}

// typeText returns what a value is. A type with fields of its own is a link to them.
func typeText(s *huma.Schema) template.HTML {
	out := template.HTMLEscapeString(s.Type)
	switch {
	case s.Ref != "":
		name := template.HTMLEscapeString(path.Base(s.Ref))
		out = fmt.Sprintf(`<a href="#type-%s">%[1]s</a>`, name)
	case s.Type == huma.TypeArray:
		out = "list of " + string(typeText(s.Items))
	case len(s.Enum) > 0:
		var words []string
		for _, e := range s.Enum {
			words = append(words, cmp.Or(template.HTMLEscapeString(fmt.Sprint(e)), `""`))
		}
		out += ": " + strings.Join(words, ", ")
	}
	if s.Nullable {
		out += " or null"
	}
	return template.HTML(out) // its texts are escaped
}
