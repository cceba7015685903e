package schema

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// RegisterInjectorParams are the params of registerInjector: an injector as
// data, or one whose text the client is asked for (protocol §7).
type RegisterInjectorParams struct {
	InjectorSpec `validate:"-"`
	Callback     bool   `json:"callback,omitzero"`                                                     // the client answers applyInjector; no instructions and contextBlocks then
	Wants        []Want `json:"wants,omitempty" validate:"omitempty,max=16,unique,dive,oneof=history"` // of a callback: what it is told beside the turn
	Meta
}

// Want is something that a callback is told only when it asks for it.
type Want string

// WantHistory is the end of the dialogue.
const WantHistory Want = "history"

func (p *RegisterInjectorParams) check() *ParamsError {
	if !p.Callback && len(p.Wants) > 0 {
		return BadField("wants", "callback", "is of a callback; add callback: true")
	}
	if err := broken(&p.InjectorSpec); err != nil {
		return err
	}
	if p.Callback {
		return p.checkCallback()
	}
	return p.InjectorSpec.check()
}

// RegisterInjectorResult answers registerInjector.
type RegisterInjectorResult struct {
	Replaced bool `json:"replaced"` // an injector of the client's of that name
}

// UnregisterInjectorParams are the params of unregisterInjector.
type UnregisterInjectorParams struct {
	Name string `json:"name" validate:"injectorname"`
	Meta
}

// Registrations are a list of injectors to register, each as strict as the
// params of registerInjector, also in params that are not.
type Registrations []RegisterInjectorParams

// UnmarshalJSONFrom reads the list.
func (r *Registrations) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var raw []jsontext.Value
	if err := json.UnmarshalDecode(dec, &raw); err != nil {
		return err
	}
	*r = nil
	for i, v := range raw {
		var p RegisterInjectorParams
		if err := Decode(v, &p); err != nil {
			return Under(index(i), err)
		}
		*r = append(*r, p)
	}
	return nil
}
