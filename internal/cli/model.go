package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/model"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/queries"
	"prof/queries/judge"
	"prof/render/report"
	"prof/schema"
)

func (p *program) modelCommand() *cli.Command {
	return &cli.Command{
		Name:      "model",
		Usage:     "parameters, bytes and FLOPs of a model from its configuration; no run is needed",
		ArgsUsage: "CONFIG.json",
		Description: `CONFIG.json is a Hugging Face config.json, or its folder. FLOPs are those of one prompt of --prefill tokens
(image tokens included) and of the --decode steps after it, the first with prefill + 1 tokens of context, for --batch sequences.
With --images the prefill includes the images of its prompt; without, vision is shown for one image and not included.
Vision towers that take images of any size are counted for --image-size. A multiply-add counts as 2. With --run, model and tokens are those of a stored run.

  prof model config.json
  prof model config.json --prefill 681 --decode 16 --convention causal
  prof model deepseek-v3/config.json --mla absorbed --batch 64
  prof model qwen2.5-vl/config.json --image-size 1024x768 --images 1
  prof model config.json --format json
  prof model --run baseline --out report/        # static_compute.json and static_compute.md`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "use the model and tokens of this run instead of CONFIG.json"},
			&cli.Int64Flag{Name: "prefill", Usage: "`TOKENS` per prompt", DefaultText: "1024; with --run, the workload's"},
			&cli.Int64Flag{Name: "decode", Usage: "decode `STEPS`", DefaultText: "128; with --run, the workload's"},
			&cli.Int64Flag{Name: "batch", Usage: "`SEQUENCES`", DefaultText: "1"},
			&cli.Int64Flag{Name: "images", Usage: "`IMAGES` per prompt", DefaultText: "0"},
			&cli.Int64Flag{Name: "crops", Usage: "`CROPS` per image, without its global view", DefaultText: "0"},
			&cli.StringFlag{Name: "dtype", Usage: "precision of weights and cache: fp32, bf16, fp16, fp8, int8, fp4", DefaultText: "the configuration's"},
			&cli.StringFlag{Name: "convention", Value: "full", Usage: "attention of the prompt: full or causal"},
			&cli.StringFlag{Name: "mla", Value: "expanded", Usage: "latent attention in decode: expanded or absorbed"},
			&cli.StringFlag{Name: "head", Value: "last", Usage: "positions of the prompt whose logits are computed: last or all"},
			&cli.StringFlag{Name: "context", Value: "auto", Usage: "context of decode: auto, max or fixed"},
			&cli.Int64Flag{Name: "fixed-context", Usage: "context length for --context fixed"},
			assumeFlag(), imageSizeFlag(),
			&cli.StringFlag{Name: "out", Usage: "write static_compute.json and static_compute.md into `DIR`"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "table", Usage: "`FORM` of the output: " + strings.Join(answerForms().Names(), ", ")},
			&cli.BoolFlag{Name: "wide", Usage: "do not fit tables to the terminal"},
		},
		Action: p.model,
	}
}

func (p *program) model(c *cli.Context) (err error) {
	form, err := answerForms().Named(c.String("format"))
	if err != nil {
		return &usageError{err}
	}
	size, err := staticSize(c)
	if err != nil {
		return err
	}
	w, run, err := p.staticSource(c)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	if err := fillSize(c.Context, w, run, c.String("run") != "", &size); err != nil {
		return err
	}
	s, err := queries.NewStatic(c.Context, w, run, c.String("dtype"), size)
	if err != nil {
		return err
	}
	if dir := p.path(c.String("out")); dir != "" {
		if err := p.writeStatic(dir, s); err != nil {
			return err
		}
	}
	if form.Name == "md" { // with every layer
		return report.StaticMarkdown(p.out, s)
	}
	d, err := report.StaticDocument(s, p.options(c))
	if err != nil {
		return err
	}
	return form.Write(p.out, verbAnswer{d, func(w io.Writer) error { return report.StaticJSON(w, s) }}, p.options(c))
}

