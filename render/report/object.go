package report

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"prof/render/typeset"
)

// writeYAML writes an object below lines of comment. Texts that are no plain word stand in quotes, which every reader of YAML takes alike.
func writeYAML(out *bytes.Buffer, head string, o *typeset.Object) {
	out.WriteString(head)
	yamlMembers(out, o, "")
}

// yamlMembers writes a member a line; the first one follows what is written already, as the dash of a list.
func yamlMembers(out *bytes.Buffer, o *typeset.Object, indent string) {
	for i, m := range o.Members {
		if i > 0 || indent == "" {
			out.WriteString(indent)
		}
		out.WriteString(yamlText(m.Key) + ":")
		yamlValue(out, m.Value, indent)
	}
}

// yamlValue writes what follows a key: an object or list in lines of its own, unless it is empty.
func yamlValue(out *bytes.Buffer, value any, indent string) {
	switch v := value.(type) {
	case *typeset.Object:
		if len(v.Members) == 0 {
			out.WriteString(" {}\n")
			return
		}
		out.WriteString("\n" + indent + "  ")
		yamlMembers(out, v, indent+"  ")
	case []any:
		if len(v) == 0 {
			out.WriteString(" []\n")
			return
		}
		out.WriteString("\n")
		for _, x := range v {
			out.WriteString(indent + "  -")
			if o, is := x.(*typeset.Object); is && len(o.Members) > 0 {
				out.WriteString(" ")
				yamlMembers(out, o, indent+"    ")
				continue
			}
			yamlValue(out, x, indent+"    ")
		}
	case string:
		out.WriteString(" " + yamlText(v) + "\n")
	case int:
		out.WriteString(" " + strconv.Itoa(v) + "\n")
	default:
		out.WriteString(" " + typeset.JsonValue(v) + "\n")
	}
}

// plainWord is a text that YAML takes for nothing but a text.
var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// yamlText writes a text: a plain word as it is, others in the quotes that YAML shares with JSON, with escapes for all that is not seen.
func yamlText(s string) string {
	if plainWord.MatchString(s) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s)) {
		return s
	}
	var out strings.Builder
	for _, r := range typeset.Quote(s) {
		switch {
		case !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}
