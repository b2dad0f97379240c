package nsys

import "regexp"

// kernelNames maps the names of kernels to ids of names in the warehouse for one worker, and notes their symbols on the way. A
// kernel's demangled and mangled name are looked up as one: both repeat, and their pairs are as few.
type kernelNames struct {
	l      *loader
	ids    map[kernelName]int64
	last   kernelName
	lastID int64
	warm   bool
}

// kernelName are string ids; mangled is noSymbol where the export does not say it.
type kernelName struct{ demangled, mangled int64 }

const noSymbol = -1

// id gives the id of a kernel's name; short is the string id of its short name.
func (k *kernelNames) id(name kernelName, short int64) (int64, error) {
	if k.warm && name == k.last {
		return k.lastID, nil
	}
	id, ok := k.ids[name]
	if !ok {
		var err error
		if id, err = k.add(name, short); err != nil {
			return 0, err
		}
		k.ids[name] = id
	}
	k.last, k.lastID, k.warm = name, id, true
	return id, nil
}

// symbolText is what a symbol of an object file looks like. Whatever else an export names there is none: it also holds the profiled
// process's environment.
var symbolText = regexp.MustCompile(`^[A-Za-z_.$][A-Za-z0-9_.$@]*$`)

func (k *kernelNames) add(name kernelName, short int64) (int64, error) {
	text, err := k.l.strings.get(name.demangled)
	if err != nil {
		return 0, err
	}
	base, err := k.l.strings.get(short)
	if err != nil {
		return 0, err
	}
	id := k.l.target.Run.Kernels.Add(text, &base)
	if name.mangled == noSymbol {
		return int64(id), nil
	}
	symbol, err := k.l.strings.get(name.mangled)
	if err == nil && symbolText.MatchString(symbol) {
		k.l.target.Run.Symbols.Add(id, symbol)
	}
	return int64(id), err
}
