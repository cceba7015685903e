package ambient

import (
	"strings"

	"github.com/prism-rpc/prism-rpc/schema"
)

// Armed is what the host says of itself (A3). The zero value arms nothing.
type Armed struct {
	Modules        bool // the switch of the three below
	Todos          bool // there is a plan/todo tool
	PlanMode       bool // it is active
	Background     bool // commands can be started detached
	ProtectedPaths []string
}

// With is a with the parts that m gives.
func (a Armed) With(m schema.Modules) Armed {
	for _, part := range []struct {
		of    *bool
		given *bool
	}{{&a.Modules, m.Enabled}, {&a.Todos, m.Todos}, {&a.PlanMode, m.PlanMode}, {&a.Background, m.Background}} {
		if part.given != nil {
			*part.of = *part.given
		}
	}
	return a
}

// The names of the built-in blocks, in their order.
const (
	NameTasks      = "Task list"
	NamePlanMode   = "Plan mode"
	NamePaths      = "Protected paths"
	NameBackground = "Background work"
)

// Builtins are the blocks that talk about what is armed, and no others (A3).
func Builtins(a Armed) []Block {
	var out []Block
	add := func(armed bool, name, content string) {
		if armed {
			out = append(out, Block{Name: name, Content: content, Origin: schema.OriginBuiltin})
		}
	}
	add(a.Modules && a.Todos, NameTasks, tasks)
	add(a.Modules && a.PlanMode, NamePlanMode, planMode)
	add(len(a.ProtectedPaths) > 0, NamePaths, pathsHead+strings.Join(a.ProtectedPaths, ", ")+pathsTail)
	add(a.Modules && a.Background, NameBackground, background)
	return out
}

// What the built-in blocks say (A4).
const (
	tasks = `You have a persistent task list, which you read and change through the plan/todo tool. Before multi-step work, write the plan there. Mark each step done as soon as it is done, and add the work that you find on the way. The list survives compaction of this conversation: it is the durable record of what is done and what is left, so trust it over your memory of what was said.`

	planMode = `Plan mode is active. While it is, everything is read-only: make no edits, write no files, and run no command that changes state. Investigate, present your plan, and wait until the user has agreed to it.`

	pathsHead = `These paths are protected: `
	pathsTail = `. What touches one of them is never approved automatically: it stops until the user has decided. Prefer another route where there is one.`

	background = `Long-running commands, such as servers, watchers, builds and test suites, can run in the background. Start them detached and keep working meanwhile. Read their output when it matters to what you do next. Never wait on a foreground command for them.`
)
