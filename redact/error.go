package redact

import "errors"

// hiddenError is an error of which r has to hide what it knows.
type hiddenError struct {
	error
	r *Redactor
}

func (e *hiddenError) Unwrap() error { return e.error }

// Hide makes err remember that r knows secrets which its text may hold: whoever
// shows it asks Hider. A nil err stays nil.
func Hide(err error, r *Redactor) error {
	if err == nil {
		return nil
	}
	return &hiddenError{err, r}
}

// Hider is the Redactor that err has to be shown with: that of the outermost
// Hide, or otherwise where there is none.
func Hider(err error, otherwise *Redactor) *Redactor {
	if hidden, ok := errors.AsType[*hiddenError](err); ok {
		return hidden.r
	}
	return otherwise
}
