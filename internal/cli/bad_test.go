package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"prof/internal/sample"
	"prof/internal/testkit"
)

// formats ends the message for a file of no known format.
const formats = "; `prof help ingest` lists the formats"

func TestRepeats(t *testing.T) {
	t.Parallel()
	const raw = "ncu/pages/kernels.raw.csv"
	p := newStored(t, []testkit.Run{filled[0], {Name: "n", Files: []string{raw}, TrueSums: true}})
	gz := exported(t, kernels)
	write(t, p.path("plain.sqlite"), unpacked(t, kernels))
	packed := func(data []byte) []byte {
		var out bytes.Buffer
		z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	write(t, p.path("other.gz"), packed(unpacked(t, kernels))) // the same content, packed otherwise
	before := state(p)
	p.want(result{0, "a\n", gz + held("a")}, "ingest", gz)
	for _, path := range []string{gz, "plain.sqlite", "other.gz"} {
		p.want(result{0, "a\n", path + held("a", "b")}, "ingest", "--run", "b", "--tag", "k=w", path)
	}
	if after := state(p); after != before {
		t.Errorf("a repeat changed the warehouse:\n%s\n%s", before, after)
	}
	// A run of only what is new would lack a rank and not say so.
	p.want(result{1, "", "prof: the warehouse has part of this already: plain.sqlite is in run a; omit it, or `prof rm a` to store all of these files as one run\n"},
		"ingest", "--run", "second", "plain.sqlite", exported(t, node))
	if after := state(p); after != before {
		t.Errorf("an incomplete run changed the warehouse:\n%s\n%s", before, after)
	}
	// Once removed, it is new again. Plain first, gzip after.
	p.ok("rm", "n")
	p.ok("ingest", "--run", "first", testkit.Path(raw))
	before = state(p)
	write(t, p.path("raw.csv.gz"), packed(read(t, testkit.Path(raw))))
	p.want(result{0, "first\n", "raw.csv.gz" + held("first")}, "ingest", "raw.csv.gz")
	if after := state(p); after != before {
		t.Errorf("a repeat changed the warehouse:\n%s\n%s", before, after)
	}
}

// Two forms of one capture count once, in whatever order they come.
func TestTwoForms(t *testing.T) {
	t.Parallel()
	want := counts(newFilled(t))
	p := newPlace(t)
	write(t, p.path("both/kernels.sqlite"), unpacked(t, kernels))
	write(t, p.path("both/kernels.sqlite.gz"), read(t, exported(t, kernels)))
	write(t, p.path("both/notes.txt"), []byte("a note"))
	const plain, gz = "both/kernels.sqlite", "both/kernels.sqlite.gz"
	for i, c := range []struct {
		paths []string
		said  string
		after string
	}{
		{[]string{"both"}, gz + " has the same content as another of the files and was skipped\n", "left alone: 1 file that is no capture: both/notes.txt\n"},
		{[]string{gz, gz, "./" + gz, plain}, "warning: " + plain + " is another form of the capture in " + gz + " and was skipped, so that nothing counts twice\n", ""},
	} {
		q := newPlace(t)
		q.dir = p.dir
		q.env = []string{"PROF_HOME=" + p.path(fmt.Sprint("home", i))}
		r := q.run(append([]string{"ingest", "--run", "x"}, c.paths...)...)
		if r.code != 0 || r.out != "x\n" || !whole(`\Q`+c.said+`\E108 rows from 1 source, \d\.\d MB in \d+\.\d\d s\n\Q`+c.after+`\E`).MatchString(r.err) {
			t.Errorf("%q: %+v", c.paths, r)
		}
		if got := counts(q); got != want {
			t.Errorf("%q stored\n%s\none alone\n%s", c.paths, got, want)
		}
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	plain, gz := unpacked(t, node), read(t, exported(t, node))
	pages := len(plain) / 4096
	type bad struct{ path, want string }
	var all []bad
	add := func(path string, data []byte, want string) {
		write(t, p.path(path), data)
		all = append(all, bad{path, path + ": " + want})
	}
	for _, n := range []int{1, 15} {
		add(fmt.Sprintf("cut%d.sqlite", n), plain[:n], "no known format: its name is that of an SQLite export, but not its content; export the report again (nsys export --type sqlite)"+formats)
	}
	add("cut16.sqlite", plain[:16], "16 bytes are fewer than the header has: the file is truncated")
	for _, n := range sample.Of([]int{100, 4096, len(plain) - 1, len(plain) / 2}, 2) {
		add(fmt.Sprintf("cut%d.sqlite", n), plain[:n], fmt.Sprintf("the file is truncated: page %d of %d is missing", n/4096+1, pages))
	}
	for _, n := range sample.Of([]int{2, 10, 20, len(gz) - 8, len(gz) / 2, len(gz) - 1}, 2) {
		path := fmt.Sprintf("cut%d.sqlite.gz", n)
		write(t, p.path(path), gz[:n])
		all = append(all, bad{path, path + `: (unpack: )?the gzip file is cut short(: unexpected EOF)?`})
	}
	flipped := bytes.Clone(gz)
	flipped[len(flipped)-5] ^= 1 // of the checksum
	add("sum.sqlite.gz", flipped, "unpack: gzip: invalid checksum")
	add("text.sqlite", []byte("not SQLite at all"), "no known format: its name is that of an SQLite export, but not its content; export the report again (nsys export --type sqlite)"+formats)
	add("text.gz", []byte("not gzip at all"), `no known format: it seems to be text that begins "not gzip at all", without a table of a profiler; give the profiler's own file`+formats)
	add("empty.sqlite", nil, "the file is empty: was the capture cut off?")
	add("nocuda.sqlite", read(t, "testdata/nocuda.sqlite"),
		"the capture has no CUDA activity: capture with `nsys profile --trace=cuda,nvtx`, and check its messages for the reason")
	write(t, p.path("notnsys.sqlite"), read(t, "testdata/notnsys.sqlite"))
	all = append(all, bad{"notnsys.sqlite", `notnsys\.sqlite: [^\n]+`})
	add("r.nsys-rep", []byte("a report"), "only nsys can read its reports, and it is not installed here; on a machine that has it, run `nsys export --type sqlite "+
		"--output r.sqlite r.nsys-rep` and ingest that file")
	add("busy.sqlite", plain, "busy.sqlite-wal is not empty: the database is still being written")
	write(t, p.path("busy.sqlite-wal"), []byte("x"))
	write(t, p.path("unknown/a.txt"), []byte("x"))
	write(t, p.path("unknown/sub/b.txt"), []byte("x"))
	write(t, p.path("packed/run.tar.xz"), []byte("\xfd7zXZ\x00"))
	if err := os.Mkdir(p.path("nothing"), 0o755); err != nil {
		t.Fatal(err)
	}
	all = append(all, bad{"unknown", "unknown: nothing to ingest in the folder (files checked: 2)"}, bad{"packed", `packed: nothing to ingest in the folder (files checked: 1); unpack run.tar.xz first`}, bad{"nothing", "nothing: nothing to ingest in the folder (files checked: 0)"},
		bad{"missing.sqlite", "missing.sqlite: there is no such file or folder"})
	before := state(p)
	p.env = []string{"PATH=" + p.path("nothing")} // no nsys
	for _, c := range all {
		want := c.want
		if !strings.Contains(want, `(unpack: )?`) && !strings.Contains(want, `[^\n]+`) {
			want = `\Q` + want + `\E`
		}
		ingest := p.run
		if strings.HasSuffix(c.path, ".nsys-rep") { // whether there is nsys is of the process
			ingest = p.process
		}
		if got := ingest("ingest", "--run", "b", "--tag", "k=w", c.path); got.code != 1 || got.out != "" || !whole("prof: "+want+`\n`).MatchString(got.err) {
			t.Errorf("%s: %+v, want %s", c.path, got, want)
		}
		if after := state(p); after != before {
			t.Fatalf("%s changed the warehouse:\n%s\n%s", c.path, before, after)
		}
	}
	// One bad file among good ones: nothing of the good ones stays.
	write(t, p.path("mix/a.sqlite"), unpacked(t, graph))
	write(t, p.path("mix/b.sqlite"), plain[:len(plain)/2])
	p.wantLike(1, "", `prof: mix/b\.sqlite: the file is truncated: page \d+ of \d+ is missing\n`, "ingest", "mix")
	p.want(result{1, "", "prof: the run name is taken: \"a\"; choose another --run; to add files to it, give them with --add; to make it anew, give all of its files with --replace, or `prof rm a` first\n"}, "ingest", "--run", "a", exported(t, node))
	if after := state(p); after != before {
		t.Errorf("the warehouse changed:\n%s\n%s", before, after)
	}
	for _, name := range []string{"warehouse.duckdb.tmp", "warehouse.duckdb.wal"} {
		if exists(p.path(".prof/" + name)) {
			t.Errorf("%s was left behind", name)
		}
	}
}

func TestFileChanges(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	before := state(p)
	path := write(t, p.path("x.sqlite"), unpacked(t, node))
	// Whenever prof looks, the file is newer than before.
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		at := time.Now()
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			case <-time.After(time.Millisecond):
			}
			at = at.Add(time.Second)
			if err := os.Chtimes(path, at, at); err != nil {
				stopped <- err
				return
			}
		}
	}()
	p.want(result{1, "", "prof: x.sqlite: the file is still being written: it changed while it was read; ingest it again when the capture has finished\n"}, "ingest", "x.sqlite")
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if after := state(p); after != before {
		t.Errorf("the warehouse changed:\n%s\n%s", before, after)
	}
	p.ok("ingest", "x.sqlite")
}

