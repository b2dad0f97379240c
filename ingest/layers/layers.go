// Package layers finds which layer of a model, and which part of it, each kernel of a pass belongs to: by the names of modules or ranges where there are such, else by the sequence of kernels.
package layers

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Parts of a layer, and of what is outside layers.
const (
	attention   = "attention"
	rotary      = "rotary"
	mlp         = "mlp"
	router      = "router"
	experts     = "experts"
	shared      = "shared experts"
	norms       = "norms"
	copies      = "copies"
	collectives = "collectives"
	head        = "head"
	sampling    = "sampling"
	embedding   = "embedding"
	vision      = "vision"
	encoder     = "encoder"
	other       = "other"
)

// Reasons why a pass is not divided.
const (
	noAttention = "attention" // no two kernels of attention
	noSequence  = "sequence"  // they do not repeat
	otherCount  = "layers"    // they repeat as often as no model of this depth does
	whole       = "graph"     // kernels of graphs are not known
)

// kernel is one of a pass, in the order of their starts.
type kernel struct {
	letter   byte // what it does, see letterOf
	ns       int64
	isVision bool
	place
}

// place is where a kernel is by the names of the modules or ranges around it.
type place struct {
	stack string // what the layer is one of; "" outside layers
	layer int    // its number in the stack
	part  string // "" where the names do not say
	known bool   // whether there are names at all
}

// found is what is known of a pass.
type found struct {
	layer   []int // of each kernel; -1 outside layers
	part    []string
	basis   string // names or sequence
	unknown string // why there is nothing
	passes  int    // forward passes
}

// share is how much of the kernels must be in place.
const share = 0.95

// find divides a pass. A model of so many layers, and a number of forward passes, are 0 where they are not known.
func find(list []kernel, layers, passes int) found {
	if f, is := byNames(list); is {
		return f
	}
	return bySequence(list, layers, passes)
}

// letters by what kernels do. Elementwise kernels are told apart by their function, since norms and rotary embeddings are often made of several.
var letters = map[string]byte{"gemm": 'G', "attention": 'A', "softmax": 'S', "top_k": 'T', "moe_routing": 't', "collective": 'C', "normalisation": 'N', "embedding_gather": 'e', "copy": 'k', "kv_cache": 'k',
	"activation": 'v', "rope": 'o', "quantisation": 'q', "sampling": 'z', "random": 'z', "scan_sort": 's', "reduction": 'r', "memset": 'f', "convolution": 'c'}

var (
	ofExperts   = regexp.MustCompile(`moe|grouped`)
	ofSplit     = regexp.MustCompile(`(?i)split-?k reduce|gemm reduce`)
	elementwise = []struct {
		name   string
		letter byte
	}{{"pow_tensor", 'p'}, {"MeanOps", 'm'}, {"rsqrt_kernel", 'i'}, {"CUDAFunctorOnSelf_add", 'a'}, {"CUDAFunctor_add", '+'}, {"MulFunctor", 'x'}, {"neg_kernel", 'n'}}
)

// letterOf is what a kernel does, as one letter: G and X multiply matrices, X those of experts, A is attention, N a norm, R adds up the parts of a product.
func letterOf(role, family, name string) byte {
	switch {
	case role == "gemm" && ofExperts.MatchString(family):
		return 'X'
	case role == "attention" && strings.Contains(family, "metadata"):
		return 'l'
	case role == "reduction" && ofSplit.MatchString(family):
		return 'R'
	case role == "elementwise" || role == "reduction":
		for _, e := range elementwise {
			if strings.Contains(name, e.name) {
				return e.letter
			}
		}
	}
	return cmp.Or(letters[role], 'l')
}

var (
	normMade   = regexp.MustCompile(`N+|k?[px]mai(?:x(?:k?axk?|k?x)?)?`) // by one kernel, or x * rsqrt(mean(x^2) + eps) * weight
	rotaryMade = regexp.MustCompile(`o+|xnkx\+`)                         // x * cos + cat(-x2, x1) * sin
)

// isProduct reports whether a kernel multiplies matrices.
func isProduct(letter byte) bool { return letter == 'G' || letter == 'X' }

