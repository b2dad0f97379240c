package chart

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/page"
	"prof/render/picture"
	"prof/render/rendertest"
)

// TestInks holds that pictures have the colours of the page by day.
func TestInks(t *testing.T) {
	styles := []string{"base.css", "figures.css", "timeline.css", "document.css"}
	style, err := page.Joined(styles)
	if err != nil {
		t.Fatal(err)
	}
	names := rendertest.Themes(t, styles)["light"]
	for class, ink := range inks {
		if ground, is := strings.CutPrefix(class, "on-"); is { // the page chooses black or white by contrast
			if c := rendertest.Contrast(t, ink, inks[ground]); c < 4.5 {
				t.Errorf("%s on %s has a contrast of %.2f", ink, inks[ground], c)
			}
			continue
		}
		want := class
		if at := regexp.MustCompile(`\.` + class + ` \{[^}]*--c: (?:var\(--)?([\w#-]+)`).FindStringSubmatch(style); at != nil {
			want = at[1]
		}
		if name := names[want]; name != "" {
			want = name
		}
		if ink != want {
			t.Errorf("%s is %s, on the page %s", class, ink, want)
		}
	}
}

// drawn returns a picture as SVG, and draws it as PNG too.
func drawn(t *testing.T, p *picture.Picture, err error) []byte {
	t.Helper()
	if err != nil || p == nil {
		t.Fatalf("no picture: %v", err)
	}
	var out bytes.Buffer
	if err := p.WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	if err := p.WritePNG(io.Discard); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func whole(w Window, _ []StageWindow) (Window, error) { return w, nil }

// TestPictures holds the pictures of made-up frames, with names that would break out of them.
func TestPictures(t *testing.T) {
	compare := func(name string, p *picture.Picture, err error) {
		t.Helper()
		rendertest.Compare(t, filepath.Join("testdata", name+".svg"), drawn(t, p, err))
	}
	p, err := StagesPicture(rendertest.StagesFrame(), "Stages of "+rendertest.Breakout)
	compare("stages", p, err)
	p, err = RooflinePicture(rendertest.RooflineFrame(), rendertest.CeilingsFrame(), "Roofline of x")
	compare("roofline", p, err)
	p, err = TimelinePicture(rendertest.ReportTimeline(), whole, "Timeline of x")
	compare("timeline", p, err)
	var stages []StageWindow
	p, err = TimelinePicture(rendertest.ReportTimeline(), func(_ Window, s []StageWindow) (Window, error) {
		stages = s
		return s[0].Window, nil
	}, "Timeline of x")
	compare("timeline-stage", p, err)
	if len(stages) != 1 || stages[0].Pass != 1 || stages[0].Window != (Window{1000, 1080}) || stages[0].Cut != "the first 2 of 4 kernels, copies and graph replays" {
		t.Errorf("the stages are %+v", stages)
	}
}

// TestNoPicture: what has nothing to draw gives no picture, what is broken an error, and numbers that are none no nonsense.
func TestNoPicture(t *testing.T) {
	empty := func(f *frame.Frame) *frame.Frame {
		none := *f
		none.Rows = nil
		return &none
	}
	if p, err := StagesPicture(empty(rendertest.StagesFrame()), ""); p != nil || err != nil {
		t.Errorf("stages: %v, %v", p, err)
	}
	if p, err := RooflinePicture(empty(rendertest.RooflineFrame()), nil, ""); p != nil || err != nil {
		t.Errorf("roofline: %v, %v", p, err)
	}
	none := *rendertest.ReportTimeline()
	none.Blocks = empty(none.Blocks)
	if p, err := TimelinePicture(&none, whole, ""); p != nil || err != nil {
		t.Errorf("timeline: %v, %v", p, err)
	}
	failed := errors.New("no such stage")
	if _, err := TimelinePicture(rendertest.ReportTimeline(), func(Window, []StageWindow) (Window, error) { return Window{}, failed }, ""); !errors.Is(err, failed) {
		t.Errorf("a window that is refused: %v", err)
	}
	if _, err := TimelinePicture(&judge.Timeline{Blocks: rendertest.StagesFrame()}, whole, ""); err == nil {
		t.Error("a timeline of other rows is drawn")
	}
	check := func(what string, p *picture.Picture, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if p != nil {
			var text bytes.Buffer
			if err := p.WriteSVG(&text); err != nil || strings.Contains(text.String(), "NaN") || strings.Contains(text.String(), "Inf") {
				t.Errorf("%s: %v, %s", what, err, text.String())
			}
		}
	}
	rendertest.Changed(rendertest.StagesFrame(), false, func(what string, f *frame.Frame) {
		p, err := StagesPicture(f, "")
		check(what, p, err)
	})
	rendertest.Changed(rendertest.RooflineFrame(), false, func(what string, f *frame.Frame) {
		p, err := RooflinePicture(f, rendertest.CeilingsFrame(), "")
		check(what, p, err)
	})
}

// TestTimelinePictureParts draws a part without work, and one that cuts pieces of it.
func TestTimelinePictureParts(t *testing.T) {
	for name, w := range map[string]Window{"idle": {1190, 1390}, "cut": {1010, 1050}} {
		text := string(inWindow(t, rendertest.ReportTimeline(), w))
		if has := strings.Contains(text, ">stream 7<"); has != (name == "cut") {
			t.Errorf("%s: %s", name, text)
		}
		if strings.Contains(text, `x="-`) || strings.Contains(text, "M-") {
			t.Errorf("%s: something is left of the picture: %s", name, text)
		}
		if !strings.Contains(text, map[string]string{"idle": "Window 1.190 us to 1.390 us (200 ns); times count from the start of the capture", "cut": ", passes 1 to 2: 1 us, 40 ns of it in the window"}[name]) {
			t.Errorf("%s: %s", name, text)
		}
	}
	none := rendertest.ReportTimeline()
	none.Passes.Rows = nil
	text := string(inWindow(t, none, Window{1310, 1390}))
	if !strings.Contains(text, "No work in the window") || !strings.Contains(text, "longest idle gaps") || strings.Contains(text, "Height is") {
		t.Errorf("where there are only gaps: %s", text)
	}
}

// TestTimelinePictureCut holds that a pass of which not all work is known says so, in a picture that ends where it does, and not otherwise.
func TestTimelinePictureCut(t *testing.T) {
	cut := rendertest.ReportTimeline()
	cut.Passes.Rows[0][3], cut.Passes.Rows[0][4], cut.Passes.Rows[0][6] = int64(1200), int64(1), false
	stage := func(_ Window, stages []StageWindow) (Window, error) { return stages[0].Window, nil }
	p, err := TimelinePicture(cut, stage, "")
	text := string(drawn(t, p, err))
	for _, want := range []string{"pass 1: the first 2 of 4 kernels, copies and graph replays, 80 ns of 200 ns<", "pass 1: 200 ns, 80 ns of it in the window", "Window 1.000 us to 1.080 us (80 ns)"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q: %s", want, text)
		}
	}
	if text := string(inWindow(t, cut, Window{1000, 1090})); strings.Contains(text, "stream 7") {
		t.Errorf("single kernels are drawn where some are not known: %s", text)
	}
	whole := rendertest.ReportTimeline()
	whole.Windows.Rows[0][7] = int64(3)
	p, err = TimelinePicture(whole, stage, "")
	if text := string(drawn(t, p, err)); strings.Contains(text, "the first") || !strings.Contains(text, "Window 1.000 us to 1.100 us (100 ns)") {
		t.Errorf("of a whole pass: %s", text)
	}
}

