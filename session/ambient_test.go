package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

func arms(a ambient.Armed) func(context.Context, string) ambient.Armed {
	return func(context.Context, string) ambient.Armed { return a }
}

func splice(t *testing.T, m *session.Manager, id string, sp session.Splice) string {
	s, err := m.Open(id)
	require.NoError(t, err)
	made, err := s.Splice(sp)
	require.NoError(t, err)
	return made
}

// contexts lists a session's ambient blocks, with their contents.
func contexts(t *testing.T, m *session.Manager, id string) *schema.ListContextResult {
	s, err := m.View(id)
	require.NoError(t, err)
	return s.BeginListContext(schema.Modules{})(t.Context(), true)
}

func namesOf(list *schema.ListContextResult) []string {
	out := []string{}
	for _, b := range list.Blocks {
		out = append(out, b.Name)
	}
	return out
}

func setAmbient(t *testing.T, m *session.Manager, id string, on schema.Patch[bool]) {
	s, err := m.Open(id)
	require.NoError(t, err)
	on.Given = true
	save, err := s.Update(&schema.UpdateSessionParams{ContextInjections: on})
	require.NoError(t, err)
	require.NoError(t, save())
}

func TestA1_while_off_nothing_is_read_and_nobody_is_asked(t *testing.T) {
	asked := 0
	p := says("ok")
	m := newManager(t, session.Config{Provider: p, Base: "base", Ambient: session.Ambient{
		Blocks: []schema.AmbientBlock{{Name: "Conf", Content: "c"}},
		Armed: func(context.Context, string) ambient.Armed {
			asked++
			return ambient.Armed{ProtectedPaths: []string{".git"}}
		},
	}})
	kept := splice(t, m, "s", session.Splice{Name: "Mine", Content: "m"})
	result := ask(t, m, "s", "hi", session.RunOptions{})
	assert.Equal(t, "base", systemOf(p.asked()[0]))
	assert.Empty(t, result.Injected)
	list := contexts(t, m, "s")
	assert.False(t, list.Enabled)
	assert.Equal(t, []string{"Conf", "Mine"}, namesOf(list), "they are kept")
	for _, b := range list.Blocks {
		assert.False(t, b.Rendered)
	}
	assert.Zero(t, asked)

	setAmbient(t, m, "s", schema.Patch[bool]{Value: true})
	result = ask(t, m, "s", "hi", session.RunOptions{})
	assert.Equal(t, 1, asked)
	assert.True(t, strings.HasSuffix(systemOf(p.asked()[1]), "\n\n# Conf\nc\n\n# Mine\nm"), "they come back")
	require.Len(t, result.Injected, 3)
	assert.Equal(t, kept, contexts(t, m, "s").Blocks[2].ID)

	setAmbient(t, m, "s", schema.Patch[bool]{Null: true})
	ask(t, m, "s", "hi", session.RunOptions{})
	assert.Equal(t, "base", systemOf(p.asked()[2]), "null is as configured")
}

func TestA1_a_session_may_have_them_off_where_they_are_on(t *testing.T) {
	p := says("ok")
	m := newManager(t, session.Config{Provider: p, Ambient: session.Ambient{On: true, Blocks: []schema.AmbientBlock{{Name: "n", Content: "c"}}}})
	off := false
	_, err := m.Create("quiet", schema.SessionSettings{ContextInjections: &off}, nil)
	require.NoError(t, err)
	ask(t, m, "quiet", "hi", session.RunOptions{})
	ask(t, m, "other", "hi", session.RunOptions{})
	assert.Empty(t, systemOf(p.asked()[0]))
	assert.Equal(t, "# n\nc", systemOf(p.asked()[1]))
}

