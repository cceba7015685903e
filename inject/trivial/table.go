package trivial

import (
	"strings"
	"sync"
)

// longest is the most bytes that a folded word has. Decomposing can make a
// word three times as long.
const longest = 3 * MaxWordBytes

// The words, by what they do. Whoever adds one asks: can somebody who says only
// this want anything that was not under way already?
const (
	acknowledging = `
		ok | okay | okey | k | kk | yes | yeah | yep | yup | y | sure | right | correct | fine | good | great | nice | cool
		perfect | awesome | excellent | thanks | thank you | thanks a lot | thank you very much | many thanks | thx | ty
		got it | i see | understood | roger | noted | agreed | sounds good | alright | all right | no problem | np
		no | nope | no thanks | hm | hmm | mhm | oh | ah | wow | lol | haha | well done | good job | lgtm | please
		好 | 好的 | 好吧 | 好啊 | 好呀 | 好嘞 | 行 | 行吧 | 可以 | 嗯 | 恩 | 哦 | 噢 | 喔 | 是 | 是的 | 对 | 對 | 对的 | 没错 | 沒錯 | 没问题 | 沒問題
		收到 | 明白 | 明白了 | 知道了 | 了解 | 瞭解 | 懂了 | 谢谢 | 謝謝 | 谢谢你 | 多谢 | 感谢 | 辛苦了 | 不客气 | 不用了 | 没事 | 不错 | 太好了 | 哈`
	greeting = `
		hi | hey | hello | hi there | hello there | good morning | good afternoon | good evening | good night | bye | goodbye
		你好 | 您好 | 嗨 | 哈喽 | 早 | 早上好 | 下午好 | 晚上好 | 晚安 | 再见 | 再見 | 拜拜`
	goingOn = `
		continue | go on | go ahead | keep going | carry on | proceed | next
		继续 | 繼續 | 请继续 | 請繼續 | 继续吧 | 接着 | 接着说 | 继续说 | 下一步`
)

// table holds the words as fold gives them. It is made when first asked.
var table = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, list := range []string{acknowledging, greeting, goingOn} {
		for _, line := range strings.Split(list, "\n") {
			for _, word := range strings.Split(line, "|") {
				if folded := fold(word); folded != "" {
					out[folded] = true
				}
			}
		}
	}
	return out
})