func TestSQLOnlyReads(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	before, files := state(p), strings.Join(listing(t, p.dir), " ")
	const refused = "prof: only reading is allowed: prof sql takes one SELECT (or FROM, WITH, DESCRIBE, SHOW, EXPLAIN); to write, open the file with a DuckDB client\n"
	for i, text := range []string{"INSERT INTO run SELECT * FROM run", "UPDATE run SET name = 'b'", "DELETE FROM run", "TRUNCATE run", "DROP TABLE run", "CREATE TABLE t (a INTEGER)",
		"CREATE TEMP TABLE t (a INTEGER)", "ALTER TABLE run ADD COLUMN a INTEGER", "COPY run TO 'x.csv'", "COPY (FROM run) TO 'x.parquet'", "ATTACH 'x.duckdb'",
		"INSTALL httpfs", "LOAD httpfs", "SET threads = 1", "CHECKPOINT", "BEGIN", "-- a comment\nDELETE FROM run", "/* SELECT */ DROP TABLE run"} {
		p.want(result{1, "", refused}, "sql", text)
		if i > 2 && !*sample.Whole { // what is read from stdin is judged by the same code
			continue
		}
		if got := p.runWith(text, "sql"); got != (result{1, "", refused}) {
			t.Errorf("%s on stdin: %+v", text, got)
		}
	}
	for _, text := range []string{"SELECT 1; SELECT 2", "SELECT 1; DELETE FROM run", "DELETE FROM run; SELECT 1", "WITH x AS (DELETE FROM run RETURNING *) FROM x",
		"EXPLAIN ANALYZE DELETE FROM run", "EXPLAIN ANALYZE COPY run TO 'y.csv'", "EXPLAIN (ANALYZE) COPY run TO 'y.csv'", "EXPORT DATABASE 'y'",
		"/* x */ EXPORT DATABASE 'y'"} {
		if r := p.run("sql", text); r.code != exitFailed && r.code != exitUsage || r.out != "" || !whole(`prof: [^\n]+\n`).MatchString(r.err) {
			t.Errorf("%s: %+v", text, r)
		}
	}
	p.wantLike(1, "", `prof: Parser Error: [^\n]+\n\nLINE 1: SELECT 1 \+ FROM run\n +\^\n`, "sql", "SELECT 1 + FROM run")
	if after := state(p); after != before {
		t.Errorf("the warehouse changed:\n%s\n%s", before, after)
	}
	if got := strings.Join(listing(t, p.dir), " "); got != files {
		t.Errorf("files were made: %s", got)
	}
}

