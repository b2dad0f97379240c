package mask

import (
	"regexp"
	"slices"
	"strings"
)

// where is how a value follows its name: it says how sure a name must be.
type where int

const (
	aPair     where = iota // name=value, name: value, 'name', 'value'
	aVariable              // NAME=value
	aQuery                 // ?name=value, &name=value
	anOption               // --name value, --name=value
)

// pairOf returns how the value of name=value follows its name.
func pairOf(name string) where {
	switch {
	case strings.HasPrefix(name, "-"):
		return anOption
	case isVariable(name):
		return aVariable
	}
	return aPair
}

// isVariable reports whether a name is written as those of variables of an environment are.
func isVariable(name string) bool {
	hasLetter := false
	for i := range len(name) {
		if c := name[i]; c >= 'a' && c <= 'z' {
			return false
		} else if c >= 'A' && c <= 'Z' {
			hasLetter = true
		}
	}
	return len(name) > 2 && hasLetter
}

// What names of secrets are made of, in lower case. Names are read by hand: a regular expression takes microseconds, and some captures name tokens
// in every range.
var (
	surely      = strings.Fields("secret password passwd passphrase passcode credential cookie mnemonic sshpass otlp_headers sharedaccesssignature amz-signature amz-credential goog-signature goog-credential")
	keyOwners   = strings.Fields("api access account private auth signing encryption encrypt master deploy license licence subscription storage service shared client consumer nvidia ssh wandb hf openai anthropic azure aws gcp")
	tokenOwners = strings.Fields("hf auth access api refresh session security bearer github gitlab gh wandb slack bot deploy personal private oauth jwt csrf id web hub vault consul")
	likely      = strings.Fields("pass pwd pw auth jwt creds otp")   // as the last word
	byOption    = strings.Fields("pin dsn sas bearer pat")           // as the last word of the name of an option or a variable
	byQuery     = strings.Fields("sig signature key code token jwt") // as a parameter of an address

	// Words of names that count or name tokens of text, or say where something lies or how things are sorted.
	tokenCounts = strings.Fields("len count limit id budget num size type idx index pos mask per prob rate level usage path file dir url name env")
	tokenKinds  = strings.Fields("eos bos pad unk sep cls mask stop special image video audio new prompt next first last per prev num max min start end total output input cached draft accepted padding n")
	places      = strings.Fields("file path dir url uri env provider manager store policy type len length")
	described   = strings.Fields("name size count header field column rotation expiry")
	sorted      = strings.Fields("by sort num primary foreign partition group cache kv no has use is with without enable disable allow")
)

// isSecretName reports whether the value of a name is a secret.
func isSecretName(name string, w where) bool {
	n := strings.ToLower(strings.TrimLeft(name, "-"))
	switch {
	case n == "" || strings.HasPrefix(name, "-") && w != anOption:
		return false
	case isSurely(n):
		return !endsWith(n, places)
	case w == aQuery && slices.Contains(byQuery, n):
		return true
	case countsTokens(n) || endsWith(n, places) || endsWith(n, described) || isSorted(n):
		return false
	}
	last := lastWord(n)
	return strings.HasSuffix(n, "token") || slices.Contains(likely, last) && n != "conv_pw" || isOwned(n, "pat") ||
		(w == anOption || w == aVariable) && (strings.HasSuffix(strings.TrimSuffix(n, "s"), "key") || strings.HasSuffix(strings.TrimRight(n, "0123456789"), "token") || slices.Contains(byOption, last))
}

// isSurely reports whether a name is that of a secret whatever else stands in it.
func isSurely(n string) bool {
	if slices.ContainsFunc(surely, func(word string) bool { return strings.Contains(n, word) }) {
		return true
	}
	if isOwned(strings.TrimSuffix(n, "s"), "token") {
		return true
	}
	for at := 0; ; {
		i := strings.Index(n[at:], "key")
		if i < 0 {
			return false
		}
		at += i + len("key")
		if rest := strings.TrimPrefix(n[at:], "s"); (rest == "" || isSeparator(rest[0])) && endsWith(trimSeparators(n[:at-len("key")]), keyOwners) {
			return true
		}
	}
}

