package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// reminding is a store of reminders that are enabled.
func reminding(rows ...schema.Reminder) *reminder.Store {
	for i := range rows {
		rows[i].Enabled, rows[i].Title = true, "Title of "+rows[i].ID
		if rows[i].Text == "" {
			rows[i].Text = "Text of " + rows[i].ID + "."
		}
		if rows[i].Trigger == "" {
			rows[i].Trigger = schema.TriggerEveryTurn
		}
	}
	return reminder.New(reminder.Options{Base: reminder.Layer{Prompts: rows}})
}

func after(id string) schema.Reminder {
	return schema.Reminder{ID: id, Trigger: schema.TriggerPostCompaction}
}

// behind lists what stands behind the input of a request.
func behind(req *provider.Request) (texts []string) {
	for _, s := range req.Segments {
		if s.Kind == provider.SegmentNotices {
			for _, m := range s.Messages {
				texts = append(texts, schema.PlainText(m.Content))
			}
		}
	}
	return texts
}

// turns lists behind of all requests but summarising ones, which carry none.
func turns(t *testing.T, p *model) (all [][]string) {
	for _, req := range p.asked() {
		if isSummary(req) {
			assert.Empty(t, behind(req), "R2: a summarising call carries no reminder")
			assert.NotContains(t, historyOf(req), "Text of", "R2: nor one that was kept")
			continue
		}
		all = append(all, behind(req))
	}
	return all
}

func names(injected []schema.Injected) (out []string) {
	for _, in := range injected {
		out = append(out, in.Name)
	}
	return out
}

func TestEachReminderIsAMessageBehindTheInputR1(t *testing.T) {
	p := &model{answer: counting("yes")}
	inj := inject.With(inject.Static("notice", inject.Contribution{Instructions: "Look."}), inject.Settings{Placement: schema.PlaceNotice})
	m := newManager(t, session.Config{Provider: p, Reminders: reminding(schema.Reminder{ID: "b"}, schema.Reminder{ID: "a"}), Injectors: []inject.Injector{inj}})
	var seen recorder
	result := ask(t, m, "s", "a real question", session.RunOptions{OnEvent: seen.take})
	ask(t, m, "s", "another question", session.RunOptions{})

	want := []string{"Look.", "Text of b.", "Text of a."}
	assert.Equal(t, [][]string{want, want}, turns(t, p), "after those of injectors, in list order")
	assert.NotContains(t, historyOf(p.asked()[1]), "Text of", "they are not sent again")
	assert.Equal(t, []string{"notice", "b", "a"}, names(result.Injected))
	b := result.Injected[1]
	assert.Equal(t, schema.Injected{Name: "b", Origin: "user", Placement: "notice", When: "every_turn", Bytes: 10, SHA256: b.SHA256, Kind: "plugin:prism-rpc", Form: "notice", Summary: "Title of b"}, b)
	var events []string
	for _, e := range seen.events {
		if in, ok := e.(*schema.InjectedEvent); ok {
			events = append(events, in.Name)
		}
	}
	assert.Equal(t, []string{"notice", "b", "a"}, events)
	notices := p.asked()[0].Segments
	source := notices[len(notices)-1].Messages[1].Source
	assert.Equal(t, &provider.Source{Kind: "plugin:prism-rpc", Form: "notice", Summary: "Title of b"}, source)
	assert.Equal(t, []string{"a real question", "yes", "another question", "yes"}, messagesOf(t, m, "s"))
}

func TestTrivialTurnsCarryNoneR3(t *testing.T) {
	p := &model{answer: counting("yes")}
	m := newManager(t, session.Config{Provider: p, Reminders: reminding(schema.Reminder{ID: "a"})})
	ask(t, m, "s", "ok!", session.RunOptions{})
	ask(t, m, "s", "why?", session.RunOptions{Names: []string{}})
	assert.Equal(t, [][]string{nil, {"Text of a."}}, turns(t, p), "an empty list of injectors leaves reminders alone (P2)")
}

func TestPredicatesKnowTrivialInputR4(t *testing.T) {
	spec := schema.InjectorSpec{Name: "t", When: "on_input", Predicate: "trivial", Instructions: "Be short."}
	inj, err := inject.FromSpec(spec)
	require.NoError(t, err)
	p := &model{answer: counting("yes")}
	m := newManager(t, session.Config{Provider: p, Registry: registry(t, inj), Names: []string{"t"}})
	assert.Equal(t, []string{"t"}, names(ask(t, m, "s", "ok!", session.RunOptions{}).Injected))
	assert.Empty(t, ask(t, m, "s", "why?", session.RunOptions{}).Injected)
}

