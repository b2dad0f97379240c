package ingest

import (
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

	"prof/internal/file"
)

// hashing computes a source's SHA-256 beside the reading of its rows. Of a packed file it is that of the unpacked content,
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
		case f.files != nil:
			h.sum, h.unpacked, h.err = together(ctx, f.files, temp)
		case f.unpacksItself() && f.packed != plainFile:
			h.sum, h.err = hashUnpacked(ctx, f.path)
		case f.packed != plainFile:
			h.sum, h.unpacked, h.err = unpack(ctx, f.path, f.packed, temp, f.format.MaxBytes)
		default:
			h.sum, h.err = hashTree(ctx, f.path)
		}
	}
	if f.unpacksItself() { // the reading itself will give the hash, unless it is asked for before
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
		os.RemoveAll(h.unpacked)
	}
}

// together unpacks the files of a source into a folder of temp, and hashes that.
func together(ctx context.Context, files []input, temp string) (sum, dir string, err error) {
	if dir, err = os.MkdirTemp(temp, "together-"); err != nil {
		return "", "", err
	}
	for _, f := range files {
		if err = copyPlain(ctx, f, filepath.Join(dir, withoutPacking(baseName(f.path)))); err != nil {
			return "", dir, err
		}
	}
	sum, err = hashTree(ctx, dir)
	return sum, dir, err
}

func copyPlain(ctx context.Context, f input, path string) error {
	in, err := file.Open(f.path)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: there is a packed and a plain file of this name: give one of them", f.path)
	}
	to, err := file.Create(path)
	if err != nil {
		return err
	}
	limited := &bounded{to, f.path, f.format.MaxBytes, 0}
	if f.packed == plainFile {
		_, err = io.Copy(onlyWriter{limited}, &reader{ctx, in})
	} else if err = f.packed.unpack(limited, &reader{ctx, in}); err != nil {
		err = fmt.Errorf("%s: unpack: %w", f.path, f.packed.plainError(err))
	}
	return errors.Join(err, to.Close())
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
	f, err := file.Open(path)
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
	in, err := file.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	if err := packedGzip.unpack(onlyWriter{h}, &reader{ctx, in}); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("%s: unpack: %w", path, err)
	}
	return hexSum(h), nil
}

// unpack unpacks a file into temp, if it holds no more than most bytes; most 0 is any number.
func unpack(ctx context.Context, path string, as packing, temp string, most int64) (sum, out string, err error) {
	in, err := file.Open(path)
	if err != nil {
		return "", "", err
	}
	defer in.Close()
	to, err := os.CreateTemp(temp, "unpacked-")
	if err != nil {
		return "", "", err
	}
	h := sha256.New()
	err = as.unpack(&bounded{io.MultiWriter(h, to), path, most, 0}, &reader{ctx, in})
	if err = errors.Join(err, to.Close()); err != nil {
		os.Remove(to.Name())
		return "", "", fmt.Errorf("%s: unpack: %w", path, as.plainError(err))
	}
	return hexSum(h), to.Name(), nil
}

// bounded refuses to write more than most bytes: a small packed file can hold any number. most 0 is no bound.
type bounded struct {
	to   io.Writer
	name string
	most int64
	n    int64
}

func (b *bounded) Write(text []byte) (int, error) {
	if b.n += int64(len(text)); b.most > 0 && b.n > b.most {
		return 0, file.TooLarge(b.name, b.most)
	}
	return b.to.Write(text)
}
