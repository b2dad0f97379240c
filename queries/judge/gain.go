package judge

import (
	"fmt"
	"strings"

	"prof/schema/facts/sql/findings"
)

// Gain is what a stage takes, in the unit that users count in, and what it would take without what a finding is about. All that says what could be
// gained says it by this, so that there is one number.
type Gain struct {
	NowNs, ThenNs float64
	Per           string // token, of a decode that says how many it makes, or pass; "" of all device work
	Bound         string // of the finding: at most or about
}

// gainOf is the gain of a finding: of the stage's median pass, by the share that it could save of that on its GPU.
func (s *summariser) gainOf(x Finding) Gain {
	g := Gain{NowNs: x.PassSpanNs, Bound: x.Bound}
	if x.Stage != "" {
		g.Per = "pass"
	}
	for _, stage := range s.out.Stages {
		if stage.Stage != x.Stage || stage.IsCPU {
			continue
		}
		if g.NowNs = stage.MedianNs; stage.Token != nil {
			g.NowNs, g.Per = stage.Token.Ns, "token"
		}
	}
	g.ThenNs = g.NowNs
	if x.PassSpanNs > 0 {
		g.ThenNs *= 1 - x.PassSavingNs/x.PassSpanNs
	}
	return g
}

// Ratio is how much less it would take, as a share.
func (g Gain) Ratio() float64 {
	if g.NowNs <= 0 {
		return 0
	}
	return 1 - g.ThenNs/g.NowNs
}

func (g Gain) unit() string {
	switch g.Per {
	case "":
		return ""
	case "token":
		return "/token"
	}
	return " per " + g.Per
}

// Text words it: 18.2 -> 2.49 ms/token at best.
func (g Gain) Text() string {
	now, then := DurationText(g.NowNs), DurationText(g.ThenNs)
	if now == then {
		return fmt.Sprintf("less than 1 %% of %s%s", now, g.unit())
	}
	number, unit, _ := strings.Cut(now, " ")
	if strings.HasSuffix(then, " "+unit) {
		now = number
	}
	text := fmt.Sprintf("%s -> %s%s", now, then, g.unit())
	if g.Bound == findings.About {
		return "about " + text
	}
	return text + " at best"
}
