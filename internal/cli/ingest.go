package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/ingest/workload"
	"prof/internal/suggest"
	"prof/queries"
	"prof/queries/frame"
	"prof/render/typeset"
	"prof/schema"
)

func (p *program) ingestCommand() *cli.Command {
	return &cli.Command{
		Name:      "ingest",
		Usage:     "store captured files as one run",
		ArgsUsage: "PATH...",
		Description: `Files or folders of the formats listed at the end, plain or compressed. All of them become one run. Content that the
warehouse already has is not stored again. A file of prof pack is stored by itself, as prof import does. Either everything is stored or nothing, except that unreadable files in a folder made
by prof capture are skipped.

  prof ingest capture.sqlite                      # a run named by time and file
  prof ingest --run baseline --tag gpu=h200 a.sqlite.gz
  prof ingest --run tp2 rank0.sqlite rank1.sqlite # several ranks, one run
  prof ingest export_pqtdir                       # nsys export --type parquetdir
  prof ingest report.nsys-rep                     # where nsys is installed
  prof ingest --run sums stats/run1_*.csv         # nsys stats --format csv: sums, no timeline
  prof ingest --run ops trace.json.gz             # export_chrome_trace of torch.profiler
  prof ingest --run mi300 1234_results.db         # rocprofv3 --sys-trace; or its JSON, or 1234_*_trace.csv
  prof ingest --run jax host.xplane.pb            # jax.profiler, of GPUs
  prof ingest --run triton proton.chrome_trace    # proton.start(data="trace") of Triton; or its tree, proton.hatchet
  prof ingest --run served bench.json             # vllm bench serve --save-result, and other load generators
  prof ingest .prof/runs/NAME                     # a capture, even one that was killed
  prof ingest tp16-node0 tp16-node1               # captures of the nodes of one job
  prof ingest --replace .prof/runs/NAME           # again, replacing what the run has
  prof ingest --run baseline --add report.ncu-rep # to a stored run, with what it has
  prof ingest baseline.prof.zst                   # runs of another warehouse, of prof pack
  prof ingest --dry-run FOLDER                    # what would be read, and about how large it gets

FLOPs, MFU and MBU need facts besides the captures: the model's configuration (--model, or a config.json among
the PATHs) and the tokens of the passes (--workload, or a workload.json among the PATHs; or --prefill and the options below it, which
apply to every pass). Without captures, and with the --run of a stored run, they are added to it.

  prof ingest --run baseline capture.sqlite workload.json --model config.json
  prof ingest --run baseline --model config.json --prefill 681 --decode 16 --warmup 1

Formats:

  ` + strings.Join(ingest.FormatDocs(), "\n  "),
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "`NAME` of the run (default: UTC time and the file's name)"},
			&cli.StringSliceFlag{Name: "tag", Usage: "a tag `KEY=VALUE` of the run; may be repeated"},
			&cli.BoolFlag{Name: "add", Usage: "add captures and facts to the stored run of --run; what follows from them is computed anew"},
			&cli.BoolFlag{Name: "replace", Usage: "replace what the run has; its id, age and tags stay"},
			&cli.StringFlag{Name: "device-name", Usage: "`NAME` of the GPUs that the captures do not name, such as in CSV pages of Nsight Compute; also without files, for a stored run"},
			&cli.BoolFlag{Name: "with-osrt", Usage: "also store calls into operating system libraries"},
			&cli.BoolFlag{Name: "with-api-rows", Usage: "store a row for each CUDA call, even those under 5 us; they are kept as sums otherwise"},
			sharedFlag(),
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be read, and store nothing"},
		}, append(factFlags(), outputFlags()...)...),
		Action: p.ingest,
	}
}

func (p *program) ingest(c *cli.Context) (err error) {
	o, err := p.ingestOptions(c)
	if err != nil {
		return err
	}
	if c.NArg() == 0 && !c.IsSet("model") && !c.IsSet("workload") && !c.IsSet("device-name") && o.Pass == nil {
		return usagef("ingest takes files or folders; see `prof help ingest`")
	}
	o.Name, o.Replace, o.Load.WithOSRT, o.Load.APIRows = c.String("run"), c.Bool("replace"), c.Bool("with-osrt"), c.Bool("with-api-rows")
	if c.IsSet("run") && o.Name == "" {
		return usagef("--run needs a name")
	}
	if o.Tags, err = tagsOf(c); err != nil {
		return err
	}
	if o.Add = c.Bool("add"); o.Add && (o.Replace || o.Name == "") {
		return usagef("--add takes the --run to add to, and not --replace")
	}
	if is, err := p.ingestPacked(c); is {
		return err
	}
	if err := ingest.Check(p.paths(c.Args().Slice()), o); err != nil { // before a home is made for nothing
		return err
	}
	if c.Bool("dry-run") {
		return p.ingestPlan(c, o)
	}
	var w *schema.Warehouse
	if o.Add {
		var run schema.Run
		w, run, err = p.openToGrow(c, "ingest --add", o.Name)
		o.Name = run.Name
	} else {
		w, err = p.open(c, true)
	}
	if err != nil {
		return err
	}
	defer closing(w, &err)
	_, err = p.ingestInto(c, w, p.paths(c.Args().Slice()), o)
	return err
}

