import { currentKey, forget } from './key.js'

/** A refusal of the gateway, in its own words. Status 0: no gateway answered. */
export class Refused extends Error {
  constructor(status, { code, detail, title, ...extra }) {
    super(detail ?? title ?? `The gateway answered ${status}.`)
    Object.assign(this, { status, code, extra })
  }
}

const place = 'rouse-project'

/** The project in which an operator acts; null: that of the key. */
export const currentProject = () => sessionStorage.getItem(place)
export const useProject = (project) => sessionStorage.setItem(place, project)

/** The headers of every call. The page is no harness: an answer to it must bring no mail. */
export function headersOf(more = {}) {
  const project = currentProject()
  return {
    authorization: `Bearer ${currentKey()}`,
    'rouse-pending-signals': 'none',
    ...(project === null ? {} : { 'rouse-project': project }),
    ...more,
  }
}

/** Calls the REST API. A change has a key of its own, so that it is made once. */
export async function call(method, path, { query, body, headers } = {}) {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  const key = currentKey()
  const answer = await fetch(path + search, {
    method,
    headers: headersOf({
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'POST' ? { 'idempotency-key': randomId() } : {}),
      ...headers,
    }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
  }).catch(unanswered)
  const text = await answer.text().catch(unanswered)
  const view = text.startsWith('{') ? JSON.parse(text) : {}
  if (answer.ok) return view
  // Nothing else says that the key is of no use.
  if (answer.status === 401 && key !== null) forget(key)
  throw new Refused(answer.status, view)
}

function unanswered(cause) {
  throw Object.assign(new Refused(0, { detail: 'The gateway does not answer.' }), { cause })
}

export const get = (path, query) => call('GET', path, { query })

/** Exchanges the code of a sign-in link for the key that it stands for. It works once. */
export async function exchangeCode(code) {
  const options = {
    method: 'POST',
    headers: { authorization: `Bearer ${code}` },
    cache: 'no-store',
    credentials: 'omit',
  }
  const answer = await fetch('/page/sign-in', { ...options, redirect: 'error', referrerPolicy: 'no-referrer' })
  const view = await answer.json()
  if (!answer.ok) throw new Refused(answer.status, view)
  return view.key
}

/** Reads the pages of a list, up to a number of them. */
export async function pages(path, query, name, pagesMax = 4) {
  const items = []
  let pageToken = ''
  for (let page = 0; page < pagesMax; page++) {
    const answer = await get(path, { ...query, pageToken })
    items.push(...answer[name])
    pageToken = answer.nextPageToken
    if (!pageToken) break
  }
  return items
}

/** The same; empty where the key may not read the list. */
export async function readable(promise, otherwise) {
  try {
    return await promise
  } catch (error) {
    // What may pass is no answer.
    if (error instanceof Refused && error.status >= 400 && error.status < 500 && ![401, 429].includes(error.status))
      return otherwise
    throw error
  }
}

/** Sends a message to an agent over A2A: a new task, or a reply in one. Returns the task. */
export async function sendMessage(agent, text, taskId) {
  const message = { messageId: randomId(), role: 'ROLE_USER', parts: [{ text }], ...(taskId ? { taskId } : {}) }
  const params = { message, configuration: { returnImmediately: true } }
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }
  const { result, error } = await call('POST', addressOf(agent), { body, headers: { 'a2a-version': '1.0' } })
  if (error) throw new Refused(400, { detail: error.message })
  return result.task
}

/** The address of `@donna`, or of `web:@donna` in another project. */
function addressOf(agent) {
  const [, project, handle] = /^(?:(.*):)?@?(.*)$/.exec(agent)
  const path = `/agents/${encodeURIComponent(handle)}`
  return project === undefined ? path : `/projects/${encodeURIComponent(project)}${path}`
}

// Not randomUUID: browsers have it over TLS and on this machine only.
function randomId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
