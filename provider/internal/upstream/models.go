package upstream

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider"
)

// Bounds on a list of models.
const (
	maxModels    = 10_000
	maxModelText = 512 // bytes of a model's id or name; a longer one is none
	modelsTime   = 2 * time.Minute
)

// A listed model, as the APIs in use spell it. How much it takes has a name
// with each of them.
type listed struct {
	ID          jsontext.Value `json:"id"`
	DisplayName jsontext.Value `json:"display_name"` // Anthropic
	Name        jsontext.Value `json:"name"`         // OpenRouter
	MaxInput    jsontext.Value `json:"max_input_tokens"`
	Length      jsontext.Value `json:"context_length"` // OpenRouter
	Window      jsontext.Value `json:"context_window"` // Groq
	MaxLen      jsontext.Value `json:"max_model_len"`  // vLLM
}

// Models gets the list at path, which has one form in all the APIs:
// {"data":[{"id":…}]}. It is asked for once, without another try, and has two
// minutes at most, however slowly it comes. What is no model is left out.
func (c *Client) Models(ctx context.Context, path string) ([]provider.Model, error) {
	body, err := c.get(ctx, path)
	if err != nil {
		return nil, err
	}
	var list struct {
		Data []jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(body, &list, Lenient); err != nil {
		return nil, &provider.Error{Class: provider.ClassBadRequest, Message: "the server's list of models can't be read", Err: err}
	}
	models := []provider.Model{}
	for _, v := range list.Data[:min(len(list.Data), maxModels)] {
		var l listed
		if err := json.Unmarshal(v, &l, Lenient); err != nil {
			continue
		}
		if id := modelText(l.ID); id != "" {
			models = append(models, provider.Model{ID: id, Name: firstText(l.DisplayName, l.Name), ContextTokens: firstCount(l.MaxInput, l.Length, l.Window, l.MaxLen)})
		}
	}
	return models, nil
}

func modelText(v jsontext.Value) string {
	if !IsText(v) {
		return ""
	}
	s := strings.ToValidUTF8(text(v), string(utf8.RuneError))
	if len(s) > maxModelText {
		return ""
	}
	return s
}

func firstText(of ...jsontext.Value) string {
	for _, v := range of {
		if s := modelText(v); s != "" {
			return s
		}
	}
	return ""
}

func firstCount(of ...jsontext.Value) int64 {
	for _, v := range of {
		if n, ok := Count(v); ok && n > 0 {
			return n
		}
	}
	return 0
}

// get reads a small answer, within the timeouts and bounds of a stream.
func (c *Client) get(ctx context.Context, path string) ([]byte, error) {
	ctx, done := context.WithTimeoutCause(ctx, modelsTime, errTotal)
	defer done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := newIdle(c.opts.IdleTimeout, func() { cancel(errIdle) })
	defer idle.stop()
	path, query, _ := strings.Cut(path, "?")
	u := c.base.JoinPath(path)
	if query != "" {
		u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+query, "&")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, &provider.Error{Class: provider.ClassBadRequest, Message: "the request could not be made", Err: err}
	}
	c.setHeader(req.Header, "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	defer res.Body.Close()
	in := idle.answer(res.Body)
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(in, MaxErrorBody+1)) // one that breaks off still says what it can
		if ctx.Err() != nil {
			return nil, ended(ctx)
		}
		return nil, StatusError(res.StatusCode, res.Header, body)
	}
	body, err := io.ReadAll(io.LimitReader(in, MaxFrame+1))
	switch {
	case ctx.Err() != nil:
		return nil, ended(ctx)
	case err != nil:
		return nil, &provider.Error{Class: provider.ClassInterrupted, Message: "the answer broke off", Err: err}
	case len(body) > MaxFrame:
		return nil, &provider.Error{Class: provider.ClassTooLarge, Message: "the server's list of models is larger than 8 MiB"}
	}
	return body, nil
}
