package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostLine bounds a message on stdin.
const mostLine = 16 << 20

// Stdio answers on stdin and stdout until ctx ends, or stdin does and all is answered. The SDK ends the session at the first message that is none, and
// what is under way at the end of stdin: it gets well-formed messages only, and the end when nothing is under way.
func Stdio(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	passed, into := io.Pipe()
	t := &stdio{in: in, out: out, into: into, pending: map[any]bool{}}
	t.answered.L = &t.mu
	t.sdk = mcp.IOTransport{Reader: passed, Writer: t, MaxLineLength: -1} // bounded here
	go func() { into.CloseWithError(t.read()) }()
	err := s.Run(ctx, t)
	t.end()
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// stdio is the transport: messages, one a line.
type stdio struct {
	in   io.Reader
	out  io.Writer
	into io.Writer // to the SDK
	sdk  mcp.IOTransport

	mu       sync.Mutex
	pending  map[any]bool // ids of requests without an answer
	answered sync.Cond    // one of them has got it, or all is over
	isOver   bool

	writing sync.Mutex
}

// Connect has the SDK read what passes, and sees its answers.
func (t *stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.sdk.Connect(ctx)
	return answering{c, t}, err
}

type answering struct {
	mcp.Connection
	t *stdio
}

func (a answering) Write(ctx context.Context, m jsonrpc.Message) error {
	err := a.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		a.t.done(r.ID.Raw())
	}
	return err
}

// Write writes a line that the SDK or a refusal made.
func (t *stdio) Write(line []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	return t.out.Write(line)
}

// Close leaves stdout open: others may write to it.
func (t *stdio) Close() error { return nil }

func (t *stdio) done(id any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pending, id)
	t.answered.Broadcast()
}

func (t *stdio) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isOver = true
	t.answered.Broadcast()
}

// read passes messages on until stdin ends, and then waits for the answers.
func (t *stdio) read() error {
	lines := bufio.NewReaderSize(t.in, 64<<10)
	for {
		line, tooLong, err := nextLine(lines)
		if line = bytes.TrimSpace(line); len(line) > 0 || tooLong {
			if refusal := t.take(line, tooLong); refusal != nil {
				if err := json.NewEncoder(t).Encode(refusal); err != nil {
					return err
				}
			} else if _, err := t.into.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		if err != nil {
			t.mu.Lock()
			defer t.mu.Unlock()
			for len(t.pending) > 0 && !t.isOver {
				t.answered.Wait()
			}
			return err
		}
	}
}

// nextLine reads a line. Of one that is too long nothing is kept.
func nextLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > mostLine; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// refusal answers a message that is none, see JSON-RPC 2.0.
type refusal struct {
	Version string       `json:"jsonrpc"`
	ID      any          `json:"id"`
	Error   refusalError `json:"error"`
}

type refusalError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func refuses(code int, id any, format string, args ...any) *refusal {
	return &refusal{"2.0", id, refusalError{code, fmt.Sprintf(format, args...)}}
}

// take checks a line and notes the requests in it, which will be answered.
func (t *stdio) take(line []byte, tooLong bool) *refusal {
	var value any
	if tooLong {
		return refuses(jsonrpc.CodeInvalidRequest, nil, "a message of more than %d MiB", mostLine>>20)
	}
	if err := json.Unmarshal(line, &value); err != nil {
		return refuses(jsonrpc.CodeParseError, nil, "no JSON: %v; a message is one line", err)
	}
	members, isBatch := []json.RawMessage{line}, false
	if _, isBatch = value.([]any); isBatch {
		members = nil
		if err := json.Unmarshal(line, &members); err != nil || len(members) == 0 {
			return refuses(jsonrpc.CodeInvalidRequest, nil, "a batch of nothing")
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := map[any]bool{}
	for _, m := range members {
		id, r := checked(m)
		switch {
		case r != nil && isBatch: // the answers to a batch come together
			r.ID = nil
			return r
		case r != nil:
			return r
		case id == nil:
		case ids[id] || t.pending[id]:
			return refuses(jsonrpc.CodeInvalidRequest, nil, "another request has the id %v and is not answered yet", id)
		default:
			ids[id] = true
		}
	}
	for id := range ids {
		t.pending[id] = true
	}
	return nil
}

// checked returns the id of a request, as the SDK has it; nil of what gets no answer.
func checked(line []byte) (id any, r *refusal) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &fields) != nil || fields == nil {
		return nil, refuses(jsonrpc.CodeInvalidRequest, nil, "a message is an object")
	}
	raw, has := fields["id"]
	if has {
		_ = json.Unmarshal(raw, &id) // it is JSON
		switch v := id.(type) {
		case string:
		case float64:
			if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
				return nil, refuses(jsonrpc.CodeInvalidRequest, nil, "an id is a text or a whole number")
			}
			id = int64(v)
		default:
			return nil, refuses(jsonrpc.CodeInvalidRequest, nil, "an id is a text or a whole number")
		}
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, refuses(jsonrpc.CodeInvalidRequest, id, "%v", err)
	}
	request, ok := message.(*jsonrpc.Request)
	switch {
	case !ok:
		return nil, nil
	case request.Method == "":
		return nil, refuses(jsonrpc.CodeInvalidRequest, id, "a request names its method")
	case len(request.Params) > 0 && !strings.ContainsRune("{[n", rune(request.Params[0])): // null is taken for none
		return nil, refuses(jsonrpc.CodeInvalidRequest, id, "params are an object")
	}
	return id, nil
}
