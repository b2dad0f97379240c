package ncu

import (
	"slices"
	"strings"

	"prof/internal/mask"
)

// bareOptions are ncu's options that take no value (`ncu --help`, 2025.3, and those of earlier versions); every other one takes
// the next word unless it has a = in it.
var bareOptions = []string{
	"-h", "--help", "-v", "--version", "--forward-signals", "--call-stack", "--nvtx", "--support-32bit", "--null-stdin", "--list-sets",
	"--list-sections", "--section-folder-restore", "--list-rules", "--list-metrics", "--query-metrics", "--list-chips",
	"--disable-profiler-start-stop", "--quiet", "--verbose", "--disable-extra-suffixes", "-f", "--force-overwrite", "--open-in-ui",
	"--csv", "--print-metric-attribution", "--print-fp", "--print-rule-details", "--details-all", "--fp",
}

// longName gives the long form of ncu's short options, as far as their values are kept.
var longName = map[string]string{"-k": "--kernel-name", "-c": "--launch-count", "-s": "--launch-skip", "-o": "--export", "-p": "--port", "-i": "--import"}

// command is ncu's own command line, taken apart. ncu joins its words with blanks, so that a word with blanks in it is not
// known from several: the program's name is the first word that is no option and no option's value.
type command struct {
	options map[string][]string // by long name without --
	Program []string
}

func ParseCommand(line string) command {
	c := command{options: map[string][]string{}}
	words := strings.Fields(line)
	if len(words) > 0 { // ncu itself
		words = words[1:]
	}
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		name, value, has := strings.Cut(words[0], "=")
		words = words[1:]
		if name == "--" {
			break
		}
		if len(name) > 2 && name[1] != '-' && longName[name[:2]] != "" { // -c5
			name, value, has = name[:2], name[2:], true
		}
		if long, ok := longName[name]; ok {
			name = long
		}
		if !has && !slices.Contains(bareOptions, name) && len(words) > 0 {
			value, words = words[0], words[1:]
		}
		name = strings.TrimLeft(name, "-")
		c.options[name] = append(c.options[name], value)
	}
	c.Program = words
	return c
}

// keptOptions are the options of ncu that say how a capture was made, by the name of the fact that keeps them.
var keptOptions = [][2]string{
	{"set", "capture.set"}, {"section", "capture.section"}, {"metrics", "capture.metrics"}, {"kernel-name", "capture.kernel_name"},
	{"launch-skip", "capture.launch_skip"}, {"launch-count", "capture.launch_count"}, {"nvtx-include", "capture.nvtx_include"},
	{"nvtx-exclude", "capture.nvtx_exclude"}, {"cache-control", "capture.cache_control"}, {"graph-profiling", "capture.graph_profiling"},
	{"range-filter", "capture.range_filter"}, {"target-processes", "capture.target_processes"}, {"apply-rules", "capture.apply_rules"},
}

// facts returns how the capture was made. What the command line leaves out is what the settings in the report say, or what ncu
// does without it, which is marked so.
func (c command) facts(settings map[string]string) [][2]string {
	var out [][2]string
	for _, k := range keptOptions {
		if v, ok := c.options[k[0]]; ok {
			out = append(out, [2]string{k[1], mask.Text(strings.Join(v, ", "))})
		}
	}
	for _, k := range [][3]string{{"replay-mode", "capture.replay_mode", "kernel"}, {"clock-control", "capture.clock_control", "base"}} {
		v := k[2] + " (ncu's default)"
		if said := settings[k[0]]; said != "" {
			v = said
		}
		if given, ok := c.options[k[0]]; ok {
			v = given[len(given)-1]
		}
		out = append(out, [2]string{k[1], v})
	}
	return out
}
