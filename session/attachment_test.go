package session_test

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

const gif = "GIF89a and what else there is of it"

// picture is an image block that holds data.
func picture(data string) schema.ContentBlock {
	return schema.ContentBlock{Type: schema.BlockImage, MimeType: "image/gif", Data: base64.StdEncoding.EncodeToString([]byte(data))}
}

func sum(data string) string { return storetest.Sum([]byte(data)) }

// show asks for a turn with these blocks.
func show(t *testing.T, m *session.Manager, id string, o session.RunOptions, blocks ...schema.ContentBlock) *schema.TurnResult {
	t.Helper()
	run, err := m.Begin(t.Context(), session.Start{SessionID: id, Input: blocks, Create: true, Queue: true, RunOptions: o})
	require.NoError(t, err)
	return wait(t, run)
}

// sees is a model that notes the images of each call: their bytes, or "" where
// they could not be had.
func sees(seen *[][]string) *model {
	m := says("ok")
	answer := m.answer
	m.answer = func(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		images := []string{}
		look := func(content []schema.ContentBlock) {
			for _, b := range content {
				if b.Type == schema.BlockImage {
					data, _ := req.Image(b) // "" where there is none
					images = append(images, string(data))
				}
			}
		}
		for _, s := range req.Segments {
			for _, said := range s.History.Messages(0, s.History.Len()) {
				look(said.Content)
			}
			for _, said := range s.Messages {
				look(said.Content)
			}
		}
		*seen = append(*seen, images)
		return answer(ctx, req, emit)
	}
	return m
}

// stores are where a session may be kept.
var stores = map[string]func(t *testing.T) session.Store{
	"no store": func(*testing.T) session.Store { return nil },
	"memory":   func(*testing.T) session.Store { return memstore.New() },
	"files": func(t *testing.T) session.Store {
		store, err := filestore.Open(t.TempDir(), filestore.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, store.Close()) })
		return store
	},
}

func TestAnImageReachesTheModelInEachTurnAndIsHeldByItsHash(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			var seen [][]string
			var input []schema.ContentBlock
			looks := inject.Func("looks", func(_ context.Context, c inject.Context) (inject.Contribution, error) {
				input = c.Input
				return inject.Contribution{}, nil
			})
			m := newManager(t, session.Config{Provider: sees(&seen), Store: open(t), Injectors: []inject.Injector{looks}})
			show(t, m, "s", session.RunOptions{}, schema.TextBlock("look"), picture(gif))
			show(t, m, "s", session.RunOptions{}, picture("GIF87a"), picture(gif))
			ask(t, m, "s", "and", session.RunOptions{})
			assert.Equal(t, [][]string{{gif}, {gif, "GIF87a", gif}, {gif, "GIF87a", gif}}, seen)
			assert.Equal(t, "[image image/gif, 35 bytes]", (schema.ContentBlock{Type: schema.BlockImage, MimeType: "image/gif", Bytes: len(gif)}).Plain())

			s, err := m.View("s")
			require.NoError(t, err)
			want := schema.ContentBlock{Type: schema.BlockImage, MimeType: "image/gif", SHA256: sum(gif), Bytes: len(gif)}
			assert.Equal(t, want, s.Messages(0, 1).Messages[0].Content[1])
			assert.Equal(t, []schema.ContentBlock{schema.TextBlock("and")}, input)
			assert.Equal(t, "look", s.State().Title)
			mimeType, read, err := s.Attachment(sum(gif))
			require.NoError(t, err)
			data, err := read()
			require.NoError(t, err)
			assert.Equal(t, gif, string(data))
			assert.Equal(t, "image/gif", mimeType)
			_, _, err = s.Attachment(sum("other"))
			var bad *schema.ParamsError
			assert.ErrorAs(t, err, &bad)
		})
	}
}

