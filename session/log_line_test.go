package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// What a client says is in no log line, its blocks' titles neither.
func TestALogLineHoldsNothingOfARequest(t *testing.T) {
	core, lines := observer.New(zap.DebugLevel)
	m := newManager(t, session.Config{Provider: says("ok"), MaxContextTokens: 100, Logger: zap.New(core)})
	ask(t, m, "s", "hi", session.RunOptions{ContextBlocks: []schema.ContextBlock{block("their own title", strings.Repeat("their words ", 200))}})
	require.Equal(t, 1, lines.FilterMessage("injector skipped").Len(), "the block found no room, which is logged")
	for _, line := range lines.All() {
		assert.NotContains(t, fmt.Sprint(line.Message, line.ContextMap()), "their")
	}
}