// Something else in the warehouse's place is an error that says what to do, and is left alone.
func TestNoWarehouseFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	file := write(t, p.path(".prof/warehouse.duckdb"), []byte("something else"))
	for _, args := range [][]string{{"runs"}, {"ingest", exported(t, kernels)}, {"rm", "a"}} {
		p.want(result{1, "", "prof: " + file + " is no DuckDB file: move it away, or name another home with --home\n"}, args...)
	}
	if got := string(read(t, file)); got != "something else" {
		t.Errorf("it holds %q now", got)
	}
	write(t, file, nil) // as a first ingest leaves it that is killed at once
	p.wantLike(1, "", `prof: no warehouse yet in .*\n`, "runs")
	p.wantLike(0, "again\n", `\d+ rows .*\n`, "ingest", "--run", "again", ncuFile(t, "pages/kernels.raw.csv"))
	write(t, p.path("file"), nil)
	p.wantLike(1, "", `prof: make the home \Q`+p.path("file")+`\E: mkdir .*: not a directory\n`, "--home", "file", "ingest", exported(t, kernels))
}

func TestOutputErrors(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full to write to")
	}
	defer full.Close()
	for _, args := range [][]string{{"runs"}, {"query"}, {"query", "top-kernels", "--explain"}, {"show", "a"}, {"sql", "FROM kernel", "-f", "json"}, {"completion", "bash"}} {
		cmd := p.command(args...)
		cmd.Stdout = full
		if r := finish(t, cmd, cmd.Run); r.code != 1 || !strings.HasSuffix(r.err, "prof: write /dev/stdout: no space left on device\n") {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	before := state(p)
	cmd := p.command("ingest", "--run", "b", exported(t, llama), exported(t, nccl), exported(t, node), exported(t, graph))
	r := finish(t, cmd, func() error { return signalled(t, p, cmd, syscall.SIGINT) })
	if r != (result{1, "", "prof: interrupted; nothing was changed\n"}) {
		t.Errorf("%+v", r)
	}
	if after := state(p); after != before {
		t.Errorf("the warehouse changed:\n%s\n%s", before, after)
	}
	if exists(p.path(".prof/warehouse.duckdb.tmp")) {
		t.Error("temporary files were left behind")
	}
}

// signalled runs an ingest and signals it as soon as it is at work.
func signalled(t *testing.T, p *place, cmd *exec.Cmd, sig os.Signal) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	within(t, patience, "the ingest begins", func() bool { return exists(p.path(".prof/warehouse.duckdb.tmp")) })
	if err := cmd.Process.Signal(sig); err != nil {
		return err
	}
	return cmd.Wait()
}

// held is what is said of a file whose content a run holds.
func held(run string, asked ...string) string {
	none := ""
	for _, name := range asked {
		none = ", and no run " + name + " was made"
	}
	return " is already in the warehouse, as run " + run + "; nothing to do" + none + " (to store it with other options or another name, first prof rm " + run + ")\n"
}