func TestS4AnImageIsNotRedactedAndNoRecordHoldsItsBytes(t *testing.T) {
	secret := base64.StdEncoding.EncodeToString([]byte(gif))[:24]
	red, err := redact.New(redact.Value{Secret: redact.NewSecret(secret)}, redact.Value{Secret: redact.NewSecret("image/gif")}, redact.Value{Secret: redact.NewSecret("what else there")})
	require.NoError(t, err)
	store := memstore.New()
	var seen [][]string
	m := newManager(t, session.Config{Provider: sees(&seen), Store: store, Redactor: red})
	image := picture(gif)
	image.URI, image.Title = "file:///"+secret, "what else there"
	show(t, m, "s", session.RunOptions{}, image)
	assert.Equal(t, [][]string{{gif}}, seen)
	for _, record := range storetest.Read(t, store, "s") {
		assert.NotContains(t, string(record), secret)
		assert.NotContains(t, string(record), `"data"`)
	}
	s, err := m.View("s")
	require.NoError(t, err)
	held := s.Messages(0, 1).Messages[0].Content[0]
	assert.Equal(t, schema.ContentBlock{Type: schema.BlockImage, MimeType: "image/gif", URI: "file:///[REDACTED]", Title: "[REDACTED]", SHA256: sum(gif), Bytes: len(gif)}, held)
}

func TestAnImageIsKeptBeforeTheRecordThatNamesIt_U11(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &noting{Store: memstore.New()}
		p := streams("x", time.Second)
		m := newManager(t, session.Config{Provider: p, Store: store})
		run, err := m.Begin(t.Context(), session.Start{SessionID: "s", Input: []schema.ContentBlock{picture(gif)}, Create: true, RunOptions: session.RunOptions{RequestKey: "the key"}})
		require.NoError(t, err)
		synctest.Wait()
		other := newManager(t, session.Config{Store: store})
		cut := state(t, other, "s").Interrupted
		require.NotNil(t, cut)
		assert.Equal(t, "the key", cut.RequestKey)
		assert.Equal(t, sum(gif), cut.Input[0].SHA256)
		s, err := other.View("s")
		require.NoError(t, err)
		_, read, err := s.Attachment(sum(gif))
		require.NoError(t, err, "what was cut off can be read")
		data, err := read()
		require.NoError(t, err)
		assert.Equal(t, gif, string(data))
		wait(t, run)
		assert.Equal(t, []string{"attach", "started"}, store.notes[:2])
	})
}

// noting is a store that notes in which order it is written to.
type noting struct {
	session.Store
	notes []string
}

func (n *noting) Create(id string, header []byte) (session.Log, error) {
	log, err := n.Store.Create(id, header)
	return notingLog{log, n}, err
}

type notingLog struct {
	session.Log
	store *noting
}

func (l notingLog) Attach(data []byte) error {
	l.store.notes = append(l.store.notes, "attach")
	return l.Log.Attach(data)
}

func (l notingLog) Append(record []byte) error {
	if strings.Contains(string(record), `"t":"started"`) {
		l.store.notes = append(l.store.notes, "started")
	}
	return l.Log.Append(record)
}

func TestU9RequestKeyCoversTheImage(t *testing.T) {
	m := newManager(t, session.Config{Provider: says("ok"), Store: memstore.New()})
	keyed := session.RunOptions{RequestKey: "k"}
	show(t, m, "s", keyed, picture(gif))
	assert.True(t, show(t, m, "s", keyed, picture(gif)).Replayed)
	_, err := m.Begin(t.Context(), session.Start{SessionID: "s", Input: []schema.ContentBlock{picture(gif + "!")}, RunOptions: keyed})
	assert.ErrorIs(t, err, session.ErrKeyReused)
}

func TestARequestKeyThatHoldsASecretIsNotKept_U11(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		m := newManager(t, session.Config{Provider: streams("x", time.Second), Store: store})
		hidden := session.RunOptions{RequestKey: "of hunter2hunter2", Secrets: []schema.SecretValue{{Value: "hunter2hunter2"}}}
		first := begin(t, m, "hidden", "hi", false, hidden)
		later := begin(t, m, "later", "hi", false, session.RunOptions{RequestKey: "of swordfish1"})
		synctest.Wait()
		other := newManager(t, session.Config{Store: store})
		assert.Equal(t, "of swordfish1", state(t, other, "later").Interrupted.RequestKey)
		require.NoError(t, other.Learn([]schema.SecretValue{{Value: "swordfish1"}}))
		assert.Empty(t, state(t, other, "later").Interrupted.RequestKey, "nor is it told once it is known to hold one")
		assert.Empty(t, state(t, other, "hidden").Interrupted.RequestKey)
		for _, record := range storetest.Read(t, store, "hidden") {
			assert.NotContains(t, string(record), "hunter2")
		}
		wait(t, first)
		wait(t, later)
	})
}

