package queries

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"

	"prof/schema"
	"prof/schema/sqlfile"
)

//go:embed views/*.sql
var viewFiles embed.FS

// views are the relations for SQL of one's own: what the tables hold of every run, with names in place of ids.
var views = sync.OnceValues(func() ([]schema.Definition, error) { return viewsOf(viewFiles) })

func viewsOf(files embed.FS) ([]schema.Definition, error) {
	list, err := files.ReadDir("views")
	if err != nil {
		return nil, err
	}
	var out []schema.Definition
	for _, entry := range list {
		text, err := sqlfile.Text(files, path.Join("views", entry.Name()))
		if err != nil {
			return nil, err
		}
		f, err := sqlfile.Parse(strings.TrimSuffix(entry.Name(), ".sql"), text)
		if err != nil {
			return nil, fmt.Errorf("views/%s: %w", entry.Name(), err)
		}
		d := schema.Definition{Name: f.Name, Body: f.Body, Doc: fmt.Sprintf("%s%s: %s Grain: %s. Key: %s.", schema.DocMark, f.Name, f.Doc, f.Grain, f.Key)}
		for _, c := range f.Columns {
			d.Columns = append(d.Columns, [2]string{c.Name, c.Doc})
		}
		out = append(out, d)
	}
	return out, nil
}
