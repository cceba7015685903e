package main

import (
	"context"
	"strings"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// injectors are what turns can select by name: text that never changes, and a
// Go function with a condition of its own. Neither can grant anything.
func injectors() (*inject.Registry, error) {
	registry := &inject.Registry{}
	for _, injector := range []inject.Injector{
		inject.Static("json-always", inject.Contribution{Instructions: "Always answer in JSON."}),
		inject.Func("on-json", func(context.Context, inject.Context) (inject.Contribution, error) {
			return inject.Contribution{
				Instructions: "Reply with JSON.",
				When:         schema.WhenOnInput,
				Predicate: func(c inject.Context) bool {
					return strings.Contains(strings.ToLower(schema.PlainText(c.Input)), "json")
				},
			}, nil
		}),
	} {
		if _, err := registry.Register(injector, schema.OriginHost); err != nil {
			return nil, err
		}
	}
	return registry, nil
}