// marked says for each letter whether it is in a match.
func marked(text string, of *regexp.Regexp) []bool {
	out := make([]bool, len(text))
	for _, m := range of.FindAllStringIndex(text, -1) {
		for i := m[0]; i < m[1]; i++ {
			out[i] = true
		}
	}
	return out
}

// ownPart is the part that a kernel says of itself, wherever it is.
func ownPart(letter byte, isRotary bool) string {
	switch {
	case isRotary:
		return rotary
	case letter == 'k':
		return copies
	case letter == 'C':
		return collectives
	}
	return ""
}

// outside is the part of a kernel outside layers; products are told apart by their place.
func outside(letter byte, isNorm, isBehindHead bool) string {
	switch {
	case isNorm:
		return norms
	case letter == 'e':
		return embedding
	case letter == 'z', isBehindHead && strings.IndexByte("TSs", letter) >= 0:
		return sampling
	}
	return cmp.Or(ownPart(letter, letter == 'o'), other)
}

// byNames divides a pass whose kernels have names around them that number layers.
func byNames(list []kernel) (found, bool) {
	named, counted, last := 0, 0, ""
	for _, k := range list {
		if k.isVision {
			continue
		}
		counted++
		if k.known {
			named++
		}
		if k.stack != "" {
			last = k.stack
		}
	}
	if last == "" || float64(named) < share*float64(counted) {
		return found{}, false
	}
	text := textOf(list)
	isNorm, isRotary := marked(text, normMade), marked(text, rotaryMade)
	f := found{layer: make([]int, len(list)), part: make([]string, len(list)), basis: "names"}
	first, before, isBehindHead, isIn := -1, -1, false, false
	for i, k := range list {
		f.layer[i] = -1
		switch {
		case k.isVision, k.stack != "" && k.stack != last && ofVision.MatchString(k.stack):
			f.part[i] = vision
		case k.stack != "" && k.stack != last:
			f.part[i] = encoder
		case k.stack != "":
			f.layer[i], isBehindHead, isIn = k.layer, false, true
			if first < 0 {
				first = k.layer
			}
			if k.layer == first && before != first {
				f.passes++
			}
			if f.part[i] = k.part; k.part != norms {
				f.part[i] = cmp.Or(ownPart(k.letter, isRotary[i]), k.part)
			}
			if f.part[i] == "" && isNorm[i] {
				f.part[i] = norms
			}
			f.part[i] = cmp.Or(f.part[i], other)
		case isProduct(k.letter) && isIn:
			f.part[i], isBehindHead, isIn = head, true, false
		case k.letter == 'R' && isBehindHead:
			f.part[i] = head
		default:
			f.part[i] = cmp.Or(k.part, outside(k.letter, isNorm[i], isBehindHead))
		}
		if !k.isVision {
			before = f.layer[i]
		}
	}
	return f, true
}

func textOf(list []kernel) string {
	text := make([]byte, len(list))
	for i, k := range list {
		text[i] = k.letter
	}
	return string(text)
}

// span is a piece of a sequence: from one kernel to before another.
type span struct{ from, to int }

// sequence is a pass without its vision part, as letters.
type sequence struct {
	text             string
	isNorm, isRotary []bool
	attentions       []span
}

// newSequence finds the attentions of a pass: kernels of attention without a product between them. Where there are none, a softmax between two products is one, with both.
func newSequence(text string) sequence {
	s := sequence{text: text, isNorm: marked(text, normMade), isRotary: marked(text, rotaryMade)}
	if strings.IndexByte(text, 'A') >= 0 {
		open := false
		for i := range len(text) {
			switch {
			case text[i] == 'A' && open:
				s.attentions[len(s.attentions)-1].to = i + 1
			case text[i] == 'A':
				s.attentions, open = append(s.attentions, span{i, i + 1}), true
			case isProduct(text[i]):
				open = false
			}
		}
		return s
	}
	for i := range len(text) {
		if text[i] != 'S' {
			continue
		}
		from, to := i-1, i+1
		for from >= 0 && text[from] != 'G' && !s.isNorm[from] {
			from--
		}
		for to < len(text) && strings.IndexByte("GXTt", text[to]) < 0 && !s.isNorm[to] {
			to++
		}
		if from >= 0 && to < len(text) && text[from] == 'G' && text[to] == 'G' {
			s.attentions = append(s.attentions, span{from, to + 1})
		}
	}
	return s
}

