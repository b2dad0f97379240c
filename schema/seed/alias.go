package seed

import (
	"fmt"
	"io"
)

// DeviceAlias is another name under which drivers know a device (older ones leave out the "NVIDIA " in front), or a device that has
// the figures of another. An instance of a partitioned GPU (MIG) is no alias: it has a part of the figures.
type DeviceAlias struct {
	Alias  string // exact name as the CUDA driver gives it
	Device string // device of the peaks whose figures are those of Alias
	Doc    string // why they are
}

// Aliases parses and checks the built-in aliases, in the order of the file.
func Aliases() ([]DeviceAlias, error) {
	peaks, err := Peaks()
	if err != nil {
		return nil, err
	}
	return load("device_alias.csv", func(r io.Reader) ([]DeviceAlias, error) { return ParseAliases(r, peaks) })
}

var aliasColumns = []string{"alias", "device", "doc"}

// ParseAliases reads aliases of the devices of peaks from CSV with the header alias,device,doc. A device has peaks and an alias has
// none, so that a name leads to one device in one step.
func ParseAliases(r io.Reader, peaks []DevicePeak) ([]DeviceAlias, error) {
	device := map[string]bool{}
	for _, p := range peaks {
		device[p.Device] = true
	}
	var aliases []DeviceAlias
	seen := lines[string]{}
	err := eachRow(r, aliasColumns, func(line int, col []string) error {
		a := DeviceAlias{Alias: col[0], Device: col[1], Doc: col[2]}
		if err := filled("alias", a.Alias, "device", a.Device, "doc", a.Doc); err != nil {
			return err
		}
		if device[a.Alias] {
			return fmt.Errorf("alias %q is a device with peaks of its own", a.Alias)
		}
		if !device[a.Device] {
			return fmt.Errorf("device %q of alias %q has no peaks; name one of device_peak, not another alias", a.Device, a.Alias)
		}
		if err := seen.add(line, a.Alias, fmt.Sprintf("alias %q", a.Alias)); err != nil {
			return err
		}
		aliases = append(aliases, a)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return aliases, nil
}