// isOwned reports whether a name ends with a word, and what has a secret of that name stands before it.
func isOwned(n, word string) bool {
	owner, ok := strings.CutSuffix(n, word)
	return ok && slices.Contains(tokenOwners, lastWord(trimSeparators(owner)))
}

// countsTokens reports whether a name counts or names tokens of text.
func countsTokens(n string) bool {
	i := strings.Index(n, "token")
	if i < 0 {
		return false
	}
	rest := n[i+len("token"):]
	if strings.HasPrefix(rest, "i") || strings.HasSuffix(n, "tokens") {
		return true
	}
	if rest = strings.TrimPrefix(rest, "s"); rest == "" {
		return slices.Contains(tokenKinds, lastWord(trimSeparators(n[:i])))
	}
	return isSeparator(rest[0]) && slices.ContainsFunc(tokenCounts, func(word string) bool { return strings.HasPrefix(rest[1:], word) })
}

// isSorted reports whether a word of a name, not the last one, says that it is a key of something else.
func isSorted(n string) bool {
	words := strings.FieldsFunc(n, func(r rune) bool { return r == '_' || r == '.' || r == '-' })
	return len(words) > 1 && slices.ContainsFunc(words[:len(words)-1], func(word string) bool { return slices.Contains(sorted, word) })
}

func isSeparator(c byte) bool { return c == '_' || c == '.' || c == '-' }

func lastWord(n string) string {
	at := len(n)
	for at > 0 && !isSeparator(n[at-1]) {
		at--
	}
	return n[at:]
}

// trimSeparators is a name without what parts its words at its end.
func trimSeparators(n string) string {
	for n != "" && isSeparator(n[len(n)-1]) {
		n = n[:len(n)-1]
	}
	return n
}

func endsWith(n string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasSuffix(n, word) })
}

// isPlainValue reports whether a value is none that a secret has: a switch, nothing, and a small number where the name is that of a token, a
// pass or a key, which are counted too.
func isPlainValue(name, value string) bool {
	return isNothing(value) || isFolder(name, value) || len(value) <= 9 && strings.Trim(value, "0123456789") == "" && slices.Contains(counted, lastWord(strings.ToLower(name)))
}

// isFolder reports whether a value is the working folder, as a shell names it.
func isFolder(name, value string) bool {
	return strings.HasPrefix(value, "/") && (name == "PWD" || name == "OLDPWD" || name == "pwd" && run(value, 0, "/._-~@+ ") == len(value))
}

// isNothing reports whether a value is a switch, or says that there is none.
func isNothing(value string) bool {
	if len(value) > len("false") {
		return false
	}
	switch strings.ToLower(value) {
	case "", "true", "false", "none", "null", "nil", "yes", "no", "on", "off":
		return true
	}
	return false
}

var counted = strings.Fields("token pass key auth")

func isNameByte(c byte) bool { return isAlnum(c) || c == '_' || c == '-' || c == '.' }

