// A program with a composer, drawn as Claude Code draws it. It reads what to do from a file, and writes down what it was given.
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs')

const [directory] = process.argv.slice(2)
const file = (name) => `${directory}/${name}`
const transcript = []
let order = { mode: 'idle' }
let draft = ''
let entersSwallowed = 0
let unread = ''
let isAwake = true

const read = () => {
  try {
    order = JSON.parse(readFileSync(file('order'), 'utf8'))
  } catch {}
}

function draw() {
  const width = process.stdout.columns || 80
  const rule = '─'.repeat(width)
  const lines = [...transcript.slice(-4)]
  if (order.mode === 'busy') lines.push('✻ Thinking… (3s · esc to interrupt)')
  if (order.mode === 'approval') lines.push(' Do you want to proceed?', ' ❯ 1. Yes', '   2. No', '', ' Esc to cancel')
  else if (order.mode === 'garbled') lines.push('@@@@ nothing that is known @@@@')
  else {
    const shown =
      draft === ''
        ? '\u001b[7mT\u001b[27m\u001b[2mry "fix lint errors"\u001b[22m'
        : `${wrapped(draft, width - 2)}\u001b[7m \u001b[27m`
    lines.push(rule, `❯\u00a0${shown}`, rule, '  ? for shortcuts')
  }
  process.stdout.write(`\u001b[2J\u001b[H${lines.join('\r\n').replaceAll('\n', '\r\n').replaceAll('\r\r', '\r')}`)
  writeFileSync(`${file('screen')}.new`, JSON.stringify({ draft, mode: order.mode }))
  require('node:fs').renameSync(`${file('screen')}.new`, file('screen'))
}

function wrapped(text, width) {
  const rows = []
  for (let at = 0; at < text.length; at += width) rows.push(text.slice(at, at + width))
  return rows.join('\n  ')
}

function take(text) {
  for (const char of text) {
    if (char === '\r') {
      if (entersSwallowed < (order.swallowEnters ?? 0)) entersSwallowed++
      else {
        appendFileSync(file('submitted'), `${draft}\n`)
        transcript.push(`> ${draft.slice(0, 60)}`)
        draft = ''
        if (order.hook) appendFileSync(file('hook'), 'UserPromptSubmit\n')
      }
    } else if (char === '\u001b') appendFileSync(file('escapes'), 'ESC\n')
    else if (char === '\u007f' || char === '\b') draft = draft.slice(0, -1)
    else draft += char
  }
  draw()
}

process.stdin.setRawMode(true)
process.stdin.setEncoding('utf8').on('data', (text) => {
  if (order.isDeaf) return
  unread += text
  isAwake ||= unread.includes(order.readsAfter ?? '')
  if (!isAwake) return
  const all = unread
  unread = ''
  take(all)
})
process.stdout.on('resize', draw)
let last = ''
setInterval(() => {
  read()
  const now = JSON.stringify(order)
  if (now !== last) {
    isAwake = !order.readsAfter
    draw()
  }
  last = now
}, 10)
read()
draw()
