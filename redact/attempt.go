package redact

// maxUndecided is how many bytes may look like the beginning of a secret
// before they are taken for one.
const maxUndecided = 8 << 10

// An attempt follows one rule from one keyword on.
type attempt struct {
	place
	start int  // of the secret, or -1 before it
	last  int  // where the secret may end, for a run that ends before a byte; or 0
	found bool // the secret: each further byte is a part of it
}

// A place is so many bytes into a part of a rule.
type place struct{ rule, part, count int32 }

// begin starts the attempts of the keywords that end at pos.
func (f *finder) begin(hits []int32) {
	for _, h := range hits {
		if k := &f.rules.keywords[h]; !f.swallowed(k.rule) {
			a := attempt{place: place{rule: k.rule}, start: -1}
			if k.secret {
				a.start = f.pos - len(k.text)
			}
			f.attempts = append(f.attempts, a)
		}
	}
	f.join()
}

// swallowed tells whether a secret that goes on takes all that the rule would.
func (f *finder) swallowed(rule int32) bool {
	for i := range f.attempts {
		if a := &f.attempts[i]; a.found && f.rules.swallows(a, rule) {
			return true
		}
	}
	return false
}

// advance lets every attempt take c, which was read last.
func (f *finder) advance(c byte) {
	kept := 0
	for i := range f.attempts {
		if a := &f.attempts[i]; f.step(a, c) {
			f.attempts[kept] = *a
			kept++
		}
	}
	f.attempts = f.attempts[:kept]
	f.join()
}

// join leaves one of attempts that stand at the same place of the same rule:
// the first, which began first and has found what the others have. They go the
// same way from here, and places are few, so that time stays linear in the
// text.
func (f *finder) join() {
	kept := min(len(f.attempts), 1)
	for i := kept; i < len(f.attempts); i++ {
		if a := f.attempts[i]; !a.among(f.attempts[:kept]) {
			f.attempts[kept] = a
			kept++
		}
	}
	f.attempts = f.attempts[:kept]
}

func (a *attempt) among(others []attempt) bool {
	for i := range others {
		if b := &others[i]; a.place == b.place {
			return true
		}
	}
	return false
}

// step takes c; false ends the attempt.
func (f *finder) step(a *attempt, c byte) bool {
	return f.follow(a, c) || a.found && f.finishWord(a, c)
}

// finishWord takes the rest of the word for a secret that was found before its
// rule was through.
func (f *finder) finishWord(a *attempt, c byte) bool {
	parts := f.rules.rules[a.rule].parts
	last := &parts[len(parts)-1]
	a.part, a.count = int32(len(parts)-1), int32(last.min)
	if !last.more[c] {
		return false
	}
	f.secret(a, f.pos)
	return true
}

// follow lets the rule of the attempt take c.
func (f *finder) follow(a *attempt, c byte) bool {
	r := &f.rules.rules[a.rule]
	for ; ; a.part, a.count = a.part+1, 0 {
		p := &r.parts[a.part]
		if !p.shown && a.start < 0 {
			a.start = f.pos - 1
		}
		if p.run == nil {
			return f.stepLiteral(a, p, c, r.fold)
		}
		final := int(a.part) == len(r.parts)-1
		if p.takes(a, c, final) {
			f.stepRun(a, p, c, final)
			return true
		}
		if int(a.count) < p.min {
			return false
		}
		if final {
			f.finish(a)
			return false
		}
	}
}

// takes tells whether c goes on with the run.
func (p *part) takes(a *attempt, c byte, final bool) bool {
	if final && a.found {
		return p.more[c]
	}
	return p.run[c] && (p.max == 0 || int(a.count) < p.max)
}

func (f *finder) stepRun(a *attempt, p *part, c byte, final bool) {
	if p.max > 0 || int(a.count) < p.min {
		a.count++
	}
	if p.before != 0 && c == p.before && f.pos-1 > a.start {
		a.last = f.pos - 1
	}
	if a.found || final && p.before == 0 && int(a.count) >= p.min || f.overdue(a) {
		f.secret(a, f.pos)
	}
}

func (f *finder) stepLiteral(a *attempt, p *part, c byte, fold bool) bool {
	if fold {
		c = lowerByte(c)
	}
	if c != p.literal[a.count] {
		return false
	}
	if a.count++; int(a.count) == len(p.literal) {
		a.part, a.count = a.part+1, 0
	}
	if a.found || f.overdue(a) {
		f.secret(a, f.pos)
	}
	return true
}

func (f *finder) overdue(a *attempt) bool { return a.start >= 0 && f.pos-a.start >= maxUndecided }

// finish decides about an attempt whose last run has ended.
func (f *finder) finish(a *attempt) {
	if a.last > 0 && !a.found {
		f.secret(a, a.last)
	}
}

// secret notes that the attempt's secret reaches up to end, and more may come.
func (f *finder) secret(a *attempt, end int) {
	f.unite(span{start: a.start, end: end, value: f.firstRule + a.rule})
	if !a.found {
		a.found = true
		f.beginsAt(a.start)
	}
}

// undecided is where the first attempt's secret began that is not found yet,
// or else pos.
func (f *finder) undecided() int {
	at := f.pos
	for i := range f.attempts {
		if a := &f.attempts[i]; a.start >= 0 && !a.found {
			at = min(at, a.start)
		}
	}
	return at
}

// keyHeld is how many of the last bytes may begin a keyword that is secret.
func (f *finder) keyHeld() int {
	if f.key == 0 {
		return 0
	}
	return int(f.rules.states[f.key].held)
}