func TestA2_A3_built_in_then_configured_then_spliced_at_the_end_of_the_system_text(t *testing.T) {
	p := says("ok")
	armed := ambient.Armed{Modules: true, Todos: true, Background: true, ProtectedPaths: []string{"a", "b"}}
	m := newManager(t, session.Config{Provider: p, Base: "base", Ambient: session.Ambient{On: true, Armed: arms(armed), Blocks: []schema.AmbientBlock{{Name: "Z", Content: "z"}, {Name: "A", Content: "a"}}}})
	splice(t, m, "s", session.Splice{Name: "Second", Content: "2"})
	splice(t, m, "s", session.Splice{Name: "First", Content: "1"})
	result := ask(t, m, "s", "hi", session.RunOptions{
		Injectors:    []inject.Injector{inject.Static("json", inject.Contribution{Instructions: "JSON."})},
		Instructions: schema.RunInstructions{Text: "run", Mode: schema.LayerAppend},
	})
	want := "base\n\nJSON.\n\nrun"
	for _, b := range ambient.Builtins(armed) {
		want += "\n\n# " + b.Name + "\n" + b.Content
	}
	want += "\n\n# Z\nz\n\n# A\na\n\n# Second\n2\n\n# First\n1"
	assert.Equal(t, want, systemOf(p.asked()[0]))
	var got []string
	for _, in := range result.Injected {
		got = append(got, fmt.Sprint(in.Name, " ", in.Origin, " ", in.Placement, " ", in.When))
	}
	assert.Equal(t, []string{
		"json host system every_turn", "Task list builtin system every_turn", "Protected paths builtin system every_turn",
		"Background work builtin system every_turn", "Z config system every_turn", "A config system every_turn",
		"Second splice system every_turn", "First splice system every_turn",
	}, got)
	yes := true
	ask(t, m, "s", "hi", session.RunOptions{Modules: schema.Modules{PlanMode: &yes}})
	assert.Contains(t, systemOf(p.asked()[1]), "\n\n# Plan mode\n")
}

func TestA5_with_nothing_before_it_the_first_blank_line_goes(t *testing.T) {
	p := says("ok")
	m := newManager(t, session.Config{Provider: p, Ambient: session.Ambient{On: true}})
	splice(t, m, "s", session.Splice{Name: " a ", Content: "{{x}} $(y)\n\n"})
	splice(t, m, "s", session.Splice{Name: "b", Content: ""})
	ask(t, m, "s", "hi", session.RunOptions{})
	assert.Equal(t, "#  a \n{{x}} $(y)\n\n\n\n# b\n", systemOf(p.asked()[0]))
}

func TestP2_an_empty_list_and_instructions_false_leave_ambient_blocks_alone(t *testing.T) {
	p := says("ok")
	m := newManager(t, session.Config{Provider: p, Base: "base", Ambient: session.Ambient{On: true, Blocks: []schema.AmbientBlock{{Name: "n", Content: "c"}}}})
	ask(t, m, "s", "hi", session.RunOptions{Names: []string{}, Instructions: schema.RunInstructions{Off: true}})
	assert.Equal(t, "base\n\n# n\nc", systemOf(p.asked()[0]))
}

func TestA6_the_same_blocks_are_the_same_bytes_on_every_turn(t *testing.T) {
	p := says("ok")
	m := newManager(t, session.Config{Provider: p, Base: "base", Ambient: session.Ambient{On: true}})
	splice(t, m, "s", session.Splice{Name: "n", Content: "c"})
	for range 5 {
		ask(t, m, "s", "hi", session.RunOptions{})
	}
	for _, req := range p.asked() {
		assert.Equal(t, "base\n\n# n\nc", systemOf(req))
	}
	assert.Equal(t, []string{"hi", "ok", "hi", "ok", "hi", "ok", "hi", "ok", "hi", "ok"}, messagesOf(t, m, "s"), "nothing of them enters the history")
}

func TestP17_ambient_blocks_are_left_out_first(t *testing.T) {
	text := strings.Repeat("x", 400)
	cfg := session.Config{Provider: says("ok"), MaxContextTokens: 300, CompactAt: 1, Ambient: session.Ambient{On: true, Blocks: []schema.AmbientBlock{{Name: "conf", Content: text}}}}
	run := func(t *testing.T, blocks int) (*recorder, *schema.TurnResult, string) {
		p := says("ok")
		cfg.Provider = p
		m := newManager(t, cfg)
		splice(t, m, "s", session.Splice{Name: "mine", Content: text})
		var rec recorder
		o := session.RunOptions{OnEvent: rec.take}
		for i := range blocks {
			o.Injectors = append(o.Injectors, inject.Static(fmt.Sprint("i", i), inject.Contribution{ContextBlocks: []schema.ContextBlock{{Content: schema.Input{schema.TextBlock(text)}}}}))
		}
		result := ask(t, m, "s", "hi", o)
		return &rec, result, systemOf(p.asked()[0])
	}
	skipped := func(rec *recorder) []string {
		out := []string{}
		for _, e := range rec.events {
			if sk, ok := e.(*schema.InjectorSkipped); ok {
				out = append(out, sk.Name+" "+sk.Reason)
			}
		}
		return out
	}
	t.Run("there is room for all", func(t *testing.T) {
		rec, _, system := run(t, 0)
		assert.Empty(t, skipped(rec))
		assert.Contains(t, system, "# mine")
	})
	t.Run("the last one goes first", func(t *testing.T) {
		rec, result, system := run(t, 1)
		assert.Equal(t, []string{"mine over_budget"}, skipped(rec))
		assert.Equal(t, "# conf\n"+text, system)
		assert.Len(t, result.Injected, 2)
	})
	t.Run("all go before a context block does", func(t *testing.T) {
		rec, result, system := run(t, 3)
		assert.Equal(t, []string{"conf over_budget", "mine over_budget", "i2 over_budget"}, skipped(rec))
		assert.Empty(t, system)
		assert.Len(t, result.Injected, 2)
	})
}