// staticSource opens what is asked: the warehouse for a run, else one in memory that holds the configuration.
func (p *program) staticSource(c *cli.Context) (*schema.Warehouse, schema.Run, error) {
	if ref := c.String("run"); ref != "" {
		if c.NArg() > 0 {
			return nil, schema.Run{}, usagef("model takes a configuration or --run, not both")
		}
		if c.IsSet(imageSizeName) {
			return nil, schema.Run{}, usagef("--image-size applies to a configuration; for a run: %s", mask.Command([]string{"prof", "ingest", "--run", ref, "--model", "CONFIG.json", "--image-size", c.String(imageSizeName)}))
		}
		w, err := p.open(c, false)
		if err != nil {
			return nil, schema.Run{}, err
		}
		run, err := w.Resolve(c.Context, ref)
		if err != nil {
			w.Close()
			return nil, schema.Run{}, err
		}
		return w, run, nil
	}
	if c.NArg() != 1 {
		return nil, schema.Run{}, usagef("model takes one CONFIG.json, or --run; see `prof help model`")
	}
	defs, err := queries.StaticDefinitions()
	if err != nil {
		return nil, schema.Run{}, err
	}
	image, err := imageSize(c)
	if err != nil {
		return nil, schema.Run{}, err
	}
	w, err := schema.OpenMemory(c.Context, defs, derive.Model, "caveat")
	if err != nil {
		return nil, schema.Run{}, err
	}
	run, err := ingest.Model(c.Context, w, p.path(c.Args().First()), model.Options{Assume: c.Bool("assume"), Image: image}, time.Now())
	if err != nil {
		w.Close()
		return nil, schema.Run{}, err
	}
	return w, schema.Run{ID: run, Name: run}, nil
}

// staticSize reads what operations are counted for. Counts that are not given are -1.
func staticSize(c *cli.Context) (judge.StaticSize, error) {
	s := judge.StaticSize{Convention: c.String("convention"), MLA: c.String("mla"), Head: c.String("head"), Context: c.String("context"), ImagesGiven: c.IsSet("images")}
	for name, into := range map[string]*int64{"prefill": &s.Prefill, "decode": &s.Decode, "batch": &s.Batch, "images": &s.Images, "crops": &s.Crops} {
		*into = -1
		if c.IsSet(name) {
			if *into = c.Int64(name); *into < 0 || *into > maxTokens || name == "batch" && *into == 0 {
				return s, usagef("--%s %d: want a whole number up to %d%s", name, *into, int64(maxTokens), map[bool]string{true: ", at least 1"}[name == "batch"])
			}
		}
	}
	if c.IsSet("fixed-context") {
		n := c.Int64("fixed-context")
		if n < 1 || n > maxTokens {
			return s, usagef("--fixed-context %d: want a number from 1 to %d", n, int64(maxTokens))
		}
		s.FixedContext = &n
	}
	if (s.Context == "fixed") != (s.FixedContext != nil) {
		return s, usagef("--context fixed needs --fixed-context TOKENS, and vice versa")
	}
	return s, nil
}

// maxTokens bounds numbers of tokens, so that no product overflows.
const maxTokens = 1 << 31

// fillSize puts the workload's numbers, or the defaults, where none was given.
func fillSize(ctx context.Context, w *schema.Warehouse, run schema.Run, ofRun bool, s *judge.StaticSize) error {
	var known queries.Workload
	if ofRun {
		var err error
		if known, err = queries.WorkloadSize(ctx, w, run.ID); err != nil {
			return err
		}
		s.TokensAssumed = s.Prefill < 0 && known.Prefill == nil || s.Decode < 0 && known.Decode == nil
	}
	for _, n := range []struct {
		into  *int64
		known *int64
		def   int64
	}{{&s.Prefill, known.Prefill, 1024}, {&s.Decode, known.Decode, 128}, {&s.Batch, known.Batch, 1}, {&s.Images, known.Images, 0}, {&s.Crops, known.Crops, 0}} {
		if *n.into >= 0 {
			continue
		}
		*n.into = n.def
		if n.known != nil {
			*n.into = *n.known
		}
	}
	s.ImagesGiven = s.ImagesGiven || known.Images != nil
	return nil
}

// writeStatic writes the artifacts into a folder.
func (p *program) writeStatic(dir string, s *judge.Static) error {
	if err := makeOut(dir); err != nil {
		return err
	}
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"static_compute.json": func(b *bytes.Buffer) error { return report.StaticArtifact(b, s) },
		"static_compute.md":   func(b *bytes.Buffer) error { return report.StaticMarkdown(b, s) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		if err := file.Write(filepath.Join(dir, name), b.Bytes()); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.err, "wrote %s\n", strings.Join([]string{filepath.Join(dir, "static_compute.json"), filepath.Join(dir, "static_compute.md")}, " and "))
	return nil
}