func TestAForkTakesImagesAlong(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			var seen [][]string
			m := newManager(t, session.Config{Provider: sees(&seen), Store: open(t)})
			show(t, m, "s", session.RunOptions{}, picture(gif))
			show(t, m, "s", session.RunOptions{}, picture("GIF87a"))
			_, err := m.Fork("s", 1, "s2")
			require.NoError(t, err)
			require.NoError(t, m.DeleteSession("s")())
			ask(t, m, "s2", "and", session.RunOptions{})
			assert.Equal(t, []string{gif}, seen[2])
			s, err := m.View("s2")
			require.NoError(t, err)
			_, _, err = s.Attachment(sum("GIF87a"))
			assert.Error(t, err, "what came after is not copied")
		})
	}
}

func TestADeletedSessionLeavesNoImage(t *testing.T) {
	dir := t.TempDir()
	store, err := filestore.Open(dir, filestore.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	m := newManager(t, session.Config{Provider: says("ok"), Store: store})
	show(t, m, "s", session.RunOptions{}, picture(gif))
	assert.FileExists(t, filepath.Join(dir, "attachments", "s", sum(gif)))
	require.NoError(t, m.DeleteSession("s")())
	left, err := os.ReadDir(filepath.Join(dir, "attachments"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A session whose image is lost goes on: the model reads what stands for it.
func TestALostImageIsToldAndStopsNothing(t *testing.T) {
	for claim, spoil := range map[string]func(path string) error{
		"missing": os.Remove,
		"damaged": func(path string) error { return os.WriteFile(path, []byte("GIF89a, another one"), 0o600) },
	} {
		t.Run(claim, func(t *testing.T) {
			dir := t.TempDir()
			store, err := filestore.Open(dir, filestore.Options{})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, store.Close()) })
			var seen [][]string
			core, logs := observer.New(zap.WarnLevel)
			m := newManager(t, session.Config{Provider: sees(&seen), Store: store, Logger: zap.New(core)})
			show(t, m, "s", session.RunOptions{}, picture(gif))
			require.NoError(t, spoil(filepath.Join(dir, "attachments", "s", sum(gif))))
			ask(t, m, "s", "and", session.RunOptions{})
			assert.Equal(t, [][]string{{gif}, {""}}, seen)
			assert.Equal(t, 1, logs.FilterMessage("an image was not sent").Len())
			s, err := m.View("s")
			require.NoError(t, err)
			_, read, err := s.Attachment(sum(gif))
			require.NoError(t, err)
			_, err = read()
			assert.ErrorIs(t, err, session.ErrStore)

			_, err = m.Fork("s", -1, "s2")
			require.NoError(t, err)
			assert.Equal(t, 3, ask(t, m, "s2", "go on", session.RunOptions{}).Turn)
			show(t, m, "s", session.RunOptions{}, picture(gif))
			assert.Equal(t, []string{gif, gif}, seen[len(seen)-1], "the same image again mends it")
		})
	}
}

func TestAnImageThatCannotBeKeptStartsNoTurn(t *testing.T) {
	m := newManager(t, session.Config{Provider: says("ok"), Store: unattached{memstore.New()}})
	run, err := m.Begin(t.Context(), session.Start{SessionID: "s", Input: []schema.ContentBlock{picture(gif)}, Create: true})
	require.NoError(t, err)
	_, err = run.Wait()
	run.Settle()
	assert.ErrorIs(t, err, session.ErrStore)
	assert.Nil(t, state(t, m, "s").Interrupted)
	assert.Equal(t, 1, ask(t, m, "s", "hi", session.RunOptions{}).Turn)
}

// unattached is a store that keeps no image.
type unattached struct{ session.Store }

func (u unattached) Create(id string, header []byte) (session.Log, error) {
	log, err := u.Store.Create(id, header)
	return unattachedLog{log}, err
}

type unattachedLog struct{ session.Log }

func (unattachedLog) Attach([]byte) error { return os.ErrPermission }

func TestAGoHostsImagesAreCheckedToo_U10(t *testing.T) {
	m := newManager(t, session.Config{Provider: says("ok")})
	other := picture(gif)
	other.MimeType = "image/png"
	for field, block := range map[string]schema.ContentBlock{
		"input[1].data":     other,
		"input[1].mimeType": {Type: schema.BlockImage, Data: other.Data},
	} {
		_, err := m.Begin(t.Context(), session.Start{SessionID: "s", Input: []schema.ContentBlock{schema.TextBlock("x"), block}, Create: true})
		var bad *schema.ParamsError
		require.ErrorAs(t, err, &bad)
		assert.Equal(t, field, bad.Errors[0].Field)
	}
	_, err := m.View("s")
	assert.ErrorIs(t, err, session.ErrNotFound, "no session is made")
}

func TestAnImageCountsTheSameHoweverLargeItIs(t *testing.T) {
	m := newManager(t, session.Config{Provider: says("ok")})
	tokens := func(id, data string) int64 {
		show(t, m, id, session.RunOptions{}, picture(data))
		return state(t, m, id).Context.Tokens
	}
	small, large := tokens("small", gif), tokens("large", gif+strings.Repeat("x", 1<<20))
	assert.Equal(t, small, large)
	assert.InDelta(t, 1500, small, 100)
}

// What a provider counts for an image says nothing of how it counts text.
func TestImagesTeachNoTokenRate(t *testing.T) {
	p := says("ok")
	few := int64(20)
	p.answer = func(context.Context, *provider.Request, func(provider.Event) error) (*provider.Result, error) {
		return &provider.Result{StopReason: schema.StopEndTurn, Usage: schema.Usage{InputTokens: &few}}, nil
	}
	m := newManager(t, session.Config{Provider: p})
	show(t, m, "s", session.RunOptions{}, picture(gif))
	before := state(t, m, "s").Context.Tokens
	show(t, m, "s", session.RunOptions{}, picture(gif))
	assert.InDelta(t, 2*before, state(t, m, "s").Context.Tokens, 100)
}

// More images than a request takes are summarised away, as more text is.
func TestImagesOfADialogueAreBounded(t *testing.T) {
	var seen [][]string
	m := newManager(t, session.Config{Provider: sees(&seen), Store: memstore.New()})
	large := gif + strings.Repeat("x", schema.MaxImageBytes-len(gif))
	for range 3 {
		show(t, m, "s", session.RunOptions{}, picture(large))
	}
	before := state(t, m, "s").Generation
	show(t, m, "s", session.RunOptions{}, picture(large))
	assert.Equal(t, before+1, state(t, m, "s").Generation)
	assert.Len(t, seen[len(seen)-1], 1, "after the summary the turn's own is left")
}

// A log is input: what it says of images is not believed.
func TestALogsImagesAreCheckedWhenTheyAreRead(t *testing.T) {
	for claim, block := range map[string]string{
		"no hash":              `{"type":"image"}`,
		"a path for a hash":    `{"type":"image","mimeType":"image/gif","sha256":"../../sessions/s.jsonl","bytes":5}`,
		"sizes below nothing":  `{"type":"image","mimeType":"image/gif","sha256":"` + sum("x") + `","bytes":-5}`,
		"sizes past all":       `{"type":"image","mimeType":"image/gif","sha256":"` + sum("x") + `","bytes":9007199254740991}`,
		"bytes in the log":     `{"type":"image","mimeType":"image/gif","data":"R0lGODlh"}`,
		"what is no base64":    `{"type":"image","mimeType":"image/gif","data":"!"}`,
		"a type of no image":   `{"type":"image","mimeType":"text/html\",\"x\":\"","sha256":"` + sum("x") + `","bytes":1}`,
		"a resource of nought": `{"type":"resource"}`,
	} {
		t.Run(claim, func(t *testing.T) {
			dir := t.TempDir()
			store, err := filestore.Open(dir, filestore.Options{})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, store.Close()) })
			storetest.Write(t, store, "s", storetest.Header("s"),
				[]byte(`{"v":1,"t":"turn","turn":1,"runId":"r1","messages":[{"role":"user","content":[`+block+`]},{"role":"assistant","content":"yes"}]}`),
				[]byte(`{"v":1,"t":"started","turn":2,"runId":"r2","at":"2026-01-01T00:00:00.000Z","input":[`+block+`]}`))
			var seen [][]string
			m := newManager(t, session.Config{Provider: sees(&seen), Store: store, MaxContextTokens: 100_000})
			require.NotNil(t, state(t, m, "s").Interrupted)
			s, err := m.View("s")
			require.NoError(t, err)
			assert.Len(t, s.Messages(0, 10).Messages, 2)
			assert.Equal(t, 2, ask(t, m, "s", "and", session.RunOptions{}).Turn)
			require.Len(t, seen, 1)
			for _, image := range seen[0] {
				assert.Contains(t, []string{"", "GIF89a"}, image)
			}
			_, err = m.Fork("s", -1, "s2")
			assert.NoError(t, err)
		})
	}
}
