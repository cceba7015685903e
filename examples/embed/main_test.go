package main

import (
	"strings"
	"testing"
)

func TestP30AHostDoesItAllInProcess(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	want := `bundles: clock ready, house-rules ready
turn 1 injected json-always, Protected paths, House rules, Branch, wiki
turn 2 injected Protected paths, House rules, Branch, wiki
turn 3 injected on-json, house-rules, clock, Protected paths, House rules, Branch, wiki
turn 4: base, system: applied
turn 4: json-always, system: applied
turn 4: Protected paths, system: applied
turn 4: House rules, system: applied
turn 4: Branch, system: applied
turn 4: main.go, context: applied
turn 4: wiki, notice: applied
the provider was called 3 times
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
