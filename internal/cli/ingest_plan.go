package cli

import (
	"errors"

	"github.com/urfave/cli/v2"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// ingestPlan prints what an ingest would read.
func (p *program) ingestPlan(c *cli.Context, o ingest.Options) (err error) {
	w, unchecked, err := p.openAsIs(c)
	if err != nil {
		return err
	}
	if w != nil {
		defer closing(w, &err)
	}
	files, skipped, err := ingest.Plan(c.Context, w, p.paths(c.Args().Slice()), o)
	if err != nil {
		return err
	}
	f := &frame.Frame{Query: "ingest-plan", Columns: []frame.Column{
		{Name: "file", Doc: "file or folder that would be read"},
		{Name: "form", Doc: "its format"},
		{Name: "size_bytes", Type: frame.Int, Unit: frame.Bytes, Doc: "its size as it is"},
		{Name: "growth_bytes", Type: frame.Int, Unit: frame.Bytes, Doc: "estimate of how much the warehouse grows"},
		{Name: "part", Doc: "table of the file; NULL for the file as a whole"},
		{Name: "row_count", Type: frame.Int, Unit: frame.Count, Doc: "rows of the table, an estimate in SQLite exports; NULL where it is skipped"},
		{Name: "remark", Doc: "why a table or file is skipped, and what is not known"},
	}}
	for _, file := range files {
		size, growth := any(file.Size), any(nil)
		if file.LeftOut {
			size = nil
		}
		if file.Growth > 0 {
			growth = file.Growth
		}
		f.Rows = append(f.Rows, []any{file.Path, file.Form, size, growth, nil, nil, planRemark(file, unchecked)})
		for _, t := range file.Tables {
			rows, why := any(t.Rows), any(nil)
			if t.Skipped != "" {
				rows, why = nil, t.Skipped
			}
			f.Rows = append(f.Rows, []any{file.Path, file.Form, nil, nil, t.Name, rows, why})
		}
	}
	f.Notes = append(f.Notes, "nothing was stored; row counts of large tables are estimates, and so is the growth: 0.10 of an unpacked SQLite export, up to 0.5 where range names are all different; packed files are taken to be an eighth of their content")
	for _, line := range unreadLines(skipped) {
		f.Notes = append(f.Notes, "not read: "+line)
	}
	return p.print(c, f)
}

// openAsIs opens the warehouse for reading without bringing it up to date; nil where there is none or it cannot be read so, and unchecked
// says why.
func (p *program) openAsIs(c *cli.Context) (w *schema.Warehouse, unchecked string, err error) {
	home, err := p.home(c)
	if err != nil {
		return nil, "", err
	}
	w, err = schema.Open(c.Context, home, schema.Options{AsIs: true, Defs: queries.Relations{}, Facts: derive.Facts{}})
	var locked *schema.LockedError
	switch {
	case errors.Is(err, schema.ErrNoWarehouse):
		return nil, "no warehouse yet", nil
	case errors.Is(err, schema.ErrOutdated):
		return nil, "not checked whether it is stored: the warehouse is of another version", nil
	case errors.As(err, &locked):
		return nil, "not checked whether it is stored: the warehouse is in use", nil
	case err == nil:
		p.read = append(p.read, w)
	}
	return w, "", err
}

// planRemark says of a file what is known of it in the warehouse, and what is not.
func planRemark(f ingest.Planned, unchecked string) string {
	if f.LeftOut {
		return "left out: another file has this capture"
	}
	text := unchecked
	switch {
	case unchecked != "":
	case f.SameCapture != "":
		text = "run " + f.SameCapture + " has this capture; content not checked"
	case f.SameSize != "":
		text = "run " + f.SameSize + " has a file of this size; content not checked"
	case f.Packed != "":
		text = "content not checked; no run has a file of this size"
	default:
		text = "no run has a file of this size"
	}
	if f.Tables != nil {
		return text
	}
	if f.Packed != "" {
		return text + "; rows not counted in " + f.Packed
	}
	return text + "; rows not counted"
}
