// Package page holds the files that pages of HTML are made of: styles, scripts and templates.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"strings"
)

// Files are what the page is made of: one file in the end, since nothing in it is fetched, and its policy forbids it.
//
//go:embed *.css *.js *.tmpl
var Files embed.FS

// Joined puts files of the page together.
func Joined(names []string) (string, error) {
	var out strings.Builder
	for _, name := range names {
		text, err := Files.ReadFile(name)
		if err != nil {
			return "", err
		}
		out.Write(text)
	}
	return out.String(), nil
}

// Hash is how a content security policy names a text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
