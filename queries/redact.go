package queries

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"prof/schema"
)

// Redaction takes out of texts of a run what says whose it is and where it ran, so that they can be given away: paths, hosts, users, command
// lines, names of models, branches, ids of GPUs, and the values of tags. What it takes out becomes its kind in brackets.
type Redaction struct {
	words  []redacted // longest first, so that none is left of another
	branch string
}

// redacted is a text that is taken out, and what takes its place.
type redacted struct{ text, by string }

// privateTexts are the texts of a run that are redacted, each with its kind.
const privateTexts = `
SELECT 'host' AS kind, host AS text FROM run WHERE run_id = $run
UNION SELECT 'host', host FROM capture_node WHERE run_id = $run
UNION SELECT 'host', value FROM source_fact WHERE run_id = $run AND regexp_matches(key, '(?i)host|node_?(name|list)|_addr|^capture\.device$')
UNION SELECT 'user', value FROM source_fact WHERE run_id = $run AND regexp_matches(key, '(?i)user|logname|author|email')
UNION SELECT 'command', command FROM run WHERE run_id = $run
UNION SELECT 'command', command FROM capture WHERE run_id = $run
UNION SELECT 'command', command FROM capture_pass WHERE run_id = $run
UNION SELECT 'command', value FROM source_fact WHERE run_id = $run AND contains(key, 'command')
UNION SELECT 'path', path FROM source WHERE run_id = $run
UNION SELECT 'path', path FROM capture_input WHERE run_id = $run
UNION SELECT 'path', path FROM capture_kept WHERE run_id = $run
UNION SELECT 'path', folder FROM capture WHERE run_id = $run
UNION SELECT 'path', name FROM ncu_source_file WHERE run_id = $run
UNION SELECT 'program', name FROM process WHERE run_id = $run AND regexp_matches(name, '[/\\.]')
UNION SELECT 'model', name FROM model WHERE run_id = $run AND lower(name) <> lower(family)
UNION SELECT 'branch', git_branch FROM capture WHERE run_id = $run
UNION SELECT 'uuid', uuid FROM device WHERE run_id = $run
UNION SELECT 'uuid', uuid FROM capture_device WHERE run_id = $run
UNION SELECT 'tag', key || '=' || value FROM run_tag WHERE run_id = $run`

// NewRedaction reads what is to be taken out of texts of a run. Tags of the keys in keep stay.
func NewRedaction(ctx context.Context, w *schema.Warehouse, run schema.Run, keep []string) (*Redaction, error) {
	f, err := read(ctx, w, strings.ReplaceAll(privateTexts, "$run", schema.Quote(run.ID)+"::UUID"))
	if err != nil {
		return nil, err
	}
	r := &Redaction{}
	for _, row := range f.Rows {
		kind, _ := row[0].(string)
		text, _ := row[1].(string)
		r.add(kind, text, keep)
	}
	slices.SortFunc(r.words, func(a, b redacted) int {
		return cmp.Or(len(b.text)-len(a.text), cmp.Compare(a.text, b.text), cmp.Compare(b.by, a.by))
	})
	r.words = slices.CompactFunc(r.words, func(a, b redacted) bool { return a.text == b.text })
	return r, nil
}

var (
	homeOwner = regexp.MustCompile(`(?i)[/\\](?:home|users)[/\\]+([^/\\\s"'=:,;]+)`)
	// anyPath is an absolute path, or one in a home or the folder above.
	anyPath = regexp.MustCompile("(^|[\\s\"'`=:,;(\\[<|])((?:~|\\.{1,2}|[A-Za-z]:)?[/\\\\][^\\s\"'`,;)\\]<>|]*[^\\s\"'`,;:.)\\]<>|])")
)

// plainWord is what a report says of any run: a program called kernels is not taken out of "16 kernels".
var plainWord = regexp.MustCompile(`^[A-Za-z]+\d?$`)

// anySetting is a value of facts, or a name of models, that says nothing of whose a run is, and that other texts have too.
var anySetting = regexp.MustCompile(`(?i)^([\d.,]{1,6}|true|false|none|null|yes|localhost|model|models|checkpoint|config)$`)

// gpuID is the id of a GPU or of a part of one, whole or cut, as in CUDA_VISIBLE_DEVICES.
var gpuID = regexp.MustCompile(`\b(?:GPU|MIG)-(?:GPU-)?[0-9a-fA-F]{8}[0-9a-fA-F/-]*`)

// How long a word must be, in bytes, to be taken out wherever it stands; names of hosts and users may be shorter.
const (
	leastWord = 3
	leastName = 2
)

func (r *Redaction) add(kind, text string, keep []string) {
	put := func(text string) {
		isName := kind == "host" || kind == "user"
		isOwn := isName || kind == "model"
		if (len(text) >= leastWord || isName && len(text) >= leastName) && !anySetting.MatchString(text) && (isOwn || !plainWord.MatchString(text)) {
			r.words = append(r.words, redacted{text, "[" + kind + "]"})
		}
	}
	for _, m := range homeOwner.FindAllStringSubmatch(text, -1) {
		if m[1] != "user" {
			r.words = append(r.words, redacted{m[1], "[user]"})
		}
	}
	switch kind {
	case "tag":
		if key, _, _ := strings.Cut(text, "="); !slices.Contains(keep, key) {
			r.words = append(r.words, redacted{text, key + "=[tag]"})
		}
		return
	case "branch": // main is a word as any other, but for where branches are said
		r.branch = text
		r.words = append(r.words, redacted{"(" + text + ")", "([branch])"})
	case "host":
		if first, _, ok := strings.Cut(text, "."); ok {
			put(first)
		}
	case "path", "model", "program":
		if base := path.Base(strings.ReplaceAll(text, `\`, "/")); base != text && base != "." && base != "/" {
			put(base)
		}
	case "command": // scripts and the like, which messages and process names repeat
		for _, word := range strings.Fields(text) {
			if word = strings.Trim(word, `'"`); !strings.HasPrefix(word, "-") && strings.Trim(word, "0123456789.,") != "" && strings.ContainsAny(word, "./") {
				put(word)
				put(path.Base(word))
			}
		}
	}
	put(text)
}

// Text returns a text without what is private.
func (r *Redaction) Text(s string) string {
	if s == r.branch && s != "" {
		return "[branch]"
	}
	for _, w := range r.words {
		s = replaceWord(s, w.text, w.by)
	}
	return anyPath.ReplaceAllString(gpuID.ReplaceAllString(s, "[uuid]"), "${1}[path]")
}

// replaceWord replaces a text where no letter or digit goes on before or after it.
func replaceWord(s, text, by string) string {
	if !strings.Contains(s, text) {
		return s
	}
	var out strings.Builder
	for {
		i := strings.Index(s, text)
		if i < 0 {
			break
		}
		end := i + len(text)
		if i > 0 && isWordByte(s[i-1]) && isWordByte(text[0]) || end < len(s) && isWordByte(s[end]) && isWordByte(text[len(text)-1]) {
			out.WriteString(s[:i+1])
			s = s[i+1:]
			continue
		}
		out.WriteString(s[:i])
		out.WriteString(by)
		s = s[end:]
	}
	out.WriteString(s)
	return out.String()
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
