package serve

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"prof/internal/serve/ask"
	"prof/internal/serve/jobs"
	"prof/internal/serve/places"
)

// Guard says who may ask.
type Guard struct {
	Token   string         // whoever asks must have it; "" asks nobody
	Own     bool           // without a token, only the user of this process may ask
	Hosts   []string       // names of this server, besides localhost and addresses
	Origins []string       // pages of other servers that may ask, as https://grafana.example
	Secure  bool           // browsers reach the server by https
	Proxies []netip.Prefix // whose word is taken for who asks, to share out places: nobody gets in by it
	Log     func(message string)
}

// policy keeps the page to what comes from this server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Limits of one request.
const (
	bodyTime    = ask.AnswerTime + 30*time.Second // a request whose body may come no more counts as one whose client has gone
	writeTime   = 2 * time.Minute                 // in which the client takes what is written at once
	mostAtOnce  = 256
	mostOfOne   = mostAtOnce / 2 // of one client, which may be a proxy
	sessionTime = 30 * 24 * time.Hour
	restBytes   = 8 << 20 // read of a body that is refused, and how long: to close a connection with unread bytes resets it, and the answer is lost
	restTime    = 2 * time.Second
)

// sessionName is the cookie that a browser shows in place of the token. Browsers send cookies to all ports of a name: each server has its own.
func sessionName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "prof_session_" + port
	}
	return "prof_session"
}

// wrap lets through to next what may pass.
func (g Guard) wrap(next http.Handler) http.Handler {
	all := places.New(mostAtOnce, mostOfOne)
	return http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		w := newTimed(plain, writeTime)
		defer readRest(w, r.Body)
		defer g.caught(w, r)
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // who takes uploads gives them longer
		switch {
		case r.Host == "":
			refuse(w, http.StatusMisdirectedRequest, "the request names no server: send Host with one of its names")
			return
		case !g.isHost(r.Host):
			refuse(w, http.StatusMisdirectedRequest, fmt.Sprintf("this server is not called %s: start it with --host NAME", r.Host))
			return
		case !g.isOrigin(w, r):
			refuse(w, http.StatusForbidden, "pages of other servers may not ask: start it with --origin URL")
			return
		case !isText(r.URL):
			refuse(w, http.StatusBadRequest, "the address is not UTF-8")
			return
		case r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "":
			w.WriteHeader(http.StatusNoContent)
			return
		case r.URL.Path == loginPath && g.Token != "":
			g.login(w, r)
			return
		case g.Token == "" && g.Own && !isOfOwner(r):
			refuse(w, http.StatusForbidden, "this server answers only the user who started it: start it with --token-file FILE for others, or behind a proxy")
			return
		case !g.isKnown(r):
			g.askWho(w, r)
			return
		}
		client := g.clientOf(r)
		leave, ok := all.Try(client)
		if !ok {
			h.Set("Retry-After", "1")
			refuse(w, http.StatusServiceUnavailable, "too many requests at once")
			return
		}
		defer leave()
		passed := r.WithContext(places.WithClient(r.Context(), client))
		if r.Body != http.NoBody {
			passed.Body = io.NopCloser(r.Body) // a closed body has no rest to read
		}
		next.ServeHTTP(w, passed)
	})
}

// clientOf is who asks, by its address: of a proxy that is trusted, the last one that such a proxy has written down and that is none itself. What stands
// before that, the client may have written.
func (g Guard) clientOf(r *http.Request) string {
	peer, _, _ := net.SplitHostPort(r.RemoteAddr)
	client, known := addressOf(peer)
	if !known {
		return peer
	}
	said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(said) {
		if !g.isProxy(client) {
			break
		}
		at, known := addressOf(strings.TrimSpace(text))
		if !known {
			break
		}
		client = at
	}
	return client.String()
}