// named masks the value of a name that holds a needle.
func (f *finder) named(from, to int) {
	s := f.text
	if s[to-1] == '=' {
		to--
	}
	for from > 0 && isNameByte(s[from-1]) {
		from--
	}
	for to < len(s) && isNameByte(s[to]) {
		to++
	}
	name := s[from:to]
	w := pairOf(name)
	if w != anOption && from > 0 && (s[from-1] == '?' || s[from-1] == '&') {
		w = aQuery
	}
	if begin, end, ok := element(s, from, to); ok {
		if isSecretName(name, w) && !isPlainValue(name, s[begin:end]) {
			f.add(begin, end)
		}
		return
	}
	if from > 0 && isQuote(s[from-1]) {
		f.valueBefore(name, from)
	}
	at, ok := f.separator(name, from, to)
	if !ok {
		return
	}
	isSpoken := false // "api key: ..."
	if strings.EqualFold(name, "key") && from > 0 && s[from-1] == ' ' && !isQuote(s[to]) {
		if m := spokenOwner.FindString(tail(s[:from])); m != "" {
			name, isSpoken = strings.TrimSpace(m)+"-"+name, true
		}
	}
	if name == "key" && logsIn.MatchString(tail(s[:from])) {
		w = anOption
	}
	if !isSecretName(name, w) {
		if len(name) >= len("tokens") && strings.EqualFold(name[len(name)-len("tokens"):], "tokens") {
			f.tokens(name, at)
		}
		return
	}
	stops := " \t\r\n,;\"'"
	if w == aQuery {
		stops += "&#"
	}
	behind := at
	if at < len(s) && (s[at] == '!' || s[at] == '&') && escapedQuote(s[at:]) == 0 {
		behind += len(tagged.FindString(s[at:]))
	}
	begin, end := f.value(behind, stops)
	if w != anOption && begin < end && !isQuote(s[begin]) {
		if m := typed.FindString(s[begin:]); m != "" { // the value may follow its type
			at, behind = begin+len(m), begin+len(m)
			if !strings.Contains(m, "=") {
				return
			}
			if begin, end = f.value(behind, stops); isNothing(strings.TrimRight(s[begin:end], ")")) {
				return
			}
		} else if readBy.MatchString(s[begin:end]) {
			return
		}
	}
	value := s[begin:end]
	isQuoted := begin > behind || begin < end && (isQuote(value[0]) || escapedQuote(value) > 0)
	if isSpoken && !isQuoted && (isWord(value) || len(value) < leastKnown) {
		return
	}
	if !isQuoted && w == aPair && s[at-1] != '=' && slices.Contains(plainWords, lastWord(strings.ToLower(name))) && !isSurely(strings.ToLower(name)) && !(strings.EqualFold(name, "pass") && userBefore.MatchString(tail(s[:from]))) { // a sentence: "forward pass: warm-up"
		return
	}
	said := strings.Trim(value, `"'`)
	if escapedQuote(value) > 0 {
		said = strings.Trim(value, `\"'`)
	}
	if f.unclosed != (rest{}) {
		f.open = f.unclosed
	}
	if said == "" || said == masked {
		return
	} else if isNothing(said) || w != anOption && isPlainValue(name, said) {
		return
	}
	if begin == behind {
		begin = at
	}
	if w == aPair && strings.EqualFold(lastWord(name), "pw") && strings.Trim(value, "0123456789.") == "" { // of a convolution, or power
		return
	}
	f.add(begin, end)
	if w == anOption && isBlank(s[at-1]) && takesSeveral(name) {
		f.more(end)
	}
}

// more masks the values that follow the first one of an option. In a text, what looks like a word is none.
func (f *finder) more(at int) {
	s := f.text
	for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
		from := past(s, at, " \t")
		if from == len(s) || s[from] == '-' {
			return
		}
		to := 0
		if from, to = f.value(from, " \t\r\n,;\"'"); from == to {
			return
		}
		word := strings.Trim(s[from:to], `"'`)
		if isWord(word) || strings.Trim(word, "0123456789") == "" || !isOneMore(word) || run(word, 0, "-_.+/=") < len(word) {
			return
		}
		f.add(from, to)
		at = to
	}
}

// typed is the type of a parameter of Python, with the sign of its value, and readBy what reads a value from elsewhere.
var (
	typed  = regexp.MustCompile(`^(?:(?:typing\.)?(?:Optional|Union)\[[\w\[\], .|]*\]|(?:str|bytes|SecretStr)(?: *\| *\w+)*)(?: *= *|[,):\r\n]|$)`)
	readBy = regexp.MustCompile(`^(?:os\.(?:environ|getenv)|getpass\.getpass|process\.env)\b`)
)

// tagged says of what kind a value of YAML is, or gives it a name.
var tagged = regexp.MustCompile(`^(?:[!&][^\s"',]*[ \t]+)+`)

// logsIn are the calls of a program that take a key.
var logsIn = regexp.MustCompile(`(?i)(?:login|client|authenticate|configure)\([^()]*$|["']username["']\s*:\s*["'][^"']*["']\s*,\s*["']$`)

// What stands before a key that is called so in a sentence, before the password of a user, and before the name of a value.
var (
	spokenOwner = regexp.MustCompile(`(?i)\b(?:api|secret|access|auth|license|encryption|signing) $`)
	userBefore  = regexp.MustCompile(`(?i)\b(?:user|username|login)["']?\s*[:=]\s*\S+\s*[,;]?\s*$`)
	valueFirst  = regexp.MustCompile(`(?i)value\\*["']?\s*[:=]\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\"[^"\\]*\\")\s*,\s*\\*["']?(?:name|key|env|variable)\\*["']?\s*[:=]\s*\\*["']$`)
)

