package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"prof/internal/serve/ask"
)

const testToken = "0123456789abcdef0123456789abcdef"

// guarded asks a guarded handler, which answers with 200, and says what came back.
func guarded(t *testing.T, g Guard, r *http.Request) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	g.wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") })).ServeHTTP(w, r)
	return w.Result()
}

func request(method, target, host string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// TestAttacks tries to get past the guard, and what must get past it.
func TestAttacks(t *testing.T) {
	const own, other = "127.0.0.1:7321", "https://evil.example"
	open, locked := Guard{Origins: []string{"https://grafana.example"}, Hosts: []string{"prof.example"}}, Guard{Token: testToken}
	session := "prof_session_7321=" + locked.session()
	for name, c := range map[string]struct {
		guard Guard
		r     *http.Request
		want  int
	}{
		"a proxy's word lets nobody in":          {Guard{Token: testToken, Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}, request("GET", "/api/v1/runs", own, "X-Forwarded-For", "127.0.0.1"), 401},
		"a name that was pointed here":           {open, request("GET", "/api/v1/runs", "evil.example:7321"), 421},
		"no name":                                {open, request("GET", "/api/v1/runs", ""), 421},
		"a name that begins like ours":           {open, request("GET", "/api/v1/runs", "localhost.evil.example"), 421},
		"our name in another's port":             {open, request("GET", "/api/v1/runs", "evil.example:127.0.0.1"), 421},
		"a value that is no text":                {open, request("GET", "/api/v1/runs?since=%FF%FE", own), 400},
		"a value that is no text beside bad %":   {open, request("GET", "/api/v1/runs?a=%&since=%FF", own), 400},
		"a file whose name is no text":           {open, request("GET", "/profile/a/artifacts/kept%2Fbad%FF.txt", own), 200},
		"a run of it that is no text":            {open, request("GET", "/profile/%FF/artifacts/a", own), 400},
		"a run that says it is such a file":      {open, request("GET", "/profile/a%2Fartifacts%2F%FF/artifacts", own), 400},
		"a path that is no text":                 {open, request("GET", "/api/v1/runs/%FF", own), 400},
		"a page of another server":               {open, request("POST", "/api/v1/sql", own, "Origin", other), 403},
		"a page of another server reads":         {open, request("GET", "/api/v1/runs", own, "Origin", other), 403},
		"a page of another port":                 {open, request("POST", "/api/v1/sql", own, "Origin", "http://127.0.0.1:8080"), 403},
		"a page in a sandbox":                    {open, request("POST", "/api/v1/sql", own, "Origin", "null"), 403},
		"a page without Origin":                  {open, request("POST", "/api/v1/sql", own, "Sec-Fetch-Site", "cross-site"), 403},
		"an image of another page":               {open, request("GET", "/api/v1/runs", own, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"), 403},
		"a form of a neighbour":                  {open, request("POST", "/api/v1/sql", own, "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate"), 403},
		"a preflight of another page":            {open, request("OPTIONS", "/api/v1/sql", own, "Origin", other, "Access-Control-Request-Method", "POST"), 403},
		"no token":                               {locked, request("GET", "/api/v1/runs", own), 401},
		"no token for the description":           {locked, request("GET", "/openapi.json", own), 401},
		"no token for agents":                    {locked, request("POST", "/mcp", own), 401},
		"a wrong token":                          {locked, request("GET", "/api/v1/runs", own, "Authorization", "Bearer "+testToken[:31]+"0"), 401},
		"a token that begins well":               {locked, request("GET", "/api/v1/runs", own, "Authorization", "Bearer "+testToken[:8]), 401},
		"an empty token":                         {locked, request("GET", "/api/v1/runs", own, "Authorization", "Bearer "), 401},
		"the token as a password":                {locked, request("GET", "/api/v1/runs", own, "Authorization", "Basic "+testToken), 401},
		"the token in the address":               {locked, request("GET", "/api/v1/runs?token="+testToken, own), 401},
		"the token as a session":                 {locked, request("GET", "/api/v1/runs", own, "Cookie", "prof_session_7321="+testToken), 401},
		"another's session":                      {locked, request("GET", "/api/v1/runs", own, "Cookie", "prof_session_7321="+Guard{Token: testToken + "x"}.session()), 401},
		"a wrong token with a session":           {locked, request("GET", "/api/v1/runs", own, "Cookie", session, "Authorization", "Bearer x"), 401},
		"a session on another page":              {locked, request("POST", "/api/v1/sql", own, "Cookie", session, "Origin", other), 403},
		"an address, by itself":                  {open, request("GET", "/api/v1/runs", own), 200},
		"an address of IPv6":                     {open, request("GET", "/api/v1/runs", "[::1]:7321"), 200},
		"localhost":                              {open, request("GET", "/api/v1/runs", "LOCALHOST:7321"), 200},
		"a name it was given":                    {open, request("GET", "/api/v1/runs", "Prof.Example"), 200},
		"its own page":                           {open, request("POST", "/api/v1/sql", own, "Origin", "http://"+own, "Sec-Fetch-Site", "same-origin"), 200},
		"a link from elsewhere":                  {open, request("GET", "/runs/x", own, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"), 200},
		"a page that may":                        {open, request("GET", "/api/v1/runs", own, "Origin", "https://grafana.example"), 200},
		"a preflight of a page that may":         {open, request("OPTIONS", "/api/v1/sql", own, "Origin", "https://grafana.example", "Access-Control-Request-Method", "POST"), 204},
		"the token":                              {locked, request("GET", "/api/v1/runs", own, "Authorization", "bearer "+testToken), 200},
		"a session":                              {locked, request("GET", "/api/v1/runs", own, "Cookie", session), 200},
		"a session of two servers":               {locked, request("GET", "/api/v1/runs", own, "Cookie", "prof_session_7322=other; "+session), 200},
		"a session of another port":              {locked, request("GET", "/api/v1/runs", "127.0.0.1:7322", "Cookie", session), 401},
		"a session behind a proxy":               {locked, request("GET", "/api/v1/runs", "127.0.0.1", "Cookie", "prof_session="+locked.session()), 200},
		"a browser without a session is sent on": {locked, request("GET", "/runs/x?y=1", own, "Accept", "text/html"), 303},
	} {
		if got := guarded(t, c.guard, c.r); got.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", name, got.StatusCode, c.want)
		} else if policy := got.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %q", name, policy)
		} else if allowed := got.Header.Get("Access-Control-Allow-Origin"); allowed != "" && !strings.HasPrefix(name, "a p") {
			t.Errorf("%s: the answer is shown to %s", name, allowed)
		}
	}
}

// TestCrowd: the requests of one client leave places for others.
func TestCrowd(t *testing.T) {
	t.Parallel()
	hold, inside := make(chan struct{}), make(chan struct{}, mostAtOnce)
	h := Guard{}.wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			inside <- struct{}{}
			<-hold
		}
	}))
	ask := func(path, from string) int {
		r := request("GET", path, "localhost")
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	var left sync.WaitGroup
	for i := range mostOfOne {
		left.Go(func() { ask("/slow", fmt.Sprintf("192.0.2.1:%d", 1000+i)) })
	}
	for range mostOfOne {
		<-inside
	}
	if got := ask("/", "192.0.2.1:99"); got != http.StatusServiceUnavailable {
		t.Errorf("one more of the same client: %d", got)
	}
	if got := ask("/", "[2001:db8::1]:99"); got != http.StatusOK {
		t.Errorf("another client: %d", got)
	}
	close(hold)
	left.Wait()
	if got := ask("/", "192.0.2.1:99"); got != http.StatusOK {
		t.Errorf("the client when its requests are done: %d", got)
	}
}

