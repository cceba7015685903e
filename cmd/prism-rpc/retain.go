package main

import (
	"time"

	"go.uber.org/zap"
)

// retainDelay keeps old sessions out of the way of what a client does first.
const retainDelay = 100 * time.Millisecond

// retain begins to delete, in the background, the sessions that were not
// touched for as long as they are kept. Nobody waits for it: what the end of
// the process leaves is deleted the next time.
func (p *process) retain() {
	store := p.store
	if p.cfg.Retain == 0 || store == nil {
		return
	}
	time.AfterFunc(retainDelay, func() { // ends with the process
		defer recovered("deleting old sessions")
		n, err := store.Prune(time.Now().Add(-time.Duration(p.cfg.Retain)))
		if err != nil {
			p.logger.Error("old sessions could not be deleted", zap.Error(err))
		}
		if n > 0 {
			p.logger.Info("old sessions were deleted", zap.Int("count", n))
		}
	})
}
