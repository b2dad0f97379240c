package diff

import "math/big"

// shares divides totals by units so that the shares add up to the rounded share of the totals' sum: each is the difference between
// neighbours of the rounded cumulative sums. Shares of totals that follow each other add up to the share of their sum likewise, whatever
// they are grouped by.
func shares(totals []int64, units int64) []int64 {
	out := make([]int64, len(totals))
	if units == 0 {
		return out
	}
	var sum, before int64
	for i, t := range totals {
		sum += t
		now := divided(sum, units)
		out[i] = now - before
		before = now
	}
	return out
}

// divided is n / units rounded to the nearest whole number, halves up.
func divided(n, units int64) int64 {
	q, r := n/units, n%units
	if r < 0 {
		q, r = q-1, r+units
	}
	if r >= units-r {
		q++
	}
	return q
}

// split says what the change of an item from a ns to b ns for one unit comes from. Sides with calls are split by the number of calls and
// their mean duration: with n calls for one unit of mean duration m on side A and n', m' on side B,
//
//	n' m' - n m = (n' - n) m + n (m' - m) + (n' - n) (m' - m)
//
// each rounded, the last one what is left, so that the parts add up to the change in whole ns. They fit as long as the calls of one side
// at the mean of the other take less than the 292 years that 64 bits hold.
func split(a, b int64, sideA, sideB *amount, unitsA, unitsB int64) *Delta {
	d := &Delta{Ns: b - a}
	switch {
	case sideA == nil:
		d.NewNs = d.Ns
	case sideB == nil:
		d.RemovedNs = d.Ns
	case sideA.tally.calls == 0 || sideB.tally.calls == 0:
		d.DurationNs = d.Ns // a part of a time without calls
	default:
		ca, cb := sideA.tally.calls, sideB.tally.calls
		// (cb/ub - ca/ua) ta/ca = ta (cb ua - ca ub) / (ca ua ub)
		d.CountNs = quotient(product(sideA.tally.total), difference(product(cb, unitsA), product(ca, unitsB)), product(ca, unitsA, unitsB))
		// ca/ua (tb/cb - ta/ca) = (tb ca - ta cb) / (ua cb)
		d.DurationNs = quotient(product(1), difference(product(sideB.tally.total, ca), product(sideA.tally.total, cb)), product(unitsA, cb))
		d.InteractionNs = d.Ns - d.CountNs - d.DurationNs
	}
	return d
}

func product(factors ...int64) *big.Int {
	out := big.NewInt(1)
	for _, f := range factors {
		out.Mul(out, big.NewInt(f))
	}
	return out
}

func difference(a, b *big.Int) *big.Int { return a.Sub(a, b) }

// quotient is factor * over / under rounded to the nearest whole number, halves up; under is above 0.
func quotient(factor, over, under *big.Int) int64 {
	over.Mul(over, factor)
	over.Lsh(over, 1).Add(over, under)
	return over.Div(over, under.Lsh(under, 1)).Int64() // Div is Euclidean: down for a divisor above 0
}

// add adds the parts of another change.
func (d *Delta) add(o *Delta) {
	d.Ns += o.Ns
	d.CountNs += o.CountNs
	d.DurationNs += o.DurationNs
	d.InteractionNs += o.InteractionNs
	d.NewNs += o.NewNs
	d.RemovedNs += o.RemovedNs
}
