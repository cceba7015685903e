package config

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/prism-rpc/prism-rpc/schema"
)

// check holds the rules that tags can't say. The error is a
// *schema.ParamsError whose field is a path from the root.
func (s *Settings) check() error {
	for _, rule := range []func() *schema.ParamsError{
		s.checkInjectors,
		func() *schema.ParamsError { return schema.CheckNames("instructionInjectors", s.InstructionInjectors) },
		func() *schema.ParamsError { return schema.CheckBlocks("context.blocks", s.Context.Blocks) },
		s.checkOnce,
		func() *schema.ParamsError { return checkURL("baseUrl", s.BaseURL) },
		func() *schema.ParamsError { return checkURL("providers.openai.baseUrl", s.Providers.OpenAI.BaseURL) },
		s.checkVariables,
	} {
		if err := rule(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Settings) checkInjectors() *schema.ParamsError {
	seen := map[string]bool{}
	for i := range s.Injectors {
		path := "injectors[" + strconv.Itoa(i) + "]"
		var bad *schema.ParamsError
		if err := schema.Validate(&s.Injectors[i]); asParams(err, &bad) {
			first := bad.Errors[0]
			return schema.BadField(below(path, first.Field), first.Rule, first.Message)
		}
		if name := s.Injectors[i].Name; seen[name] {
			return schema.BadField(path+".name", "unique", "is the name of an earlier injector too")
		} else {
			seen[name] = true
		}
	}
	return nil
}

// checkOnce refuses a value that the file gives in two forms.
func (s *Settings) checkOnce() *schema.ParamsError {
	if s.Instruction.Given && s.InstructionInjectors != nil {
		return schema.BadField("instruction", "once", "says the same as instructionInjectors; keep one of them")
	}
	if s.BaseURL != "" && s.Providers.OpenAI.BaseURL != "" {
		return schema.BadField("baseUrl", "once", "says the same as providers.openai.baseUrl; keep one of them")
	}
	for _, l := range []struct {
		key  string
		list Strings
	}{{"instruction", s.Instruction.Names}, {"injectorFile", s.InjectorFile}, {"redactEnv", s.RedactEnv}} {
		if repeats(l.list) {
			return schema.BadField(l.key, "unique", "has an entry twice")
		}
	}
	return nil
}

func checkURL(key, raw string) *schema.ParamsError {
	if raw == "" {
		return nil
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return schema.BadField(key, "url", "must be an http or https URL, such as http://127.0.0.1:11434/v1")
	case u.User != nil:
		return schema.BadField(key, "url", "must hold no user or password; name the key's variable in apiKeyEnv")
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return schema.BadField(key, "url", "must hold no query or fragment")
	}
	return nil
}

func (s *Settings) checkVariables() *schema.ParamsError {
	if name := s.Providers.OpenAI.APIKeyEnv; name != "" && !validVariable(name) {
		return schema.BadField("providers.openai.apiKeyEnv", "env", notVariable)
	}
	for i, e := range s.Redact.Env {
		if !validVariable(e.Env) {
			return schema.BadField("redact.env["+strconv.Itoa(i)+"]", "env", notVariable)
		}
	}
	for _, name := range s.RedactEnv {
		if !validVariable(name) {
			return schema.BadField("redactEnv", "env", notVariable)
		}
	}
	return nil
}

const notVariable = "must be the name of an environment variable: letters, digits and _, not its value"

// validVariable also catches a secret that was written where its variable's
// name belongs, before any message could repeat it.
func validVariable(name string) bool {
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
