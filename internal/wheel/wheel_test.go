package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestMain makes the test's own binary a program to pack: where STAND_IN is set, it prints its arguments.
func TestMain(m *testing.M) {
	if os.Getenv("STAND_IN") != "" {
		fmt.Printf("%q", os.Args[1:])
		os.Exit(7)
	}
	os.Exit(m.Run())
}

// packed is the wheel of the test's own binary.
func packed(t *testing.T) string {
	t.Helper()
	var said bytes.Buffer
	if err := run([]string{"-version", "1.2.3", "-out", t.TempDir(), os.Args[0], "../../LICENSE"}, &said); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(said.String())
}

// TestInstall installs a wheel with pip, without a network, and runs both commands, one through a link from elsewhere.
func TestInstall(t *testing.T) {
	if out, err := exec.Command("python3", "-m", "pip", "--version").CombinedOutput(); err != nil {
		t.Skipf("no python3 with pip: %v %.200s", err, out)
	}
	dir := t.TempDir()
	pip := exec.CommandContext(t.Context(), "python3", "-m", "pip", "--isolated", "--disable-pip-version-check", "install", "--no-index", "--no-cache-dir", "--target", dir, packed(t))
	if out, err := pip.CombinedOutput(); err != nil {
		t.Fatalf("pip install: %v\n%s", err, out)
	}
	link := filepath.Join(t.TempDir(), "prof")
	if err := os.Symlink(filepath.Join(dir, "bin", "prof"), link); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{filepath.Join(dir, "bin", name), link} {
		cmd := exec.CommandContext(t.Context(), command, "open", "a b.sqlite", "*")
		cmd.Env = append(os.Environ(), "STAND_IN=1")
		out, err := cmd.Output()
		if want := `["open" "a b.sqlite" "*"]`; string(out) != want || cmd.ProcessState.ExitCode() != 7 {
			t.Errorf("%s: it prints %s, and not %s; %v", command, out, want, err)
		}
	}
}

// TestRecord checks that the list in a wheel has each file with its hash and size, and that the package has its licence.
func TestRecord(t *testing.T) {
	archive, err := zip.OpenReader(packed(t))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var want [][]string
	var record []byte
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if isScript := strings.Contains(f.Name, "/scripts/"); isScript != (f.Mode()&0o111 != 0) {
			t.Errorf("the mode of %s is %v", f.Name, f.Mode())
		}
		if strings.HasSuffix(f.Name, "/RECORD") {
			record, want = text, append(want, []string{f.Name, "", ""})
			continue
		}
		sum := sha256.Sum256(text)
		want = append(want, []string{f.Name, "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), fmt.Sprint(len(text))})
	}
	got, err := csv.NewReader(bytes.NewReader(record)).ReadAll()
	if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("RECORD has %q, %v; the wheel %q", got, err, want)
	}
	if !slices.ContainsFunc(want, func(row []string) bool { return row[0] == "profhouse-1.2.3.dist-info/licenses/LICENSE" }) {
		t.Errorf("there is no licence among %q", want)
	}
}

func TestOldest(t *testing.T) {
	for _, c := range []struct{ needed, symbols, want string }{
		{"", "", "2.28"},
		{"libc.so.6 libm.so.6", "GLIBC_2.2.5 GLIBC_2.17", "2.28"},
		{"libc.so.6", "GLIBC_2.9 GLIBC_2.34 GLIBC_2.4", "2.34"},
		{"libc.so.6 libstdc++.so.6", "GLIBC_2.34 GLIBCXX_3.4.30 CXXABI_1.3", "2.35"},
		{"libstdc++.so.6", "GLIBCXX_3.4 GLIBCXX_3.4.9 CXXABI_1.3.13", "2.34"},
		{"libstdc++.so.6", "GLIBCXX_3.4.31", "2.39"},
		{"libgcc_s.so.1", "GCC_3.4 GCC_12.0.0", "2.39"},
		{"libstdc++.so.6", "GLIBCXX_3.4.99", "it needs GLIBCXX_3.4.99: which Linux has it is not known"},
		{"libc.so.6", "GLIBC_PRIVATE", "it needs GLIBC_PRIVATE: which Linux has it is not known"},
		{"libc.so.6", "GLIBC_ABI_DT_RELR", "it needs GLIBC_ABI_DT_RELR: which Linux has it is not known"},
		{"libssl.so.3", "OPENSSL_3.0.0", "it needs libssl.so.3, which not every Linux has"},
	} {
		got, err := oldest(strings.Fields(c.needed), strings.Fields(c.symbols))
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s with %s: %s, and not %s", c.needed, c.symbols, got, c.want)
		}
	}
}

// TestPlatform compares what a shell says that it needs with what this Linux has, and what a Mac's program says with pip's names.
func TestPlatform(t *testing.T) {
	if libc, err := exec.Command("getconf", "GNU_LIBC_VERSION").Output(); err == nil && runtime.GOOS == "linux" {
		_, here, _ := strings.Cut(strings.TrimSpace(string(libc)), " ")
		got, err := platformOf("/bin/sh")
		rest, _ := strings.CutPrefix(got, "manylinux_")
		version := strings.Join(strings.SplitN(rest, "_", 3)[:2], ".")
		if err != nil || compare(version, "2.28") < 0 || compare(version, here) > 0 {
			t.Errorf("/bin/sh is for %q, %v; it runs with glibc %s", got, err, here)
		}
	}
	for oldest, want := range map[uint32]string{12 << 16: "macosx_12_0_arm64", 13<<16 | 3<<8: "macosx_14_0_arm64", 10<<16 | 15<<8: "macosx_11_0_arm64", 0: "it does not say which macOS it needs"} {
		header := []uint32{0xfeedfacf, 0x0100000c, 0, 2, 1, 24, 0, 0, buildVersion, 24, 1, oldest, oldest, 0} // a program with one load command
		if oldest == 0 {
			header[8] = 0x1b // its UUID
		}
		path := filepath.Join(t.TempDir(), "mac")
		var text bytes.Buffer
		if err := binary.Write(&text, binary.LittleEndian, header); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := platformOf(path)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("a program for macOS %#x: %s, and not %s", oldest, got, want)
		}
	}
	if got, err := platformOf("wheel_test.go"); err == nil {
		t.Errorf("this file is for %s", got)
	}
}
