/** The place that the address names: `#/tasks/01a2?x=1` is `{ name: 'tasks', id: '01a2', query: { x: '1' } }`. */
export function readPlace(hash = location.hash) {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?')
  const [name = '', id] = path.split('/')
  return { name: name || 'needs', id: id && decoded(id), query: Object.fromEntries(new URLSearchParams(search)) }
}

/** The address of a place. Everything in it can be opened in a tab of its own, and kept. */
export function linkTo(name, id, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  return `#/${name}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${search}`
}

/** Changes the query of the current place without a new entry in the history. */
export function filterBy(change) {
  goTo(changed(change))
}

/** The same for what is filtered here: nothing is read. */
export function sift(change) {
  history.replaceState(null, '', changed(change))
  dispatchEvent(new Event('sifted'))
}

/** Goes to a place without a new entry in the history. */
export function goTo(link) {
  history.replaceState(null, '', link)
  dispatchEvent(new HashChangeEvent('hashchange'))
}

function changed(change) {
  const { name, id, query } = readPlace()
  return linkTo(name, id, { ...query, ...change })
}

/** Returns the code of a sign-in link, and takes it out of the address before anything else happens. undefined: it is none. */
export function takeSignInCode() {
  const { name, id, query } = readPlace()
  if (name !== 'sign-in') return undefined
  history.replaceState(null, '', linkTo('needs'))
  return { code: id ?? '', project: query.project }
}

function decoded(segment) {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
