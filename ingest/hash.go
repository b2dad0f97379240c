package ingest

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// hashing computes a source's SHA-256 beside the reading of its rows. Of a gzip file it is that of the unpacked content,
// which is written to a temporary file on the way.
type hashing struct {
	start    func() // begins the work; nil once begun
	done     chan struct{}
	cancel   context.CancelFunc
	sum      string
	unpacked string
	err      error
}

func startHash(ctx context.Context, f input, temp string) *hashing {
	ctx, cancel := context.WithCancel(ctx)
	h := &hashing{done: make(chan struct{}), cancel: cancel}
	work := func() {
		defer close(h.done)
		switch {
		case f.gz && f.format.Unpacks:
			h.sum, h.err = hashUnpacked(ctx, f.path)
		case f.gz:
			h.sum, h.unpacked, h.err = unpack(ctx, f.path, temp)
		default:
			h.sum, h.err = hashTree(ctx, f.path)
		}
	}
	if f.format.Unpacks { // the reading itself will give the hash, unless it is asked for before
		h.start = work
	} else {
		go work()
	}
	return h
}

func (h *hashing) wait() (string, error) {
	h.begin()
	<-h.done
	return h.sum, h.err
}

func (h *hashing) begin() {
	if h.start != nil {
		go h.start()
		h.start = nil
	}
}

// stop ends the work and removes what it unpacked.
func (h *hashing) stop() {
	h.cancel()
	if h.start != nil {
		return
	}
	<-h.done
	if h.unpacked != "" {
		os.Remove(h.unpacked)
	}
}

// hashTree hashes a file, or a folder as the names and hashes of its files in order.
func hashTree(ctx context.Context, root string) (string, error) {
	st, err := os.Stat(root)
	if err != nil {
		return "", err
	}
	if !st.IsDir() {
		return hashFile(ctx, root)
	}
	all := sha256.New()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		sum, err := hashFile(ctx, path)
		fmt.Fprintf(all, "%s\x00%s\n", filepath.ToSlash(name), sum)
		return err
	})
	return hexSum(all), err
}

func hashFile(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.CopyBuffer(onlyWriter{h}, &reader{ctx, f}, make([]byte, 1<<18)); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hexSum(h), nil
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// onlyWriter hides other methods, so that CopyBuffer uses its buffer.
type onlyWriter struct{ io.Writer }

// reader ends when its context does.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// hashUnpacked hashes the content of a gzip file, what is whole of it when it was cut.
func hashUnpacked(ctx context.Context, path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	if err := gunzip(onlyWriter{h}, &reader{ctx, in}); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("%s: unpack: %w", path, err)
	}
	return hexSum(h), nil
}

func unpack(ctx context.Context, path, temp string) (sum, out string, err error) {
	in, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer in.Close()
	to, err := os.CreateTemp(temp, "unpacked-")
	if err != nil {
		return "", "", err
	}
	h := sha256.New()
	err = gunzip(io.MultiWriter(h, to), &reader{ctx, in})
	if err = errors.Join(err, to.Close()); err != nil {
		os.Remove(to.Name())
		return "", "", fmt.Errorf("%s: unpack: %w", path, plainGzipError(err))
	}
	return hexSum(h), to.Name(), nil
}

func gunzip(w io.Writer, r io.Reader) error {
	z, err := gzip.NewReader(bufio.NewReaderSize(r, 1<<18))
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(w, onlyReader{z}, make([]byte, 1<<18))
	return err
}

type onlyReader struct{ io.Reader }

func plainGzipError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the gzip file is cut short: %w", err)
	}
	return err
}

// unpackHead gives the first unpacked bytes.
func unpackHead(r io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, nil // not gzip after all; no format will know it
	}
	head := make([]byte, headBytes)
	n, err := io.ReadFull(z, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, nil
	}
	return head[:n], nil
}
