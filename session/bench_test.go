package session_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
)

// BenchmarkOpen takes a stored session of 10,000 messages; "store" is the
// floor, the store's own part of it.
func BenchmarkOpen(b *testing.B) {
	store, err := filestore.Open(b.TempDir(), filestore.Options{})
	require.NoError(b, err)
	defer store.Close()
	m, err := session.NewManager(session.Config{Provider: says("An answer of some length, as models give."), Store: store})
	require.NoError(b, err)
	s, err := m.Open("s")
	require.NoError(b, err)
	for i := range 5000 {
		_, err := s.Run(b.Context(), input(fmt.Sprintf("Question number %d, with some words more.", i)), session.RunOptions{})
		require.NoError(b, err)
	}
	require.NoError(b, m.Close())
	b.Run("session", func(b *testing.B) {
		for b.Loop() {
			m, err := session.NewManager(session.Config{Store: store})
			require.NoError(b, err)
			s, err := m.Lookup("s")
			require.NoError(b, err)
			require.Equal(b, 5000, s.State().Turn)
			require.NoError(b, m.Close())
		}
	})
	b.Run("store", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, store.Read("s", func([]byte) error { return nil }))
		}
	})
}
