package cli

import (
	"bytes"
	"fmt"

	"github.com/urfave/cli/v2"

	"prof/internal/file"
	"prof/queries/judge/gate"
	"prof/render/compare"
	"prof/render/typeset"
)

// checkForm is where the result goes.
type checkForm struct {
	form typeset.Form[*gate.Result, typeset.Options]
	file string // "" for stdout
}

// checkForms says what is written where: the form of --format, or to files what their endings tell and a table to stdout.
func checkForms(c *cli.Context) ([]checkForm, error) {
	var out []checkForm
	named := c.IsSet("format")
	form := compare.GateForms()[0]
	if named {
		var err error
		if form, err = compare.GateForms().Named(c.String("format")); err != nil {
			return nil, &usageError{err}
		}
	}
	files := c.StringSlice("out")
	if !named || len(files) == 0 {
		out = append(out, checkForm{form, ""})
	}
	if named && len(files) > 1 {
		return nil, usagef("--format applies to one file, and --out names %d: omit it, and each extension sets the form", len(files))
	}
	for _, file := range files {
		of := form
		if !named {
			var err error
			if of, err = compare.GateForms().OfFile(file); err != nil {
				return nil, &usageError{fmt.Errorf("--out %w", err)}
			}
		}
		out = append(out, checkForm{of, file})
	}
	return out, nil
}

// writeCheck writes the result in all forms that were asked for.
func (p *program) writeCheck(c *cli.Context, forms []checkForm, r *gate.Result) error {
	for _, f := range forms {
		if f.file == "" || f.file == "-" {
			if f.form.Name == "junit" { // which does not show them
				p.notes(r.Notes)
			}
			if err := f.form.Write(p.out, r, p.options(c)); err != nil {
				return err
			}
			continue
		}
		var text bytes.Buffer
		if err := f.form.Write(&text, r, typeset.Options{}); err != nil {
			return err
		}
		if err := file.Write(p.path(f.file), text.Bytes()); err != nil {
			return fmt.Errorf("write the checks of %s: %w", r.Run.Label, err)
		}
	}
	return nil
}
