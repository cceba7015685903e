package rpc

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

func ruleOf(name string) inject.Injector {
	return inject.Static(name, inject.Contribution{Instructions: "text of " + name})
}

func TestP25_a_turn_that_was_written_behind_a_reload_has_what_it_found(t *testing.T) {
	registry := &inject.Registry{}
	p := servingWith(t, Options{Rescan: func(context.Context) ([]string, error) {
		_, err := registry.Register(ruleOf("new"), schema.OriginBundle)
		return []string{"new"}, err
	}}, session.Config{Registry: registry})
	_, err := io.WriteString(p.in, request("1", "reloadInjectors", "null")+"\n"+request("2", "prompt", `{"input":"hi","instructionInjectors":["new"]}`)+"\n")
	require.NoError(t, err)
	var told, turn string
	for turn == "" {
		switch a := p.recv(); {
		case a.Method == "notice":
			told = string(a.Params)
		case string(a.ID) == "1":
			assert.Contains(t, string(a.Result), `"name":"new"`)
			assert.NotContains(t, string(a.Result), "text of")
		case string(a.ID) == "2":
			require.Nil(t, a.Error)
			turn = string(a.Result)
		}
	}
	assert.Contains(t, turn, `"origin":"bundle"`)
	assert.Equal(t, `{"level":"info","kind":"injectors_changed","message":"injectors have changed","data":{"names":["new"]}}`, told)
}

func TestP5_a_reload_lets_a_name_stand_that_was_freed(t *testing.T) {
	registry := &inject.Registry{}
	for _, origin := range []schema.Origin{schema.OriginBundle, schema.OriginConfig} {
		_, err := registry.Register(ruleOf("x"), origin)
		require.NoError(t, err)
	}
	registry.Unregister("x", schema.OriginConfig)
	p := servingWith(t, Options{}, session.Config{Registry: registry})
	const turn = `{"input":"hi","instructionInjectors":["x"]}`
	require.NotNil(t, p.ask("prompt", turn).Error)
	p.send("reloadInjectors", `{}`)
	var notice bool
	for {
		a := p.recv()
		notice = notice || a.Method == "notice"
		if a.Method == "" && notice {
			break
		}
	}
	assert.Nil(t, p.ask("prompt", turn).Error)
	p.send("reloadInjectors", `{}`)
	assert.Empty(t, p.recv().Method, "nothing has changed, so there is no notice")
}

func TestP25_a_slow_rescan_holds_up_nobody_and_can_be_cancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := servingWith(t, Options{Rescan: func(ctx context.Context) ([]string, error) {
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
			return nil, ctx.Err()
		}}, session.Config{})
		id := p.send("reloadInjectors", `{}`)
		assert.Nil(t, p.ask("ping", `{}`).Error)
		_, err := io.WriteString(p.in, cancelID(id)+"\n")
		require.NoError(t, err)
		assert.Equal(t, -32800, p.recv().Error.Code)
	})
}

func TestP25_a_rescan_that_fails_is_answered(t *testing.T) {
	for name, rescan := range map[string]func(context.Context) ([]string, error){
		"an error": func(context.Context) ([]string, error) { return nil, errors.New("secret detail") },
		"a panic":  func(context.Context) ([]string, error) { panic("secret detail") },
	} {
		t.Run(name, func(t *testing.T) {
			p := servingWith(t, Options{Rescan: rescan}, session.Config{})
			a := p.ask("reloadInjectors", `{}`)
			require.NotNil(t, a.Error)
			assert.Equal(t, -32603, a.Error.Code)
			assert.Nil(t, p.ask("ping", `{}`).Error)
			assert.Equal(t, -32602, p.ask("reloadInjectors", `{"sessionId":"a"}`).Error.Code)
		})
	}
}
