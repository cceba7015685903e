package inject_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// The floor of an evaluation is a call through the interface.
func BenchmarkApply(b *testing.B) {
	text := strings.Repeat("Answer in JSON. ", 16)
	c := inject.Context{Turn: 1, Input: []schema.ContentBlock{schema.TextBlock("hi")}}
	fixed := inject.Static("x", say(text))
	made := inject.Func("x", func(context.Context, inject.Context) (inject.Contribution, error) { return say(text), nil })
	red := hiding(b)
	for name, inj := range map[string]inject.Injector{"static": fixed, "func": made} {
		b.Run("floor/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := inj.Apply(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name, func(b *testing.B) {
			selected := chosen(inj)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := evaluate(b.Context(), selected, c, red, nil, inject.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The floor of resolving is a map's look-up of each name.
func BenchmarkResolve(b *testing.B) {
	var r inject.Registry
	floor := map[string]inject.Injector{}
	var selection []string
	for i := range inject.MaxInjectors {
		name := fmt.Sprint("injector-", i)
		inj := inject.Static(name, say("x"))
		if _, err := r.Register(inj, schema.OriginConfig); err != nil {
			b.Fatal(err)
		}
		floor[name] = inj
		if i%100 == 0 {
			selection = append(selection, name)
		}
	}
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			for _, name := range selection {
				if floor[name] == nil {
					b.Fatal(name)
				}
			}
		}
	})
	b.Run("known", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Resolve(selection); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unknown of a thousand", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.Resolve([]string{"injector-x"}); err == nil {
				b.Fatal("resolved")
			}
		}
	})
}

// A hundred conditions must take less than a millisecond. The floor is a
// hundred injectors without any.
func BenchmarkApplyPredicates(b *testing.B) {
	c := inject.Context{Turn: 3, Input: []schema.ContentBlock{schema.TextBlock(strings.Repeat("Where is the parser? ", 50))}}
	conditions := []string{"", `input matches "(?i)json"`, `turn > 5 and any(paths, # endsWith ".go")`, `metadata.lang == "go"`, `input matches "\\bjson\\b"`}
	for _, condition := range conditions {
		selected := make([]inject.Resolved, 100)
		for i := range selected {
			name := fmt.Sprint("injector-", i)
			inj, err := inject.FromSpec(schema.InjectorSpec{Name: name, When: "on_input", Predicate: condition, Instructions: "text"})
			if err != nil {
				b.Fatal(err)
			}
			selected[i] = inject.Resolved{Name: name, Origin: schema.OriginConfig, Injector: inj}
		}
		b.Run(condition, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, skipped, err := evaluate(b.Context(), selected, c, nil, nil, inject.Options{}); err != nil || len(skipped) > 0 {
					b.Fatal(err, skipped)
				}
			}
		})
	}
}
