;;; prism.el --- Talks to prism-rpc through Emacs' own jsonrpc.el  -*- lexical-binding: t -*-

;; From the root of this repository, with Emacs 28 or later:
;;
;;     emacs -Q --batch -l examples/emacs/prism.el
;;
;; It runs `prism-rpc' from PATH, or the program that $PRISM_RPC names.

;;; Code:
(require 'jsonrpc)

(defvar prism-command
  (list (or (getenv "PRISM_RPC") "prism-rpc")
        "--provider" "mock" "--mock-script" "examples/mock.yaml" ; for a real model: "--provider" "openai" "--model" …
        "--store" "memory" "--config" "examples/prism.yaml"))

(defvar prism-story nil "The id of the request whose answer has begun as a story.")
(defvar prism-runs nil "Maps the runId of a turn to the id of its request.")

(defun prism-show (name value)
  (princ (format "%s %s\n" name (json-serialize value :null-object nil :false-object :json-false))))

(defun prism-event (_connection method event)
  (when (eq method 'event)
    (prism-show "event" event)
    (let ((run (plist-get event :runId)))
      (pcase (plist-get event :type)
        ("turn_started" (push (cons run (plist-get event :requestId)) prism-runs))
        ("message_delta" (when (string-prefix-p "Once" (plist-get event :text))
                           (setq prism-story (alist-get run prism-runs nil nil #'equal))))))))

(defun prism-process ()
  (make-process :name "prism" :command prism-command
                :connection-type 'pipe ; Emacs' default, a terminal, would echo, and limits a line
                :coding 'utf-8-emacs-unix :noquery t
                :stderr (get-buffer-create "*prism stderr*")))

(defvar prism
  (make-instance 'jsonrpc-process-connection :name "prism" :process #'prism-process
                 :notification-dispatcher #'prism-event))

(defun prism-request (method params)
  "Send a request and return a function that waits for its result or error.
`jsonrpc-request' would give up after ten seconds; a turn may take longer."
  (let (done value)
    (jsonrpc-async-request prism method params :timeout nil
                           :success-fn (lambda (result) (setq done t value result))
                           :error-fn (lambda (err) (setq done t value err)))
    (lambda ()
      (while (not done) (accept-process-output nil 1))
      value)))

(prism-show "initialize" (funcall (prism-request :initialize '(:clientInfo (:name "emacs")))))

;; A turn with two injectors: its events come first, then its result.
(prism-show "first" (funcall (prism-request :prompt '(:input "Who are you?" :instructionInjectors ["json-always" "project"]))))

;; A name that nobody registered sends nothing to the model.
(prism-show "unknown" (funcall (prism-request :prompt '(:input "Hello?" :instructionInjectors ["json-allways"]))))

;; While one turn runs, a followUp waits. Cancelled, the first one ends with a result, and the second has its turn.
(let ((story (prism-request :prompt '(:input "Tell me a story.")))
      (next (prism-request :followUp '(:input "And then?"))))
  (while (not prism-story) (accept-process-output nil 1))
  (jsonrpc-notify prism :$/cancelRequest `(:id ,prism-story))
  (prism-show "story" (funcall story))
  (prism-show "next" (funcall next)))

(prism-show "shutdown" (funcall (prism-request :shutdown nil)))
(jsonrpc-notify prism :exit nil)
(let ((process (jsonrpc--process prism)))
  (while (process-live-p process) (accept-process-output process 1))
  (prism-show "exit" (process-exit-status process)))
;;; prism.el ends here