func TestP26_ambient_blocks_hold_no_secret(t *testing.T) {
	const secret, late = "hunter2-hunter2", "late-secret-1"
	red, err := redact.New(redact.Value{Name: "PW", Secret: redact.NewSecret(secret)})
	require.NoError(t, err)
	store, p := memstore.New(), says("ok")
	var rec recorder
	m := newManager(t, session.Config{Provider: p, Store: store, Redactor: red, Ambient: session.Ambient{On: true, Blocks: []schema.AmbientBlock{{Name: "n " + secret, Content: secret}}}})
	splice(t, m, "s", session.Splice{Name: secret, Content: "is " + secret + " and " + late})
	result := ask(t, m, "s", "hi", session.RunOptions{OnEvent: rec.take})
	assert.Equal(t, "# n [REDACTED:PW]\n[REDACTED:PW]\n\n# [REDACTED:PW]\nis [REDACTED:PW] and "+late, systemOf(p.asked()[0]))
	assert.Equal(t, "n [REDACTED:PW]", result.Injected[0].Name)
	assert.Equal(t, []string{"n [REDACTED:PW]", "[REDACTED:PW]"}, namesOf(contexts(t, m, "s")))
	for _, e := range rec.events {
		assert.NotContains(t, fmt.Sprintf("%+v", e), secret)
	}
	require.NoError(t, store.Read("s", func(record []byte) error {
		assert.NotContains(t, string(record), secret)
		return nil
	}))
	list := contexts(t, m, "s")
	assert.Equal(t, result.Injected[1].SHA256, list.Blocks[1].SHA256, "the list tells what was sent")
	assert.Equal(t, result.Injected[1].Bytes, list.Blocks[1].Bytes)

	require.NoError(t, m.Learn([]schema.SecretValue{{Value: late}}))
	ask(t, m, "s", "hi", session.RunOptions{})
	assert.NotContains(t, systemOf(p.asked()[1]), late)
	assert.NotContains(t, *contexts(t, m, "s").Blocks[1].Content, late)
	fork, err := m.Fork("s", -1, "f")
	require.NoError(t, err)
	require.NoError(t, fork.Sync())
	require.NoError(t, store.Read("f", func(record []byte) error {
		assert.NotContains(t, string(record), late)
		return nil
	}))
	s, err := m.Lookup("s")
	require.NoError(t, err)
	_, err = s.Splice(session.Splice{ID: "x-" + secret, Name: "n"})
	var bad *schema.ParamsError
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, "id", bad.Errors[0].Field)
}

func TestA3_a_host_that_panics_or_is_wrong(t *testing.T) {
	m := newManager(t, session.Config{Provider: says("ok"), Ambient: session.Ambient{On: true, Armed: func(context.Context, string) ambient.Armed { panic("x") }}})
	_, err := begin(t, m, "s", "hi", false, session.RunOptions{}).Wait()
	assert.Error(t, err, "its turn fails, and no other")
	_, err = session.NewManager(session.Config{Ambient: session.Ambient{Blocks: []schema.AmbientBlock{{Name: "a\nb"}}}})
	var bad *schema.ParamsError
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, "contextBlocks[0].name", bad.Errors[0].Field)
}

// armsOnce arms protected paths and counts how often it is asked.
func armsOnce(asked *int) func(context.Context, string) ambient.Armed {
	return func(context.Context, string) ambient.Armed {
		*asked++
		return ambient.Armed{ProtectedPaths: []string{".git"}}
	}
}