func (g Guard) isProxy(a netip.Addr) bool {
	return slices.ContainsFunc(g.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// addressOf reads an address, which may have a port.
func addressOf(text string) (a netip.Addr, ok bool) {
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		var at netip.AddrPort
		if at, err = netip.ParseAddrPort(text); err == nil {
			a = at.Addr()
		}
	}
	return a.Unmap().WithZone(""), err == nil
}

// timed ends a response whose client does not read it: it would keep its place.
type timed struct {
	http.ResponseWriter
	c      *http.ResponseController
	within time.Duration
}

func newTimed(w http.ResponseWriter, within time.Duration) *timed {
	t := &timed{w, http.NewResponseController(w), within}
	_ = t.c.SetWriteDeadline(time.Time{}) // that of the connection's request before; some writers have none
	return t
}

func (t *timed) start() { _ = t.c.SetWriteDeadline(time.Now().Add(t.within)) }

func (t *timed) WriteHeader(status int) {
	t.start()
	t.ResponseWriter.WriteHeader(status)
}

func (t *timed) Write(text []byte) (int, error) {
	t.start()
	return t.ResponseWriter.Write(text)
}

func (t *timed) Flush() {
	t.start()
	_ = t.c.Flush() // what cannot be flushed arrives later
}

func (t *timed) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// readRest reads what a client still sends of a body that nobody read, so that it sends all and then reads the answer.
func readRest(w http.ResponseWriter, body io.Reader) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(restTime)) // some connections have none
	_, _ = io.CopyN(io.Discard, body, restBytes)                                // who sends more, or no more, gets the answer now
}

// caught turns a panic into an error that says nothing of the program.
func (g Guard) caught(w http.ResponseWriter, r *http.Request) {
	switch p := recover(); p {
	case nil:
	case http.ErrAbortHandler:
		panic(p)
	default:
		if g.Log != nil {
			g.Log(fmt.Sprintf("%s %s: %v\n%s", r.Method, r.URL.Path, p, debug.Stack()))
		}
		refuse(w, http.StatusInternalServerError, "this should not have happened; the server's log says more")
	}
}

// isHost reports whether a name is one of this server's. A page whose own name was pointed at this machine comes with that name; an address cannot be
// pointed elsewhere.
func (g Guard) isHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"), "."))
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(g.Hosts, func(own string) bool { return strings.EqualFold(own, name) })
}

// isText reports whether all that an address says is text, but for names of files.
func isText(u *url.URL) bool {
	for name, values := range u.Query() {
		if !utf8.ValidString(name) || slices.ContainsFunc(values, func(v string) bool { return !utf8.ValidString(v) }) {
			return false
		}
	}
	return utf8.ValidString(jobs.PathText(u))
}

// isOrigin reports whether the page that asks may, and lets the browser show it the answer.
func (g Guard) isOrigin(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin == "" {
		site := r.Header.Get("Sec-Fetch-Site")
		return site != "cross-site" && site != "same-site" || r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" // a link
	}
	if slices.Contains(g.Origins, origin) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-None-Match, If-Range, Last-Event-ID, Range, Upload-Offset")
		h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE, HEAD")
		h.Set("Access-Control-Expose-Headers", "Content-Range, ETag, Location, Upload-Offset")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host && (u.Scheme == "http" || u.Scheme == "https")
}

// isKnown reports whether who asks has the token, or the session that it was given for it.
func (g Guard) isKnown(r *http.Request) bool {
	if g.Token == "" {
		return true
	}
	if scheme, given, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return equal(strings.TrimSpace(given), g.Token)
	}
	c, err := r.Cookie(sessionName(r))
	return err == nil && equal(c.Value, g.session())
}

// session is what a browser keeps in place of the token: who reads it cannot learn that.
func (g Guard) session() string {
	mac := hmac.New(sha256.New, []byte(g.Token))
	mac.Write([]byte("prof session 1"))
	return hex.EncodeToString(mac.Sum(nil))
}

// equal compares without saying by its time how much is right.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

const loginPath = "/login"

//go:embed login.html
var loginPage string

// askWho sends people to where they can give the token, and says it to programs.
func (g Guard) askWho(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Redirect(w, r, loginPath+"?to="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="prof"`)
	refuse(w, http.StatusUnauthorized, "this server asks for a token: Authorization: Bearer TOKEN")
}

// login gives a session for the token.
func (g Guard) login(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodPost {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, loginPage)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	if err := r.ParseForm(); err != nil || !equal(r.PostForm.Get("token"), g.Token) {
		time.Sleep(300 * time.Millisecond) // guessing takes longer
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, strings.Replace(loginPage, "<!-- refused -->", `<p role="alert"><strong>This is not the token.</strong></p>`, 1))
		return
	}
	// A link from elsewhere shows the page and no login; what is no link, isOrigin refuses.
	http.SetCookie(w, &http.Cookie{Name: sessionName(r), Value: g.session(), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: g.Secure || r.TLS != nil, MaxAge: int(sessionTime / time.Second)})
	http.Redirect(w, r, ownPath(r.URL.Query().Get("to")), http.StatusSeeOther)
}

// ownPath is a path of this server; "/" in place of any other address.
func ownPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return to
}

// refuse answers with a problem, see RFC 9457.
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"title": http.StatusText(status), "status": status, "detail": detail})
}
