package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/internal/plain"
)

// newRoot is the whole command line; flags gets what it says. Flags that args
// can't mean are not made.
func newRoot(flags *config.Flags, args []string) *cobra.Command {
	var q query
	root := &cobra.Command{
		Use:               "prism-rpc",
		Args:              noArguments,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: needsStdout,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch asked := cmd.Flags().Changed("prompt"); {
			case q.mode != modePrint && q.mode != modeJSON:
				return &config.UsageError{Message: "--mode: must be one of: print, json"}
			case asked:
				return ask(cmd.Context(), flags, q, os.Stdout)
			case cmd.Flags().Changed("mode"):
				return &config.UsageError{Message: "--mode goes with -p", Hint: "prism-rpc -p TEXT --mode json"}
			case q.raw:
				return &config.UsageError{Message: "--raw goes with -p", Hint: "prism-rpc -p TEXT --raw"}
			}
			return serve(cmd.Context(), flags)
		},
	}
	flags.Register(root.Flags())
	root.Flags().StringVarP(&q.text, "prompt", "p", "", "ask once and exit; - reads the text from stdin")
	root.Flags().StringVar(&q.mode, "mode", modePrint, "how -p writes the answer: print or json")
	root.Flags().BoolVar(&q.raw, "raw", false, "don't make the answer fit for a terminal")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(printHelp)
	root.SetArgs(args)
	meant := func(name string) bool { return slices.Contains(args, name) }
	root.AddCommand(newSchema(flags, meant("schema")), newVersion(flags, meant("version")),
		newReplay(flags, meant("replay")), newPreview(flags, meant("preview")), newSessions(flags, meant("sessions")), newRedact(flags, meant("redact")), newDoctor(flags, meant("doctor")))
	completeChoices(root)
	return root
}

var errNoStdout = errors.New("stdout is closed, so that nobody can read the answer")

// needsStdout lets a command begin whose answer somebody can read. Serving
// looks for itself.
func needsStdout(cmd *cobra.Command, _ []string) error {
	serves := !cmd.HasParent() && !cmd.Flags().Changed("prompt")
	if !serves && stdoutClosed() {
		return errNoStdout
	}
	return nil
}

func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasParent():
		return &config.UsageError{Message: ownName(cmd) + " takes no " + inQuotes(args[0]), Hint: "prism-rpc " + ownName(cmd) + " --help"}
	}
	return &config.UsageError{Message: "unknown command " + inQuotes(args[0]), Hint: "prism-rpc --help lists what there is; a question goes behind -p"}
}

// inQuotes is a word as it was typed, which whoever shows it makes fit.
func inQuotes(word string) string { return `"` + word + `"` }

// ownName is how a subcommand is called behind prism-rpc.
func ownName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// flagError says in one line which flag is wrong and what would be right.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var own *config.UsageError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown.GetSpecifiedName())
	case errors.As(err, &invalid) && errors.As(err, &own):
		return &config.UsageError{Message: "--" + invalid.GetFlag().Name + ": " + own.Message, Hint: own.Hint}
	}
	return &config.UsageError{Message: err.Error(), Hint: "prism-rpc --help lists the flags"}
}

func unknownFlag(cmd *cobra.Command, name string) error {
	known := flagsOf(cmd)
	if near := plain.Nearest(name, known); near != "" {
		return &config.UsageError{Message: "unknown flag: " + dashed(name), Hint: "did you mean --" + near + "?"}
	}
	if !cmd.HasParent() {
		return &config.UsageError{Message: "unknown flag: " + dashed(name), Hint: "prism-rpc --help lists them"}
	}
	hint := ownName(cmd) + " takes --" + strings.Join(known, ", --")
	if slices.Contains(flagsOf(cmd.Root()), name) {
		return &config.UsageError{Message: dashed(name) + " is for serving and -p, not for " + ownName(cmd), Hint: hint}
	}
	return &config.UsageError{Message: "unknown flag: " + dashed(name), Hint: hint}
}