// norms returns where norms begin: of several without a product between them the last, and only those with a product between them and the begin.
func (s sequence) norms(from, to int) (out []int) {
	isBehind, isOpen := false, false
	for i := from; i < to; i++ {
		switch {
		case isProduct(s.text[i]):
			isBehind, isOpen = true, false
		case !isBehind || !s.isNorm[i] || i > from && s.isNorm[i-1]:
		case isOpen:
			out[len(out)-1] = i
		default:
			out, isOpen = append(out, i), true
		}
	}
	return out
}

// mostNorms is how many norms there may be from one attention to the next: two of a layer, and more in front of the attention, as of latents, queries and keys.
const mostNorms = 6

// layerSpan is a layer: its attention with what belongs to it up to mid, and its MLP behind.
type layerSpan struct {
	span
	mid int
}

// layers finds the layers of a pass in order, and how many a forward pass has; or why not.
//
// From one attention to the next there is the output projection, a norm, the MLP, a norm with which the next layer begins, and the products in front of its attention. From the last layer of a forward pass
// to the next one there is one norm more: that in front of the head.
func (s sequence) layers() (all []layerSpan, depth int, reason string) {
	n := len(s.attentions)
	if n < 2 {
		return nil, 0, noAttention
	}
	between := make([][]int, n) // norms behind each attention
	least := mostNorms + 1
	for i, a := range s.attentions {
		to := len(s.text)
		if i+1 < n {
			to = s.attentions[i+1].from
		}
		if between[i] = s.norms(a.to, to); i+1 < n {
			least = min(least, len(between[i]))
		}
	}
	if least == 0 || least > mostNorms {
		return nil, 0, noSequence
	}
	depth = n
	for i, b := range between[:n-1] {
		switch {
		case len(b) == least:
		case len(b) == least+1 && depth == n:
			depth = i + 1
		case len(b) != least+1:
			return nil, 0, noSequence
		}
		if len(b) == least+1 && (i+1)%depth != 0 || len(b) == least && depth < n && (i+1)%depth == 0 {
			return nil, 0, noSequence
		}
	}
	if n%depth != 0 || depth < 2 {
		return nil, 0, noSequence
	}
	ahead := max(least-1, 1) // norms of a layer up to its attention
	start := make([]int, n)
	for i := range s.attentions {
		switch {
		case i == 0:
			from := s.aheadOf(s.attentions[0].from, ahead)
			if from < 0 {
				return nil, 0, noSequence
			}
			start[0] = from
		default:
			b := between[i-1]
			start[i] = b[len(b)-ahead]
		}
	}
	for i, a := range s.attentions {
		b := between[i]
		l := layerSpan{span: span{start[i], len(s.text)}}
		switch {
		case (i+1)%depth != 0:
			l.to = start[i+1]
		case least == 1 && len(b) > 0:
			l.to = b[0]
		case least > 1 && len(b) > 1:
			l.to = b[1]
		case i+1 < n:
			return nil, 0, noSequence
		}
		if least > 1 && len(b) > 0 {
			l.mid = b[0]
		} else {
			for l.mid = a.to; l.mid < l.to && !isProduct(s.text[l.mid]); l.mid++ {
			}
			for l.mid = min(l.mid+1, l.to); l.mid < l.to && strings.IndexByte("RC", s.text[l.mid]) >= 0; l.mid++ {
			}
		}
		if !(l.from < a.from && a.to <= l.mid && l.mid <= l.to) {
			return nil, 0, noSequence
		}
		all = append(all, l)
	}
	return all, depth, ""
}

