package stats

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"prof/ingest/load"
	export "prof/ingest/nsys/table"
	"prof/ingest/rows"
	"prof/internal/file"
)

// What nsys recipe leaves in its folder: a description, and tables of sums by rank.
const (
	analysisEnd = ".nsys-analysis"
	rankSums    = "rank_stats"
	maxAnalysis = 1 << 20
)

// kernelRecipe is the recipe whose tables are read: of each kernel and rank a row.
const kernelRecipe = "cuda_gpu_kern_sum"

// IsRecipe reports whether a folder holds what nsys recipe made of a recipe that prof reads.
func IsRecipe(path string) bool {
	if _, err := os.Stat(filepath.Join(path, rankSums+".parquet")); err != nil {
		return false
	}
	name, err := recipeOf(path)
	return err == nil && name == kernelRecipe
}

func recipeOf(path string) (string, error) {
	files, err := os.ReadDir(path)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), analysisEnd) {
			continue
		}
		text, err := file.Read(filepath.Join(path, f.Name()), maxAnalysis)
		if err != nil {
			return "", err
		}
		var said struct{ RecipeName string }
		err = json.Unmarshal(text, &said)
		return said.RecipeName, err
	}
	return "", fmt.Errorf("%s: no file %s", path, analysisEnd)
}

// Recipe opens the tables that a recipe left, which are Parquet files.
type Recipe func(path string) (export.Export, error)

// Load stores the sums of a recipe. Kernels of several ranks have a row for each.
func (open Recipe) Load(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	d, err := open(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	l := &loader{ctx: ctx, t: t, name: name}
	wants := []export.Want{{Name: "Count"}, {Name: "Sum"}, {Name: "Min"}, {Name: "Max"}, {Name: "Mean", Kind: export.Float}, {Name: "Median", Kind: export.Float}, {Name: "Std", Kind: export.Float}, {Name: "Name", Kind: export.Text}}
	s, err := d.Scan(ctx, rankSums, wants)
	if err != nil {
		return nil, err
	}
	p := l.part(kernelRecipe)
	_, err = t.Append(ctx, "reported_sum", func(add rows.Add) error {
		return export.Each(s, func(b *export.Batch) error {
			for i := range b.N {
				p.read++
				for k := range b.Cols[:6] {
					if b.Cols[k].Null(i) {
						return fmt.Errorf("%s: %s: row %d has no %s", name, rankSums, p.read, wants[k].Name)
					}
				}
				count, kernel := b.Cols[0].Ints[i], b.Cols[7].Texts[i]
				if count <= 0 || kernel == "" {
					return fmt.Errorf("%s: %s: row %d has the count %d and the name %q", name, rankSums, p.read, count, shorten(kernel))
				}
				if err := checkSums(b, i, wants); err != nil {
					return fmt.Errorf("%s: %s: row %d: %w", name, rankSums, p.read, err)
				}
				short := load.ShortName(kernel)
				out := make([]any, columnCount)
				out[runColumn], out[sourceColumn], out[whatColumn], out[countColumn] = t.RunID, int32(t.SourceID), kernels, count
				out[kernelColumn] = t.Run.Kernels.Add(kernel, &short)
				for k := range 3 {
					out[timesColumn+k] = b.Cols[1+k].Ints[i]
				}
				out[timesColumn+3], out[timesColumn+4], out[timesColumn+6] = b.Cols[4].Floats[i], b.Cols[5].Floats[i], 1.0
				if count > 1 && !b.Cols[6].Null(i) { // of one there is none
					out[timesColumn+5] = b.Cols[6].Floats[i]
				}
				if err := add(out...); err != nil {
					return err
				}
				p.stored++
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if l.info.Rows = p.stored; p.stored == 0 {
		return nil, fmt.Errorf("%s: %w: the recipe found no kernels", name, ErrNoSums)
	}
	return &l.info, l.describe()
}

// checkSums returns which figure of a row cannot be: the first four are whole numbers, the next three are not.
func checkSums(b *export.Batch, i int, wants []export.Want) error {
	for k := range b.Cols[:7] {
		amount := 0.0
		switch {
		case b.Cols[k].Null(i):
			continue
		case k < 4:
			amount = float64(b.Cols[k].Ints[i])
		default:
			amount = b.Cols[k].Floats[i]
		}
		if !(amount >= 0 && amount <= mostAmount) {
			return fmt.Errorf("%s is %g, not an amount", wants[k].Name, amount)
		}
	}
	if least, most := b.Cols[2].Ints[i], b.Cols[3].Ints[i]; least > most {
		return fmt.Errorf("the least of its times is %d, and the most %d", least, most)
	}
	return nil
}
