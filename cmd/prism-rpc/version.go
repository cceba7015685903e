package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/schema"
)

// release is set by the linker when a release is built.
var release = ""

// version is the release, else that of the module, else devel.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// versionInfo is what version --json prints.
type versionInfo struct {
	Name            string   `json:"name"`
	Version         string   `json:"version"`
	ProtocolVersion int      `json:"protocolVersion"`
	Go              string   `json:"go"`
	OS              string   `json:"os"`
	Arch            string   `json:"arch"`
	Revision        string   `json:"revision,omitempty"` // of the source, where the build knew it
	RevisionTime    string   `json:"revisionTime,omitempty"`
	Modified        bool     `json:"modified,omitzero"` // the source was not as the revision has it
	Modules         []linked `json:"modules"`
}

// linked is a module that the binary holds code of.
type linked struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

func buildInfo() *versionInfo {
	v := &versionInfo{
		Name: "prism-rpc", Version: version(), ProtocolVersion: schema.ProtocolVersion,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Modules: []linked{},
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.RevisionTime = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		v.Modules = append(v.Modules, linked{m.Path, m.Version})
	}
	return v
}

func newVersion(flags *config.Flags, meant bool) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			if asJSON {
				return writeLine(out, buildInfo())
			}
			_, err := fmt.Fprintf(out, "prism-rpc %s (protocol %d, %s, %s/%s)\n", version(), schema.ProtocolVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one line of JSON")
	takeCommon(cmd, flags, meant)
	return cmd
}
