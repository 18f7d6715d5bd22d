import { help, isOpen } from './dialog.js'
import { linkTo } from './router.js'

const places = { n: 'needs', a: 'agents', t: 'tasks', m: 'mail', d: 'deliveries', c: 'claims', l: 'log', f: 'figures' }
const ofPage = [
  ['/', 'search'],
  ['g n', 'needs; so g a agents, g t tasks, g m mail, g d deliveries, g l log, g f figures'],
  ['Ctrl Enter', 'send what is typed'],
  ['Esc', 'leave a field or a dialog'],
  ['?', 'these keys'],
]
let isGoing = false

/** Follows the keys. `viewKeys` returns those of the view: `{ key: [what it does, act] }`. Nothing happens while somebody types. */
export function followKeys(viewKeys) {
  addEventListener('keydown', (event) => {
    const { key, target } = event
    if (isOpen() || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    if (target.closest?.('input, textarea, select, [contenteditable]')) {
      if (key === 'Escape') target.blur()
      return
    }
    const wasGoing = isGoing
    isGoing = key === 'g' && !wasGoing
    const act = wasGoing ? goer(key) : (general(key, viewKeys()) ?? viewKeys()[key]?.[1])
    // Space and Enter press what has the focus.
    if (
      !act ||
      (key === 'Enter' && target.closest?.('a, button, summary') && !target.closest('.lines a[aria-current=true]'))
    )
      return
    event.preventDefault()
    if (!event.repeat || key === 'j' || key === 'k') act()
  })
}

const goer = (key) => (places[key] ? () => location.assign(linkTo(places[key])) : undefined)

function general(key, keys) {
  if (key === '/') return () => document.querySelector('input[type=search]')?.focus()
  if (key === '?') return () => void help([...Object.entries(keys).map(([name, [does]]) => [name, does]), ...ofPage])
  return undefined
}
