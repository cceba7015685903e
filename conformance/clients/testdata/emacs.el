;;; emacs.el --- What jsonrpc.el makes of nil, and what it carries  -*- lexical-binding: t -*-
(require 'jsonrpc)

(defun show (name value)
  (princ (format "%s %s\n" name (json-serialize value :null-object nil :false-object :json-false))))

(defun start ()
  (make-instance
   'jsonrpc-process-connection :name "prism" :events-buffer-scrollback-size 0
   :process (lambda ()
              (make-process :name "prism" :command (list (getenv "PRISM_RPC") "--provider" "mock" "--store-dir" (getenv "STORE"))
                            :connection-type 'pipe :coding 'utf-8-emacs-unix :noquery t
                            :stderr (get-buffer-create "*prism stderr*")))))

(defun ask (connection method params)
  (condition-case err
      (jsonrpc-request connection method params :timeout 50)
    (jsonrpc-error (list :code (alist-get 'jsonrpc-error-code (cddr err))))))

(let ((connection (start))
      ;; No NUL: Emacs 28 can't read one.
      (input (apply #'concat (make-list 40000 "é💎 \u2028\u2029\u0085 \"\\/<>&\t\n"))))
  (show "null" (ask connection :ping nil))
  (show "vector" (ask connection :ping []))
  (show "field" (ask connection :prompt '(:sessionId "s" :input "hi" :metadata nil)))
  (show "slash" (ask connection :textDocument/hover nil))
  (ask connection :prompt `(:sessionId "kept" :input ,input))
  ;; Neither shutdown nor exit was sent: this is SIGKILL.
  (jsonrpc-shutdown connection)
  (show "status" (process-exit-status (jsonrpc--process connection)))

  (setq connection (start))
  (let ((messages (plist-get (ask connection :messages '(:sessionId "kept")) :messages)))
    (show "kept" (length messages))
    (show "large" (if (equal input (plist-get (aref (plist-get (aref messages 0) :content) 0) :text)) t :json-false)))
  (show "next" (plist-get (ask connection :prompt '(:sessionId "kept" :input "hi")) :turn))
  (jsonrpc-shutdown connection))
;;; emacs.el ends here
