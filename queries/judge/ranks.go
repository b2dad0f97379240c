package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prof/schema/facts/sql/findings"
	"prof/schema/say"
)

// lateKey is the key of the answer that says for which ranks the others waited.
const lateKey = "late-ranks"

// leastWaiting is the share of the ranks' time in collectives below which it does not matter who comes late.
const leastWaiting = 0.05

// SlowRank says of a stage, or of the steps of a run without stages, for which rank the others waited in collectives over all steady passes.
type SlowRank struct {
	Range      string // the stage, or the name of the steps
	Rank       string // the rank that was waited for longest; GPU and process where its number is not known
	Ranks      int
	Device     int64   // its GPU
	IsSlow     bool    // whether it stands out: the others wait for it more than half way from an equal part to all
	LateNs     int64   // that they waited for it, added up
	WaitedNs   int64   // that all ranks waited for the last to come
	TotalNs    int64   // that all ranks spent in the collectives
	WaitRatio  float64 // WaitedNs as a share of it
	ShareRatio float64 // LateNs as a share of WaitedNs; 0 without waiting
	Slowest    int64   // passes in which it was waited for longest
	Passes     int64
	MostNs     int64 // the most that they waited for it in one pass
	MostPass   int64 // that pass
	ColdNs     int64 // that they waited for it in the passes that are left out
	ColdPasses int64
	Words      string // a sentence with these figures
	Query      string // shows them pass by pass

	job, jobs int // which of several recordings of ranks together it is, from 1 on
}

// readLate reads who was waited for, where it was asked.
func (s *summariser) readLate() error {
	list, err := read(s, lateRows)
	if err != nil {
		return err
	}
	var jobs []int64
	type place struct {
		job  int64
		name string
	}
	var order []place
	rows, all := map[place][]lateRow{}, map[string][]lateRow{}
	for _, r := range list {
		key := place{r.JobID, r.Range}
		if rows[key] == nil {
			order = append(order, key)
		}
		rows[key] = append(rows[key], r)
		if !slices.Contains(jobs, r.JobID) {
			jobs = append(jobs, r.JobID)
		}
	}
	slices.Sort(jobs)
	for _, key := range order {
		x := slowOf(rows[key])
		x.Query, x.job, x.jobs = s.command("stragglers", "source", s.r.Source), 1+slices.Index(jobs, key.job), len(jobs)
		s.out.Ranks = append(s.out.Ranks, x)
	}
	for _, r := range list {
		if len(jobs) > 1 { // a process without a rank is another one in each
			r.Rank, _, _ = strings.Cut(r.Rank, " (pid ")
		}
		all[r.Range] = append(all[r.Range], r)
	}
	s.waits = map[string]SlowRank{}
	for name, of := range all {
		s.waits[name] = slowOf(of)
	}
	return nil
}

// slowOf says for which rank the others waited longest, in a range of one recording or of several together.
func slowOf(rows []lateRow) SlowRank {
	var ranks []SlowRank
	waited, total := int64(0), int64(0)
	for _, r := range rows {
		waited, total = waited+r.LateNs, total+r.TotalNs
		i := slices.IndexFunc(ranks, func(x SlowRank) bool { return x.Rank == r.Rank })
		if i < 0 {
			i = len(ranks)
			ranks = append(ranks, SlowRank{Range: r.Range, Rank: r.Rank, Device: r.Device})
		}
		x := &ranks[i]
		x.LateNs, x.Slowest, x.Passes, x.ColdNs, x.ColdPasses = x.LateNs+r.LateNs, x.Slowest+r.SlowestCount, x.Passes+r.PassCount, x.ColdNs+r.ColdLateNs, x.ColdPasses+r.ColdCount
		if r.Pass != nil && r.MostNs > x.MostNs {
			x.MostNs, x.MostPass = r.MostNs, *r.Pass
		}
	}
	x := slices.MaxFunc(ranks, func(a, b SlowRank) int { return cmp.Compare(a.LateNs, b.LateNs) })
	x.Ranks, x.WaitedNs, x.TotalNs = len(ranks), waited, total
	if waited > 0 {
		x.ShareRatio = float64(x.LateNs) / float64(waited)
	}
	if total > 0 {
		x.WaitRatio = float64(waited) / float64(total)
	}
	x.IsSlow = x.Passes > 0 && x.WaitRatio >= leastWaiting && x.ShareRatio >= (1+1/float64(x.Ranks))/2
	return x
}

