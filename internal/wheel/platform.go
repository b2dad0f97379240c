package main

import (
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// libraries are the version of a C library, and the newest symbols of GCC's libraries by their prefix.
type libraries struct {
	glibc string
	has   map[string]string
}

// linuxes says for versions of the C library which symbols of GCC's libraries each Linux with that version has, as auditwheel's policies do. None
// is older than the first: DuckDB's library is compiled for it.
var linuxes = []libraries{
	{"2.28", map[string]string{"GLIBCXX": "3.4.24", "CXXABI": "1.3.11", "GCC": "7.0.0"}},
	{"2.31", map[string]string{"GLIBCXX": "3.4.28", "CXXABI": "1.3.12", "GCC": "7.0.0"}},
	{"2.34", map[string]string{"GLIBCXX": "3.4.29", "CXXABI": "1.3.13", "GCC": "7.0.0"}},
	{"2.35", map[string]string{"GLIBCXX": "3.4.30", "CXXABI": "1.3.13", "GCC": "7.0.0"}},
	{"2.39", map[string]string{"GLIBCXX": "3.4.33", "CXXABI": "1.3.15", "GCC": "14.0.0"}},
}

// everywhere are the libraries that each of these has.
var everywhere = []string{"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libresolv.so.2", "libgcc_s.so.1", "libstdc++.so.6",
	"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

// platformOf returns the tag of a wheel for the systems on which a program runs. It is an error if that is not known.
func platformOf(path string) (string, error) {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		return linux(f)
	}
	f, err := macho.Open(path)
	if err != nil {
		return "", errors.New("it is a program of neither Linux nor macOS")
	}
	defer f.Close()
	return mac(f)
}

func linux(f *elf.File) (string, error) {
	machine := map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}[f.Machine]
	if machine == "" {
		return "", fmt.Errorf("its processor is %v: wheels are for x86-64 and ARM", f.Machine)
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return "", err
	}
	var symbols []string
	if len(needed) > 0 { // it is linked dynamically
		versions, err := f.DynamicVersionNeeds()
		if err != nil {
			return "", err
		}
		for _, n := range versions {
			for _, v := range n.Needs {
				symbols = append(symbols, v.Dep)
			}
		}
	}
	glibc, err := oldest(needed, symbols)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("manylinux_%s_%s", strings.ReplaceAll(glibc, ".", "_"), machine), nil
}

// oldest returns the oldest version of the C library whose Linuxes have the libraries and the versions of symbols, such as GLIBC_2.34.
func oldest(needed, symbols []string) (string, error) {
	for _, l := range needed {
		if !slices.Contains(everywhere, l) {
			return "", fmt.Errorf("it needs %s, which not every Linux has", l)
		}
	}
	glibc := linuxes[0].glibc
	for _, s := range symbols {
		library, needs, _ := strings.Cut(s, "_")
		known := len(numbers(needs)) > 1
		if known && library != "GLIBC" {
			i := slices.IndexFunc(linuxes, func(l libraries) bool { return l.has[library] != "" && compare(needs, l.has[library]) <= 0 })
			if known = i >= 0; known {
				needs = linuxes[i].glibc
			}
		}
		if !known {
			return "", fmt.Errorf("it needs %s: which Linux has it is not known", s)
		}
		if compare(needs, glibc) > 0 {
			glibc = needs
		}
	}
	return glibc, nil
}

// compare orders versions by their numbers.
func compare(a, b string) int { return slices.Compare(numbers(a), numbers(b)) }

// numbers are those of a version; none if it has other parts.
func numbers(version string) (out []int) {
	for p := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(p)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

const buildVersion = 0x32 // LC_BUILD_VERSION, the load command that names the oldest system

// mac is as pip names systems: from macOS 11 on by the first number alone.
func mac(f *macho.File) (string, error) {
	machine := map[macho.Cpu]string{macho.CpuAmd64: "x86_64", macho.CpuArm64: "arm64"}[f.Cpu]
	if machine == "" {
		return "", fmt.Errorf("its processor is %v: wheels are for x86-64 and ARM", f.Cpu)
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return "", err
	}
	for _, l := range needed {
		if !strings.HasPrefix(l, "/usr/lib/") && !strings.HasPrefix(l, "/System/") {
			return "", fmt.Errorf("it needs %s, which not every Mac has", l)
		}
	}
	for _, load := range f.Loads {
		if raw := load.Raw(); len(raw) >= 16 && f.ByteOrder.Uint32(raw) == buildVersion {
			oldest := f.ByteOrder.Uint32(raw[12:]) // xxxx.yy.zz
			major := oldest >> 16
			if oldest&0xffff != 0 {
				major++
			}
			return fmt.Sprintf("macosx_%d_0_%s", max(major, 11), machine), nil
		}
	}
	return "", errors.New("it does not say which macOS it needs")
}
