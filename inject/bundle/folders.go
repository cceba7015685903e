package bundle

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// folders are those in which a change may be one of the bundles: each root, the
// folders on the way, and those that the bundles' files are in, without links.
// Some of them may not be there.
func (s *Source) folders() map[string]bool {
	out := map[string]bool{}
	within := trusted(s.Options.TrustRoots)
	for _, root := range s.roots() {
		out[root] = true
		for _, dir := range []string{agentsFolder, filepath.Join(agentsFolder, bundlesFolder)} {
			real, err := realPath(filepath.Join(root, dir))
			if err != nil {
				break
			}
			if _, _, ok := append(fence{root}, within...).inside(real); ok {
				out[real] = true
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.made {
		if m.bundle.folder != "" {
			out[m.bundle.folder] = true
		}
		for _, file := range append(m.files, m.bundle.manifest) {
			if file != "" {
				out[filepath.Dir(file)] = true
			}
		}
	}
	return out
}

// roots are the workspaces that there are, without links.
func (s *Source) roots() []string {
	var out []string
	for _, root := range s.Options.Roots {
		abs, err := filepath.Abs(root)
		if err != nil {
			continue
		}
		if real, err := realPath(abs); err == nil {
			out = append(out, real)
		}
	}
	return out
}

func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
