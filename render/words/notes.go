package words

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
)

// manySections is in how many sections a note must be to be said once for all of them.
const manySections = 3

// SharedTitle heads the notes that are said once.
const SharedTitle = "Footnotes"

// SharedNotes returns the notes that many of the lists hold, in the order in which they come first.
func SharedNotes(lists ...[]string) []string {
	var order []string
	count := map[string]int{}
	for _, list := range lists {
		for _, note := range typeset.Unique(list) {
			order = append(order, note)
			count[note]++
		}
	}
	return slices.DeleteFunc(typeset.Unique(order), func(note string) bool { return count[note] < manySections })
}

// OwnNotes returns the notes that are not shared, and a word on those that are; "" when there are none.
func OwnNotes(notes, shared []string) (own []string, others string) {
	var numbers []string
	for _, note := range notes {
		if !slices.Contains(shared, note) {
			own = append(own, note)
		}
	}
	for i, note := range shared {
		if slices.Contains(notes, note) {
			numbers = append(numbers, fmt.Sprint(i+1))
		}
	}
	switch n := len(numbers); n {
	case 0:
		return own, ""
	case 1:
		return own, "note " + numbers[0]
	default:
		return own, "notes " + strings.Join(numbers[:n-1], ", ") + " and " + numbers[n-1]
	}
}

// NotesOf are a frame's notes, fit to be read.
func NotesOf(f *frame.Frame) []string {
	var out []string
	for _, note := range f.Notes {
		out = append(out, typeset.Neutral(note))
	}
	return out
}

// SectionNotes are the notes of sections that show something; page says whether to count those that are on the page only.
func SectionNotes(sections []judge.Section, page bool) [][]string {
	var out [][]string
	for _, s := range sections {
		if s.Missing == "" && s.Frame != nil && (page || !s.Page) {
			out = append(out, NotesOf(s.Frame))
		}
	}
	return out
}
