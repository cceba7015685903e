package config

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/prism-rpc/prism-rpc/redact"
)

const (
	maxKey     = 64 << 10         // bytes of a file or an output that holds a key
	keyTimeout = 10 * time.Second // of a command that tells one
)

var (
	errNotOurs = errors.New("must be the user's own, and readable by nobody else (chmod 600)")
	errNoKey   = errors.New("holds no key")
	errEnded   = errors.New("was ended with this process")
	errSlow    = errors.New("did not end within " + keyTimeout.String())
)

// FetchKeys reads the keys that are in files, and runs the commands that tell
// the others; each becomes a secret that the Redactor knows. It is for those
// who call providers: nobody else needs them. The error is an *Error, about the
// chosen provider; a fault of another one is its Endpoint's. The end of ctx ends
// a command.
func (c *Config) FetchKeys(ctx context.Context) error {
	for _, e := range c.Endpoints {
		if err := c.Unfit(e, c.takeKey(ctx, e)); err != nil {
			return err
		}
	}
	return nil
}

// Unfit keeps what is wrong with an endpoint that nobody chose, and warns of
// it: who doesn't use a provider needs nothing of it. What is wrong with the
// chosen one is returned.
func (c *Config) Unfit(e *Endpoint, err error) error {
	if err == nil || e.Provider == c.Provider {
		return err
	}
	e.Fault = err
	c.Warnings = append(c.Warnings, Warning{
		Kind: "config_warning", Message: "the provider " + e.Provider + " can't be asked: " + err.Error(), Name: "providers." + e.Provider,
	})
	return nil
}

// takeKey fetches the key of an endpoint.
func (c *Config) takeKey(ctx context.Context, e *Endpoint) error {
	key, err := e.fetchKey(ctx)
	switch {
	case err != nil:
		return c.Bad(e.KeyFrom, err.Error(), e.keyHint(err))
	case key == "":
		return nil
	case e.fromEnv && !e.ofVendor && !loopback(e.BaseURL):
		return c.Bad(e.BaseURLFrom, "names a host that the key of "+e.KeyFrom+" may not be sent to, since only the environment names it",
			"name the host with --base-url, or as providers."+e.Provider+".baseUrl in the configuration file")
	}
	secret := redact.NewSecret(key)
	more, err := c.Redactor.With(redact.Value{Name: e.KeyFrom, Secret: secret, Short: true})
	if err != nil {
		return c.Bad(e.KeyFrom, "the key can't be told from the text around it", "")
	}
	c.Redactor, e.Key = more, secret
	return nil
}

// keyHint says what to do about a key that could not be had.
func (e *Endpoint) keyHint(err error) string {
	switch {
	case errors.Is(err, errNotOurs): // says it
		return ""
	case e.fetch.APIKeyCommand != nil:
		return "run the command by hand; it must print the key on standard output, without asking"
	}
	return "it must name a file that holds the key alone"
}

func (e *Endpoint) fetchKey(ctx context.Context) (string, error) {
	var out []byte
	var err error
	switch {
	case e.fetch.APIKeyFile != "":
		out, err = readKeyFile(e.fetch.APIKeyFile)
	case e.fetch.APIKeyCommand != nil:
		out, err = runKeyCommand(ctx, e.fetch.APIKeyCommand)
	default:
		return "", nil
	}
	key := strings.TrimSpace(string(out))
	switch {
	case err != nil:
		return "", err
	case key == "":
		return "", errNoKey
	}
	return key, nil
}

func readKeyFile(path string) ([]byte, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, cantRead(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, cantRead(err)
	}
	if !oursAlone(info) {
		return nil, errNotOurs
	}
	return readKey(f)
}

func readKey(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxKey+1))
	switch {
	case err != nil:
		return nil, cantRead(err)
	case len(data) > maxKey:
		return nil, ErrTooLarge
	}
	return data, nil
}

func cantRead(err error) error { return errors.New("can't be read: " + Reason(err)) }

// runKeyCommand runs a program without a shell, input or a place to complain:
// what it prints on standard output is the key, and nothing else of it is kept.
func runKeyCommand(ctx context.Context, argv []string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, keyTimeout, errSlow)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second // for a child of its own that holds the pipe
	out := &keyOutput{}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		return nil, errors.New("can't be run: " + commandReason(err))
	}
	err := cmd.Wait()
	if ctx.Err() != nil {
		return nil, endReason(ctx)
	}
	var exit *exec.ExitError
	switch {
	case out.full:
		return nil, ErrTooLarge
	case errors.As(err, &exit):
		return nil, errors.New("failed: exit status " + strconv.Itoa(exit.ExitCode()))
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, errors.New("failed: " + commandReason(err))
	}
	return out.text, nil
}

// endReason says why a command was ended.
func endReason(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errSlow) {
		return errSlow
	}
	return errEnded
}

// commandReason leaves out the command, which may hold what is nobody's
// business.
func commandReason(err error) string {
	var lookup *exec.Error
	if errors.As(err, &lookup) {
		return lookup.Err.Error()
	}
	return Reason(err)
}

// keyOutput keeps as much as a key may be.
type keyOutput struct {
	text []byte
	full bool
}

func (o *keyOutput) Write(p []byte) (int, error) {
	if len(o.text)+len(p) > maxKey {
		o.full = true
		return 0, ErrTooLarge
	}
	o.text = append(o.text, p...)
	return len(p), nil
}

func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && addr.Unmap().IsLoopback()
}
