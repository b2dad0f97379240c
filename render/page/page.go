// Package page holds the files that pages of HTML are made of: styles, scripts and templates.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"regexp"
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
		if strings.HasSuffix(name, ".js") {
			text = module.ReplaceAll(text, nil)
		}
		out.Write(text)
	}
	return out.String(), nil
}

// module is what makes a file of the page a module of the server's, which has some of them: here they are one script.
var module = regexp.MustCompile(`(?m)^(?:import .*\n|export )`)

// Hash is how a content security policy names a text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Head is what every page begins with. Its hashes let its own style and script run, and nothing that a name of a kernel could bring in.
type Head struct {
	Title                 string
	Style                 template.CSS
	Script                template.JS
	StyleHash, ScriptHash string
}

// NewHead puts the styles and scripts of a page together.
func NewHead(title string, styles, scripts []string) (Head, error) {
	style, err := Joined(styles)
	if err != nil {
		return Head{}, err
	}
	script, err := Joined(scripts)
	return Head{title, template.CSS(style), template.JS(script), Hash(style), Hash(script)}, err
}

// Templates are those of pages and of what is drawn on them.
func Templates() (*template.Template, error) { return template.ParseFS(Files, "*.tmpl") }
