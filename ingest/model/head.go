package model

import "strings"

// head is what a class computes from the decoder's last states.
type head struct {
	logits  bool   // of every entry of the vocabulary
	name    string // else one matrix, applied to every token; "" for none
	outputs int64
	bias    bool
}

// headOf finds the head by the name of the model's class.
func (r *reader) headOf(c config, d *decoder) head {
	name := r.model.Architecture
	is := func(end string) bool { return strings.HasSuffix(name, end) }
	switch {
	case name == "":
		c.assume("a head that computes logits, because the configuration names no architecture")
		return head{logits: true}
	case is("ForCausalLM"), is("LMHeadModel"), is("ForConditionalGeneration"):
		return head{logits: true}
	case is("DoubleHeadsModel"):
		c.note(LeftOut, "the second head of %s is not supported", name)
		return head{logits: true}
	case is("ForSequenceClassification"):
		return head{name: "score", outputs: c.labels()}
	case is("ForTokenClassification"):
		return head{name: "score", outputs: c.labels(), bias: true}
	case is("ForQuestionAnswering") && !d.plainMLP:
		return head{name: "qa_outputs", outputs: 2, bias: true}
	case is("Model"):
		return head{}
	}
	c.note(LeftOut, "the head of %s is not supported", name)
	return head{}
}
