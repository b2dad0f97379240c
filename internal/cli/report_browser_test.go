package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium that is driven by the DevTools protocol over two pipes: messages of JSON, each ended by a NUL.
type browser struct {
	t       *testing.T
	out     io.Writer
	in      *bufio.Reader
	session string // of its only page
	last    int    // number of the last command

	loads    int
	said     []string // what the page's scripts wrote to the console, and what the browser itself complained of
	fetched  []string // addresses that were asked for
	messages func() string
}

// message is an answer to a command, or an event.
type message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// findBrowser returns the program of a Chromium; "" where none is installed.
func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// startBrowser starts a browser with one empty page. It ends with the test, or with the context.
func startBrowser(ctx context.Context, t *testing.T, program string) *browser {
	t.Helper()
	commandsOut, commandsIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answersOut, answersIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
		"--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.ExtraFiles = []*os.File{commandsOut, answersIn} // 3 and 4
	var messages bytes.Buffer
	cmd.Stderr = &messages
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, out: commandsIn, in: bufio.NewReader(answersOut), messages: messages.String}
	t.Cleanup(func() {
		commandsIn.Close() // which ends it
		_ = cmd.Wait()     // its exit code says nothing of the page
		answersOut.Close()
	})
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call sends a command and waits for its answer; events that come before are noted.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.last++
	command := map[string]any{"id": b.last, "method": method}
	if params != nil {
		command["params"] = params
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	if err == nil {
		_, err = b.out.Write(append(text, 0))
	}
	if err != nil {
		b.t.Fatalf("%s: %v: %s", method, err, b.messages())
	}
	for {
		m := b.next(method)
		if m.ID != b.last {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

// next reads a message and notes what events tell.
func (b *browser) next(waiting string) message {
	b.t.Helper()
	text, err := b.in.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("%s: the browser has ended: %v: %s", waiting, err, b.messages())
	}
	var m message
	if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	switch m.Method {
	case "Page.loadEventFired":
		b.loads++
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		b.said = append(b.said, m.Method+" "+string(m.Params))
	case "Network.requestWillBeSent":
		var asked struct{ Request struct{ URL string } }
		if err := json.Unmarshal(m.Params, &asked); err != nil {
			b.t.Fatal(err)
		}
		b.fetched = append(b.fetched, asked.Request.URL)
	}
	return m
}

// open loads a page anew, also where only what follows the # differs from the page before.
func (b *browser) open(address string) {
	b.t.Helper()
	for _, url := range []string{"about:blank", address} {
		before := b.loads
		b.call("Page.navigate", map[string]any{"url": url}, nil)
		for b.loads == before {
			b.next("load " + url)
		}
	}
}

// eval returns the value of an expression of JavaScript in the page, which may be a promise.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true}, &got)
	if got.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, got.ExceptionDetails.Exception.Description)
	}
	var value T
	if len(got.Result.Value) == 0 {
		return value
	}
	if err := json.Unmarshal(got.Result.Value, &value); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// settle waits until what the page has put off to its next pictures is drawn.
func (b *browser) settle() {
	b.t.Helper()
	eval[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// press presses a key and lets it go.
func (b *browser) press(key string) {
	b.t.Helper()
	down := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		down["text"] = key
	}
	b.call("Input.dispatchKeyEvent", down, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
	b.settle()
}

// click clicks the middle of an element that an expression gives, as a reader's mouse does: it must be there to be seen.
func (b *browser) click(element string) {
	b.t.Helper()
	at := eval[*struct{ X, Y float64 }](b, fmt.Sprintf(`(() => {
		const e = %s;
		e.scrollIntoView({ block: "center", inline: "center" });
		const r = e.getBoundingClientRect(), x = r.left + r.width / 2, y = r.top + r.height / 2, top = document.elementFromPoint(x, y);
		return top && (e.contains(top) || top.contains(e)) ? { x, y } : null;
	})()`, element))
	if at == nil {
		b.t.Fatalf("%s cannot be clicked: it is not seen", element)
	}
	b.clickAt(at.X, at.Y)
}

func (b *browser) clickAt(x, y float64) {
	b.t.Helper()
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}, nil)
	}
	b.settle()
}

// screen gives the page a window of that size, and a reader who likes light or dark.
func (b *browser) screen(width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// quiet holds that the page asked for nothing but itself, and that nothing was said on its console.
func (b *browser) quiet(page string) {
	b.t.Helper()
	for _, s := range b.said {
		b.t.Errorf("the console says %s", s)
	}
	for _, f := range b.fetched {
		if at, _, _ := strings.Cut(f, "#"); at != page && at != "about:blank" {
			b.t.Errorf("the page asked for %s", f)
		}
	}
	if len(b.fetched) == 0 {
		b.t.Error("not even the page itself was asked for: requests are not seen")
	}
}
