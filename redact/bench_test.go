package redact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/prism-rpc/prism-rpc/redact"
)

func keys(n int) []redact.Value {
	rnd := rand.New(rand.NewPCG(1, 2))
	out := make([]redact.Value, n)
	for i := range out {
		key := fmt.Sprintf("sk-%016x+/%016x", rnd.Uint64(), rnd.Uint64())
		out[i] = redact.Value{Name: fmt.Sprint("key", i), Secret: redact.NewSecret(key)}
	}
	return out
}

const prose = "func (s *Server) begin(ctx context.Context, p Params) error { // takes the session's turn, in order of arrival\n"

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		values := keys(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := redact.New(values...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkText(b *testing.B) {
	values := keys(100)
	r, err := redact.New(values...)
	if err != nil {
		b.Fatal(err)
	}
	clean := strings.Repeat(prose, 100<<10/len(prose))
	leaky := strings.ReplaceAll(clean, "Context", values[7].Secret.Reveal())
	for name, text := range map[string]string{"clean": clean, "leaky": leaky} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Text(text, nil)
			}
		})
	}
	b.Run("floor, a copy", func(b *testing.B) {
		b.SetBytes(int64(len(clean)))
		for b.Loop() {
			_ = strings.Clone(clean)
		}
	})
}

// BenchmarkHostile shows the cost of a byte not to rise with the length.
func BenchmarkHostile(b *testing.B) {
	r, err := redact.New(hostileValues()...)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{10_000, 1_000_000} {
		for name, text := range hostileTexts(n) {
			b.Run(fmt.Sprintf("%s, %d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					r.Text(text, nil)
				}
			})
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	r, err := redact.New(keys(100)...)
	if err != nil {
		b.Fatal(err)
	}
	raw := []byte(`[` + strings.Repeat(`{"role":"user","text":"one\ntwo"},`, 3000) + `0]`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		r.JSON(raw, nil)
	}
}

func BenchmarkStreamDelta(b *testing.B) {
	r, err := redact.New(keys(100)...)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("4 bytes", func(b *testing.B) {
		b.ReportAllocs()
		s, i := r.Stream(), 0
		for b.Loop() {
			s.Write(prose[i : i+4])
			i = (i + 4) % (len(prose) - 4)
		}
	})
	b.Run("floor, a copy", func(b *testing.B) {
		var out []byte
		i := 0
		for b.Loop() {
			out = append(out[:0], prose[i:i+4]...)
			i = (i + 4) % (len(prose) - 4)
		}
	})
}
