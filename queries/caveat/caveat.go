// Package caveat words what a reader of a run's numbers must know. SQL finds caveats and gives their figures; how they are said is here.
package caveat

import (
	"fmt"
	"slices"
	"strings"

	"prof/schema/say"
)

// Facts is the topic of the caveat that a run lacks its facts, FactsLacking its kind; Derives is a command that derives them.
const (
	Facts        = "facts"
	FactsLacking = "facts-lacking"
	Derives      = "prof --memory SIZE tag RUN KEY=VALUE"
)

// Word returns caveats with their texts, and the notes that these make, each once.
func Word(list []C) (worded []C, notes []string, err error) {
	for _, c := range list {
		of, known := words[c.Kind]
		if !known {
			return nil, nil, fmt.Errorf("no words for the caveat %s of topic %s", c.Kind, c.Topic)
		}
		c.Text = of.say(c, slices.DeleteFunc(slices.Clone(list), func(x C) bool { return x.Topic != c.Topic || x.Kind != c.Kind }))
		if worded = append(worded, c); !slices.Contains(notes, c.Text) {
			notes = append(notes, c.Text)
		}
	}
	return worded, notes, nil
}

// Fault words what is wrong with a row of mfu or mbu, as its column fault names it; nothing where that is empty.
func Fault(kind string) string {
	switch kind {
	case "mfu-over-1":
		return "MFU is over 1: tokens, model, peak or precision must be wrong"
	case "mbu-over-1":
		return "MBU is over 1: tokens, model, precision or bandwidth must be wrong"
	}
	return kind
}

// fault is the kind of rows with a fault.
func fault(name string) kind {
	return sentence(func(c Faulty) string { return c.Row + ": " + Fault(name) })
}

// count is a number of things: 1 kernel, 2 kernels.
func count(n int64, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", n, many[0])
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// where returns those of a list of which something holds.
func where[T any](list []T, is func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool { return !is(x) })
}

// names lists what get gives of caveats, each once, at most n of them.
func names[T any](list []T, n int, get func(T) string) string {
	var out []string
	for _, c := range list {
		if name := get(c); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if len(out) > n {
		out = append(out[:n], "...")
	}
	return strings.Join(out, ", ")
}

// ranStage is a stage that several processes ran.
type ranStage struct {
	Stage     string `col:"stage"`
	Processes int64  `col:"item_count"`
}

// stages lists the stages that as many processes ran: what is said of one is said of all.
func (c ranStage) stages(alike []ranStage) string {
	var out []string
	for _, x := range alike {
		if x.Processes == c.Processes && !slices.Contains(out, x.Stage) {
			out = append(out, x.Stage)
		}
	}
	return say.List(out)
}

func ms(ns float64) string { return fmt.Sprintf("%.3f ms", ns/1e6) }

func share(part, whole float64) string { return fmt.Sprintf("%.1f %%", 100*part/whole) }

// ofDeviceWork returns how much of the device work takes some time of it.
func ofDeviceWork(ns, all float64) string {
	return fmt.Sprintf("%s of the device work (%.3f of %s)", share(ns, all), ns/1e6, ms(all))
}
