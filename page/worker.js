// Shows notices of the gateway and opens what they are about. It keeps nothing, and answers no request of the page.

addEventListener('install', () => skipWaiting())

addEventListener('push', (event) => {
  const { title = 'Rouse', subject: body = 'Something stops work.', kind, need, place } = read(event.data)
  const options = { body, tag: need ?? kind, data: { place }, icon: '/page/icon-192.png', badge: '/page/icon-192.png' }
  event.waitUntil(registration.showNotification(title, options))
})

function read(data) {
  try {
    return data?.json() ?? {}
  } catch {
    return {}
  }
}

addEventListener('notificationclick', (event) => {
  event.notification.close()
  const { place } = event.notification.data ?? {}
  event.waitUntil(open(typeof place === 'string' && place.startsWith('#/') ? place : '#/needs'))
})

/** Shows a place in an open tab of the page, or in a new one. */
async function open(place) {
  const tabs = await clients.matchAll({ type: 'window', includeUncontrolled: true })
  const [tab] = tabs.filter(({ url }) => new URL(url).pathname === '/')
  if (!tab) return clients.openWindow(`/${place}`)
  tab.postMessage({ place })
  return tab.focus()
}
