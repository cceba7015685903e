package provider

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

func withNotice(t *testing.T) History {
	h := filled(t, dialogs...)
	note := Text(schema.RoleUser, "Look \"here\".")
	note.Source = &Source{Kind: "plugin:x", Form: "notice", Summary: "T }"}
	encoded, err := AppendNotice(nil, note)
	require.NoError(t, err)
	assert.NoError(t, CheckMessage(encoded))
	h.Append(encoded)
	h.Append(filledRaw(t, dialogs[3]))
	return h
}

func filledRaw(t *testing.T, m schema.Message) []byte {
	encoded, err := AppendMessage(nil, m)
	require.NoError(t, err)
	return encoded
}

func TestAKeptNoticeIsToldApartAndSentAsItIsR1(t *testing.T) {
	h := withNotice(t)
	at := len(dialogs)
	assert.Equal(t, "plugin:x", h.Source(at).Kind)
	for _, i := range []int{0, at - 1, at + 1} {
		assert.Nil(t, h.Source(i))
	}
	whole, plain := h.Plain()
	assert.True(t, plain, "a notice of text leaves the dialogue one of text")
	assert.NotContains(t, string(whole), "source")
	assert.Equal(t, `{"role":"user","content":"Look \"here\"."}`, string(h.Raw(at)))
	assert.Equal(t, `{"role":"user","content":"Look \"here\".","source":{"kind":"plugin:x","form":"notice","summary":"T }"}}`, string(h.Encoded(at)))
	assert.Equal(t, string(h.Raw(0)), string(h.Encoded(0)))
}

func TestPartsOfADialogueKeepTheirSourcesR1(t *testing.T) {
	h := withNotice(t)
	at := len(dialogs)
	first := h.First(at)
	assert.Empty(t, first.sourced())
	first = h.First(at + 1)
	assert.NotNil(t, first.Source(at))
	behind := h.Behind(at-1, filledRaw(t, dialogs[0]))
	assert.NotNil(t, behind.Source(2))
	assert.Nil(t, behind.Source(1))
	said := h.Dialogue()
	assert.Equal(t, h.Len()-1, said.Len())
	assert.Nil(t, said.Source(at))
	plain := filled(t, dialogs...)
	same := plain.Dialogue()
	assert.Equal(t, plain.Len(), same.Len())
}

func TestTheLastThatWasSaidP9(t *testing.T) {
	h := withNotice(t)
	n := h.Len()
	assert.Equal(t, n, h.LastSaid(0))
	assert.Equal(t, n-1, h.LastSaid(1))
	assert.Equal(t, n-3, h.LastSaid(2), "the notice does not count")
	assert.Zero(t, h.LastSaid(100))
	plain := filled(t, dialogs...)
	assert.Equal(t, 2, plain.LastSaid(2))
}

func TestASourceStandsAtTheEnd(t *testing.T) {
	for _, raw := range []string{
		`{"role":"user","source":{"kind":"x"},"content":"hi"}`,
		`{"source":{"kind":"x"},"role":"user","content":"hi"}`,
		`{"role":"user","content":"hi","source":{"kind":"x","more":1}}`,
		`{"role":"user","content":"hi","source":"x"}`,
	} {
		assert.Error(t, CheckMessage([]byte(raw)), raw)
	}
	assert.NoError(t, CheckMessage([]byte(`{"role":"user","content":"hi","source":null}`)))
	assert.Nil(t, SourceOf([]byte(`{"role":"user","content":"a}}"}`)))
	assert.Nil(t, SourceOf([]byte(`junk}}`)))
}
