;; An instruction injector as a WebAssembly module, by hand: it asks for JSON
;; whenever the turn's input holds the word "json", in lower case.
(module
  (memory (export "memory") 2)
  (data (i32.const 16) "{\22instructions\22:\22Answer in JSON.\22}")

  ;; The turn is written behind the text above; what it may not fit in, grows.
  (func (export "prism_alloc") (param $size i32) (result i32)
    (if (i32.gt_u (local.get $size) (i32.const 65536))
      (then
        (drop (memory.grow (i32.add (i32.shr_u (local.get $size) (i32.const 16)) (i32.const 1))))))
    (i32.const 65536))

  ;; Looks for the four bytes "json" at every place.
  (func (export "apply") (param $at i32) (param $size i32) (result i64)
    (local $end i32)
    (local.set $end (i32.add (local.get $at) (local.get $size)))
    (block $none
      (loop $next
        (br_if $none (i32.gt_u (i32.add (local.get $at) (i32.const 4)) (local.get $end)))
        (if (i32.eq (i32.load (local.get $at)) (i32.const 0x6e6f736a))
          (then
            ;; the text's place in the upper half, its size in the lower one
            (return (i64.or (i64.shl (i64.const 16) (i64.const 32)) (i64.const 34)))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (i64.const 0)))