// I3, R2: three compactions in a row give one notice, in the first substantive
// request after them.
func TestOnceAfterCompactionsI3R2(t *testing.T) {
	store := memstore.New()
	p := summarises(counting("yes"), counting("SUM"))
	m := newManager(t, session.Config{Provider: p, Store: store, Reminders: reminding(schema.Reminder{ID: "every"}, after("once"))})
	for i := range 3 {
		ask(t, m, "s", fmt.Sprint("question ", i), session.RunOptions{})
	}
	for i := range 3 {
		if i > 0 {
			ask(t, m, "s", "ok", session.RunOptions{})
		}
		mustCompact(t, m, "s")
	}
	ask(t, m, "s", "thanks", session.RunOptions{})
	ask(t, m, "s", "the next question", session.RunOptions{})
	ask(t, m, "s", "one more question", session.RunOptions{})
	every, both := []string{"Text of every."}, []string{"Text of every.", "Text of once."}
	assert.Equal(t, [][]string{every, every, every, nil, nil, nil, both, every}, turns(t, p))
}

func TestDoneWhenTheTurnCommitsR2(t *testing.T) {
	fail := false
	answer := func(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		if fail {
			return nil, &provider.Error{Class: provider.ClassBadRequest}
		}
		return counting("yes")(ctx, req, emit)
	}
	p := summarises(answer, counting("SUM"))
	store := memstore.New()
	cfg := session.Config{Provider: p, Store: store, Reminders: reminding(after("once"))}
	m := newManager(t, cfg)
	ask(t, m, "s", "question", session.RunOptions{})
	mustCompact(t, m, "s")
	fail = true
	_, err := begin(t, m, "s", "fails", false, session.RunOptions{}).Wait()
	require.Error(t, err)
	fail = false
	require.NoError(t, m.CloseSession("s")())

	m = newManager(t, cfg)
	ask(t, m, "s", "again", session.RunOptions{})
	require.NoError(t, m.CloseSession("s")())
	m = newManager(t, cfg)
	ask(t, m, "s", "and again", session.RunOptions{})
	assert.Equal(t, [][]string{nil, {"Text of once."}, {"Text of once."}, nil}, turns(t, p), "a failed turn gives it back; a restart keeps what is done")
}

func TestAForkKeepsWhatIsDoneR2(t *testing.T) {
	for claim, store := range map[string]session.Store{"stored": memstore.New(), "in memory": nil} {
		t.Run(claim, func(t *testing.T) {
			p := summarises(counting("yes"), counting("SUM"))
			m := newManager(t, session.Config{Provider: p, Store: store, Reminders: reminding(after("once"))})
			ask(t, m, "s", "question", session.RunOptions{})
			mustCompact(t, m, "s")
			for id, turn := range map[string]int{"armed": -1, "before": 1} {
				_, err := m.Fork("s", turn, id)
				require.NoError(t, err)
			}
			ask(t, m, "s", "uses it up", session.RunOptions{})
			_, err := m.Fork("s", -1, "done")
			require.NoError(t, err)
			given := func(id string) []string {
				ask(t, m, id, "a question", session.RunOptions{})
				all := turns(t, p)
				return all[len(all)-1]
			}
			assert.Equal(t, []string{"Text of once."}, given("armed"))
			assert.Equal(t, []string{"Text of once."}, given("before"))
			assert.Empty(t, given("done"))
			require.NoError(t, m.DeleteSession("done")())
			assert.Empty(t, given("done"), "forgotten with its session: nothing was compacted in the new one")
		})
	}
}

func TestKeptForEachReminderR2(t *testing.T) {
	p := summarises(counting("yes"), counting("SUM"))
	rows := reminding(after("a"))
	m := newManager(t, session.Config{Provider: p, Reminders: rows})
	ask(t, m, "s", "question", session.RunOptions{})
	mustCompact(t, m, "s")
	ask(t, m, "s", "uses a up", session.RunOptions{})
	text := "Text of b."
	change := &schema.SetRemindersParams{Prompts: schema.Patch[[]schema.ReminderRow]{Given: true, Value: []schema.ReminderRow{
		{ID: "a", Text: &text, Trigger: "postCompaction"}, {ID: "b", Text: &text, Trigger: "post_compaction"}}}}
	_, err := rows.Begin(change, nil)(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"b"}, names(ask(t, m, "s", "live at the next turn", session.RunOptions{}).Injected))
	assert.Empty(t, ask(t, m, "s", "once", session.RunOptions{}).Injected)
}

