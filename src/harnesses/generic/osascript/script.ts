/**
 * The script for `osascript -l JavaScript`. Everything that changes comes as arguments, and none of it becomes a part of the script: `look
 * PID APP BRING`, and `write PID APP BRING MARK TTY LINE`. It prints one object of JSON. Before each of its two keystrokes it looks again:
 * the process must have the front, with the same tab, and a text area that has the focus. The clipboard is given back, unless its user has
 * copied something meanwhile.
 */
export const script = String.raw`
ObjC.import('AppKit')

function markOf(text) {
  let mark = 2166136261
  for (let i = 0; i < text.length; i++) mark = Math.imul(mark ^ text.charCodeAt(i), 16777619) >>> 0
  return String(text.length) + '-' + String(mark)
}

function ttyOf(path) {
  const app = Application(path)
  return /\/iTerm2?\.app$/.test(path) ? app.currentWindow().currentSession().tty() : app.windows[0].selectedTab().tty()
}

function look(pid, path) {
  const front = Application('System Events').applicationProcesses.whose({ frontmost: true })[0]
  if (front.unixId() !== pid) return { isFront: false }
  const window = front.attributes.byName('AXFocusedWindow').value()
  const focused = front.attributes.byName('AXFocusedUIElement').value()
  const role = focused.role()
  const value = role === 'AXTextArea' ? String(focused.value()).slice(-20000) : ''
  return {
    isFront: true,
    window: window.subrole(),
    sheets: window.sheets.length,
    role: role,
    tty: ttyOf(path),
    value: value,
    mark: markOf(value),
  }
}

function bring(pid) {
  const found = Application('System Events').applicationProcesses.whose({ unixId: pid })[0]
  found.frontmost = true
  for (let i = 0; i < 12 && !found.frontmost(); i++) delay(0.25)
}

function isPlain(seen, tty) {
  return (
    seen.isFront &&
    seen.window === 'AXStandardWindow' &&
    seen.sheets === 0 &&
    seen.role === 'AXTextArea' &&
    seen.tty === tty
  )
}

function copyOf(board) {
  const copies = []
  const items = board.pasteboardItems
  for (let i = 0; i < items.count; i++) {
    const item = items.objectAtIndex(i)
    const copy = $.NSPasteboardItem.alloc.init
    for (let j = 0; j < item.types.count; j++) {
      const type = item.types.objectAtIndex(j)
      const data = item.dataForType(type)
      if (!data.isNil()) copy.setDataForType(data, type)
    }
    copies.push(copy)
  }
  return copies
}

const squeeze = (text) => text.replace(/\s+/g, '')

function write(pid, path, mark, tty, line) {
  const events = Application('System Events')
  const board = $.NSPasteboard.generalPasteboard
  const kept = copyOf(board)
  const before = look(pid, path)
  if (!isPlain(before, tty) || before.mark !== mark) return 'nothing'
  board.clearContents
  board.setStringForType($(line), $('public.utf8-plain-text'))
  const count = board.changeCount
  try {
    const last = look(pid, path)
    if (!isPlain(last, tty) || last.mark !== mark) return 'nothing'
    events.keystroke('v', { using: 'command down' })
    delay(0.5)
    const after = look(pid, path)
    const isShown = isPlain(after, tty) && squeeze(after.value).includes(squeeze(line).slice(-40))
    if (!isShown) return 'pasted'
    events.keyCode(36)
    return 'entered'
  } finally {
    if (board.changeCount === count) {
      board.clearContents
      if (kept.length > 0) board.writeObjects($(kept))
    }
  }
}

function run(argv) {
  const pid = Number(argv[1])
  if (argv[0] === 'write') return JSON.stringify({ did: write(pid, argv[2], argv[4], argv[5], argv[6]) })
  if (argv[3] === 'bring') bring(pid)
  return JSON.stringify(look(pid, argv[2]))
}
`
