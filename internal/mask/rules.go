package mask

import (
	"regexp"
	"strings"
)

// group is a rule with the words at which it looks.
type group struct {
	rule  rule
	words []string
}

// rules are all that is looked for but random values.
func rules() []group {
	out := []group{
		{(*finder).named, []string{"token", "secret", "pass", "pwd", "pw", "key", "auth", "cred", "cookie", "dsn", "pin", "sig", "otp", "mnemonic", "jwt", "bearer", "code=", "_pat", "-pat", "pat=", "otlp_headers"}},
		{(*finder).header, []string{"authorization", "cookie:"}},
		{(*finder).scheme, []string{"bearer ", "basic ", "bearer%20", "basic%20"}},
		{(*finder).userinfo, []string{"://"}},
		{(*finder).pem, []string{"-----begin ", "---- begin "}},
		{(*finder).putty, []string{"private-lines: "}},
		{(*finder).hook, []string{"hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "webhook.office.com/", "api.telegram.org/bot"}},
		{(*finder).login, []string{"-u ", "-user ", "-user=", "-u="}},
		{(*finder).passwordFlag, []string{" -p"}},
		{(*finder).spoken, []string{"password ", "identified by "}},
		{(*finder).loginKey, []string{"wandb login "}},
		{(*finder).home, []string{"/home/", "/users/", `\users\`, `\\users\\`}},
	}
	for _, t := range tokens {
		t := t
		out = append(out, group{func(f *finder, from, to int) { f.token(t, from, to) }, []string{strings.ToLower(t.prefix)}})
	}
	return out
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// lookBack is how far a rule looks back, in bytes: without a bound, a text of 100 kB with a home in each word would take minutes.
const lookBack = 256

// tail is the end of a text, as far as rules look back.
func tail(s string) string { return s[max(0, len(s)-lookBack):] }

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// run returns the end of the characters from a place on that are letters, digits or one of more.
func run(s string, from int, more string) int {
	for from < len(s) && (isAlnum(s[from]) || strings.IndexByte(more, s[from]) >= 0) {
		from++
	}
	return from
}

// upTo returns the place of the first of some characters from a place on, or the end.
func upTo(s string, from int, stops string) int {
	if n := strings.IndexAny(s[from:], stops); n >= 0 {
		return from + n
	}
	return len(s)
}

// blanks returns the end of blanks.
func blanks(s string, from int) int {
	for from < len(s) && isBlank(s[from]) {
		from++
	}
	return from
}

// schemes stand before what an Authorization header says.
var schemes = regexp.MustCompile(`(?i)^(?:bearer|basic|token|key|apikey|digest|negotiate|ntlm|oauth|hawk|signature|aws4-hmac-sha256)(?:\s|\\ |%20)+`)

// parameters are what some schemes have in place of one value.
var parameters = regexp.MustCompile(`^(?:[\w-]+=(?:\\*"[^"\n]*"|'[^'\n]*'|[^\s,;"'\\]+)[ \t]*[,;]?[ \t]*)+`)

// header masks the rest of a header's line.
func (f *finder) header(from, to int) {
	s := f.text
	at := to
	if s[to-1] != ':' {
		if at = blanks(s, past(s, to, `\"'`)); at == len(s) || s[at] != ':' && (at == to || s[at] != ',') {
			return
		}
		at++
	}
	begin := blanks(s, at)
	if next := past(s, begin, "bru"); next < len(s) && isQuote(s[next]) { // of Python
		begin = next
	}
	at = past(s, begin, `\"'`)
	value := at + len(schemes.FindString(s[at:]))
	if strings.HasPrefix(s[value:], masked) { // before
		return
	}
	if at > begin {
		_, end := f.value(begin, "\r\n")
		f.add(value, max(value, begin+len(strings.TrimRight(s[begin:end], `\"'`))))
		return
	}
	for from > 0 && isNameByte(s[from-1]) {
		from--
	}
	end := upTo(s, value, "\r\n\\\"'")
	if n := len(parameters.FindString(s[value:])); n > 0 {
		if end = value + n; from > 0 && s[from-1] == '\'' { // all of it is within quotes
			end = upTo(s, value, "\r\n'")
		}
	}
	f.add(value, end)
}

// past is behind the bytes of a set at a place.
func past(s string, at int, set string) int {
	for at < len(s) && strings.IndexByte(set, s[at]) >= 0 {
		at++
	}
	return at
}

// scheme masks what follows the scheme of a header, where it looks like no word.
func (f *finder) scheme(from, to int) {
	if from > 0 && isAlnum(f.text[from-1]) {
		return
	}
	at := blanks(f.text, to)
	end := run(f.text, at, "._~+/=-")
	if value := f.text[at:end]; len(value) >= 8 && !isWord(value) {
		f.add(at, end)
	}
}

// isWord reports whether a text may be a word: small letters, of which not many consonants follow each other.
func isWord(s string) bool {
	consonants := 0
	for i := range len(s) {
		if consonants++; s[i] < 'a' || s[i] > 'z' || consonants == 6 {
			return false
		}
		if strings.IndexByte("aeiouy", s[i]) >= 0 {
			consonants = 0
		}
	}
	return true
}

// userinfo masks the password in a URL, and a user's name where there is no password. A password may have a / in it.
func (f *finder) userinfo(from, to int) {
	s := f.text
	end := upTo(s, to, " \t\r\n\"'<>")
	authority := upTo(s[:end], to, "/")
	colon := strings.IndexByte(s[to:authority], ':')
	if colon >= 0 && !strings.Contains(s[to:to+colon], "@") {
		at := to + colon + 1
		if digits := at + len(s[at:authority]) - len(strings.TrimLeft(s[at:authority], "0123456789")); digits == authority && digits > at { // a port
			return
		}
		if n := strings.LastIndexByte(s[at:authority], '@'); n >= 0 {
			f.add(at, at+n)
		} else if n := strings.IndexByte(s[at:end], '@'); n >= 0 {
			f.add(at, at+n)
		}
		return
	}
	if n := strings.LastIndexByte(s[to:authority], '@'); n >= 0 {
		f.add(to, to+n)
	}
}

// pem masks a key or certificate that is written out, to the end of the text where its own end is not there.
func (f *finder) pem(from, _ int) {
	s := f.text
	if n := len(f.spans); n > 0 && f.spans[n-1].to == len(s) { // all to the end is masked
		return
	}
	if end := armorEnds.FindStringIndex(s[from:]); end != nil {
		f.add(from, from+end[1])
		return
	}
	f.add(from, len(s))
}

// putty masks the lines of a key of PuTTY, which has no end of its own.
func (f *finder) putty(_, to int) {
	from := upTo(f.text, to, "\n")
	end := from
	for end < len(f.text) {
		next := upTo(f.text, end+1, "\n")
		if !armorBody.MatchString(bare(f.text[end+1 : next])) {
			break
		}
		end = next
	}
	f.add(min(from+1, end), end)
}

// hook masks the path of a webhook, which is all that it takes to use it.
func (f *finder) hook(_, to int) { f.add(to, upTo(f.text, to, " \t\r\n\"'<>)")) }

// isLogin reports whether an option takes a user and a password, as curl's.
func isLogin(option string) bool {
	return option == "-u" || option == "--user" || option == "--proxy-user"
}

// loginSecret returns where the password of user:password begins; 0 where there is none. Numbers are ids of a user and a group.
func loginSecret(word string) int {
	name, secret, ok := strings.Cut(word, ":")
	if !ok || name == "" || secret == "" || strings.ContainsAny(name, "/.=") || strings.HasPrefix(secret, "//") || strings.Trim(name+secret, "0123456789") == "" {
		return 0
	}
	return len(name) + 1
}

// login masks the password of -u user:password.
func (f *finder) login(from, to int) {
	s := f.text
	start := from
	for start > 0 && (s[start-1] == '-' || isAlnum(s[start-1])) {
		start--
	}
	if start > 0 && !strings.ContainsRune(" \t\n\"'(", rune(s[start-1])) || !isLogin(s[start:to-1]) {
		return
	}
	at := blanks(s, to)
	quote := byte(' ')
	if at < len(s) && (s[at] == '"' || s[at] == '\'') {
		quote = s[at]
		at++
	}
	end := upTo(s, at, string(quote)+"\t\r\n")
	if n := loginSecret(s[at:end]); n > 0 {
		f.add(at+n, end)
	}
}

// Programs whose -p has the password behind it in one word, and words that other programs have there.
var (
	passwordPrograms = regexp.MustCompile(`(?:^|[/\s'"])(?:mysql\w*|mariadb[\w-]*|sshpass|7za?|zip|unrar|rar|smbclient|mongo\w*|redis-cli|clickhouse-client)\s`)
	notPassword      = regexp.MustCompile(`(?i)^-p(?:p|g|r|t|ort|arallel|recision|rompt|refill|hase|ass|ool|age|ipeline|ath|rofile|roc|rint|ython|art|eriod|atch|eers?|refix|ack|lan|ower|ort)?[\d.,:x]*$`)
)

// isPasswordWord reports whether a word is -p and a password, after those words.
func isPasswordWord(before []string, word string) bool {
	if len(word) < 3 || !strings.HasPrefix(word, "-p") || strings.ContainsAny(word, "=/:") {
		return false
	}
	if passwordPrograms.MatchString(tail(strings.Join(before[max(0, len(before)-lookBack):], " ")) + " ") {
		return true
	}
	value := word[2:]
	return len(value) >= 6 && strings.ContainsAny(value, "0123456789") && strings.ContainsFunc(value, func(r rune) bool { return r > '9' }) && !strings.ContainsAny(value, "-_,") && !notPassword.MatchString(word)
}

// passwordBefore are the programs that take a password behind -p.
var passwordBefore = regexp.MustCompile(`(?:^|[\s;&|(/'"])(?:sshpass|mongo\w*\s[^;&|\n]*|(?:docker|podman|nerdctl|buildah|skopeo|oras|crane|helm|regctl|az|oc|cf)\s[^;&|\n]*\blogin(?:\s[^;&|\n]*)?)\s*$`)

// takesPassword reports whether -p behind some words has a password behind it.
func takesPassword(before []string) bool {
	return passwordBefore.MatchString(tail(strings.Join(before[max(0, len(before)-lookBack):], " ")))
}

// passwordFlag masks a -pPASSWORD in a command line, and what follows the -p of programs that take one there.
func (f *finder) passwordFlag(from, to int) {
	at := from + 1
	end := upTo(f.text, at, " \t\r\n\"'")
	if end == to && takesPassword([]string{f.text[:from]}) {
		f.add(f.value(blanks(f.text, to), " \t\r\n"))
		return
	}
	if isPasswordWord([]string{f.text[:from]}, f.text[at:end]) {
		f.add(at+2, end)
	}
}

// Where a password follows the word, or in SQL, without a sign between.
var spokenBefore = regexp.MustCompile(`(?i)\blogin\s+\S+\s+$|\b(?:alter|create)\s+(?:user|role)\b.*$`)

// spoken masks the password of a .netrc and of SQL.
func (f *finder) spoken(from, to int) {
	s := f.text
	if s[to-2] != 'y' && s[to-2] != 'Y' && !spokenBefore.MatchString(tail(s[:from])) {
		return
	}
	f.add(f.value(blanks(s, to), " \t\r\n,;\"'"))
}

// loginKey masks the key that W&B's login takes behind its options, without a name: 40 digits of a hash, or longer.
func (f *finder) loginKey(_, to int) {
	s := f.text
	for to = blanks(s, to); to < len(s) && s[to] == '-'; {
		to = blanks(s, upTo(s, to, " \t\r\n"))
	}
	if to < len(s) && (s[to] == '"' || s[to] == '\'') {
		to++
	}
	if end := run(s, to, "_-"); end-to >= leastRandom {
		f.add(to, end)
	}
}

// homeFolder finds the folder of a person at the end of a text; its parent may be mounted somewhere.
var (
	homeParent = regexp.MustCompile(`(?i)(?:^|[\s"'=:,;(\[{<>|@])((?:file://)?(?:/(?:mnt|export|nfs|data|net))?/(?:home|users)/|[a-z]:(?:\\\\?|/)users(?:\\\\?|/))$`)
	homeStops  = "/\\ \t\r\n\"'=:,;()[]{}<>|"
)

// home puts ~ in place of the folder of a person, whose name is no one else's business.
func (f *finder) home(from, to int) {
	if !f.isStored {
		return
	}
	if f.text[to-1] == '\\' && to < len(f.text) && f.text[to] == '\\' {
		to++
	}
	before := tail(f.text[:to])
	at := homeParent.FindStringSubmatchIndex(before)
	end := upTo(f.text, to, homeStops)
	if at != nil && end > to {
		f.spans = append(f.spans, span{to - len(before) + at[2], end, "~"})
	}
}
