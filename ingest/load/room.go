package load

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Room gives a reader memory for the records of one source that it needs to the end. What goes beyond so many bytes lies in a file, which the
// system writes to the disk and reads back where memory is short. A nil Room gives memory only.
type Room struct {
	dir     string
	most    int // bytes that it gives from memory
	mu      sync.Mutex
	memory  int    // bytes given so far
	rest    []byte // of the newest extent
	extents [][]byte

	isRefused bool         // the file cannot grow
	isMapped  atomic.Bool  // there are extents
	lastLetGo atomic.Int64 // Unix ns
}

const (
	extentBytes = 64 << 20 // of the file, at a time
	recordAlign = 16
	letGoAfter  = 10 * time.Millisecond
)

// NewRoom makes room that gives most bytes from memory and the rest from a file in a folder.
func NewRoom(dir string, most int) *Room { return &Room{dir: dir, most: most} }

// Reserve returns n zero values, which hold no pointers. They are valid until Close.
func Reserve[T any](r *Room, n int) []T {
	var zero T
	if n == 0 || r == nil {
		return make([]T, n)
	}
	r.LetGo()
	b := r.bytes(n * int(unsafe.Sizeof(zero)))
	if b == nil {
		return make([]T, n)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// bytes returns room in the file; nil while there is some in memory, and where the file cannot grow.
func (r *Room) bytes(size int) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isRefused || r.memory+size <= r.most {
		r.memory += size
		return nil
	}
	size = (size + recordAlign - 1) &^ (recordAlign - 1)
	if size > len(r.rest) {
		extent, err := mapFile(r.dir, max(size, extentBytes))
		if err != nil { // a full disk, or a system without: it takes more memory instead
			r.isRefused = true
			return nil
		}
		r.extents = append(r.extents, extent)
		r.rest = extent
		r.isMapped.Store(true)
	}
	b := r.rest[:size:size]
	r.rest = r.rest[size:]
	return b
}

// LetGo takes the pages of the file out of the process's memory, if that was not done just now. Who goes through records calls it now and
// then; what is touched again soon is still in the system's cache.
func (r *Room) LetGo() {
	if r == nil || !r.isMapped.Load() {
		return
	}
	now, last := time.Now().UnixNano(), r.lastLetGo.Load()
	if now-last < int64(letGoAfter) || !r.lastLetGo.CompareAndSwap(last, now) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.extents {
		letGoOf(e)
	}
}

// Close gives back what lies in the file.
func (r *Room) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	for _, e := range r.extents {
		if e := unmap(e); err == nil {
			err = e
		}
	}
	r.extents, r.rest, r.memory = nil, nil, 0
	r.isMapped.Store(false)
	r.isRefused = false
	return err
}