// assumeFlag goes on where a model would be refused for a field that is not read.
func assumeFlag() cli.Flag {
	return &cli.BoolFlag{Name: "assume", Usage: "ignore fields of a model configuration that affect its shape but are not supported"}
}

// imageSizeName is the option that says how large pictures are.
const imageSizeName = "image-size"

func imageSizeFlag() cli.Flag {
	return &cli.StringFlag{Name: imageSizeName, Usage: "image size, `WIDTHxHEIGHT` in pixels, for vision towers that take any size"}
}

// imageSize reads it; zero where it is not given.
func imageSize(c *cli.Context) (size load.ImageSize, err error) {
	if !c.IsSet(imageSizeName) {
		return size, nil
	}
	text := c.String(imageSizeName)
	width, height, _ := strings.Cut(text, "x")
	w, wrongWidth := strconv.ParseUint(width, 10, 32)
	h, wrongHeight := strconv.ParseUint(height, 10, 32)
	if wrongWidth != nil || wrongHeight != nil || min(w, h) == 0 || max(w, h) > load.MaxSide {
		return size, usagef("--image-size %q: want WIDTHxHEIGHT in pixels, such as 1024x768, each from 1 to %d", text, load.MaxSide)
	}
	return load.ImageSize{Width: int64(w), Height: int64(h)}, nil
}

// factFlags are options that say what is known of a run beside its captures.
func factFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "model", Usage: "model configuration `CONFIG.json`; may be repeated"},
		assumeFlag(), imageSizeFlag(),
		&cli.StringSliceFlag{Name: "workload", Usage: "`FILE` with the workload's facts about its passes; may be repeated"},
		&cli.Int64Flag{Name: "prefill", Usage: "`TOKENS` per prompt, image tokens included"},
		&cli.Int64Flag{Name: "decode", Usage: "decode `STEPS` per pass"},
		&cli.Int64Flag{Name: "batch", Usage: "`SEQUENCES` per pass", DefaultText: "1"},
		&cli.Int64Flag{Name: "images", Usage: "`IMAGES` per prompt"},
		&cli.Int64Flag{Name: "crops", Usage: "`CROPS` per image, without its global view"},
		&cli.Int64Flag{Name: "warmup", Usage: "the first `PASSES` of the capture are warm-up"},
	}
}

func tagsOf(c *cli.Context) ([][2]string, error) {
	var out [][2]string
	for _, t := range c.StringSlice("tag") {
		k, v, err := schema.ParseTag(t)
		if err != nil {
			return nil, &usageError{err}
		}
		out = append(out, [2]string{k, v})
	}
	return out, nil
}

// passOf makes facts of the options that hold for every pass; nil when none was given.
func passOf(c *cli.Context) (*workload.Facts, error) {
	var pass workload.Pass
	var warmup, batch *int64
	given := false
	for _, o := range []struct {
		name  string
		into  **int64
		least int64
	}{{"prefill", &pass.Prefill, 0}, {"decode", &pass.Decode, 0}, {"batch", &batch, 1}, {"images", &pass.Images, 0}, {"crops", &pass.Crops, 0}, {"warmup", &warmup, 0}} {
		if !c.IsSet(o.name) {
			continue
		}
		n := c.Int64(o.name)
		if n < o.least || n > maxTokens {
			return nil, usagef("--%s %d: want a whole number from %d to %d", o.name, n, o.least, int64(maxTokens))
		}
		*o.into, given = &n, true
	}
	if !given {
		return nil, nil
	}
	if batch != nil {
		pass.Batch = *batch
	}
	return workload.Uniform(pass, warmup), nil
}

func (p *program) warn(message string) {
	p.spinner.wipe()
	fmt.Fprintln(p.err, "warning: "+message)
}

// maxUnread bounds the lines about files that were not read.
const maxUnread = 25

