// Package bundle finds the instruction injectors that a workspace keeps in
// .agents/instructions, and makes them of their files (requirements P18–P23).
// What it reads was written by whoever wrote the workspace: nothing outside of
// a bundle's folder is read unless the host trusts it, and no code is run that
// the host gave no loader for.
package bundle