// flagsOf names a command's flags, sorted.
func flagsOf(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// takeCommon gives a command the flags that all have, whether it has a use for
// them or not: whoever wraps prism-rpc can always pass them.
func takeCommon(cmd *cobra.Command, flags *config.Flags, meant bool) {
	if meant {
		flags.Register(cmd.Flags(), "redactEnv", "redactRules", "logLevel", "logFile")
		completeChoices(cmd)
	}
}

// completeChoices lets a shell complete the flags that take one of a few words.
func completeChoices(cmd *cobra.Command) {
	choices := map[string][]string{}
	if cmd.Flags().Lookup("mode") != nil {
		choices["mode"] = []string{modePrint, modeJSON}
	}
	for _, s := range config.Table() {
		if words := s.Choices(); words != nil && cmd.Flags().Lookup(s.Flag) != nil {
			choices[s.Flag] = words
		}
	}
	for flag, words := range choices {
		complete := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
		if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic("every setting has a flag: " + err.Error())
		}
	}
}

// printHelp goes to stderr: stdout is for the protocol alone.
func printHelp(cmd *cobra.Command, _ []string) {
	if cmd.HasParent() {
		fmt.Fprintf(os.Stderr, "%s\n\n%s", cmd.Short, cmd.UsageString())
		return
	}
	fmt.Fprint(os.Stderr, helpText())
}

const helpHead = `prism-rpc holds conversations with language models for the program that spawns
it, over JSON-RPC 2.0, and controls which instructions go into each turn.

Usage:
  prism-rpc [flags]            answer requests on stdin, one JSON message a line
  prism-rpc -p TEXT [flags]    ask once, print the answer and exit
  prism-rpc preview TEXT       show the request that a question would send, and why
  prism-rpc doctor             check key, URL and model with a short call
  prism-rpc sessions           list, show, export or repair what is kept
  prism-rpc replay FILE        compare what a trace's requests are answered now
  prism-rpc redact             copy stdin to stdout without secrets
  prism-rpc schema             print the wire contract (--format json|openrpc|ts)
  prism-rpc version            print the version (--json)
  prism-rpc completion SHELL   print completions for bash, zsh, fish or powershell

Example:
  printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"prompt","params":{"input":"hi"}}' |
    prism-rpc --provider mock --store=memory

Ask once:
  -p, --prompt TEXT            the question; - reads it from stdin
      --mode print|json        the text as it comes, or the whole result as JSON
      --raw                    don't make the text fit for a terminal
`

const helpTail = `
Configuration:
      --config FILE            default: $XDG_CONFIG_HOME/prism-rpc/config.yaml
  Each flag is also a key of that file, in camelCase (storeDir). A flag comes
  before the environment, the environment before the file. Keys of providers
  come from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, or the variable
  that apiKeyEnv names), or from apiKeyFile or apiKeyCommand in that file.

Exit codes:
  0 done, 1 failed, 2 bad flag or configuration, 129/130/143 ended by a signal
`

func helpText() string {
	var b strings.Builder
	b.WriteString(helpHead)
	for _, group := range config.Groups() {
		b.WriteString("\n" + group + ":\n")
		for s := range settingsOf(group) {
			b.WriteString(helpLine(s))
		}
	}
	b.WriteString(helpTail)
	return b.String()
}

func settingsOf(group string) func(func(config.Setting) bool) {
	return func(yield func(config.Setting) bool) {
		for _, s := range config.Table() {
			if s.Group == group && !yield(s) {
				return
			}
		}
	}
}

func helpLine(s config.Setting) string {
	help := s.Help
	if s.Default != "" {
		help += " (" + s.Default + ")"
	}
	flag := strings.TrimRight(fmt.Sprintf("      --%s %s", s.Flag, s.Arg), " ")
	if len(flag) > 29 {
		return fmt.Sprintf("%s\n%31s%s\n", flag, "", help)
	}
	return fmt.Sprintf("%-31s%s\n", flag, help)
}
