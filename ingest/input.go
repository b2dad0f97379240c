package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prof/ingest/ncu/page"
	"prof/ingest/nsys"
	"prof/ingest/nsys/stats"
	"prof/ingest/rocprof"
	"prof/internal/file"
	"prof/schema"
)

// input is one file or folder that a format knows.
type input struct {
	path   string
	format Format
	packed packing
	walked bool     // found in a folder, not named by the user
	of     *capture // the capture whose folder it lies in; nil for others
	files  []input  // of a source of several files, whose path is a pattern of theirs; nil for others
	more   bool     // sums of OS calls next to a timeline: stored where that has none
}

// unpacksItself reports whether the format reads the file as it is packed.
func (f input) unpacksItself() bool { return f.format.Unpacks && f.packed != packedZstd }

// inputs are what findInputs found.
type inputs struct {
	list    []input
	left    []input // files that hold what another one holds better
	skipped []Skip  // files of folders that are not read
	captures
}

// stamp tells whether a file changed: its size and time of change; of a folder, the sums over its files.
type stamp struct{ size, changed int64 }

func (f input) stat() (stamp, error) {
	var s stamp
	for _, part := range f.files {
		one, err := part.stat()
		if err != nil {
			return s, err
		}
		s.size, s.changed = s.size+one.size, s.changed+one.changed
	}
	if f.files != nil {
		return s, nil
	}
	err := filepath.WalkDir(f.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := os.Stat(path)
		if err == nil {
			s.size += st.Size()
			s.changed += st.ModTime().UnixNano()
		}
		return err
	})
	return s, err
}

// unpacked is about how large a file of so many bytes is as one that is not packed.
func (f input) unpacked(size int64) int64 {
	if f.packed != plainFile {
		size *= usualPacking
	}
	return size * max(f.format.Packing, 1)
}

// plain returns the path to read: the file itself, or what hashing unpacked where the format does not do that.
func (f input) plain(h *hashing) (string, error) {
	if f.files == nil && (f.packed == plainFile || f.unpacksItself()) {
		return f.path, nil
	}
	if _, err := h.wait(); err != nil {
		return "", err
	}
	return h.unpacked, nil
}

// findInputs finds what to ingest in the given paths, but what is known to be broken. A path that no format knows is an error; of a
// folder, files that none knows are passed over and counted.
func findInputs(paths []string, broken map[string]error) (*inputs, error) {
	in := &inputs{}
	seen := map[string]bool{}
	for _, p := range paths {
		given := p // a link's own name may tell the format, as in a model's folder of links
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		st, err := os.Stat(p)
		if err != nil {
			return nil, plainPathError(p, err)
		}
		var some []input
		var passed []Skip
		switch {
		case st.IsDir():
			some, passed, err = findInFolder(p)
		case st.Mode().IsRegular():
			some, err = findFile(p, given)
		default:
			err = fmt.Errorf("%s: it is neither a file nor a folder", p)
		}
		if err != nil {
			return nil, err
		}
		in.skipped = append(in.skipped, passed...)
		for _, f := range some {
			key, err := filepath.Abs(f.path)
			if err != nil {
				return nil, err
			}
			if !seen[key] && broken[f.path] == nil {
				seen[key] = true
				in.list = append(in.list, f)
			}
		}
	}
	if err := in.readCaptures(broken); err != nil {
		return nil, err
	}
	in.leaveLesser()
	return in, nil
}

func plainPathError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file or folder", path)
	}
	return err
}

// findFile finds the format of a file, by its name as given too.
func findFile(path, given string) ([]input, error) {
	f, ok, err := sniff(path, path)
	if err == nil && !ok && given != path {
		f, ok, err = sniff(path, given)
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, unknownFormat(path)
	}
	return []input{f}, nil
}

