package testdata

import (
	"fmt"
	"os"
	"strings"
)

// Marked returns what a document holds between the marks <!-- name --> and <!-- end -->, and the document with something else there.
func Marked(path, name, other string) (old, changed string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	mark := "<!-- " + name + " -->\n"
	before, rest, found := strings.Cut(string(text), mark)
	old, after, ends := strings.Cut(rest, "<!-- end -->")
	if !found || !ends {
		return "", "", fmt.Errorf("%s has nothing between %q and <!-- end -->", path, mark)
	}
	return old, before + mark + other + "<!-- end -->" + after, nil
}
