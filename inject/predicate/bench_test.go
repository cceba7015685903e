package predicate_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/prism-rpc/prism-rpc/inject/predicate"
)

// The floor is the bare pattern on the bare text.
func BenchmarkEval(b *testing.B) {
	for _, size := range []int{200, 200 << 10} {
		f := predicate.Facts{Input: say(strings.Repeat("Where is the parser of this? ", size/29)), Turn: 2}
		for _, source := range []string{`input matches "(?i)json"`, `input matches "\\bjson\\b"`, `turn > 1 and any(paths, # endsWith ".go")`} {
			p, err := predicate.Compile(source)
			if err != nil {
				b.Fatal(err)
			}
			turn := predicate.NewTurn(f, 100*aLongTime)
			b.Run(fmt.Sprintf("%d/%s", size, source), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.Eval(turn); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		bare := regexp.MustCompile("(?i)json")
		b.Run(fmt.Sprintf("%d/floor", size), func(b *testing.B) {
			for b.Loop() {
				bare.MatchString(f.Input[0].Text)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := predicate.Compile(`input matches "(?i)json" and any(paths, # endsWith ".go")`); err != nil {
			b.Fatal(err)
		}
	}
}