// sayUnread lists files of folders that were not read, those alike in one folder in one line.
func (p *program) sayUnread(all []ingest.Skip) {
	var others []string
	list := slices.DeleteFunc(slices.Clone(all), func(s ingest.Skip) bool {
		if s.IsOther() {
			others = append(others, s.Path)
		}
		return s.IsOther()
	})
	if n := len(others); n > 0 {
		fmt.Fprintf(p.err, "left alone: %s: %s\n", typeset.Plural(int64(n), "file that is no capture", "files that are no captures"), typeset.Neutral(suggest.List(others, 3)))
	}
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(p.err, "files not read: %d\n", len(list))
	for _, line := range unreadLines(list) {
		fmt.Fprintln(p.err, "  "+typeset.Neutral(line))
	}
}

// unreadLines are the lines about files that are not read.
func unreadLines(list []ingest.Skip) (lines []string) {
	type alike struct{ dir, ext, why string }
	count := map[alike]int{}
	of := func(s ingest.Skip) alike { return alike{filepath.Dir(s.Path), filepath.Ext(s.Path), s.Why} }
	for _, s := range list {
		count[of(s)]++
	}
	said := 0
	for _, s := range list {
		key := of(s)
		n := count[key]
		if n == 0 {
			continue
		}
		if len(lines) == maxUnread {
			return append(lines, fmt.Sprintf("and %d more", len(list)-said))
		}
		name := s.Path
		if said++; n > 2 {
			name = fmt.Sprintf("%s (%d files)", filepath.Join(key.dir, "*"+key.ext), n)
			said += n - 1
			count[key] = 0
		}
		lines = append(lines, name+": "+s.Why)
	}
	return lines
}

// ingestInto ingests and says what was done: the run's name on stdout, the rest on stderr.
func (p *program) ingestInto(c *cli.Context, w *schema.Warehouse, paths []string, o ingest.Options) (*ingest.Result, error) {
	spin := p.spin("reading")
	o.Load.Progress = spin.rows
	start := time.Now()
	res, err := ingest.Run(c.Context, w, paths, o)
	spin.end()
	if err != nil {
		return nil, err
	}
	said := ""
	for _, r := range res.Repeated {
		none := ""
		if o.Name != "" && o.Name != r.Run && !o.Add {
			none = ", and no run " + o.Name + " was made"
		}
		switch {
		case r.Had && res.Made:
			fmt.Fprintf(p.err, "run %s already has %s\n", r.Run, r.Path)
		case r.Had:
			fmt.Fprintf(p.err, "run %s already has %s; nothing to do\n", r.Run, r.Path)
		case !res.Made:
			fmt.Fprintf(p.err, "%s is already in the warehouse, as run %s; nothing to do%s (to store it with other options or another name, first prof rm %s)\n", r.Path, r.Run, none, r.Run)
		case r.Run == res.Run.Name:
			fmt.Fprintf(p.err, "%s has the same content as another of the files and was skipped\n", r.Path)
		}
		if !res.Made && r.Run != said { // once, for those who take it from stdout
			fmt.Fprintln(p.out, r.Run)
			said = r.Run
		}
	}
	defer p.sayUnread(res.Skipped)
	if !res.Made {
		if said == "" {
			fmt.Fprintln(p.err, "nothing to do: run "+o.Name+" has all of it")
			fmt.Fprintln(p.out, o.Name)
		}
		return res, nil
	}
	if res.Named > 0 {
		fmt.Fprintf(p.err, "named %s of run %s: %s\n", typeset.CountOf(int64(res.Named), "GPU"), res.Run.Name, o.Device)
	}
	if len(res.Sources) == 0 {
		fmt.Fprintln(p.out, res.Run.Name)
		return res, nil
	}
	var rows, bytes int64
	for _, s := range res.Sources {
		rows, bytes = rows+s.Rows, bytes+s.Size
	}
	took := time.Since(start).Seconds()
	if res.Attached {
		fmt.Fprintf(p.err, "added to run %s: ", res.Run.Name)
	}
	_, lost, err := p.losses(c.Context, p.asker(w), res.Run)
	if err != nil {
		return nil, err
	}
	for _, text := range lost {
		p.warn("not whole: " + typeset.Neutral(text))
	}
	fmt.Fprintf(p.err, "%d rows from %s, %.1f MB in %.2f s\n", rows, typeset.CountOf(int64(len(res.Sources)), "source"), float64(bytes)/1e6, took)
	fmt.Fprintln(p.out, res.Run.Name)
	return res, nil
}

