package session

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrderIsThatOfTheLastUse(t *testing.T) {
	var o order
	var want []*Session
	all := []*Session{{id: "a"}, {id: "b"}, {id: "c"}, {id: "d"}}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		s := all[random.IntN(len(all))]
		want = slices.DeleteFunc(want, func(w *Session) bool { return w == s })
		if random.IntN(3) == 0 {
			o.remove(s)
		} else {
			o.toBack(s)
			want = append(want, s)
		}
		require.Equal(t, len(want), o.len)
		require.True(t, slices.Equal(want, o.sessions()))
	}
}

func (o *order) sessions() (all []*Session) {
	var last *Session
	for s := o.first; s != nil; last, s = s, s.after {
		if s.before != last {
			panic("a link back leads elsewhere")
		}
		all = append(all, s)
	}
	if last != o.last {
		panic("the last session is another one")
	}
	return all
}