// stored puts a session of four turns into a store.
func stored(t *testing.T, store session.Store) {
	m := newManager(t, session.Config{Provider: &model{answer: counting("yes")}, Store: store})
	fill(t, m, "s", 4)
	require.NoError(t, m.CloseSession("s")())
}

// R2: a compaction within a turn arms that turn's next request.
func TestACompactionWithinATurnArmsItR2(t *testing.T) {
	for claim, tt := range map[string]struct {
		model    *model
		max      int
		requests [][]string
	}{
		"past the threshold": {summarises(counting("yes"), counting("SUM")), 80, [][]string{{"Text of once."}}},
		"on overflow":        {summarises(overflowsOnce("yes"), counting("SUM")), 0, [][]string{nil, {"Text of once."}}},
	} {
		t.Run(claim, func(t *testing.T) {
			store := memstore.New()
			fine := &model{answer: counting("yes")}
			stored(t, store)
			m := newManager(t, session.Config{Provider: tt.model, Store: store, MaxContextTokens: tt.max, Reminders: reminding(after("once"))})
			var seen recorder
			result := ask(t, m, "s", "the question", session.RunOptions{OnEvent: seen.take})
			assert.Equal(t, tt.requests, turns(t, tt.model))
			assert.Equal(t, []string{"once"}, names(result.Injected))
			told := 0
			for _, e := range seen.events {
				if _, ok := e.(*schema.InjectedEvent); ok {
					told++
				}
			}
			assert.Equal(t, 1, told)
			assert.Equal(t, 1, state(t, m, "s").Generation)
			require.NoError(t, m.CloseSession("s")())
			m = newManager(t, session.Config{Provider: fine, Store: store, Reminders: reminding(after("once"))})
			assert.Empty(t, ask(t, m, "s", "the next one", session.RunOptions{}).Injected, "it is done")
		})
	}
}

func TestATrivialTurnIsNotArmedR2(t *testing.T) {
	p := summarises(overflowsOnce("yes"), counting("SUM"))
	store := memstore.New()
	stored(t, store)
	m := newManager(t, session.Config{Provider: p, Store: store, Reminders: reminding(after("once"))})
	assert.Empty(t, ask(t, m, "s", "ok", session.RunOptions{}).Injected)
	assert.Equal(t, []string{"once"}, names(ask(t, m, "s", "the question", session.RunOptions{}).Injected))
}

func keeping() (*reminder.Store, []inject.Injector) {
	inj := inject.With(inject.Static("note", inject.Contribution{Instructions: "Text of note."}),
		inject.Settings{Placement: schema.PlaceNotice, Retention: schema.RetainKeep, Producer: "team"})
	return reminding(schema.Reminder{ID: "gone"}, schema.Reminder{ID: "kept", Retention: schema.RetainKeep}), []inject.Injector{inj}
}

