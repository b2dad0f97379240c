package main

import (
	"fmt"
	"testing"
	"testing/fstest"
)

func TestSampling(t *testing.T) {
	const imports = "import \"prof/internal/sample\"\n"
	tests, err := sampling(fstest.MapFS{
		"a/a_test.go": {Data: []byte("package a\n" + imports + "func TestA() { sample.Of(nil, 2) }\nfunc TestB() { help() }\nfunc TestC() { var check int; _ = check }\nfunc (x) check() { _ = *sample.Whole }\nfunc TestD() { x{}.check() }")},
		"a/b_test.go": {Data: []byte("package a\nimport some \"prof/internal/sample\"\nfunc help() { more() }\nfunc more() { some.Of(nil, 2) }\nfunc TestE() { sample.Of(nil, 2) }")},
		"b/b_test.go": {Data: []byte("package b\nfunc TestF() { help() }")},
		"c/c.go":      {Data: []byte("package c\n" + imports + "func TestG() { sample.Of(nil, 2) }")},
	})
	if err != nil || len(tests) != 1 {
		t.Fatalf("%v: %v", tests, err)
	}
	found := map[string]bool{}
	for _, name := range tests["a"] {
		found[name] = true
	}
	if want := map[string]bool{"TestA": true, "TestB": true, "TestD": true}; fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", found, want)
	}
}
