package inject

import (
	"cmp"

	"github.com/prism-rpc/prism-rpc/schema"
)

// A Decision says what became of one selected injector in a turn, and why
// (P10, P11). Err is for logs, which redact it.
type Decision struct {
	Name      string
	Origin    schema.Origin
	When      schema.When // empty where only the injector knows, and gave nothing
	Placement schema.Placement
	Reason    schema.Reason
	Applied   *Applied // of ReasonApplied
	Err       error    // of ReasonError and ReasonTimeout
}

// Skipped tells whether a fault kept the injector from giving what it had.
func (d Decision) Skipped() bool {
	switch d.Reason {
	case schema.ReasonError, schema.ReasonTimeout, schema.ReasonOverBudget:
		return true
	}
	return false
}

func newDecision(r Resolved) Decision {
	inj, set := settingsOf(r.Injector)
	d := Decision{Name: r.Name, Origin: r.Origin, Placement: cmp.Or(set.Placement, schema.PlaceSystem)}
	switch inj := inj.(type) {
	case *static:
		d.When = inj.c.When
		if blank(inj.c.Instructions) {
			d.Placement = schema.PlaceContext
		}
	case *gated:
		d.When = inj.When
	}
	return d
}

// Decisions are those on a turn's injectors, in the order of their selection.
type Decisions []Decision

// Applied is what is to be injected.
func (ds Decisions) Applied() []Applied {
	var out []Applied
	for _, d := range ds {
		if d.Applied != nil {
			out = append(out, *d.Applied)
		}
	}
	return out
}

// Skipped are those that a fault kept from giving what they had.
func (ds Decisions) Skipped() Decisions {
	var out Decisions
	for _, d := range ds {
		if d.Skipped() {
			out = append(out, d)
		}
	}
	return out
}
