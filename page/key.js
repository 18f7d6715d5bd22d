// The key lives in the memory of the browser's tabs: sessionStorage belongs to one origin, port included, and goes with the tab. A cookie
// would be sent to every port of the same host. A tab that opens beside a signed-in one of the same origin asks it for the key.

const place = 'rouse-key'
const askMs = 250
const channel = new BroadcastChannel('rouse-key')

let key = sessionStorage.getItem(place)
let onSignOut = () => {}

channel.addEventListener('message', ({ data }) => {
  if (data === 'ask' && key !== null) channel.postMessage({ key })
  if (typeof data?.out === 'string') drop(data.out)
})

/** The key of this tab; null: nobody is signed in. */
export const currentKey = () => key

/** Asks the other tabs of this page for their keys, each of which is returned once. */
export async function keysOfOtherTabs() {
  const found = new Set()
  const answer = ({ data }) => typeof data?.key === 'string' && found.add(data.key)
  channel.addEventListener('message', answer)
  channel.postMessage('ask')
  await new Promise((resolve) => setTimeout(resolve, askMs))
  channel.removeEventListener('message', answer)
  return [...found]
}

export function keep(given) {
  key = given
  sessionStorage.setItem(place, given)
}

/** Signs out in every tab that has this key, and forgets what was typed here. */
export function dropKey() {
  // It may have been refused meanwhile.
  if (key === null) return sessionStorage.clear()
  channel.postMessage({ out: key })
  drop(key)
}

function drop(given) {
  if (key !== given) return
  sessionStorage.clear()
  end()
}

export function whenSignedOut(listener) {
  onSignOut = listener
}

/** Signs out in this tab, if it still has a key that is refused now. What somebody has typed stays for their next key. */
export function forget(refused) {
  if (key !== refused) return
  sessionStorage.removeItem(place)
  end(true)
}

function end(isRefused = false) {
  key = null
  onSignOut(isRefused)
}
