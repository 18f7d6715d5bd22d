// The key lives in the memory of the browser's tabs: sessionStorage belongs to one origin, port included, and goes with the tab. A cookie
// would be sent to every port of the same host. A tab that opens beside a signed-in one of the same origin asks it for the key.

const place = 'rouse-key'
const askMs = 250
const channel = new BroadcastChannel('rouse-key')

let key = sessionStorage.getItem(place)
let onSignOut = () => {}

channel.addEventListener('message', ({ data }) => {
  if (data === 'ask' && key !== null) channel.postMessage({ key })
  if (typeof data?.out === 'string') forget(data.out)
})

/** The key of this tab; null: nobody is signed in. */
export const currentKey = () => key

/** Asks the other tabs of this page for their key. */
export async function keyOfOtherTabs() {
  if (key !== null) return key
  return new Promise((resolve) => {
    const answer = ({ data }) => {
      if (typeof data?.key !== 'string') return
      keep(data.key)
      end()
    }
    const end = () => {
      channel.removeEventListener('message', answer)
      resolve(key)
    }
    channel.addEventListener('message', answer)
    channel.postMessage('ask')
    setTimeout(end, askMs)
  })
}

export function keep(given) {
  key = given
  sessionStorage.setItem(place, given)
}

/** Signs out in every tab that has this key. */
export function signOut() {
  if (key === null) return
  channel.postMessage({ out: key })
  forget(key)
}

export function whenSignedOut(listener) {
  onSignOut = listener
}

/** Signs out in this tab, if it still has a key that is refused now. */
export function forget(refused) {
  if (key !== refused) return
  key = null
  sessionStorage.clear()
  onSignOut()
}
