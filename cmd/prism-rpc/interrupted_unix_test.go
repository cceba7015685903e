//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

// result is what the line of the reply with that id holds.
func result[T any](t *testing.T, c *child, id string) (out T) {
	t.Helper()
	var reply struct {
		Result T `json:"result"`
	}
	line := c.until(t, `"id":"`+id+`","result"`)
	require.NoError(t, json.Unmarshal([]byte(line), &reply), line)
	return reply.Result
}

// A turn that kill -9 cuts off is named with all that its client needs to ask
// for it again: its key, its text and, by its hash, its image.
func TestU11KilledTurnRunsAgainByItsKeyWithItsImage(t *testing.T) {
	data := append([]byte("GIF89a"), bytes.Repeat([]byte{0, 1, 2, 254}, 5000)...)
	dir := t.TempDir()
	ask := fmt.Sprintf(`{"jsonrpc":"2.0","id":"p","method":"prompt","params":{"sessionId":"s","requestKey":"order 66","input":[{"type":"text","text":"look"},{"type":"image","mimeType":"image/gif","data":%q}]}}`,
		base64.StdEncoding.EncodeToString(data))
	first := startChild(t, "--store=file", "--store-dir", dir)
	first.send(t, ask)
	first.until(t, `"text":"words"`)
	require.NoError(t, first.Process.Kill())
	_ = first.Wait()

	second := &child{Cmd: command(t, "--store=file", "--store-dir", dir)}
	launch(t, second)
	second.send(t, `{"jsonrpc":"2.0","id":"s","method":"state","params":{"sessionId":"s"}}`)
	cut := result[schema.SessionState](t, second, "s").Interrupted
	require.NotNil(t, cut)
	assert.Equal(t, "order 66", cut.RequestKey)
	assert.Equal(t, "look", cut.Input[0].Text)
	assert.Equal(t, len(data), cut.Input[1].Bytes)

	second.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":"a","method":"messages","params":{"sessionId":"s","attachment":%q}}`, cut.Input[1].SHA256))
	assert.Equal(t, base64.StdEncoding.EncodeToString(data), result[schema.MessagesResult](t, second, "a").Attachment.Data)

	second.send(t, ask)
	ran := result[schema.TurnResult](t, second, "p")
	assert.True(t, ran.Committed)
	assert.False(t, ran.Replayed)
	second.send(t, ask)
	again := result[schema.TurnResult](t, second, "p")
	assert.True(t, again.Replayed)
	assert.Equal(t, ran.RunID, again.RunID)
	second.send(t, `{"jsonrpc":"2.0","id":"s","method":"state","params":{"sessionId":"s"}}`)
	assert.Nil(t, result[schema.SessionState](t, second, "s").Interrupted)
	require.NoError(t, second.in.Close())
	require.NoError(t, second.Wait())
}

// An image larger than a message comes in pieces whose base64 is one.
func TestAnAttachmentIsReadInPieces_T7(t *testing.T) {
	data := append([]byte("GIF89a"), bytes.Repeat([]byte{255, 0, 1}, 10_000)...)
	whole := base64.StdEncoding.EncodeToString(data)
	c := &child{Cmd: command(t)}
	launch(t, c)
	c.send(t, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"initializationOptions":{"maxMessageBytes":4096}}}`)
	c.send(t, `{"jsonrpc":"2.0","id":"p","method":"prompt","params":{"sessionId":"s","input":[{"type":"image","mimeType":"image/gif","data":"`+whole+`"}]}}`)
	c.until(t, `"id":"p"`)
	c.send(t, `{"jsonrpc":"2.0","id":"m","method":"messages","params":{"sessionId":"s"}}`)
	sum := result[schema.MessagesResult](t, c, "m").Messages[0].Content[0].SHA256
	read := ""
	for offset, pieces := 0, 1; ; pieces++ {
		c.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":"a","method":"messages","params":{"sessionId":"s","attachment":%q,"offset":%d}}`, sum, offset))
		line := c.until(t, `"id":"a","result"`)
		assert.LessOrEqual(t, len(line), 4096)
		var reply struct {
			Result schema.MessagesResult `json:"result"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &reply))
		read += reply.Result.Attachment.Data
		assert.Equal(t, len(data), reply.Result.Attachment.Bytes)
		if reply.Result.NextOffset == nil {
			assert.Greater(t, pieces, 5)
			break
		}
		require.Greater(t, *reply.Result.NextOffset, offset)
		offset = *reply.Result.NextOffset
	}
	assert.Equal(t, whole, read)
	require.NoError(t, c.in.Close())
	require.NoError(t, c.Wait())
}