// TestClientOf: who asks is the address of the connection, or what a trusted proxy says of it: not what clients say of themselves.
func TestClientOf(t *testing.T) {
	t.Parallel()
	g := Guard{Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
	for _, c := range []struct {
		from string
		said []string
		want string
	}{
		{"192.0.2.1:99", nil, "192.0.2.1"},
		{"192.0.2.1:99", []string{"198.51.100.7"}, "192.0.2.1"}, // no proxy
		{"127.0.0.1:99", nil, "127.0.0.1"},
		{"127.0.0.1:99", []string{"198.51.100.7"}, "198.51.100.7"},
		{"[::ffff:127.0.0.1]:99", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		{"127.0.0.1:99", []string{"203.0.113.1, 198.51.100.7"}, "198.51.100.7"}, // the client wrote the first
		{"127.0.0.1:99", []string{"203.0.113.1", "198.51.100.7"}, "198.51.100.7"},
		{"127.0.0.1:99", []string{"203.0.113.1, 198.51.100.7 , 10.1.2.3"}, "198.51.100.7"}, // two proxies
		{"127.0.0.1:99", []string{"10.1.2.3"}, "10.1.2.3"},
		{"127.0.0.1:99", []string{"unknown"}, "127.0.0.1"},
		{"127.0.0.1:99", []string{"203.0.113.1, unknown, 10.1.2.3"}, "10.1.2.3"},
		{"127.0.0.1:99", []string{"203.0.113.1, 127.0.0.1, "}, "127.0.0.1"},
		{"[::1]:99", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"[::1]:99", []string{"198.51.100.7:4711"}, "198.51.100.7"},
		{"[fe80::1%eth0]:99", nil, "fe80::1"},
		{"", []string{"198.51.100.7"}, ""},
	} {
		r := request("GET", "/", "localhost")
		r.RemoteAddr = c.from
		for _, text := range c.said {
			r.Header.Add("X-Forwarded-For", text)
		}
		if got := g.clientOf(r); got != c.want {
			t.Errorf("from %s by %q: %s, want %s", c.from, c.said, got, c.want)
		}
		if got := (Guard{}).clientOf(r); got == c.want && len(c.said) > 0 && c.want != "" && !strings.Contains(c.from, c.want) {
			t.Errorf("from %s by %q, who is trusted by nobody: %s", c.from, c.said, got)
		}
	}
}

// TestNoHost: what a request without a name lacks is said.
func TestNoHost(t *testing.T) {
	t.Parallel()
	got := guarded(t, Guard{}, request("GET", "/api/v1/runs", ""))
	if text, err := io.ReadAll(got.Body); err != nil || !strings.Contains(string(text), `"the request names no server: send Host with one of its names"`) {
		t.Errorf("%d %s %v", got.StatusCode, text, err)
	}
}

// TestLogin gives a session for the token, and sends nobody to another server.
func TestLogin(t *testing.T) {
	g := Guard{Token: testToken, Secure: true}
	login := func(token, to string) *http.Response {
		r := httptest.NewRequest("POST", "/login?to="+to, strings.NewReader("token="+token))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return guarded(t, g, r)
	}
	got := login("wrong", "/")
	if said, err := io.ReadAll(got.Body); err != nil || got.StatusCode != 401 || len(got.Cookies()) > 0 || !strings.Contains(string(said), "This is not the token.") {
		t.Errorf("a wrong token: %d with cookies %v: %s %v", got.StatusCode, got.Cookies(), said, err)
	}
	for to, want := range map[string]string{"/runs/a%3Fb%3D1": "/runs/a?b=1", "https://evil.example": "/", "//evil.example": "/", "/%5Cevil.example": "/", "javascript:alert(1)": "/", "": "/"} {
		got := login(testToken, to)
		if got.StatusCode != 303 || got.Header.Get("Location") != want {
			t.Errorf("to %s: %d to %s, want %s", to, got.StatusCode, got.Header.Get("Location"), want)
			continue
		}
		c := got.Cookies()[0]
		// Strict would ask for the token again after each link in a chat or a ticket.
		if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || strings.Contains(c.Value, testToken) {
			t.Errorf("the session is %+v", c)
		}
		if in := guarded(t, g, request("GET", "/", "localhost", "Cookie", c.Name+"="+c.Value)); in.StatusCode != 200 {
			t.Errorf("with the session: %d", in.StatusCode)
		}
	}
	if got := guarded(t, g, request("GET", "/login", "evil.example")); got.StatusCode != 421 {
		t.Errorf("the login for a name that was pointed here: %d", got.StatusCode)
	}
}

// TestPanic says nothing of the program.
func TestPanic(t *testing.T) {
	var said string
	w := httptest.NewRecorder()
	g := Guard{Log: func(m string) { said = m }}
	g.wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret") })).ServeHTTP(w, request("GET", "/", "localhost"))
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret") || !strings.Contains(said, "secret") {
		t.Errorf("%d %s, logged %q", w.Code, w.Body, said)
	}
}

// TestBodyTime answers a slow question as one, and not as if its client had gone: net/http takes the end of a body's time for that.
func TestBodyTime(t *testing.T) {
	if bodyTime <= ask.AnswerTime {
		t.Errorf("a body may come for %s, and an answer may take %s", bodyTime, ask.AnswerTime)
	}
}

// TestTimed ends the response to a client that does not read it, and no other.
func TestTimed(t *testing.T) { synctest.Test(t, testTimed) }

func testTimed(t *testing.T) {
	const within = time.Minute
	ended := make(chan error, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		w := newTimed(plain, within)
		if r.URL.Path == "/slow" {
			_, _ = w.Write([]byte("one "))
			w.Flush()
			time.Sleep(2 * within)
			_, _ = w.Write([]byte("two"))
			return
		}
		_, err := w.Write(make([]byte, 1<<20))
		ended <- err
	})}
	l := pipes{make(chan net.Conn), make(chan struct{})}
	served := make(chan error)
	go func() { served <- server.Serve(l) }()
	c := l.dial()
	defer c.Close()
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a client that does not read: %v", err)
	}
	dialed := 0
	client := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { dialed++; return l.dial(), nil }}}
	for range 2 {
		got, err := client.Get("http://localhost/slow")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(got.Body)
		got.Body.Close()
		if err != nil || string(text) != "one two" {
			t.Errorf("a slow answer: %q, %v", text, err)
		}
		time.Sleep(2 * within) // the next request of the connection has time of its own
	}
	if dialed != 1 {
		t.Errorf("%d connections for two requests", dialed)
	}
	client.CloseIdleConnections()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	<-served
}

