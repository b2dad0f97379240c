package model

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"sync"
)

// Defaults of the configuration classes of transformers 5.17 by model_type: what save_pretrained leaves out of
// objects within a configuration. They are the sizes and switches in the to_dict() of each class without arguments.
//
//go:embed defaults.json
var defaultsText []byte

// classDefaults gives the defaults by model_type, decoded once.
var classDefaults = sync.OnceValue(func() map[string]map[string]any {
	d := json.NewDecoder(bytes.NewReader(defaultsText))
	d.UseNumber()
	var out map[string]map[string]any
	if err := d.Decode(&out); err != nil {
		panic("defaults.json: " + err.Error()) // it is part of the program
	}
	return out
})
