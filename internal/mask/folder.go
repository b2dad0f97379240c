package mask

import (
	"regexp"
	"strings"
)

var (
	inName = regexp.MustCompile(`[\w-]$`)
	escape = regexp.MustCompile(`\\(?:[bfnrt]|u[0-9a-fA-F]{4})$`) // of JSON
	goesOn = regexp.MustCompile(`^\.?[\w-]`)                      // as the name of a folder does; a full stop ends a sentence
)

// Folder writes a folder of this machine by another name, and leaves others whose paths have the same letters. The root and "" have no other name.
func Folder(text, dir, name string) string {
	if len(dir) < len("/a") {
		return text
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, dir)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		last := out.String()[max(0, out.Len()-len(`\u0000`)):]
		if goesOn.MatchString(after) || inName.MatchString(last) && !escape.MatchString(last) {
			out.WriteString(dir)
		} else {
			out.WriteString(name)
		}
		text = after
	}
}