// aheadOf returns where the first of so many norms in front of the first attention begins; -1 without them.
func (s sequence) aheadOf(attention, count int) int {
	isOpen := false
	for i := attention - 1; i >= 0; i-- {
		switch {
		case isProduct(s.text[i]):
			isOpen = false
		case s.isNorm[i] && !isOpen:
			for i > 0 && s.isNorm[i-1] {
				i--
			}
			if isOpen, count = true, count-1; count == 0 {
				return i
			}
		}
	}
	return -1
}

// repeated is how much of the layers is in halves (attention, MLP) of which there is another one with the same kernels.
func (s sequence) repeated(all []layerSpan) float64 {
	counts := map[string]int{}
	halves := func(do func(string)) {
		for _, l := range all {
			do("a" + s.text[l.from:l.mid])
			do("m" + s.text[l.mid:l.to])
		}
	}
	halves(func(h string) { counts[h]++ })
	whole, again := 0, 0
	halves(func(h string) {
		if whole += len(h) - 1; counts[h] > 1 {
			again += len(h) - 1
		}
	})
	return float64(again) / float64(whole)
}

// bySequence divides a pass by the order of its kernels.
func bySequence(list []kernel, depth, passes int) found {
	var at []int // places of what is not vision
	var text []byte
	for i, k := range list {
		if !k.isVision {
			at, text = append(at, i), append(text, k.letter)
		}
	}
	s := newSequence(string(text))
	all, each, reason := s.layers()
	if reason == "" && s.repeated(all) < share {
		reason = noSequence
	}
	if reason == "" && (depth > 0 && depth%each != 0 || depth == 0 && passes > 0 && len(all) != passes*each) { // a pass may hold a forward pass for each prompt
		reason = otherCount
	}
	if reason != "" {
		return found{unknown: reason}
	}
	f := found{layer: make([]int, len(list)), part: make([]string, len(list)), basis: "sequence", passes: len(all) / each}
	for i := range list {
		f.layer[i], f.part[i] = -1, vision
	}
	before, isIn, isBehindHead := 0, false, false
	out := func(to int) {
		for i := before; i < to; i++ {
			part := outside(s.text[i], s.isNorm[i], isBehindHead)
			if isProduct(s.text[i]) && isIn {
				part, isIn, isBehindHead = head, false, true
			} else if s.text[i] == 'R' && isBehindHead {
				part = head
			}
			f.part[at[i]] = part
		}
	}
	for i, l := range all {
		out(l.from)
		for j, part := range s.parts(l) {
			f.layer[at[l.from+j]], f.part[at[l.from+j]] = i%each, part
		}
		before, isIn, isBehindHead = l.to, true, false
	}
	out(len(s.text))
	return f
}

// parts are the parts of a layer's kernels.
func (s sequence) parts(l layerSpan) []string {
	out := make([]string, l.to-l.from)
	put := func(from, to int, part string) {
		for i := from; i < to; i++ {
			out[i-l.from] = part
			if s.isNorm[i] {
				out[i-l.from] = norms
			} else if own := ownPart(s.text[i], s.isRotary[i]); own != "" {
				out[i-l.from] = own
			}
		}
	}
	end := s.behindProducts(l.from, l.mid)
	put(l.from, end, attention)
	put(end, l.mid, other)
	end = s.behindProducts(l.mid, l.to)
	x := strings.IndexAny(s.text[l.mid:l.to], "XTt")
	if x < 0 {
		put(l.mid, end, mlp)
		put(end, l.to, other)
		return out
	}
	from := l.mid // shared experts, where they come first: up to the product behind the last activation in front of the choice
	if v := strings.LastIndexByte(s.text[l.mid:l.mid+x], 'v'); v >= 0 {
		if g := strings.IndexByte(s.text[l.mid+v:l.mid+x], 'G'); g >= 0 {
			from += v + g + 1
		}
	}
	put(l.mid, from, shared)
	work := l.mid + x
	for work < l.to && !isProduct(s.text[work]) {
		work++
	}
	put(from, work, router)
	behind := l.to
	if last := strings.LastIndexByte(s.text[work:l.to], 'X'); last >= 0 {
		if g := strings.IndexByte(s.text[work+last:l.to], 'G'); g >= 0 {
			behind = work + last + g
		}
	}
	put(work, behind, experts)
	if behind < l.to {
		put(behind, end, shared)
		put(end, l.to, other)
	}
	return out
}