func unknownFormat(path string) error {
	if st, err := os.Stat(path); err == nil && st.Size() == 0 {
		return fmt.Errorf("%s: the file is empty: was the capture cut off?", path)
	}
	if p := cutFile(path); p != plainFile {
		return fmt.Errorf("%s: the %s file is cut short", path, p)
	}
	head, _, err := readHead(path)
	if why := whyUnread(path, bytes.TrimSpace(head)); err == nil && why != "" {
		return fmt.Errorf("%s: %w: %s", path, ErrUnknownFormat, why)
	}
	if err == nil && bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && (bytes.Contains(head, []byte(`"model_type"`)) || bytes.Contains(head, []byte(`"hidden_size"`))) {
		return fmt.Errorf("%s: %w under this name; if it is a model configuration, give it with --model %s", path, ErrUnknownFormat, path)
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w: %s; `prof help ingest` lists the formats", path, ErrUnknownFormat, seems(path, head))
}

// cutFile returns how a file is packed that ends before its first bytes can be unpacked; plainFile for every other.
func cutFile(path string) packing {
	f, err := file.Open(path)
	if err != nil {
		return plainFile
	}
	defer f.Close()
	return cutPacking(f)
}

func findInFolder(path string) (found []input, skipped []Skip, err error) {
	if f, ok := sniffFolder(path); ok {
		return []input{f}, nil, nil
	}
	if why := whyFolderUnread(path); why != "" {
		return nil, nil, fmt.Errorf("%s: %w: %s", path, ErrUnknownFormat, why)
	}
	var of *capture
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == schema.HomeName:
			return fs.SkipDir
		case d.IsDir():
			if of = of.at(p); of.leaves(p) {
				return fs.SkipDir
			}
			if f, ok := sniffFolder(p); ok {
				f.of = of
				found = append(found, f)
				return fs.SkipDir
			}
			if why := whyFolderUnread(p); why != "" {
				skipped = append(skipped, Skip{p, why})
				return fs.SkipDir
			}
			return nil
		}
		if of = of.at(p); of.leaves(p) {
			return nil
		}
		// Pipes would block, and links may lead nowhere or round in circles.
		if st, err := os.Stat(p); err != nil || !st.Mode().IsRegular() {
			skipped = append(skipped, Skip{p, "it is not a file"})
			return nil
		}
		f, ok, err := sniff(p, p)
		f.walked, f.of = true, of
		var other error
		if ok && of == nil && f.packed == plainFile && f.format.IsOther != nil {
			other = f.format.IsOther(p)
		}
		switch {
		case other != nil:
			skipped = append(skipped, Skip{p, other.Error()})
		case ok && !(of != nil && f.format.Kind == reportedKind): // in a capture's folder, run.json says all that these do
			found = append(found, f)
		case of != nil:
			of.unknown(p, err)
			err = nil
		case err == nil:
			skipped = append(skipped, Skip{p, whySkipped(p)})
		}
		return err
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s: %w in the folder (files checked: %d)", path, ErrNothing, len(skipped))
		if at := slices.IndexFunc(skipped, func(s Skip) bool { return s.Why == toUnpack }); at >= 0 {
			err = fmt.Errorf("%w; unpack %s first", err, filepath.Base(skipped[at].Path))
		} else if at := slices.IndexFunc(skipped, func(s Skip) bool { return !s.IsOther() && !strings.HasPrefix(filepath.Base(s.Path), ".") }); at >= 0 {
			err = fmt.Errorf("%w; %s: %s", err, filepath.Base(skipped[at].Path), skipped[at].Why)
		}
	}
	// A plain export is read faster than a packed or converted one; of several forms of one capture the first is taken.
	slices.SortStableFunc(found, func(a, b input) int { return a.format.order() - b.format.order() })
	return found, skipped, err
}

// leaveTooLarge refuses files that are larger than any of their form, before they are read, and leaves out those of a capture's folder.
// What packed files hold is bounded while they are unpacked.
func (in *inputs) leaveTooLarge() error {
	var kept []input
	for _, f := range in.list {
		st, err := os.Stat(f.path)
		most := f.format.MaxBytes
		switch {
		case err != nil:
			return plainPathError(f.path, err)
		case most == 0 || st.Size() <= most:
			kept = append(kept, f)
			continue
		}
		err = file.TooLarge(f.path, most)
		if f.of == nil || f.format.Name == runForm {
			return err
		}
		f.of.passOver(f.path, err)
	}
	in.list = kept
	return nil
}

// leaveLesser leaves out forms of a capture that another form in the same folder holds better, as nsys profile --export leaves a
// report beside its export, and ncu's CSV pages lie beside its report.
func (in *inputs) leaveLesser() {
	have := map[[2]string]bool{}
	for _, f := range in.list {
		have[[2]string{f.format.Name, Stem(f.path)}] = true
	}
	var kept []input
	for _, f := range in.list {
		better := slices.ContainsFunc(f.format.GivesWayTo, func(form string) bool { return have[[2]string{form, Stem(f.path)}] })
		if better {
			in.left = append(in.left, f)
		} else {
			kept = append(kept, f)
		}
	}
	place := func(f input) int {
		if f.format.Order == nil {
			return 0
		}
		return f.format.Order(f.path)
	}
	slices.SortStableFunc(kept, func(a, b input) int { return place(a) - place(b) })
	in.list = kept
}

