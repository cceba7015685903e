package assemble_test

import (
	"fmt"
	"strings"
	"testing"
)

// A turn costs the same however long the dialogue is: the ratio of the two
// sizes is what counts.
func BenchmarkBuild(b *testing.B) {
	for _, messages := range []int{10, 10_000} {
		r := whole(b)
		for r.History.Len() < messages {
			said(b, &r.History, strings.Repeat("word ", 40))
		}
		b.Run(fmt.Sprint(messages), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if len(r.Build().Segments) == 0 {
					b.Fatal("empty")
				}
			}
		})
	}
}
