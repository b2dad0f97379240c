package mask

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// How long a secret must be, in bytes, to be found by its own text: a shorter one would be found in words of others.
const (
	leastKnown   = 6
	leastLine    = 8 // a line of a longer one
	leastEncoded = 8 // of what base64 makes of it
)

// Known returns a function that masks as Text does what a program writes that has got an environment and a command line: values of these that Value
// and Argv mask are masked wherever they stand, also as JSON, an address or base64 writes them, and line by line.
func Known(environ, argv []string) func(string) string {
	var secrets []string
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok && Value(name, value) == masked {
			secrets = append(secrets, value)
		}
		secrets = append(secrets, inAddresses(v)...)
	}
	for i, word := range Argv(argv) {
		secrets = append(secrets, inAddresses(argv[i])...)
		switch name, value, ok := strings.Cut(word, "="); {
		case word == masked:
			secrets = append(secrets, argv[i])
		case ok && value == masked:
			secrets = append(secrets, strings.TrimPrefix(argv[i], name+"="))
		}
	}
	var texts []string
	for _, s := range secrets {
		if len(s) >= leastKnown && !slices.Contains(surely, strings.ToLower(s)) { // else it would take the name of others from them
			texts = append(texts, written(s)...)
		}
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) }) // of two that begin alike the longer one is meant
	var pairs []string
	for _, s := range slices.Compact(texts) {
		pairs = append(pairs, s, masked)
	}
	known := strings.NewReplacer(pairs...)
	return func(s string) string { return Text(known.Replace(s)) }
}

// inAddresses are the passwords in addresses of a text, as they stand there and as they are.
func inAddresses(s string) (out []string) {
	f := finder{text: s}
	for at := 0; ; {
		n := strings.Index(s[at:], "://")
		if n < 0 {
			break
		}
		at += n + len("://")
		f.userinfo(at-len("://"), at)
	}
	for _, sp := range f.spans {
		if s[sp.from-1] != ':' { // a user without a password
			continue
		}
		out = append(out, s[sp.from:sp.to])
		if plain, err := url.PathUnescape(s[sp.from:sp.to]); err == nil && plain != s[sp.from:sp.to] {
			out = append(out, plain)
		}
	}
	return out
}

// written are the ways in which programs write a secret: as it is and line by line, within the quotes of JSON, Python, C, XML and a shell, in
// addresses, and in base64.
func written(s string) []string {
	out := []string{s}
	plain := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
	inDouble := strings.ReplaceAll(plain, `"`, `\"`)
	ascii := strconv.QuoteToASCII(s)
	out = append(out, plain, inDouble, strings.ReplaceAll(plain, `'`, `\'`), strings.ReplaceAll(inDouble, "/", `\/`), ascii[1:len(ascii)-1],
		html.EscapeString(s), strings.ReplaceAll(s, `'`, `'\''`))
	if text, err := json.Marshal(s); err == nil { // with <, > and & as Go writes them
		out = append(out, string(text[1:len(text)-1]))
	}
	for _, text := range out[1:] { // JSON within JSON
		out = append(out, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text))
	}
	for _, kept := range []string{"", "/", "!'()*", "/:@&=+$,", "$&+:=@", " "} { // by Python, JavaScript, Go and forms
		text := percent(s, kept)
		out = append(out, text, lowerHex(text))
	}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		whole := e.EncodeToString([]byte(s))
		out = append(out, e.EncodeToString([]byte(s+"\n")), whole)
		for _, width := range []int{64, 76} {
			for at := 0; len(whole) > width && at < len(whole); at += width {
				out = append(out, whole[at:min(at+width, len(whole))])
			}
		}
		for shift := range 3 { // behind other bytes, and before others
			text := e.EncodeToString([]byte("xx"[:shift] + s))
			out = append(out, text[(8*shift+5)/6:8*(shift+len(s))/6])
		}
	}
	out = slices.DeleteFunc(out, func(text string) bool { return len(text) < leastEncoded && text != s })
	if strings.Contains(s, "\n") {
		for line := range strings.Lines(s) { // a program's output is masked line by line
			if line = strings.TrimSpace(line); len(line) >= leastLine {
				out = append(out, line)
			}
		}
	}
	return out
}

// percent writes a text as addresses do, but for some characters. A blank that is kept is a plus, as forms write it.
func percent(s, kept string) string {
	var out strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' && kept == " ":
			out.WriteByte('+')
		case isAlnum(c) || strings.IndexByte("-_.~", c) >= 0 || strings.IndexByte(kept, c) >= 0:
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// lowerHex is an address with its escapes in small letters.
func lowerHex(s string) string {
	out := []byte(s)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i:], strings.ToLower(s[i:i+3]))
		}
	}
	return string(out)
}