// Stem is a path without what tells the forms of one capture apart.
func Stem(path string) string {
	for _, end := range []string{".gz", ".zst", ".sqlite", ".proftrace", ".nsys-rep", ".qdrep", "_pqtdir", ".ncu-rep", ".db", ".json", ".trace", ".pt"} {
		path = strings.TrimSuffix(path, end)
	}
	return page.Stem(rocprof.Stem(stats.Stem(path)))
}

// leaveReports leaves out the reports in a folder which only nsys can read, where it is not installed and the folder has sums.
func (in *inputs) leaveReports() {
	var kept []input
	for _, f := range in.list {
		if f.walked && f.format.Name == reportForm {
			if _, err := f.format.Identify(context.Background(), f.path, f.path); errors.Is(err, nsys.ErrNoNsys) {
				in.left = append(in.left, f)
				continue
			}
		}
		kept = append(kept, f)
	}
	in.list = kept
}

// joinFiles makes one source of the files of a capture, where their form has such, and leaves sums out where the run has the timeline that they
// are of: they would count its work twice. Sums of OS calls wait until it is known whether the timeline has such calls.
func (in *inputs) joinFiles() {
	if slices.ContainsFunc(in.list, func(f input) bool { return ofStats(f.format.Kind, f.format.Name) }) {
		in.leaveReports()
	}
	hasTimeline := slices.ContainsFunc(in.list, func(f input) bool { return slices.Contains(holdsAll, f.format.Name) })
	var kept []input
	at := map[string]int{}
	for _, f := range in.list {
		if hasTimeline && ofStats(f.format.Kind, f.format.Name) {
			if f.more = f.isOSRT(); !f.more {
				in.left = append(in.left, f)
				continue
			}
		}
		if f.format.Capture == nil {
			kept = append(kept, f)
			continue
		}
		capture := f.format.Name + " " + f.format.Capture(f.path)
		i, known := at[capture]
		switch {
		case !known:
			at[capture] = len(kept)
			kept = append(kept, f)
		case kept[i].files == nil:
			kept[i].files = []input{kept[i], f}
		default:
			kept[i].files = append(kept[i].files, f)
		}
	}
	for i := range kept {
		if kept[i].files != nil {
			kept[i].path = kept[i].format.Pattern(kept[i].path)
		}
	}
	in.list = append(slices.DeleteFunc(slices.Clone(kept), func(f input) bool { return f.more }), slices.DeleteFunc(kept, func(f input) bool { return !f.more })...)
}

// isOSRT reports whether a file holds sums of OS calls and no others.
func (f input) isOSRT() bool { return f.format.Name == sumsForm && stats.IsOSRT(f.path) }

func sniffFolder(path string) (input, bool) {
	for _, f := range Formats() {
		if f.SniffDir != nil && f.SniffDir(path) {
			return input{path: path, format: f}, true
		}
	}
	return input{}, false
}

// headBytes is how much of a file a format may look at: a program may print much before ncu's first line.
const headBytes = 64 << 10

// sniff finds the format of a file by its first bytes, unpacked when it is packed.
func sniff(path, called string) (input, bool, error) {
	head, packed, err := readHead(path)
	if err != nil {
		return input{}, false, err
	}
	name := withoutPacking(strings.ToLower(filepath.Base(called)))
	for _, f := range Formats() {
		if f.Sniff != nil && f.Sniff(name, head) {
			return input{path: path, format: f, packed: packed}, true, nil
		}
	}
	return input{}, false, nil
}

func readHead(path string) (head []byte, packed packing, err error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, plainFile, err
	}
	defer f.Close()
	head = make([]byte, headBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !isCut(err) {
		return nil, plainFile, fmt.Errorf("%s: %w", path, err)
	}
	head = head[:n]
	if packed = packingOf(head); packed == plainFile {
		return file.PastMark(head), plainFile, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, plainFile, err
	}
	head, err = packed.unpackHead(f)
	return file.PastMark(head), packed, err
}

func baseName(path string) string { return filepath.Base(filepath.Clean(path)) }