// TestRefusedBody answers a client whose body is refused before it is read: a slow one when it has sent all, one that never ends after a while.
func TestRefusedBody(t *testing.T) { synctest.Test(t, testRefusedBody) }

func testRefusedBody(t *testing.T) {
	// As frameworks do that take so many bytes.
	tooLarge := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyN(io.Discard, r.Body, 1<<10)
		_ = r.Body.Close()
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}
	server := &http.Server{Handler: Guard{}.wrap(http.HandlerFunc(tooLarge))}
	l := pipes{make(chan net.Conn), make(chan struct{})}
	served := make(chan error)
	go func() { served <- server.Serve(l) }()
	const refused, closed = "POST / HTTP/1.1\r\nHost: evil.example\r\n", "POST / HTTP/1.1\r\nHost: localhost\r\n"
	for _, c := range []struct {
		what    string
		head    string
		status  int
		bytes   int
		pause   time.Duration // in the middle
		isTaken bool          // all of it
	}{
		{"a slow body", refused, http.StatusMisdirectedRequest, 2 << 20, restTime / 2, true},
		{"a body that stops", refused, http.StatusMisdirectedRequest, 2 << 20, time.Hour, false},
		{"a body without an end", refused, http.StatusMisdirectedRequest, restBytes + 1<<20, 0, false},
		{"a body that was closed", closed, http.StatusRequestEntityTooLarge, 2 << 20, restTime / 2, true},
		{"the last body of a connection that was closed", closed + "Connection: close\r\n", http.StatusRequestEntityTooLarge, 100 << 10, restTime / 2, true},
	} {
		conn := l.dial()
		sent := make(chan error, 1)
		go func() {
			_, err := fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n", c.head, c.bytes)
			for i := 0; i < 2 && err == nil; i++ {
				_, err = conn.Write(make([]byte, c.bytes/2))
				time.Sleep(c.pause)
			}
			sent <- err
		}()
		began := time.Now()
		got, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || got.StatusCode != c.status {
			t.Fatalf("%s: %v, %v", c.what, got, err)
		}
		if took := time.Since(began); took > restTime {
			t.Errorf("%s is answered after %s", c.what, took)
		}
		if c.isTaken {
			if err := <-sent; err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
		}
		conn.Close()
		if !c.isTaken {
			<-sent
		}
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	<-served
	time.Sleep(time.Minute) // net/http waits before it closes a connection
}

// pipes is a listener in memory, whose deadlines go by the clock of synctest.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }
