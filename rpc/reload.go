package rpc

import (
	"slices"
	"time"

	"github.com/prism-rpc/prism-rpc/schema"
)

// rescanHold is how long reading waits for a rescan, so that the requests
// behind it find what it found. One that takes longer holds up nobody else.
const rescanHold = 200 * time.Millisecond

// reloadInjectors looks for injectors again, lets names stand that were freed
// by one of higher rank, and lists what there is (P5, P25).
func (s *server) reloadInjectors(c *call, _ *schema.NoParams) (reply, error) {
	if err := s.checkRunning(); err != nil {
		return reply{}, err
	}
	done := make(chan error, 1)
	go s.rescanning(c, done) // ends by itself, with the call at the latest
	answer := func(err error) (any, error) {
		if err != nil {
			return nil, err
		}
		return &schema.ListInjectorsResult{Injectors: s.Sessions.Registry().List(s.redacting())}, nil
	}
	hold := time.NewTimer(rescanHold)
	defer hold.Stop()
	select {
	case err := <-done:
		result, err := answer(err)
		return reply{result: result}, err
	case <-hold.C:
	}
	return reply{wait: func() (any, error) {
		select {
		case err := <-done:
			return answer(err)
		case <-c.ctx.Done():
			return nil, c.ctx.Err()
		}
	}}, nil
}

func (s *server) rescanning(c *call, done chan<- error) {
	err := errPanicked
	defer func() { done <- err }()
	defer s.conn.recovered(c.method)
	err = s.rescan(c)
}

func (s *server) rescan(c *call) error {
	var changed []string
	if s.Rescan != nil {
		var err error
		if changed, err = s.Rescan(c.ctx); err != nil {
			return err
		}
	}
	changed = append(changed, s.Sessions.Registry().Reload()...)
	if len(changed) > 0 {
		slices.Sort(changed)
		s.Notifier.Notify(InjectorsChanged(slices.Compact(changed)))
	}
	return nil
}

// InjectorsChanged is the notice that these names stand for others than
// before, or for none.
func InjectorsChanged(names []string) schema.Notice {
	return schema.Notice{
		Level: schema.LevelInfo, Kind: schema.NoticeInjectorsChanged,
		Message: "injectors have changed", Data: map[string]any{"names": names[:min(len(names), schema.MaxKnownNames)]},
	}
}