// ingestOptions are those options of an ingest that serve, open and ingest share.
func (p *program) ingestOptions(c *cli.Context) (ingest.Options, error) {
	pass, err := passOf(c)
	if err != nil {
		return ingest.Options{}, err
	}
	image, err := imageSize(c)
	return ingest.Options{Models: p.paths(c.StringSlice("model")), Workloads: p.paths(c.StringSlice("workload")), Pass: pass, Device: c.String("device-name"),
		Now: time.Now(), ProfVersion: version(), Warn: p.warn, Load: load.Options{Assume: c.Bool("assume"), Image: image, Threads: runtime.GOMAXPROCS(0)}}, err
}

// ingestPlan prints what an ingest would read.
func (p *program) ingestPlan(c *cli.Context, o ingest.Options) (err error) {
	w, unchecked, err := p.openAsIs(c)
	if err != nil {
		return err
	}
	if w != nil {
		defer closing(w, &err)
	}
	files, skipped, err := ingest.Plan(c.Context, w, p.paths(c.Args().Slice()), o)
	if err != nil {
		return err
	}
	f := &frame.Frame{Query: "ingest-plan", Columns: []frame.Column{
		{Name: "file", Doc: "file or folder that would be read"},
		{Name: "form", Doc: "its format"},
		{Name: "size_bytes", Type: frame.Int, Unit: frame.Bytes, Doc: "its size as it is"},
		{Name: "growth_bytes", Type: frame.Int, Unit: frame.Bytes, Doc: "estimate of how much the warehouse grows"},
		{Name: "part", Doc: "table of the file; NULL for the file as a whole"},
		{Name: "row_count", Type: frame.Int, Unit: frame.Count, Doc: "rows of the table, an estimate in SQLite exports; NULL where it is skipped"},
		{Name: "remark", Doc: "why a table or file is skipped, and what is not known"},
	}}
	for _, file := range files {
		size, growth := any(file.Size), any(nil)
		if file.LeftOut {
			size = nil
		}
		if file.Growth > 0 {
			growth = file.Growth
		}
		f.Rows = append(f.Rows, []any{file.Path, file.Form, size, growth, nil, nil, planRemark(file, unchecked)})
		for _, t := range file.Tables {
			rows, why := any(t.Rows), any(nil)
			if t.Skipped != "" {
				rows, why = nil, t.Skipped
			}
			f.Rows = append(f.Rows, []any{file.Path, file.Form, nil, nil, t.Name, rows, why})
		}
	}
	f.Notes = append(f.Notes, "nothing was stored; row counts of large tables are estimates, and so is the growth: 0.10 of an unpacked SQLite export, up to 0.5 where range names are all different; packed files are taken to be an eighth of their content")
	for _, line := range unreadLines(skipped) {
		f.Notes = append(f.Notes, "not read: "+line)
	}
	return p.print(c, f)
}

// openAsIs opens the warehouse for reading without bringing it up to date; nil where there is none or it cannot be read so, and unchecked
// says why.
func (p *program) openAsIs(c *cli.Context) (w *schema.Warehouse, unchecked string, err error) {
	home, err := p.home(c)
	if err != nil {
		return nil, "", err
	}
	w, err = schema.Open(c.Context, home, schema.Options{AsIs: true, Defs: queries.Relations{}, Facts: derive.Facts{}})
	var locked *schema.LockedError
	switch {
	case errors.Is(err, schema.ErrNoWarehouse):
		return nil, "no warehouse yet", nil
	case errors.Is(err, schema.ErrOutdated):
		return nil, "not checked whether it is stored: the warehouse is of another version", nil
	case errors.As(err, &locked):
		return nil, "not checked whether it is stored: the warehouse is in use", nil
	case err == nil:
		p.read = append(p.read, w)
	}
	return w, "", err
}

// planRemark says of a file what is known of it in the warehouse, and what is not.
func planRemark(f ingest.Planned, unchecked string) string {
	if f.LeftOut {
		return "left out: another file has this capture"
	}
	text := unchecked
	switch {
	case unchecked != "":
	case f.SameCapture != "":
		text = "run " + f.SameCapture + " has this capture; content not checked"
	case f.SameSize != "":
		text = "run " + f.SameSize + " has a file of this size; content not checked"
	case f.Packed != "":
		text = "content not checked; no run has a file of this size"
	default:
		text = "no run has a file of this size"
	}
	if f.Tables != nil {
		return text
	}
	if f.Packed != "" {
		return text + "; rows not counted in " + f.Packed
	}
	return text + "; rows not counted"
}
