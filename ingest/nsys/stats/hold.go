package stats

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// held are the shares of a table's rows (Time (%)), which say what all rows add up to: also those that a file lacks.
type held struct {
	what         string
	ns           int64   // of the rows
	share, total float64 // of the row with the largest share
	within       float64 // half of the last place of a share
}

// leastShare is the least that the largest share must be to say anything.
const leastShare = 0.02

// add takes a row's share.
func (h *held) add(r row, what string, total int64) {
	i, has := r.at["time"]
	if !has || r.columns[i].unit != "%" {
		return
	}
	percent, err := strconv.ParseFloat(r.cells[i], 64)
	if err != nil || percent < 0 || percent > 100 {
		return
	}
	h.what = what
	h.ns += total
	if share := percent / 100; share > h.share {
		_, places, _ := strings.Cut(r.cells[i], ".")
		h.share, h.total, h.within = share, float64(total), 0.005/math.Pow10(len(places))
	}
}

// printed is what all rows add up to, by the shares; ok is false where they do not tell.
func (h *held) printed() (ns int64, ok bool) {
	if h.share < leastShare || h.ns == 0 {
		return 0, false
	}
	all := h.total / h.share
	if math.Abs(all-float64(h.ns)) <= all*(h.within/h.share+0.001) {
		return h.ns, true // as far as the shares are exact
	}
	return int64(math.Round(all)), true
}

// warnHeld says which tables lack rows.
func (l *loader) warnHeld() {
	for _, p := range l.parts {
		if all, ok := p.printed(); ok && all > p.ns {
			l.info.Warnings = append(l.info.Warnings, fmt.Sprintf("%s: its rows have %.1f %% of the time of which they say that they are shares: rows are missing", p.title, 100*float64(p.ns)/float64(all)))
		} else if ok && all < p.ns {
			l.info.Warnings = append(l.info.Warnings, fmt.Sprintf("%s: its rows have %.1f %% of the time of which they say that they are shares: some count twice", p.title, 100*float64(p.ns)/float64(all)))
		}
	}
}
