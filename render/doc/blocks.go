package doc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"prof/render/table"
	"prof/render/typeset"
)

// Blocks writes documents as JSON for pages that draw them themselves: a block is an object whose one key says what it is. Tables are like answers of
// queries with their texts.
func Blocks(w io.Writer, list []Document, o typeset.Options) error {
	type document struct {
		Title  string `json:"title"`
		Blocks []any  `json:"blocks"`
	}
	out := struct {
		Documents []document `json:"documents"`
	}{[]document{}}
	for _, d := range list {
		blocks, err := blockForms(d.Blocks, o)
		if err != nil {
			return err
		}
		out.Documents = append(out.Documents, document{d.Title, blocks})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

func blockForms(list []Block, o typeset.Options) ([]any, error) {
	out := []any{}
	for _, b := range blocksFor(true, list) {
		form, err := blockForm(b, o)
		if err != nil {
			return nil, err
		}
		out = append(out, form)
	}
	return out, nil
}

func blockForm(b Block, o typeset.Options) (any, error) {
	switch b := b.(type) {
	case Lead:
		return map[string]Lead{"lead": b}, nil
	case Facts:
		return map[string]Facts{"facts": b}, nil
	case Details:
		return map[string]Details{"facts": b}, nil
	case Section:
		blocks, err := blockForms(b.Blocks, o)
		return map[string]any{"section": map[string]any{"title": typeset.Sentence(b.Title), "is_folded": b.Folded, "blocks": blocks}}, err
	case Figure:
		return map[string]any{"figure": map[string]any{"name": b.Template, "of": b.Of}}, nil
	case Table:
		form := map[string]any{"of": b.Of.Form()}
		if legend := b.legend(nil); len(legend) > 0 {
			form["legend"] = legend
		}
		return map[string]any{"table": form}, nil
	case Rows:
		var text bytes.Buffer
		o.Texts = true
		err := table.JSON(&text, b.Frame, o)
		return map[string]any{"table": map[string]any{"of": json.RawMessage(text.Bytes())}}, err
	case List:
		return map[string]List{"list": b}, nil
	case Remark:
		return map[string]Remark{"remark": b}, nil
	case Hint:
		return map[string]string{"text": b.Text}, nil
	case Text:
		return map[string]Text{"text": b}, nil
	case Notes:
		return map[string]Notes{"notes": b}, nil
	case Doubts:
		return map[string][]string{"doubts": b.Texts}, nil
	case Commands:
		return map[string]Commands{"commands": b}, nil
	case SQL:
		return map[string][]Query{"sql": b.Queries}, nil
	}
	return nil, fmt.Errorf("JSON does not know blocks of %T", b)
}
