package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	ping = `{"jsonrpc":"2.0","id":"still here","method":"ping"}` + "\n"
)

// talk gives the answers to lines, and how the session ended. The tool slow takes a moment.
func talk(t *testing.T, in io.Reader) []map[string]any {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "slow"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil, nil
	})
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Stdio(t.Context(), s, in, w)
		w.Close()
		ended <- err
	}()
	var out []map[string]any
	for lines := bufio.NewScanner(r); lines.Scan(); {
		var one map[string]any
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil { // answers to a batch
			one = map[string]any{"id": "batch", "text": lines.Text()}
		}
		out = append(out, one)
	}
	if err := <-ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
	return out
}

// A message that is none gets an error, and the session goes on.
func TestStdioMalformed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		code float64 // 0 for none
		id   any
	}{
		"no JSON":              {`hello`, -32700, nil},
		"cut JSON":             {`{"jsonrpc":"2.0","id":1`, -32700, nil},
		"two on a line":        {ping[:len(ping)-1] + ping[:len(ping)-1], -32700, nil},
		"something behind":     {ping[:len(ping)-1] + " x", -32700, nil},
		"too deep":             {strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), -32700, nil},
		"a zero byte":          {"\x00", -32700, nil},
		"no UTF-8":             {"\xff\xfe{}", -32700, nil},
		"a text":               {`"ping"`, -32600, nil},
		"a number":             {`1`, -32600, nil},
		"null":                 {`null`, -32600, nil},
		"true":                 {`true`, -32600, nil},
		"an empty object":      {`{}`, -32600, nil},
		"an empty batch":       {`[]`, -32600, nil},
		"a batch of numbers":   {`[1,2]`, -32600, nil},
		"a batch with one id":  {`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, nil},
		"no version":           {`{"id":7,"method":"ping"}`, -32600, 7.},
		"an old version":       {`{"jsonrpc":"1.0","id":7,"method":"ping"}`, -32600, 7.},
		"version as number":    {`{"jsonrpc":2.0,"id":7,"method":"ping"}`, -32600, 7.},
		"no method":            {`{"jsonrpc":"2.0","method":"","id":7}`, -32600, 7.},
		"method as number":     {`{"jsonrpc":"2.0","id":7,"method":5}`, -32600, 7.},
		"method null":          {`{"jsonrpc":"2.0","id":7,"method":null}`, -32600, 7.},
		"id null":              {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, nil},
		"id true":              {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600, nil},
		"id an object":         {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, nil},
		"id a fraction":        {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, nil},
		"params as text":       {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"x"}`, -32600, 7.},
		"params as number":     {`{"jsonrpc":"2.0","id":7,"method":"ping","params":7}`, -32600, 7.},
		"params as list":       {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}`, -32602, 7.},
		"params null":          {`{"jsonrpc":"2.0","id":7,"method":"ping","params":null}`, 0, nil},
		"params missing":       {`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, -32600, 7.},
		"an unknown method":    {`{"jsonrpc":"2.0","id":7,"method":"nosuch"}`, -32601, 7.},
		"an unknown tool":      {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"nosuch"}}`, -32602, 7.},
		"too long":             {`{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("x", mostLine) + `"}`, -32600, nil},
		"an unknown notice":    {`{"jsonrpc":"2.0","method":"nosuch"}`, 0, nil},
		"a cancel of nothing":  {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, 0, nil},
		"a cancel of an array": {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`, 0, nil},
		"an answer to nothing": {`{"jsonrpc":"2.0","id":99,"result":{}}`, 0, nil},
		"blanks":               {" \t", 0, nil},
		"a line of Windows":    {"\r", 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := talk(t, strings.NewReader(hello+c.line+"\n"+ping))
			var refused []string
			isAlive := false
			for _, one := range got {
				if e, ok := one["error"].(map[string]any); ok {
					refused = append(refused, fmt.Sprint(e["code"], " ", one["id"]))
				}
				isAlive = isAlive || one["id"] == "still here" && one["error"] == nil
			}
			want := fmt.Sprint(c.code, " ", c.id)
			if !isAlive || c.code == 0 && refused != nil || c.code != 0 && (len(refused) != 1 || refused[0] != want) {
				t.Errorf("alive: %v, refused %q, want %q: %.600v", isAlive, refused, want, got)
			}
		})
	}
}

// What is under way when stdin ends is answered, also without the last end of line.
func TestStdioEnd(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	in.WriteString(hello)
	for i := range 5 {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"slow","arguments":{}}}`+"\n", i)
	}
	in.WriteString(strings.TrimSpace(ping))
	done := 0
	got := talk(t, strings.NewReader(in.String()))
	for _, one := range got {
		if result, ok := one["result"].(map[string]any); ok && strings.Contains(fmt.Sprint(result), "done") {
			done++
		}
	}
	if done != 5 || len(got) != 7 {
		t.Errorf("%d of 5 were answered: %v", done, got)
	}
	batch := `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","arguments":{}}}]` + "\n"
	if got := talk(t, strings.NewReader(hello+batch)); len(got) != 2 || !strings.Contains(fmt.Sprint(got[1]["text"]), "done") {
		t.Errorf("a batch is answered with %v", got)
	}
	if got := talk(t, strings.NewReader("")); len(got) != 0 {
		t.Errorf("nothing is answered with %v", got)
	}
}

// The end of the context ends the session, though stdin stays open.
func TestStdioStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	ended := make(chan error, 1)
	go func() {
		ended <- Stdio(ctx, mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil), r, io.Discard)
	}()
	_, _ = io.WriteString(w, hello)
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}
