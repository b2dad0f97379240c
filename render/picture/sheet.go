package picture

// Sheet is a picture that is filled from the top down: titles, plots, legends, notes.
type Sheet struct {
	*Picture
	at float64 // where the next thing begins
}

// The measures of sheets, in pixels.
const (
	SheetWidth = 960
	Margin     = 24
	Inner      = SheetWidth - 2*Margin
	keySize    = 12
	lineHeight = 18
)

// The texts of sheets.
var (
	titleText = Text{Size: 18, Fill: Ink, Bold: true}
	headText  = Text{Size: 14, Fill: Ink, Bold: true}
	noteText  = Text{Size: 12, Fill: Soft}
	Label     = Text{Size: 12, Fill: Ink}
	SoftLabel = Text{Size: 11.5, Fill: Soft}
	EndLabel  = Text{Size: 11.5, Fill: Soft, Anchor: "end"}
	TickLabel = Text{Size: 11.5, Fill: Soft, Anchor: "middle"}
)

// NewSheet begins a sheet with its title.
func NewSheet(title string) *Sheet {
	s := &Sheet{New(SheetWidth, title), Margin}
	for _, line := range Wrapped(title, Inner, titleText) {
		s.Words(Margin, s.Room(24)+16, line, titleText)
	}
	return s
}

// Room takes so much of the height, and gives where it begins.
func (s *Sheet) Room(height float64) float64 {
	at := s.at
	s.at += height
	s.Height = s.at + Margin
	return at
}

// Head writes what the next plot is of.
func (s *Sheet) Head(text string) {
	s.Room(10)
	for _, line := range Wrapped(text, Inner, headText) {
		s.Words(Margin, s.Room(20)+14, line, headText)
	}
}

// Note writes small text over the whole width.
func (s *Sheet) Note(text string) {
	for _, line := range Wrapped(text, Inner, noteText) {
		s.Words(Margin, s.Room(lineHeight)+13, line, noteText)
	}
}

// Key says what a colour or a mark means.
type Key struct {
	Text string
	Draw func(x, y float64) // a mark with that middle
}

// Swatch is the mark of a colour.
func (s *Sheet) Swatch(fill string, opacity float64) func(x, y float64) {
	return func(x, y float64) {
		s.Rect(x-keySize/2, y-keySize/2, keySize, keySize, Style{Fill: fill, Opacity: opacity}, "")
	}
}

// Keys writes a legend, in columns of that width each; 0 for one after the other.
func (s *Sheet) Keys(width float64, keys ...Key) {
	if len(keys) == 0 {
		return
	}
	x, y := float64(Margin), s.Room(lineHeight)
	for _, k := range keys {
		text, long := k.Text, width
		if width == 0 {
			text = Fit(text, Inner-keySize-6, Label)
			long = keySize + 6 + Long(text, Label) + 18
		} else {
			text = Fit(text, width-keySize-18, Label)
		}
		if x > Margin && x+long > Margin+Inner+18 {
			x, y = Margin, s.Room(lineHeight)
		}
		k.Draw(x+keySize/2, y+9)
		s.Words(x+keySize+6, y+13, text, Label)
		x += long
	}
}
