package seed

import (
	"strings"
	"testing"
)

func TestAliases(t *testing.T) {
	aliases, err := Aliases()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, a := range aliases {
		got[a.Alias] = a.Device
		if strings.Contains(a.Alias, "MIG") {
			t.Errorf("%s is a part of a GPU", a.Alias)
		}
	}
	for alias, device := range map[string]string{
		"A100-SXM4-40GB": "NVIDIA A100-SXM4-40GB", "GeForce RTX 3090": "NVIDIA GeForce RTX 3090", "NVIDIA GH200 120GB": "NVIDIA GH200 480GB",
	} {
		if got[alias] != device {
			t.Errorf("%s is %q, want %q", alias, got[alias], device)
		}
	}
}

func TestParseAliasesRefuses(t *testing.T) {
	const head = "alias,device,doc\n"
	peaks := []DevicePeak{{Device: "D", Resource: "fp32"}, {Device: "D", Resource: "dram"}, {Device: "E", Resource: "fp32"}}
	if got, err := ParseAliases(strings.NewReader(head+"a,D,d\nb,D,d\nc,E,d\n"), peaks); err != nil || len(got) != 3 {
		t.Fatalf("got %v, %v", got, err)
	}
	for in, want := range map[string]string{
		"":                        "header",
		"alias,device\n":          "header",
		"device,alias,doc\n":      "header is device,alias,doc, want alias,device,doc",
		head + "a,D\n":            "wrong number of fields",
		head + "a,D,d\na,D,d\n":   `line 3: alias "a" is in line 2`,
		head + "a,D,d\na,E,d\n":   `line 3: alias "a" is in line 2`,
		head + "a,F,d\n":          `line 2: device "F" of alias "a" has no peaks`,
		head + "D,E,d\n":          `alias "D" is a device`,
		head + "D,D,d\n":          `alias "D" is a device`,
		head + "a,D,d\nb,a,d\n":   `line 3: device "a" of alias "b" has no peaks`,
		head + "b,a,d\na,D,d\n":   `line 2: device "a" of alias "b" has no peaks`,
		head + ",D,d\n":           "alias",
		head + "a ,D,d\n":         "alias",
		head + "a,,d\n":           "device",
		head + "a,D,\n":           "doc",
		head + "a,d,the same\n":   `device "d"`,
		head + "\"a,D,d\nb,D,d\n": "quote",
	} {
		if _, err := ParseAliases(strings.NewReader(in), peaks); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}
