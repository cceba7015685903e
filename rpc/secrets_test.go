package rpc

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/mock"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// canary is long enough to be cut anywhere, and holds what other texts escape.
const canary = "canary-0123456789-\"\\/+=\n\t-abcdefghijklmnopqrstuvwxyz-0123456789"

// leaks finds a piece of the canary in text, as it is or escaped.
func leaks(text string) string {
	escaped := string(appendText(nil, canary))
	shown := strings.NewReplacer("\n", " ", "\t", " ").Replace(canary)
	for _, form := range []string{canary, escaped, string(appendText(nil, escaped)), shown} {
		if piece := form[:12]; strings.Contains(text, piece) {
			return piece
		}
		if piece := form[len(form)-12:]; strings.Contains(text, piece) {
			return piece
		}
	}
	return ""
}

// places are the requests in which text stands and is quoted in the answer.
func places(text string) map[string]string {
	q := quoted(text)
	return map[string]string{
		"method name":       request("1", "\x00", "{}"),
		"injector name":     request("1", "prompt", `{"input":"x","instructionInjectors":[`+q+`]}`),
		"repeated name":     request("1", "prompt", `{"input":"x","instructionInjectors":[`+q+`,`+q+`]}`),
		"kind of block":     request("1", "prompt", `{"input":[{"type":`+q+`}]}`),
		"unknown field":     request("1", "prompt", `{"input":"x",`+q+`:1}`),
		"nested field":      request("1", "prompt", `{"input":"x","options":{`+q+`:1}}`),
		"repeated field":    request("1", "prompt", `{"input":"x",`+q+`:1,`+q+`:1}`),
		"field of a block":  request("1", "prompt", `{"input":[{"type":"text","text":"x",`+q+`:1}]}`),
		"session id":        request("1", "state", `{"sessionId":`+q+`}`),
		"model":             request("1", "prompt", `{"input":"x","model":`+q+`}`),
		"stop text":         request("1", "prompt", `{"input":"x","options":{"stop":[`+q+`]}}`),
		"list of a session": request("1", "newSession", `{"instructionInjectors":[`+q+`]}`),
		"cursor":            request("1", "listSessions", `{"cursor":`+q+`}`),
	}
}

// S2: a secret in what is quoted reaches neither the answer nor the log, also
// where the quotation is cut, and whoever told it.
func TestS2_ErrorsHoldNoPieceOfASecret(t *testing.T) {
	for _, before := range []int{0, 1, 40, 70, 100, 120, 128, 480, 500, 510, 900, 980, 1000, 1020} {
		text := strings.Repeat("x", before) + canary
		for place, line := range places(text) {
			line = strings.ReplaceAll(line, "\"\x00\"", quoted(text))
			line = strings.ReplaceAll(line, "\x00", string(appendText(nil, text)))
			for teller, serve := range tellers() {
				out, log := serve(t, line)
				assert.Empty(t, leaks(out), "%s, told by %s, after %d bytes: %.300s", place, teller, before, out)
				assert.Empty(t, leaks(log), "log: %s, told by %s, after %d bytes: %.300s", place, teller, before, log)
			}
		}
	}
}

// tellers are the ways in which a server comes to know a secret; each gives
// what was written and logged.
func tellers() map[string]func(*testing.T, string) (out, log string) {
	told := `[{"name":"C","value":` + quoted(canary) + `}]`
	return map[string]func(*testing.T, string) (string, string){
		"configuration": func(t *testing.T, line string) (string, string) {
			red, err := redact.New(redact.Value{Name: "C", Secret: redact.NewSecret(canary)})
			require.NoError(t, err)
			return serveLines(t, red, line)
		},
		"initialize": func(t *testing.T, line string) (string, string) {
			return serveLines(t, nil, request("0", "initialize", `{"initializationOptions":{"redact":`+told+`}}`), line)
		},
		"the request": func(t *testing.T, line string) (string, string) {
			if !strings.Contains(line, `"prompt"`) {
				return "", ""
			}
			return serveLines(t, nil, strings.Replace(line, `"params":{`, `"params":{"redact":`+told+`,`, 1))
		},
	}
}

func serveLines(t *testing.T, red *redact.Redactor, lines ...string) (out, log string) {
	var logged bytes.Buffer
	logger := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&logged), zap.DebugLevel))
	model := mock.New(mock.WithScript([]mock.Entry{{Error: &provider.Error{Class: provider.ClassBadRequest, Message: "no: " + strings.Join(lines, "\n")}}}))
	defer model.Close()
	manager, err := session.NewManager(session.Config{Provider: model, Model: "m", Store: memstore.New(), Redactor: red, Logger: logger})
	require.NoError(t, err)
	var written bytes.Buffer
	err = Serve(context.Background(), strings.NewReader(strings.Join(lines, "\n")+"\n"), &written, Options{Sessions: manager, Redactor: red, Logger: logger})
	require.NoError(t, err)
	require.NoError(t, manager.Close())
	return written.String(), logged.String()
}

// S2: what a provider says in its error is redacted before it is cut.
func TestS2_ProviderErrorsHoldNoPieceOfASecret(t *testing.T) {
	for before := 960; before < 1040; before += 3 {
		message := strings.Repeat("x", before) + canary
		red, err := redact.New(redact.Value{Name: "C", Secret: redact.NewSecret(canary)})
		require.NoError(t, err)
		p := servingWith(t, Options{Redactor: red}, session.Config{Redactor: red},
			mock.Entry{Error: &provider.Error{Class: provider.ClassBadRequest, Message: message}})
		a := p.ask("prompt", `{"input":"x"}`)
		require.NotNil(t, a.Error)
		b, err := json.Marshal(a)
		require.NoError(t, err)
		assert.Empty(t, leaks(string(b)), fmt.Sprint(before))
	}
}