// TestTimelinePictureCollectives holds that what takes most time has collectives too, in their colour.
func TestTimelinePictureCollectives(t *testing.T) {
	f := rendertest.ReportTimeline()
	f.Kernels.Rows[0][5] = "collective"
	text := string(inWindow(t, f, Window{1000, 1070}))
	_, list, _ := strings.Cut(text, "Kernels that take most time in the window")
	if first, second := strings.Index(list, "40 ns  "), strings.Index(list, "30 ns  gemm"); first < 0 || second < first || strings.Index(list, InkOf("part-collective")) > first || !strings.Contains(list, InkOf("part-collective")) {
		t.Errorf("the list is %s", list)
	}
}

func inWindow(t *testing.T, f *judge.Timeline, w Window) []byte {
	t.Helper()
	p, err := TimelinePicture(f, func(Window, []StageWindow) (Window, error) { return w, nil }, "Timeline of x")
	return drawn(t, p, err)
}

// TestStageColours holds that a stage has one colour on the page and in pictures.
func TestStageColours(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node is installed to run the page's script with")
	}
	script, err := page.Joined([]string{"timeline_palette.js"})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"prefill", "decode", "vision", "encode", "step", "étape", "解码😀", rendertest.Breakout}
	asked, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node, "-e", script+"for (const name of "+string(asked)+") console.log(`stage-${stageTone(name)}`)").Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, class := range strings.Fields(string(out)) {
		if got := stageClass(names[i]); got != class {
			t.Errorf("%s is %s in pictures, %s on the page", names[i], got, class)
		}
	}
}
