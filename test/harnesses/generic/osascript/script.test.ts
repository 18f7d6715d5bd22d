import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { script } from '../../../../src/harnesses/generic/osascript/script.ts'

const path = '/System/Applications/Utilities/Terminal.app'
const line = '[Rouse 01HWAKE] New message from ＠boss'

/** A Mac as JXA shows it: Terminal, with its first tab in front. `at`: at which look something happens. */
function desk({ happens = {} as { at?: number; what?: 'typed' | 'away' | 'copied' }, isShown = true } = {}) {
  const keys: string[] = []
  let value = '❯'
  let board = 'of the user'
  let changeCount = 1
  let looks = 0
  const window = { subrole: () => 'AXStandardWindow', sheets: [] }
  const area = { role: () => 'AXTextArea', value: () => value }
  const byName = (name: string) => ({ value: () => (name === 'AXFocusedWindow' ? window : area) })
  const process = { unixId: () => (happens.what === 'away' && looks >= happens.at! ? 1 : 700), attributes: { byName } }
  const processes = {
    whose() {
      looks++
      if (happens.what === 'typed' && looks === happens.at) value += 'x'
      if (happens.what === 'copied' && looks === happens.at) changeCount++
      return [process]
    },
  }
  const events = {
    applicationProcesses: processes,
    keystroke() {
      keys.push('paste')
      if (isShown) value += `\n ${board}`
    },
    keyCode: (code: number) => void keys.push(`key ${code}`),
  }
  const terminal = { windows: [{ selectedTab: () => ({ tty: () => '/dev/ttys003' }) }] }
  const pasteboard = {
    pasteboardItems: { count: 1, objectAtIndex: () => ({ types: { count: 0 } }) },
    // JXA calls a method without arguments when it is read.
    get clearContents() {
      board = ''
      return undefined
    },
    setStringForType(text: string) {
      board = text
    },
    get changeCount() {
      return changeCount
    },
    writeObjects() {
      board = 'of the user'
    },
  }
  const bridge = Object.assign((any: unknown) => any, {
    NSPasteboard: { generalPasteboard: pasteboard },
    NSPasteboardItem: { alloc: { init: {} } },
  })
  const globals = {
    ObjC: { import: () => {} },
    $: bridge,
    delay: () => {},
    Application: (name: string) => (name === 'System Events' ? events : terminal),
  }
  const run = (...argv: string[]) =>
    JSON.parse(runInNewContext(`${script};run(${JSON.stringify(argv)})`, { ...globals }))
  return { keys, run, board: () => board, mark: () => run('look', '700', path, 'leave').mark as string }
}

const write = (mac: ReturnType<typeof desk>, mark = mac.mark(), tty = '/dev/ttys003') =>
  mac.run('write', '700', path, 'leave', mark, tty, line).did

test('it pastes, sees its line, presses Enter, and gives the clipboard back', () => {
  const mac = desk()
  expect(write(mac)).toBe('entered')
  expect(mac.keys).toEqual(['paste', 'key 36'])
  expect(mac.board()).toBe('of the user')
})

test('another screen or another tab than was read is left alone, and so is the clipboard', () => {
  const mac = desk()
  expect(write(mac, '1-1')).toBe('nothing')
  expect(write(mac, mac.mark(), '/dev/ttys009')).toBe('nothing')
  expect([mac.keys, mac.board()]).toEqual([[], 'of the user'])
})

// The first look is that of the mark; then one before the clipboard, one before the paste, one before Enter.
test.each([
  ['the user types before the paste', { at: 3, what: 'typed' }, 'nothing', [], 'of the user'],
  ['the window goes before the paste', { at: 3, what: 'away' }, 'nothing', [], 'of the user'],
  ['the window goes before Enter', { at: 4, what: 'away' }, 'pasted', ['paste'], 'of the user'],
  ['the user copies something', { at: 4, what: 'copied' }, 'entered', ['paste', 'key 36'], line],
] as const)('%s', (_what, happens, did, keys, board) => {
  const mac = desk({ happens })
  expect(write(mac)).toBe(did)
  expect([mac.keys, mac.board()]).toEqual([[...keys], board])
})

test('a line that the window does not show is not entered', () => {
  const mac = desk({ isShown: false })
  expect(write(mac)).toBe('pasted')
  expect(mac.keys).toEqual(['paste'])
})