// R1: a notice that is kept stands in the dialogue behind its input, in every
// later request, and not among what was said.
func TestAKeptNoticeStaysInTheDialogueR1(t *testing.T) {
	rows, injectors := keeping()
	store := memstore.New()
	p := &model{answer: counting("yes")}
	var histories []string
	var inputs []int
	look := inject.Func("look", func(_ context.Context, c inject.Context) (inject.Contribution, error) {
		n := 0
		for m := range c.History {
			assert.NotContains(t, schema.PlainText(m.Content), "Text of", "P9: an injector sees what was said")
			n++
		}
		inputs = append(inputs, n)
		return inject.Contribution{}, nil
	})
	cfg := session.Config{Provider: p, Store: store, Reminders: rows, Injectors: append(injectors, look)}
	m := newManager(t, cfg)
	ask(t, m, "s", "one?", session.RunOptions{RequestKey: "k"})
	ask(t, m, "s", "two?", session.RunOptions{})
	require.NoError(t, m.CloseSession("s")())
	m = newManager(t, cfg)
	ask(t, m, "s", "three?", session.RunOptions{})
	_, err := m.Fork("s", -1, "copy")
	require.NoError(t, err)
	ask(t, m, "copy", "four?", session.RunOptions{})
	for _, req := range p.asked() {
		histories = append(histories, historyOf(req))
	}
	turn := func(q string) string { return q + "|Text of note.|Text of kept.|yes" }
	assert.Equal(t, []string{"", turn("one?"), turn("one?") + "|" + turn("two?"), turn("one?") + "|" + turn("two?") + "|" + turn("three?")}, joined(p))
	assert.Equal(t, []int{0, 2, 4, 6}, inputs)
	assert.Equal(t, []string{"one?", "yes", "two?", "yes", "three?", "yes", "four?", "yes"}, messagesOf(t, m, "copy"))
	for i := 1; i < len(histories); i++ {
		assert.True(t, strings.HasPrefix(histories[i], histories[i-1]), "the earlier dialogue is a prefix")
		assert.NotContains(t, histories[i], "plugin:", "a source is not sent")
	}
	replayed := ask(t, m, "s", "one?", session.RunOptions{RequestKey: "k"})
	assert.True(t, replayed.Replayed)
	assert.Equal(t, "yes", schema.PlainText(replayed.Message.Content))
}

// joined lists the histories of all requests as texts.
func joined(p *model) (out []string) {
	for _, req := range p.asked() {
		var texts []string
		for _, s := range req.Segments {
			for _, m := range s.History.Messages(0, s.History.Len()) {
				texts = append(texts, schema.PlainText(m.Content))
			}
		}
		out = append(out, strings.Join(texts, "|"))
	}
	return out
}

func TestAKeptNoticeIsNotSummarisedR1R2(t *testing.T) {
	rows, injectors := keeping()
	p := summarises(counting("yes"), counting("SUM"))
	m := newManager(t, session.Config{Provider: p, Store: memstore.New(), Reminders: rows, Injectors: injectors})
	ask(t, m, "s", "one?", session.RunOptions{})
	ask(t, m, "s", "two?", session.RunOptions{})
	mustCompact(t, m, "s")
	ask(t, m, "s", "three?", session.RunOptions{})
	ask(t, m, "s", "four?", session.RunOptions{})
	turns(t, p) // which looks into the summarising call
	last := joined(p)[4]
	assert.Contains(t, last, "SUM")
	assert.Equal(t, 1, strings.Count(last, "Text of note."), "%s", last)
	assert.Equal(t, []string{"one?", "yes", "two?", "yes", "three?", "yes", "four?", "yes"}, messagesOf(t, m, "s"))
}

// P26: a secret that is learnt later leaves kept notices too, which stay
// notices.
func TestAKeptNoticeHidesWhatIsLearntLaterP26(t *testing.T) {
	store := memstore.New()
	p := &model{answer: counting("yes")}
	rows := reminding(schema.Reminder{ID: "kept", Retention: schema.RetainKeep, Text: "use canary-secret-42"})
	m := newManager(t, session.Config{Provider: p, Store: store, Reminders: rows})
	ask(t, m, "s", "one?", session.RunOptions{})
	require.NoError(t, m.Learn([]schema.SecretValue{{Value: "canary-secret-42"}}))
	ask(t, m, "s", "two?", session.RunOptions{})
	assert.Equal(t, "one?|use [REDACTED]|yes", joined(p)[1])
	assert.Equal(t, []string{"use [REDACTED]"}, behind(p.asked()[1]))
	assert.Equal(t, []string{"one?", "yes", "two?", "yes"}, messagesOf(t, m, "s"))
}

func TestARemindersSecretIsHiddenAndCountedP26(t *testing.T) {
	red, err := redact.New(redact.Value{Name: "token", Secret: redact.NewSecret("canary-secret-42")})
	require.NoError(t, err)
	p := &model{answer: counting("yes")}
	m := newManager(t, session.Config{Provider: p, Redactor: red, Reminders: reminding(schema.Reminder{ID: "canary-secret-42", Text: "use canary-secret-42"})})
	result := ask(t, m, "s", "one?", session.RunOptions{})
	assert.Equal(t, []string{"[REDACTED:token]"}, names(result.Injected))
	assert.Equal(t, []string{"use [REDACTED:token]"}, behind(p.asked()[0]))
	assert.Contains(t, result.Redacted, schema.Redaction{Where: "injected", Name: "token", Count: 1})
}
