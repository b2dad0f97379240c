package report

import "testing"

// TestMeanOfCalls holds that there is no time of a call where nobody knows how many calls there were.
func TestMeanOfCalls(t *testing.T) {
	for want, o := range map[string]operatorRow{
		"0.750000": {Calls: new(int64(2)), TotalCPUNs: new(1.5e6)},
		"-":        {TotalCPUNs: new(1.5e6)},
	} {
		if got := o.meanCPUMs(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := (operatorRow{Calls: new(int64(0)), TotalCPUNs: new(1.5e6)}).meanCPUMs(); got != "-" {
		t.Errorf("%s of no calls", got)
	}
}