// behindProducts returns the place behind the last product, and what adds up its parts; the end without one.
func (s sequence) behindProducts(from, to int) int {
	for i := to - 1; i >= from; i-- {
		if isProduct(s.text[i]) || s.text[i] == 'R' {
			return i + 1
		}
	}
	return to
}

// off is by how much a layer's time may differ from the median of those with the same kernels.
const off = 0.2

// groups puts layers together that are equal, in the order of their first ones, and says by how much their time is off the median of those with the same kernels, where there are several.
func groups(texts map[int]*strings.Builder, ns map[int]int64) (out [][]int, ratio map[int]float64) {
	same := map[string][]int{}
	for layer, text := range texts {
		same[text.String()] = append(same[text.String()], layer)
	}
	ratio = map[int]float64{}
	for _, list := range same {
		slices.Sort(list)
		times := make([]int64, len(list))
		for i, layer := range list {
			times[i] = ns[layer]
		}
		slices.Sort(times)
		median := float64(times[(len(times)-1)/2]+times[len(times)/2]) / 2
		var apart [3][]int
		for _, layer := range list {
			side := 0
			if median > 0 && len(list) > 1 {
				ratio[layer] = (float64(ns[layer]) - median) / median
			}
			if ratio[layer] > off {
				side = 1
			} else if ratio[layer] < -off {
				side = 2
			}
			apart[side] = append(apart[side], layer)
		}
		for _, list := range apart {
			if len(list) > 0 {
				out = append(out, list)
			}
		}
	}
	slices.SortFunc(out, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return out, ratio
}

var (
	ofVision = regexp.MustCompile(`(?i)vision|visual|image|clip|siglip|sam_|vit`)
	ofLayer  = regexp.MustCompile(`(?i)^(.*?)(?:(\b\w*?(?:layer|block))_(\d+)|(?:\b|_)((?:layers|blocks|layer|block)[._\[ :#-]+|h\.)(\d+))(?:\]|\b|_)(.*)$`)
	digits   = regexp.MustCompile(`\d+`)
)

// blocks name parts in the names inside a layer, the innermost first.
var blocks = []struct {
	part string
	of   *regexp.Regexp
}{
	{norms, regexp.MustCompile(`(?i)norm|\bln_?\w*$`)},
	{rotary, regexp.MustCompile(`(?i)rotary|rope`)},
	{router, regexp.MustCompile(`(?i)router|gate(?:_\d+)?$`)},
	{shared, regexp.MustCompile(`(?i)shared_?expert`)},
	{experts, regexp.MustCompile(`(?i)expert`)},
	{attention, regexp.MustCompile(`(?i)attn|attention`)},
	{mlp, regexp.MustCompile(`(?i)mlp|ffn|feed_?forward|intermediate|(?:^|_)fc\d?$`)},
	{experts, regexp.MustCompile(`(?i)moe`)},
	{embedding, regexp.MustCompile(`(?i)embed|\bwte\b|\bwpe\b`)},
	{head, regexp.MustCompile(`(?i)lm_?head`)},
}

// placeOf is where the names around a kernel, joined by " > " from the outermost one, put it.
func placeOf(names string) place {
	if names == "" {
		return place{}
	}
	p := place{known: true}
	inside := names
	if m := ofLayer.FindStringSubmatch(names); m != nil {
		p.stack = digits.ReplaceAllString(m[1]+m[2]+m[4], "#")
		for _, c := range m[3] + m[5] {
			p.layer = p.layer*10 + int(c-'0')
		}
		inside = m[6]
	}
	pieces := strings.FieldsFunc(inside, func(r rune) bool { return strings.ContainsRune(" >./:'\"{}", r) })
	slices.Reverse(pieces)
	for _, piece := range pieces {
		for _, b := range blocks {
			if b.of.MatchString(piece) {
				p.part = b.part
				return p
			}
		}
	}
	return p
}
