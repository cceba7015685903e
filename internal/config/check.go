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
		s.checkTable,
		s.checkInjectors,
		func() *schema.ParamsError { return schema.CheckNames("instructionInjectors", s.InstructionInjectors) },
		func() *schema.ParamsError { return schema.CheckBlocks("context.blocks", s.Context.Blocks) },
		func() *schema.ParamsError { return schema.CheckAmbient("contextBlocks", s.ContextBlocks) },
		s.checkOnce,
		s.checkReminders,
		s.checkProviders,
		s.checkVariables,
	} {
		if err := rule(); err != nil {
			return err
		}
	}
	return nil
}

// checkTable holds the settings of the file to the rules of their flags.
func (s *Settings) checkTable() *schema.ParamsError {
	for i := range table {
		if bad := table[i].fault(s); bad != "" {
			return schema.BadField(table[i].Key, "value", bad)
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
	return nil
}

func checkURL(key, raw string) *schema.ParamsError {
	if bad := urlFault(raw); raw != "" && bad != "" {
		return schema.BadField(key, "url", bad)
	}
	return nil
}

func urlFault(raw string) string {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "must be an http or https URL, such as http://127.0.0.1:11434/v1"
	case u.User != nil:
		return "must hold no user or password; name the key's variable in apiKeyEnv"
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "must hold no query or fragment"
	}
	return ""
}

func (s *Settings) checkVariables() *schema.ParamsError {
	for i, e := range s.Redact.Env {
		if bad := variableFault(e.Env); bad != "" {
			return schema.BadField("redact.env["+strconv.Itoa(i)+"]", "env", bad)
		}
	}
	return nil
}

// variableFault also catches a secret that was written where its variable's
// name belongs, before any message could repeat it.
func variableFault(name string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
	if name == "" || name[0] >= '0' && name[0] <= '9' || strings.Trim(name, letters) != "" {
		return "must be the name of an environment variable: letters, digits and _, not its value"
	}
	return ""
}
