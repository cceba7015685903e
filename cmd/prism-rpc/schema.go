package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/schema"
)

// The forms of the wire contract that schema prints.
const (
	formatJSON    = "json"
	formatOpenRPC = "openrpc"
	formatTS      = "ts"
)

func newSchema(flags *config.Flags, meant bool) *cobra.Command {
	format := ""
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the wire contract, to generate or to check clients with",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := contractAs(format)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	formats := []string{formatJSON, formatOpenRPC, formatTS}
	cmd.Flags().StringVar(&format, "format", formatJSON, strings.Join(formats, "|")+": JSON Schema, the OpenRPC document, or TypeScript declarations")
	complete := cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc("format", complete); err != nil {
		panic("the flag was made above: " + err.Error())
	}
	takeCommon(cmd, flags, meant)
	return cmd
}

func contractAs(format string) (string, error) {
	switch format {
	case formatJSON:
		return schema.JSONSchema(), nil
	case formatOpenRPC:
		return schema.OpenRPC() + "\n", nil
	case formatTS:
		return schema.TypeScript(), nil
	}
	return "", &config.UsageError{Message: "--format: must be one of: json, openrpc, ts"}
}
