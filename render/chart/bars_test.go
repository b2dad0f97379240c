package chart

import (
	"strings"
	"testing"

	"prof/render/rendertest"
)

// TestKernelFigure holds that bars are as long as shares, that what the table lacks is one more bar, and what is said of each.
func TestKernelFigure(t *testing.T) {
	f, err := newKernelFigure(rendertest.StageKernelsFrame())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Stages) != 2 || f.LeftOut != "" || f.Stages[0].Total != "1 ms" {
		t.Fatalf("the stages are %+v", f.Stages)
	}
	rows := f.Stages[0].Rows
	if len(rows) != 3 || rows[0].Width != "60.000%" || rows[1].Width != "10.000%" || rows[2].Width != "30.000%" || rows[2].Text != "30.0 % · 300 us" {
		t.Errorf("the bars of decode are %+v", rows)
	}
	if rows[0].Class != "series-0" || rows[1].Class != "series-7" || rows[2].Class != "others" {
		t.Errorf("their colours are %s, %s, %s", rows[0].Class, rows[1].Class, rows[2].Class)
	}
	if !strings.Contains(rows[0].Title, rendertest.Breakout) || !strings.Contains(rows[0].Title, "60.0 % · 600 us, 30 calls, gemm") || !strings.HasSuffix(rows[1].Title, "1 call, no role known") {
		t.Errorf("of the bars is said %q and %q", rows[0].Title, rows[1].Title)
	}
	if only := f.Stages[1].Rows; len(only) != 1 || f.Stages[1].Height != KernelBarRow {
		t.Errorf("a stage whose kernels are all listed has %d bars", len(only))
	}
	if n := len(f.Legend); n != 3 || f.Legend[0].Doc != "gemm" || f.Legend[1].Doc != "normalisation" || f.Legend[2].Doc != noRole {
		t.Errorf("the legend is %+v", f.Legend)
	}
}

// TestKernelFigureWithoutShares holds that kernels of no measurable time, of which no share is defined, stand there without a bar, and that
// nothing is then said of kernels that the table does not list.
func TestKernelFigureWithoutShares(t *testing.T) {
	lacking := rendertest.StageKernelsFrame()
	for _, row := range lacking.Rows[:2] {
		row[3], row[4] = int64(0), nil
	}
	f, err := newKernelFigure(lacking)
	if err != nil {
		t.Fatal(err)
	}
	rows := f.Stages[0].Rows
	if len(rows) != 2 || rows[0].Width != "0.000%" || rows[0].Text != "share not known · 0 ns" || f.Stages[0].Total != "0" {
		t.Errorf("%+v of %s", rows, f.Stages[0].Total)
	}
	if whole := f.Stages[1].Rows; len(whole) != 1 || whole[0].Width != "60.000%" {
		t.Errorf("another stage has %+v", whole)
	}
}

// TestKernelFigureLeavesOut holds that the picture ends after some stages and says so.
func TestKernelFigureLeavesOut(t *testing.T) {
	f := rendertest.FrameOf("stage-kernels", "stage kernel calls total_ns share_ratio role", []any{"a", "k", int64(1), int64(1), 1.0, "gemm"})
	for i := range shownStages {
		f.Rows = append(f.Rows, []any{strings.Repeat("s", i+1), "k", int64(1), int64(1), 1.0, "gemm"})
	}
	figure, err := newKernelFigure(f)
	if err != nil || len(figure.Stages) != shownStages || figure.LeftOut != "1 more stage, with less kernel time, not drawn." {
		t.Errorf("%d stages, %q, %v", len(figure.Stages), figure.LeftOut, err)
	}
}

// TestRoleGroups holds that each role is in one group, and one that is in none is among the others.
func TestRoleGroups(t *testing.T) {
	seen := map[string]bool{}
	for i, g := range roleGroups {
		for _, role := range g.roles {
			if seen[role] || groupOf(role) != i {
				t.Errorf("%s is in several groups", role)
			}
			seen[role] = true
		}
	}
	if groupOf("a new role") != len(roleGroups)-1 || len(roleGroups) != SeriesCount {
		t.Error("a role without a group has no colour")
	}
}

// TestStageFigure holds the lengths of bars and whiskers, and that a time that is not known has neither.
func TestStageFigure(t *testing.T) {
	f, err := newStageFigure(rendertest.StagesFrame())
	if err != nil {
		t.Fatal(err)
	}
	bars := f.Stages[0].Bars // the longest reach is 1.5 ms and 2 ms
	if bars[0].Width != Length(2/3.5*stageRoom) || bars[0].From != Length(1.5/3.5*stageRoom) || bars[0].To != Length(2.5/3.5*stageRoom) || bars[0].Text != "2 ms ± 500 us" {
		t.Errorf("the bar of the CPU is %+v", bars[0])
	}
	if bars[1].From != Length(0) || bars[1].To != Length(stageRoom) {
		t.Errorf("a spread above the mean reaches from %s to %s", bars[1].From, bars[1].To)
	}
	one := f.Stages[1]
	if !strings.HasPrefix(one.Label, "decode k<a") || !strings.HasSuffix(one.Label, ", 1 pass") || one.Bars[0].To != "" || one.Bars[1].Width != "" || one.Bars[1].Text != "not known" {
		t.Errorf("a stage of one pass without device work is %+v", one)
	}
	if !strings.HasSuffix(one.Spoken, "; CPU 1 ms; GPU span not known; GPU busy not known") {
		t.Errorf("it is spoken of as %q", one.Spoken)
	}
}