// valueBefore masks a value before its name: {"value": "...", "name": "HF_TOKEN"}.
func (f *finder) valueBefore(name string, from int) {
	before := tail(f.text[:from])
	if !strings.Contains(before, "alue") {
		return
	}
	if m := valueFirst.FindStringSubmatchIndex(before); m != nil && isSecretName(name, pairOf(name)) && !isPlainValue(name, strings.Trim(before[m[2]:m[3]], `\"'`)) {
		n := from - len(before)
		f.add(n+m[2], n+m[3])
	}
}

// plainWords are names that are words of a sentence before a colon.
var plainWords = strings.Fields("pass auth otp token")

// separator returns where the value of a name begins: behind = or : with quotes and a bracket before it, a comma behind a name in quotes, blanks
// behind an option, or behind a variable that a shell exports.
func (f *finder) separator(name string, from, to int) (at int, ok bool) {
	s := f.text
	at = past(s, to, `\"']`)
	if at < len(s) && s[at] == '&' {
		at += escapedQuote(s[at:])
	}
	closed := at > to
	next := blanks(s, at)
	switch {
	case next == len(s):
		return 0, false
	case strings.HasPrefix(s[next:], "::"): // of C++
		return 0, false
	case s[next] == '=' || s[next] == ':':
		next = past(s, next, "=:>")
	case strings.HasPrefix(s[next:], "%3D") || strings.HasPrefix(s[next:], "%3d"):
		return next + len("%3D"), true
	case strings.IndexByte(`,;"'vV`, s[next]) >= 0 && (closed || from > 0 && s[from-1] == '<' || called.MatchString(tail(s[:from]))) && itsValue.MatchString(s[at:]):
		next = at + len(itsValue.FindString(s[at:]))
	case closed && s[next] == ',':
		next++
	case closed || next == at:
		return 0, false
	case strings.HasPrefix(name, "-"):
		next = continued(s, next)
		return next, next < len(s) && s[next] != '-'
	default:
		return next, isVariable(name) && exports.MatchString(tail(s[:from]))
	}
	next = past(s, next, " \t")
	if on := continued(s, next); on > next {
		return on, true
	}
	return nextLine(s, next), true
}

// called stands before a name, and itsValue behind it, where name and value are members: {"name": "HF_TOKEN", "value": "..."}.
var (
	called   = regexp.MustCompile(`(?i)(?:name|key|env|variable)\\?["']?\s*[:=]\s*\\?["']?$`)
	itsValue = regexp.MustCompile(`^\s*[,;]?\s*\\?["']?(?i:value)\\?["']?\s*[:=]\s*`)
)

// continued is where the line goes on that ends in a backslash at a place; else the place.
func continued(s string, at int) int {
	if rest := s[at:]; strings.HasPrefix(rest, "\\\n") || strings.HasPrefix(rest, "\\\r\n") {
		return blanks(s, at+1)
	}
	return at
}

// nextLine is where the next line begins, at the end of a line, if all of that line is one value: a word, or a text in quotes.
func nextLine(s string, at int) int {
	n := len("\n")
	if strings.HasPrefix(s[at:], "\r\n") {
		n = len("\r\n")
	} else if !strings.HasPrefix(s[at:], "\n") {
		return at
	}
	end := upTo(s, at+n, "\r\n")
	if oneValue.MatchString(s[at+n : end]) {
		return at + n + len(s[at+n:end]) - len(strings.TrimLeft(s[at+n:end], " \t"))
	}
	return at
}

var oneValue = regexp.MustCompile(`^[ \t]*(?:(?:"[^"]*"|'[^']*')[ \t]*[\])}]*|[^\s"'\\]*[^\s"':{\[(,\\])[ \t]*,?[ \t]*$`)

// exports are the commands that set a variable without a sign between its name and its value.
var exports = regexp.MustCompile(`(?:^|[\s;&|(])(?:export|setenv|set|putenv|ENV)\s+$`)