// isOnce reports whether nearly all of that waiting was in one pass of several.
func (x SlowRank) isOnce() bool {
	return x.Passes > 1 && float64(x.MostNs) > findings.OncePart*float64(x.LateNs)
}

// wordRanks says it in sentences.
func (s *summariser) wordRanks() error {
	for i, x := range s.out.Ranks {
		s.out.Ranks[i].Words = x.words(len(s.out.Stages) == 0)
	}
	return nil
}

// waitOf returns who was waited for in a stage, over all recordings. It is zero where that is not known.
func (s *summariser) waitOf(stage string) SlowRank { return s.waits[stage] }

func (x SlowRank) words(isSteps bool) string {
	var b strings.Builder
	of := x.Range
	if x.jobs > 1 {
		of += fmt.Sprintf(", recording %d of %d", x.job, x.jobs)
	}
	one, several := "pass", "passes"
	if isSteps {
		one, several = "step", "steps"
	}
	passes := say.Count(x.Passes, "steady "+one, "steady "+several)
	waited := fmt.Sprintf("the ranks together waited %s in %s (%s of their time in collectives),", DurationText(float64(x.WaitedNs)), passes, percentText(x.WaitRatio))
	most := fmt.Sprintf("%s in %s %d", DurationText(float64(x.MostNs)), one, x.MostPass)
	switch {
	case x.Passes == 0:
		fmt.Fprintf(&b, "%s: the slow rank is unknown: all %s are cold", of, several)
	case x.WaitRatio < leastWaiting:
		fmt.Fprintf(&b, "%s: no rank is slow: the ranks together waited %s in %s, %s of their time in collectives", of, DurationText(float64(x.WaitedNs)), passes, percentText(x.WaitRatio))
	case !x.IsSlow && x.isLate():
		fmt.Fprintf(&b, "%s: mostly %s is late: %s %s of it for this rank, which came last in %d of them", of, x.Rank, waited, percentText(x.ShareRatio), x.Slowest)
	case !x.IsSlow:
		fmt.Fprintf(&b, "%s: no rank is slow throughout: %s at most %s of it for one of %d, %s", of, waited, percentText(x.ShareRatio), x.Ranks, x.Rank)
	case x.isOnce() && float64(x.Slowest) < findings.OncePart*float64(x.Passes):
		fmt.Fprintf(&b, "%s: %s was late in %s %d: %s %s of it for this rank, %s", of, x.Rank, one, x.MostPass, waited, percentText(x.ShareRatio), most)
	default:
		fmt.Fprintf(&b, "%s: %s is slow: %s %s of it for this rank, which came last in %d of them", of, x.Rank, waited, percentText(x.ShareRatio), x.Slowest)
		if x.isOnce() {
			b.WriteString(", " + most)
		}
	}
	if x.ColdPasses > 0 {
		fmt.Fprintf(&b, "; excluded: %s", say.Count(x.ColdPasses, "cold "+one, "cold "+several))
		if x.ColdNs > 0 {
			fmt.Fprintf(&b, ", in which they waited %s for this rank", DurationText(float64(x.ColdNs)))
		}
	}
	return b.String()
}

// SlowWords are the sentences on who is slow, as one text; "" without any.
func (s Summary) SlowWords() string {
	var out strings.Builder
	for _, x := range s.Ranks {
		out.WriteString(strings.ToUpper(x.Words[:1]) + x.Words[1:] + ". ")
	}
	return strings.TrimSpace(out.String())
}
