package stacks

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// writeFolded writes a line for each stack: frames with ; between them, a blank, ns on the GPU. Stacks that differ in labels only are one.
func writeFolded(w io.Writer, p *Profile, _ Options) error {
	sums := map[string]int64{}
	for _, s := range p.Stacks {
		if s.Calls == 0 { // FLOP of an operator
			continue
		}
		frames := slices.Clone(s.Frames)
		for i, f := range frames {
			frames[i] = plain.Replace(f)
		}
		sums[strings.Join(frames, ";")] += s.GPUNs
	}
	out := bufio.NewWriter(w)
	for _, stack := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(out, "%s %d\n", stack, sums[stack])
	}
	return out.Flush()
}

// plain takes away what ends a frame or a line.
var plain = strings.NewReplacer(";", ":", "\n", " ", "\r", " ")
